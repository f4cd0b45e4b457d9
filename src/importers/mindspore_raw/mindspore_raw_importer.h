// MindSpore's raw files as its profilers leave them, before or without its own analysis.
//
// Found by content: a folder that directly holds them (FRAMEWORK/ of a *_ascend_ms window, the
// folder given to the C++ profiler, rank_R/ of the runtime profiler, a folder of minddata files).
// A window's unit is the *_ascend_ms folder, so that its trace_view.json, which has the same
// operators 37 ns late, is a poorer form of the same recording.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_RAW_IMPORTER_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_RAW_IMPORTER_H_

#include "importers/importer.h"

namespace stepscope {

class MindsporeRawImporter final : public Importer {
 public:
  // Above trace_view.json of the same window (90) for runs on CPU; below every form with device
  // data for the host files of an Ascend run.
  static constexpr int kCpuRichness = 95;
  static constexpr int kHostOfNpuRichness = 5;

  std::string_view name() const override { return "mindspore_raw"; }
  std::string_view description() const override {
    return "MindSpore raw files: FRAMEWORK/, RuntimeProfilerDetail, minddata profiling";
  }
  bool probe_folder(const Folder& folder, std::vector<Candidate>& found) const override;
  // Files of a folder that is a candidate already belong to it: the JSON twin of
  // RuntimeProfilerDetail is no trace of its own.
  bool probe_file(const std::string& path, std::string_view head,
                  std::vector<Candidate>& found) const override;
  Status import(const Candidate& candidate, const ImportContext& context,
                RankBuilder& rank) const override;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_RAW_IMPORTER_H_
