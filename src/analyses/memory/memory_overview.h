// One row for each pool of a rank, its steps, and what grows from step to step.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_OVERVIEW_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_OVERVIEW_H_

#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/allocation_places.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/memory/memory_scan.h"

namespace stepscope {

// A block counts as left behind when this many whole steps followed the one that allocated it and
// it was not released by the end of the recording.
inline constexpr size_t kLeakSteps = 2;
// Growth needs this many steps, and this share of them ending higher than the one before. The first
// step does not count: it makes what the later ones reuse.
inline constexpr size_t kGrowthSteps = 4;
inline constexpr double kGrowingShare = 0.8;

PoolName pool_name(const StoreReader& store, const RankId& rank, const MemoryPool& pool);

MemoryRow memory_row(const StoreReader& store, const RankId& rank, const MemoryPool& pool,
                     std::span<const StepRow> steps);
std::vector<MemoryStepRow> memory_steps(const StoreReader& store, const RankId& rank,
                                        const MemoryPool& pool, std::span<const StepRow> steps);
// Operators that leave blocks behind in at least three steps, and in at least half of those that
// could: by falling bytes.
std::vector<MemoryLeakRow> memory_leaks(const StoreReader& store, const RankId& rank,
                                        const MemoryPool& pool, std::span<const StepRow> steps,
                                        AllocationPlaces& places);

// Memory of a device as its driver reports it (deviceProperties of the trace); kNull: not given.
int64_t device_capacity(const StoreReader& store, size_t rank, int64_t device);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_OVERVIEW_H_
