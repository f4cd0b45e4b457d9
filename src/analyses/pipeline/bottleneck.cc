#include "analyses/pipeline/bottleneck.h"

#include <algorithm>
#include <cctype>

namespace stepscope {
namespace {

bool is_type(std::string_view op_type, std::string_view type) {
  if (op_type.size() >= 2 && op_type.ends_with("Op")) op_type.remove_suffix(2);
  return std::ranges::equal(op_type, type, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  });
}

}  // namespace

std::vector<size_t> bottleneck_operators(const std::vector<QueueNode>& nodes,
                                         const QueueThresholds& thresholds) {
  std::vector<size_t> slow;
  if (nodes.empty()) return slow;
  const auto is_high = [&](const QueueNode& node) { return node.usage >= thresholds.high; };
  const bool root_is_full = nodes[0].has_queue && is_high(nodes[0]);
  if (nodes.size() > 1 && std::all_of(nodes.begin() + 1, nodes.end(), is_high)) {
    if (!root_is_full) slow.push_back(0);
    return slow;
  }
  const size_t first = nodes[0].has_queue ? 0 : 1;
  for (size_t i = first; i < nodes.size(); ++i) {
    const bool starves = std::ranges::any_of(nodes[i].children, [&](size_t child) {
      return nodes[child].usage - nodes[i].usage > kUsageDifference;
    });
    if (starves) slow.push_back(i);
  }
  for (size_t i = first; i < nodes.size(); ++i) {
    if (nodes[i].children.empty() && nodes[i].usage < thresholds.low) slow.push_back(i);
  }
  return slow;
}

std::string_view suggestion_for(std::string_view op_type, bool is_leaf) {
  if (is_type(op_type, "Generator")) {
    return "raise num_parallel_workers, or replace the generator by a MindRecordDataset";
  }
  if (is_type(op_type, "Map")) {
    return "raise num_parallel_workers; if it runs Python code, make that cheaper";
  }
  if (is_type(op_type, "Batch")) return "adjust prefetch_size";
  if (is_leaf) return "raise num_parallel_workers of the dataset that reads the data";
  return "raise num_parallel_workers";
}

}  // namespace stepscope
