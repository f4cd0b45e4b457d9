// Importer for the database form of Ascend recordings: ascend_pytorch_profiler*.db,
// ascend_mindspore_profiler*.db, msprof_*.db, with analysis.db or communication_analyzer.db beside
// them, schema 1.0.0 to 1.2.0. The files are never changed.
//
// Richness: a database with tasks (100) is taken before the text form of the same recording (90):
// its times are exact where the text truncates, and the CSV files beside it are kept as source
// tables all the same. Without tasks (10) the text wins.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_DB_ASCEND_DB_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_ASCEND_DB_ASCEND_DB_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class AscendDbImporter : public Importer {
 public:
  std::string_view name() const override { return "ascend_db"; }
  std::string_view description() const override {
    return "Ascend databases: ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db, "
           "msprof_*.db, analysis.db";
  }
  bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const override;
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  std::optional<RecordingAround> recording_around(const std::string& path) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_DB_ASCEND_DB_IMPORTER_H_
