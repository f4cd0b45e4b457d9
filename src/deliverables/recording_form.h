// Whose files the ones we write look like. MindSpore's and torch_npu's differ in columns, units and
// keys; a run of another kind gets torch_npu's.
#ifndef STEPSCOPE_DELIVERABLES_RECORDING_FORM_H_
#define STEPSCOPE_DELIVERABLES_RECORDING_FORM_H_

#include "store/store_reader.h"

namespace stepscope {

struct RecordingForm {
  bool is_mindspore = false;
  bool is_npu = false;
  bool is_level0 = false;         // of an NPU: kernels without shapes and counters
  bool has_marked_steps = false;  // by the program
  bool sinks_graphs = false;      // MindSpore's jit_level O2: a launch is not of one step

  // Whether kernels and collectives are told apart by steps in the files.
  bool numbers_steps() const { return has_marked_steps && !sinks_graphs; }
  bool is_torch_npu() const { return is_npu && !is_mindspore; }
};

RecordingForm recording_form(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_RECORDING_FORM_H_
