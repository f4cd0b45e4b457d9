#include "analyses/common/names.h"

#include <algorithm>
#include <cctype>

namespace stepscope {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "MmBackward0" and "MmBackward" alike.
bool ends_with_before_digits(std::string_view name, std::string_view ending) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with(ending);
}

// The last component of a scope path.
std::string_view last_component(std::string_view name) {
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace

bool is_step_mark_name(std::string_view name) { return name.starts_with("ProfilerStep#"); }

bool is_data_fetch_name(std::string_view name) {
  if (name.starts_with("enumerate(DataLoader)#") || name.starts_with("enumerate(DataPipe)#"))
    return true;
  const std::string_view operation = last_component(name);
  return operation.starts_with("GetNext") || operation.starts_with("InitDataSetQueue") ||
         operation.starts_with("DynamicGetNext");
}

bool is_backward_name(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function") ||
         name.starts_with("torch::autograd::") || name.starts_with("Gradients/") ||
         ends_with_before_digits(name, "Backward");
}

bool is_gradient_operator(std::string_view name) {
  const std::string_view operation = last_component(name);
  return contains(operation, "Grad") || contains(operation, "Backprop");
}

bool is_optimizer_name(std::string_view name) {
  return name.starts_with("Optimizer.") || contains(name, "/optimizer-");
}

bool is_collective_call_name(std::string_view name) {
  std::string_view operation;
  if (name.starts_with("nccl:") || name.starts_with("gloo:")) operation = name.substr(5);
  constexpr std::string_view kOperations[] = {"broadcast", "reduce", "all_reduce", "all_gather",
                                              "reduce_scatter"};
  return std::find(std::begin(kOperations), std::end(kOperations), operation) !=
         std::end(kOperations);
}

bool is_receive_name(std::string_view name) {
  return name.starts_with("hcom_receive") || contains(name, "SendRecv") ||
         contains(name, "Receive-op") || name == "recv" || name.starts_with("nccl:recv");
}

bool is_runtime_category(std::string_view category) {
  return category == "Runtime" || category == "acl" || category == "node" ||
         category.ends_with("_runtime") || category.ends_with("_driver");
}

bool is_blocking_call_name(std::string_view name) {
  return contains(name, "Synchronize") || contains(name, "synchronize");
}

bool contains_ignoring_case(std::string_view name, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(name.begin(), name.end(), part.begin(), part.end(), same) != name.end();
}

}  // namespace stepscope
