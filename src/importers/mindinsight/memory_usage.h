// memory_usage_N.pb: the memory plan of every graph that ran on a device. Which tensors each node
// (operator) makes, and from which to which node a tensor lives.
//
// The plan has an order but no clock, so its rows of `memory` have no time; they are in the order
// of execution.
//
// Cost: the file and about 100 bytes a node or tensor in memory; at most four million of each.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_USAGE_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_USAGE_H_

#include <cstdint>
#include <string>

#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// Adds a sample of the total at each node to `memory`, and the source tables memory_usage_graphs,
// memory_usage_nodes and memory_usage_tensors. Returns the number of nodes and tensors.
int64_t read_memory_usage(const std::string& path, int64_t device, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_USAGE_H_
