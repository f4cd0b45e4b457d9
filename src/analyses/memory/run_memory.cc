#include "analyses/memory/run_memory.h"

#include <algorithm>
#include <utility>

#include "analyses/common/all_ranks.h"
#include "analyses/memory/allocation_places.h"
#include "analyses/memory/memory_operators.h"
#include "analyses/memory/memory_overview.h"
#include "analyses/memory/memory_owners.h"
#include "analyses/memory/memory_plan.h"
#include "base/parallel.h"

namespace stepscope {

std::vector<MemoryScan> run_memory_scans(const StoreReader& store,
                                         const std::vector<std::span<const StepRow>>& steps,
                                         unsigned threads) {
  std::vector<MemoryScan> all(steps.size());
  parallel_for(all.size(), threads,
               [&](size_t rank) { all[rank] = scan_memory(store, rank, steps[rank]); });
  return all;
}

MemoryResult run_memory(const StoreReader& store, const std::vector<RankId>& ranks,
                        const std::vector<MemoryScan>& scans, unsigned threads) {
  std::vector<MemoryResult> each(ranks.size());
  parallel_for(ranks.size(), threads,
               [&](size_t i) { each[i] = memory(store, ranks[i], scans[ranks[i].position]); });
  MemoryResult all;
  for (MemoryResult& one : each) all.append(std::move(one));
  return all;
}

std::vector<MemoryPoint> run_memory_curve(const StoreReader& store,
                                          const std::vector<RankId>& ranks,
                                          const std::vector<MemoryScan>& scans,
                                          const CurveRange& range, unsigned threads) {
  return rows_of_ranks<MemoryPoint>(ranks.size(), threads, [&](size_t i) {
    const RankId& rank = ranks[i];
    auto points = memory_curve(store, rank, scans[rank.position].steps, range);
    append_rows(points, memory_plans(store, rank).curve);
    return points;
  });
}

std::vector<MemoryOperatorRow> run_memory_operators(const StoreReader& store,
                                                    const std::vector<RankId>& ranks,
                                                    unsigned threads) {
  return rows_of_ranks<MemoryOperatorRow>(ranks.size(), threads, [&](size_t i) {
    const RankId& rank = ranks[i];
    auto rows = memory_operators(store, rank);
    append_rows(rows, memory_plans(store, rank).operators);
    return rows;
  });
}

std::vector<MemoryOwnerRow> run_memory_owners_at(const StoreReader& store,
                                                 const std::vector<RankId>& ranks,
                                                 const std::vector<MemoryScan>& scans,
                                                 const MemoryRow& pool, int64_t moment,
                                                 size_t most) {
  for (const RankId& rank : ranks) {
    if (rank.rank != pool.rank || rank.window != pool.window) continue;
    if (pool.source == "plan") return plan_owners_at(store, rank, plan_graph_id(pool), moment);
    AllocationPlaces places(store, rank.position);
    const MemoryScan& scan = scans[rank.position];
    for (const MemoryPool& candidate : scan.pools) {
      const PoolName name = pool_name(store, rank, candidate);
      const bool is_it = name.device_kind == pool.device_kind && name.device == pool.device &&
                         name.component == pool.component;
      if (!is_it) continue;
      return memory_owners_at(store, rank, candidate, scan.steps, places, moment,
                              allocated_at(store, rank.position, candidate, moment), most);
    }
  }
  return {};
}

std::vector<Reason> memory_reasons(const MemoryResult& found) {
  std::vector<Reason> reasons;
  if (found.overview.empty()) {
    for (const char* table : {"memory", "memory_curve", "memory_leaks", "memory_operators",
                              "memory_owners", "memory_peak", "memory_steps"}) {
      reasons.push_back({table, "no memory events: record with profile_memory=True"});
    }
    return reasons;
  }
  const auto is_sampled = [](const MemoryRow& row) { return row.source == "samples"; };
  if (std::ranges::all_of(found.overview, is_sampled)) {
    for (const char* table : {"memory_leaks", "memory_operators", "memory_owners", "memory_peak"})
      reasons.push_back({table, "the input has totals of the memory only, no allocations"});
  } else if (found.leaks.empty()) {
    reasons.push_back(
        {"memory_leaks", "no operator leaves blocks behind in three or more of the steps"});
  }
  if (found.steps.empty())
    reasons.push_back({"memory_steps", "there are no steps, or the memory is a plan"});
  return reasons;
}

}  // namespace stepscope
