#include "analyses/memory/memory_owners.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/memory/memory_overview.h"
#include "analyses/memory/pool_reader.h"
#include "analyses/steps/step_number.h"

namespace stepscope {
namespace {

void by_falling_bytes(std::vector<MemoryOwnerRow>& rows) {
  std::ranges::stable_sort(rows, std::greater<>(), &MemoryOwnerRow::bytes);
}

void set_shares(std::vector<MemoryOwnerRow>& rows, int64_t allocated_bytes) {
  if (allocated_bytes == kNull || allocated_bytes <= 0) return;
  for (MemoryOwnerRow& row : rows)
    row.share = static_cast<double>(row.bytes) / static_cast<double>(allocated_bytes);
}

// What was allocated before the recording began, the part of it that is still there.
void add_what_was_before(const PoolName& pool, int64_t known_bytes, int64_t allocated_bytes,
                         std::vector<MemoryOwnerRow>& rows) {
  if (allocated_bytes == kNull || allocated_bytes == known_bytes) return;
  MemoryOwnerRow row;
  static_cast<PoolName&>(row) = pool;
  row.name = "(before the recording)";
  row.category = "before";
  row.bytes = bounded_minus(allocated_bytes, known_bytes);
  row.blocks = kNull;
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<MemoryOwnerRow> memory_owners_at(const StoreReader& store, const RankId& rank,
                                             const MemoryPool& pool, std::span<const StepRow> steps,
                                             AllocationPlaces& places, int64_t ts_ns,
                                             int64_t allocated_bytes, size_t most) {
  std::vector<const MemoryBlock*> live;
  int64_t known_bytes = 0;
  for (const MemoryBlock& block : pool.blocks) {
    if (!lives_at(block, ts_ns)) continue;
    live.push_back(&block);
    known_bytes = bounded_plus(known_bytes, block.bytes);
  }
  const auto larger = [](const MemoryBlock* a, const MemoryBlock* b) {
    return a->bytes > b->bytes;
  };
  std::stable_sort(live.begin(), live.end(), larger);

  const PoolName name = pool_name(store, rank, pool);
  std::vector<MemoryOwnerRow> rows;
  MemoryOwnerRow others;
  static_cast<PoolName&>(others) = name;
  others.name = "(others)";
  others.blocks = 0;
  StepNumber step_number(steps);
  for (size_t i = 0; i < live.size(); ++i) {
    const MemoryBlock& block = *live[i];
    if (i >= most) {
      ++others.blocks;
      others.bytes = bounded_plus(others.bytes, block.bytes);
      continue;
    }
    const AllocationPlace& place = places.at(block.slice, block.name);
    MemoryOwnerRow row;
    static_cast<PoolName&>(row) = name;
    row.name = store.string(block.name);
    row.bytes = block.bytes;
    row.category = place.category;
    row.module = place.module;
    row.start_ts = block.start_ns;
    row.end_ts = block.end_ns;
    if (block.end_ns != kNull) row.lifetime_ns = block.end_ns - block.start_ns;
    row.step = step_number.at(block.start_ns);
    rows.push_back(std::move(row));
  }
  add_what_was_before(name, known_bytes, allocated_bytes, rows);
  by_falling_bytes(rows);
  if (others.blocks > 0) rows.push_back(std::move(others));
  set_shares(rows, allocated_bytes);
  return rows;
}

std::vector<MemoryOwnerRow> memory_groups_at(const StoreReader& store, const RankId& rank,
                                             const MemoryPool& pool, AllocationPlaces& places,
                                             int64_t ts_ns, int64_t allocated_bytes) {
  const PoolName name = pool_name(store, rank, pool);
  std::map<std::tuple<int64_t, std::string_view, std::string_view>, MemoryOwnerRow> groups;
  int64_t known_bytes = 0;
  for (const MemoryBlock& block : pool.blocks) {
    if (!lives_at(block, ts_ns)) continue;
    known_bytes = bounded_plus(known_bytes, block.bytes);
    const AllocationPlace& place = places.at(block.slice, block.name);
    const auto [at, is_new] = groups.try_emplace({block.name, place.module, place.category});
    MemoryOwnerRow& row = at->second;
    if (is_new) {
      static_cast<PoolName&>(row) = name;
      row.name = store.string(block.name);
      row.module = place.module;
      row.category = place.category;
      row.blocks = 0;
    }
    ++row.blocks;
    row.bytes = bounded_plus(row.bytes, block.bytes);
  }
  std::vector<MemoryOwnerRow> rows;
  for (auto& [key, row] : groups) rows.push_back(std::move(row));
  add_what_was_before(name, known_bytes, allocated_bytes, rows);
  by_falling_bytes(rows);
  set_shares(rows, allocated_bytes);
  return rows;
}

int64_t allocated_at(const StoreReader& store, size_t rank, const MemoryPool& pool, int64_t ts_ns) {
  PoolReader reader(store, rank);
  const PoolKey wanted{pool.device_kind, pool.device, pool.component};
  int64_t allocated = pool.before_bytes;
  reader.read([&](const PoolEvent& event) {
    if (event.ts_ns <= ts_ns && event.allocated != kNull && reader.keys()[event.pool] == wanted)
      allocated = event.allocated;
  });
  return allocated;
}

}  // namespace stepscope
