// Memory plans of graphs (memory_usage_N.pb of MindInsight's time): what is allocated while each
// node runs, in order of execution, without a clock.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_PLAN_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/memory_rows.h"

namespace stepscope {

struct MemoryPlans {
  std::vector<MemoryRow> overview;
  std::vector<MemoryPoint> curve;  // one point for each node
  std::vector<MemoryOperatorRow> operators;
};

MemoryPlans memory_plans(const StoreReader& store, const RankId& rank);

// The graph that a plan's pool is named after.
int64_t plan_graph_id(const PoolName& pool);

// Tensors that live at node `position` of the graph, by falling bytes, and its static memory: they
// add up to the total there. Names are <node>:<output>, as MindInsight gives them; types, shapes
// and formats come from the description of the operators, where the folder has it.
std::vector<MemoryOwnerRow> plan_owners_at(const StoreReader& store, const RankId& rank,
                                           int64_t graph_id, int64_t position);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_PLAN_H_
