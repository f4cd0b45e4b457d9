// One pass over the memory events of a rank: totals of every pool, its blocks with their lifetimes,
// and what happened in each step. The other analyses of memory start from this.
//
// A pool is what one allocator hands out on one device. Inputs give events (allocations and
// releases, with or without totals), samples of totals, or both.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_SCAN_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_SCAN_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

struct MemoryBlock {
  int64_t start_ns = 0;
  int64_t end_ns = kNull;  // kNull: not released in the recording
  int64_t bytes = 0;
  int64_t slice = kNull;  // row of the operator that allocated it
  int64_t name = kNull;   // string id of the operator or tensor
};

// Totals after an event. `place` counts the events of the pool.
struct MemoryMoment {
  int64_t ts_ns = kNull;
  int64_t place = kNull;
  int64_t allocated = kNull;
  int64_t reserved = kNull;
};

struct MemoryStep {
  int64_t step = 0;
  int64_t start_bytes = kNull;  // allocated before its first event
  int64_t end_bytes = kNull;    // allocated after its last
  int64_t peak_bytes = kNull;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t releases = 0;
  int64_t released_bytes = 0;
  bool complete = true;
};

struct MemoryPool {
  int64_t device_kind = kNull;  // string id
  int64_t device = kNull;
  int64_t component = kNull;  // string id

  int64_t events = 0;  // rows of all kinds
  int64_t allocations = 0;
  int64_t releases = 0;
  int64_t samples = 0;  // of totals only
  int64_t allocated_bytes = 0;
  int64_t released_bytes = 0;
  bool has_totals = false;       // else totals are sums of the events, from 0
  int64_t before_bytes = kNull;  // allocated before the first event
  int64_t end_bytes = kNull;
  MemoryMoment peak;           // most allocated
  MemoryMoment peak_reserved;  // most reserved
  int64_t peak_active = kNull;
  int64_t first_ns = kNull;
  int64_t last_ns = kNull;
  int64_t unknown_releases = 0;  // of blocks from before the recording
  int64_t unknown_released_bytes = 0;
  int64_t reused_addresses = 0;  // allocated again without a release: that was lost

  std::vector<MemoryBlock> blocks;  // by rising start
  std::vector<MemoryStep> steps;    // one for each step of the rank
};

struct MemoryScan {
  std::span<const StepRow> steps;
  std::vector<MemoryPool> pools;  // in order of their first event
};

// Rows without a time (plans) are not here. 40 bytes a block, 60 ns an event. The steps must
// outlive the scan.
MemoryScan scan_memory(const StoreReader& store, size_t rank, std::span<const StepRow> steps);

// Whether the block is allocated at this moment (its end is not).
inline bool lives_at(const MemoryBlock& block, int64_t ts_ns) {
  return block.start_ns <= ts_ns && (block.end_ns == kNull || ts_ns < block.end_ns);
}

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_SCAN_H_
