#include "analyses/memory/memory.h"

#include <utility>

#include "analyses/common/all_ranks.h"
#include "analyses/memory/memory_overview.h"
#include "analyses/memory/memory_owners.h"
#include "analyses/memory/memory_plan.h"

namespace stepscope {

void MemoryResult::append(MemoryResult&& other) {
  append_rows(overview, std::move(other.overview));
  append_rows(owners, std::move(other.owners));
  append_rows(peak, std::move(other.peak));
  append_rows(steps, std::move(other.steps));
  append_rows(leaks, std::move(other.leaks));
}

MemoryResult memory(const StoreReader& store, const RankId& rank, const MemoryScan& scan) {
  MemoryResult result;
  AllocationPlaces places(store, rank.position);
  for (const MemoryPool& pool : scan.pools) {
    result.overview.push_back(memory_row(store, rank, pool, scan.steps));
    append_rows(result.steps, memory_steps(store, rank, pool, scan.steps));
    append_rows(result.leaks, memory_leaks(store, rank, pool, scan.steps, places));
    if (pool.blocks.empty() || pool.peak.ts_ns == kNull) continue;
    append_rows(result.owners,
                memory_owners_at(store, rank, pool, scan.steps, places, pool.peak.ts_ns,
                                 pool.peak.allocated, kOwnersAtPeak));
    append_rows(result.peak,
                memory_groups_at(store, rank, pool, places, pool.peak.ts_ns, pool.peak.allocated));
  }
  for (MemoryRow& row : memory_plans(store, rank).overview) {
    if (row.peak_position != kNull) {
      const auto owners = plan_owners_at(store, rank, plan_graph_id(row), row.peak_position);
      append_rows(result.owners, std::vector(owners));
      append_rows(result.peak, std::vector(owners));
    }
    result.overview.push_back(std::move(row));
  }
  return result;
}

}  // namespace stepscope
