// Profiler folders of MindInsight's time (MindSpore 0.7 to 2.3; Ascend, GPU and CPU): the analysed
// files, and the raw files of the old Ascend profiler (JOB*/, container/N/data).
//
// A folder holds the files of one or several devices, told apart by the number in their names; each
// is a rank. Steps, executions, queues and samples go to the common tables; every other table of
// the folder is kept as a source table. PROF_* folders inside belong to the Ascend importers.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_MINDINSIGHT_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_MINDINSIGHT_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class MindinsightImporter final : public Importer {
 public:
  static constexpr int kRichness = 50;

  std::string_view name() const override { return "mindinsight"; }
  std::string_view description() const override {
    return "MindInsight profiler folders: step_trace_raw, aicore_intermediate, timeline_display "
           "...";
  }
  bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const override;
  // Files of a folder that is a candidate already belong to it, also those in Chrome form.
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_MINDINSIGHT_IMPORTER_H_
