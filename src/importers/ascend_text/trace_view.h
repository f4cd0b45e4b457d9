// What trace_view.json and msprof_*.json mean, after the Chrome reader has turned their events into
// slices: which process is host, device, communication or analysis; which device slices are kernels
// (those that kernel_details.csv lists), copies or waiting; which host operator caused what; steps.
//
// Processes are told by name, because process ids and sort numbers differ between versions.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_TRACE_VIEW_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_TRACE_VIEW_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/ascend_text/kernel_table.h"
#include "store/rank_builder.h"

namespace stepscope {

class TraceView {
 public:
  // `device`: what the tables say, for traces that do not.
  TraceView(KernelTable& kernels, int64_t device, RankBuilder& rank)
      : kernels_(kernels), device_(device), rank_(rank) {}

  void finish();

 private:
  enum class Layer : uint8_t {
    kFramework,      // Python, MindSpore, CPU OP
    kRuntime,        // CANN
    kHardware,       // Ascend Hardware
    kCommunication,  // HCCL, Communication
    kAnalysis,       // Overlap Analysis, Scope Layer
    kHostCalls,      // OS Runtime API: calls that launch nothing
    kUnits,          // DPU, CCU, ...: work of the device beside its streams
    kOther,
  };
  Layer layer_of(const TrackInfo& track) const;

  void classify_tracks();
  void finish_framework(TrackId track);
  void finish_runtime(TrackId track);
  void finish_hardware(TrackId track);
  void finish_communication();
  void finish_operation(SliceRecord& slice, StringId group);
  void finish_transfer(SliceRecord& slice, StringId group, StringId whole);
  void use_row(const KernelRow& row, KernelDetail& detail) const;
  void link_operators();
  void add_unmatched_kernels();
  void add_steps();

  KernelTable& kernels_;
  const int64_t device_;
  RankBuilder& rank_;
  std::vector<Layer> layers_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_TRACE_VIEW_H_
