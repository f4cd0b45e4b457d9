#include "analyses/memory/memory_scan.h"

#include <algorithm>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/memory/address_map.h"
#include "analyses/memory/pool_reader.h"

namespace stepscope {
namespace {

void keep_larger(MemoryMoment& peak, int64_t value, int64_t best, const PoolEvent& event) {
  if (value == kNull || (best != kNull && value <= best)) return;
  peak = {event.ts_ns, event.place, event.allocated, event.reserved};
}

class Scanner {
 public:
  Scanner(const StoreReader& store, size_t rank, std::span<const StepRow> steps)
      : reader_(store, rank), moments_(steps) {
    scan_.steps = steps;
  }

  MemoryScan scan() {
    reader_.read([&](const PoolEvent& event) { add(event); });
    for (MemoryPool& pool : scan_.pools) {
      // Where each event came with its lifetime, releases are in order of allocation, not of time.
      std::ranges::stable_sort(pool.blocks, {}, &MemoryBlock::start_ns);
    }
    return std::move(scan_);
  }

 private:
  void add(const PoolEvent& event) {
    if (event.pool == scan_.pools.size()) {
      MemoryPool pool;
      pool.device_kind = reader_.keys()[event.pool].device_kind;
      pool.device = reader_.keys()[event.pool].device;
      pool.component = reader_.keys()[event.pool].component;
      pool.first_ns = event.ts_ns;
      for (const StepRow& step : scan_.steps) {
        pool.steps.emplace_back();
        pool.steps.back().step = step.step;
        pool.steps.back().complete = step.complete;
      }
      // An inferred one ends where the next begins, the last with its last operator: too early.
      if (!pool.steps.empty() && scan_.steps.back().source == "inferred")
        pool.steps.back().complete = false;
      scan_.pools.push_back(std::move(pool));
      live_.emplace_back();
    }
    MemoryPool& pool = scan_.pools[event.pool];
    ++pool.events;
    pool.last_ns = event.ts_ns;
    pool.has_totals = pool.has_totals || event.gives_total;
    if (pool.before_bytes == kNull && event.allocated != kNull)
      pool.before_bytes = bounded_minus(event.allocated, event.bytes == kNull ? 0 : event.bytes);
    if (event.allocated != kNull) pool.end_bytes = event.allocated;
    keep_larger(pool.peak, event.allocated, pool.peak.allocated, event);
    keep_larger(pool.peak_reserved, event.reserved, pool.peak_reserved.reserved, event);
    pool.peak_active = std::max(pool.peak_active, event.active);  // kNull is the smallest
    if (event.bytes == kNull) {
      ++pool.samples;
    } else if (event.bytes >= 0) {
      allocate(pool, event);
    } else {
      release(pool, event);
    }
    add_to_step(pool, event);
  }

  void allocate(MemoryPool& pool, const PoolEvent& event) {
    ++pool.allocations;
    pool.allocated_bytes = bounded_plus(pool.allocated_bytes, event.bytes);
    MemoryBlock block;
    block.start_ns = event.ts_ns;
    block.bytes = event.bytes;
    block.slice = event.slice;
    block.name = event.name;
    if (event.address == kNull && event.duration_ns != kNull && event.duration_ns >= 0)
      block.end_ns = bounded_plus(event.ts_ns, event.duration_ns);
    if (event.address != kNull) {
      const auto number = static_cast<uint32_t>(pool.blocks.size());
      const uint32_t before = live_[event.pool].put(event.address, number);
      if (before != AddressMap::kNone) {
        ++pool.reused_addresses;
        pool.blocks[before].end_ns = event.ts_ns;
      }
    }
    pool.blocks.push_back(block);
  }

  void release(MemoryPool& pool, const PoolEvent& event) {
    ++pool.releases;
    pool.released_bytes = bounded_minus(pool.released_bytes, event.bytes);
    if (event.address == kNull) {
      // Its allocation says how long it lived, if it is in the recording.
      const bool known = event.duration_ns != kNull &&
                         bounded_minus(event.ts_ns, event.duration_ns) >= pool.first_ns;
      if (known) return;
    } else if (const uint32_t block = live_[event.pool].take(event.address);
               block != AddressMap::kNone) {
      pool.blocks[block].end_ns = event.ts_ns;
      return;
    }
    ++pool.unknown_releases;
    pool.unknown_released_bytes = bounded_minus(pool.unknown_released_bytes, event.bytes);
  }

  void add_to_step(MemoryPool& pool, const PoolEvent& event) {
    const size_t at = moments_.find(event.ts_ns);
    if (at == StepOfMoment::kNone) return;
    MemoryStep& step = pool.steps[at];
    const int64_t change = event.bytes == kNull ? 0 : event.bytes;
    if (event.allocated != kNull) {
      if (step.start_bytes == kNull) step.start_bytes = bounded_minus(event.allocated, change);
      step.end_bytes = event.allocated;
      step.peak_bytes = std::max(step.peak_bytes, event.allocated);
    }
    if (change > 0) {
      ++step.allocations;
      step.allocated_bytes = bounded_plus(step.allocated_bytes, change);
    } else if (change < 0) {
      ++step.releases;
      step.released_bytes = bounded_minus(step.released_bytes, change);
    }
  }

  PoolReader reader_;
  MemoryScan scan_;
  std::vector<AddressMap> live_;  // by pool
  StepOfMoment moments_;
};

}  // namespace

MemoryScan scan_memory(const StoreReader& store, size_t rank, std::span<const StepRow> steps) {
  return Scanner(store, rank, steps).scan();
}

}  // namespace stepscope
