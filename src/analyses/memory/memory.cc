#include "analyses/memory/memory.h"

#include <iterator>

#include "analyses/memory/memory_overview.h"
#include "analyses/memory/memory_owners.h"
#include "analyses/memory/memory_plan.h"

namespace stepscope {
namespace {

template <class Rows>
void move_to(Rows& to, Rows&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void MemoryResult::append(MemoryResult&& other) {
  move_to(overview, std::move(other.overview));
  move_to(owners, std::move(other.owners));
  move_to(peak, std::move(other.peak));
  move_to(steps, std::move(other.steps));
  move_to(leaks, std::move(other.leaks));
}

MemoryResult memory(const StoreReader& store, const RankId& rank, const MemoryScan& scan) {
  MemoryResult result;
  AllocationPlaces places(store, rank.position);
  for (const MemoryPool& pool : scan.pools) {
    result.overview.push_back(memory_row(store, rank, pool, scan.steps));
    move_to(result.steps, memory_steps(store, rank, pool, scan.steps));
    move_to(result.leaks, memory_leaks(store, rank, pool, scan.steps, places));
    if (pool.blocks.empty() || pool.peak.ts_ns == kNull) continue;
    move_to(result.owners, memory_owners_at(store, rank, pool, scan.steps, places, pool.peak.ts_ns,
                                            pool.peak.allocated, kOwnersAtPeak));
    move_to(result.peak,
            memory_groups_at(store, rank, pool, places, pool.peak.ts_ns, pool.peak.allocated));
  }
  for (MemoryRow& row : memory_plans(store, rank).overview) {
    if (row.peak_position != kNull) {
      const auto owners = plan_owners_at(store, rank, plan_graph_id(row), row.peak_position);
      move_to(result.owners, std::vector(owners));
      move_to(result.peak, std::vector(owners));
    }
    result.overview.push_back(std::move(row));
  }
  return result;
}

}  // namespace stepscope
