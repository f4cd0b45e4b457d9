// The content of memory_usage_N.pb: graphs, their nodes in the order of execution, and the tensors
// that live from one node to another.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_PLAN_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/rank_builder.h"

namespace stepscope::mindinsight {

struct PlanNode {
  std::string_view name;  // text is a view into the file's bytes, here and below
  int64_t id = 0;
  std::vector<int64_t> inputs;
  std::vector<int64_t> outputs;
  std::vector<int64_t> workspaces;
  int64_t allocations = 0;  // distinct tensors it makes
  int64_t allocated_bytes = 0;
};

struct PlanTensor {
  int64_t id = 0;
  int64_t size = 0;
  std::string_view type;
  std::string_view life_long;
  int64_t life_start = 0;
  int64_t life_end = 0;
  // Nodes [first, last] hold it; kNull: its lifetime cannot be placed.
  int64_t first = kNull;
  int64_t last = kNull;
  // The node that makes it, by position, and which of its outputs it is; kNull: an input.
  int64_t source_position = kNull;
  int64_t source_output = kNull;
};

struct PlanGraph {
  int64_t id = 0;
  int64_t static_bytes = 0;
  std::string_view fp_start;
  std::string_view bp_end;
  std::vector<PlanNode> nodes;
  std::vector<PlanTensor> tensors;
  std::vector<int64_t> totals;  // per node; kNull beyond 64 bits
  int64_t peak_bytes = kNull;
};

struct MemoryPlan {
  std::vector<PlanGraph> graphs;
  int64_t device_bytes = kNull;  // memory of the device that the framework may use
};

// Reads what is readable of `bytes`, places the tensors and sums up. Damage, unknown fields and
// tensors that cannot be placed are counted. `path` is for messages.
MemoryPlan read_memory_plan(std::string_view bytes, const std::string& path,
                            QualityReport& quality);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_MEMORY_PLAN_H_
