// Who holds the memory of a pool at a moment.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_OWNERS_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_OWNERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/allocation_places.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/memory/memory_scan.h"

namespace stepscope {

// The largest blocks that live at `ts_ns`, by falling bytes, at most `most` of them; the rest is
// one row named "(others)". `allocated_bytes` is the pool's total then: what of it no block
// explains was there before the recording and is one row of the category "before". So the rows add
// up to it.
std::vector<MemoryOwnerRow> memory_owners_at(const StoreReader& store, const RankId& rank,
                                             const MemoryPool& pool, std::span<const StepRow> steps,
                                             AllocationPlaces& places, int64_t ts_ns,
                                             int64_t allocated_bytes, size_t most);

// The same, with one row for each operator, module and category.
std::vector<MemoryOwnerRow> memory_groups_at(const StoreReader& store, const RankId& rank,
                                             const MemoryPool& pool, AllocationPlaces& places,
                                             int64_t ts_ns, int64_t allocated_bytes);

// Bytes allocated in the pool at a moment: after the last event that is not later. Reads the
// events.
int64_t allocated_at(const StoreReader& store, size_t rank, const MemoryPool& pool, int64_t ts_ns);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_OWNERS_H_
