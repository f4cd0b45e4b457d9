// Which operators of a data pipeline hold it up, by how full the queues between them are: the rules
// of MindInsight's guide, as pure functions of the queues.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_BOTTLENECK_H_
#define STEPSCOPE_ANALYSES_PIPELINE_BOTTLENECK_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace stepscope {

// MindInsight's helper: queues from `high` on count as full, leaves' queues below `low` as empty.
struct QueueThresholds {
  double high = 0.8;
  double low = 0.6;
};
// An input queue that is fuller than the output queue by more than this: the operator is slow.
inline constexpr double kUsageDifference = 0.1;

// An operator with the queue that it fills. The first node is the root, whose output the training
// takes.
struct QueueNode {
  double usage = 0;  // mean size over capacity
  bool has_queue = true;
  std::vector<size_t> children;  // the operators it takes from
};

// Positions of the operators that may be bottlenecks:
//   (a) those with a child whose queue is fuller than their own, in order, then
//   (b) leaves whose queue is low;
//   (c) when every queue behind the root is high, the root alone.
// MindInsight's roots have no queue. A root that has one (the iterator of a CPU run, a DataLoader)
// is judged by (a) and (b) like any other, and by (c) only while its own queue is not high: a full
// last queue means that the training is slower than the pipeline.
std::vector<size_t> bottleneck_operators(const std::vector<QueueNode>& nodes,
                                         const QueueThresholds& thresholds = {});

// What the guide suggests for a bottleneck of this type ("MapOp", "Map", "batch" ...).
std::string_view suggestion_for(std::string_view op_type, bool is_leaf);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_BOTTLENECK_H_
