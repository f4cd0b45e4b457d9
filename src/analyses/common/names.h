// What the names that frameworks give their operators and marks say about them. The one place where
// analyses look into names.
#ifndef STEPSCOPE_ANALYSES_COMMON_NAMES_H_
#define STEPSCOPE_ANALYSES_COMMON_NAMES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

// "ProfilerStep#7"
bool is_step_mark_name(std::string_view name);
// Waiting for the next batch: torch's DataLoader and DataPipe, MindSpore's GetNext.
bool is_data_fetch_name(std::string_view name);
// Operators of the backward pass: autograd nodes, MindSpore's scope Gradients.
bool is_backward_name(std::string_view name);
// MindSpore's PyNative mode has no scopes: operators that only a backward pass has (ReluGrad,
// Conv2DBackpropInput).
bool is_gradient_operator(std::string_view name);
// The optimizer's marks ("Optimizer.step#SGD.step", "Optimizer.zero_grad#...") and its scope.
bool is_optimizer_name(std::string_view name);
// Host calls of collectives that mark themselves ("nccl:all_reduce", "gloo:broadcast").
bool is_collective_call_name(std::string_view name);
// Receiving from another stage of a pipeline; of NCCL's SendRecv ask send_receive_kinds() too.
bool is_receive_name(std::string_view name);
// Categories of calls into a device's runtime or driver.
bool is_runtime_category(std::string_view category);
// Calls that return when the device is done.
bool is_blocking_call_name(std::string_view name);

// What somebody typed as a part of a name, upper and lower case alike.
bool contains_ignoring_case(std::string_view name, std::string_view part);

// A property of every string of a store, so that a row costs a lookup: one pass over the distinct
// strings.
template <class... Tests>
std::vector<uint8_t> classify_strings(const StoreReader& store, Tests... tests) {
  std::vector<uint8_t> classes(store.string_count());
  for (size_t id = 0; id < classes.size(); ++id) {
    const std::string_view text = store.string(static_cast<int64_t>(id));
    int bit = 0;
    uint8_t bits = 0;
    ((bits = static_cast<uint8_t>(bits | (tests(text) ? 1u << bit : 0u)), ++bit), ...);
    classes[id] = bits;
  }
  return classes;
}
inline uint8_t class_of(const std::vector<uint8_t>& classes, int64_t string_id) {
  return string_id >= 0 && static_cast<size_t>(string_id) < classes.size()
             ? classes[static_cast<size_t>(string_id)]
             : 0;
}

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_NAMES_H_
