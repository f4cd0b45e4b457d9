// Importer for the text form of Ascend recordings: *_ascend_pt, *_ascend_ms, ASCEND_PROFILER_OUTPUT
// and PROF_* folders with trace_view.json or msprof_*.json and the CSV and JSON tables beside it,
// in the spellings of 2023 to now.
//
// Richness: 90 with a timeline, 20 with tables only. A database with tasks (100) is preferred, one
// without (10) is not; see ascend_db.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_ASCEND_TEXT_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_ASCEND_TEXT_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class AscendTextImporter : public Importer {
 public:
  std::string_view name() const override { return "ascend_text"; }
  std::string_view description() const override {
    return "Ascend text output: *_ascend_pt, *_ascend_ms, ASCEND_PROFILER_OUTPUT, PROF_* with "
           "trace_view.json or msprof_*.json and CSV files";
  }
  bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const override;
  bool reads_packed() const override { return true; }
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  std::optional<RecordingAround> recording_around(const std::string& path) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_ASCEND_TEXT_IMPORTER_H_
