#include "analyses/memory/memory_overview.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include "analyses/common/bounded_math.h"
#include "analyses/steps/step_number.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

double share(int64_t part, int64_t of) {
  return part == kNull || of == kNull || of <= 0
             ? kNoShare
             : static_cast<double>(part) / static_cast<double>(of);
}

void judge_growth(const MemoryPool& pool, MemoryRow& row) {
  std::vector<int64_t> ends;
  for (const MemoryStep& step : pool.steps) {
    if (step.complete && step.end_bytes != kNull) ends.push_back(step.end_bytes);
  }
  if (ends.size() < kGrowthSteps) return;
  ends.erase(ends.begin());
  int64_t rising = 0;
  for (size_t i = 1; i < ends.size(); ++i) rising += ends[i] > ends[i - 1];
  const auto pairs = static_cast<int64_t>(ends.size()) - 1;
  row.growth_bytes_per_step = bounded_minus(ends.back(), ends.front()) / pairs;
  row.growing_share = static_cast<double>(rising) / static_cast<double>(pairs);
  row.leak_suspected = row.growth_bytes_per_step > 0 && row.growing_share >= kGrowingShare;
}

}  // namespace

PoolName pool_name(const StoreReader& store, const RankId& rank, const MemoryPool& pool) {
  return {rank.rank, rank.window, store.string(pool.device_kind), pool.device,
          store.string(pool.component)};
}

int64_t device_capacity(const StoreReader& store, size_t rank, int64_t device) {
  const auto versions = json_tree(text_at(store, Table::kRanks, "versions", rank));
  if (!versions.is_object()) return kNull;
  const auto properties = versions.find("deviceProperties");
  if (properties == versions.end() || !properties->is_array()) return kNull;
  for (const auto& one : *properties) {
    if (!one.is_object()) continue;
    const auto id = one.find("id");
    const auto bytes = one.find("totalGlobalMem");
    if (id == one.end() || bytes == one.end()) continue;
    if (!id->is_number_integer() || !bytes->is_number_integer()) continue;
    if (id->get<int64_t>() == device) return bytes->get<int64_t>();
  }
  return kNull;
}

MemoryRow memory_row(const StoreReader& store, const RankId& rank, const MemoryPool& pool,
                     std::span<const StepRow> steps) {
  MemoryRow row;
  static_cast<PoolName&>(row) = pool_name(store, rank, pool);
  row.source = pool.allocations + pool.releases > 0 ? "events" : "samples";
  row.events = pool.events;
  row.allocations = pool.allocations;
  row.releases = pool.releases;
  row.samples = pool.samples;
  row.allocated_bytes = pool.allocated_bytes;
  row.released_bytes = pool.released_bytes;
  if (row.device_kind != "CPU")
    row.capacity_bytes = device_capacity(store, rank.position, pool.device);
  // Where totals are sums of the events, what was there before is not known.
  if (pool.has_totals) row.static_bytes = pool.before_bytes;
  row.peak_bytes = pool.peak.allocated;
  row.peak_ts = pool.peak.ts_ns;
  row.peak_position = pool.peak.place;
  if (row.peak_ts != kNull) row.peak_step = StepNumber(steps).at(row.peak_ts);
  row.peak_share = share(row.peak_bytes, row.capacity_bytes);
  row.peak_active_bytes = pool.peak_active;
  row.peak_reserved_bytes = pool.peak_reserved.reserved;
  row.peak_reserved_ts = pool.peak_reserved.ts_ns;
  row.reserved_at_peak_bytes = pool.peak.reserved;
  // The host's allocators report 0: they keep no reserve of their own.
  if (pool.peak.reserved != kNull && pool.peak.reserved > 0 && pool.peak.allocated != kNull) {
    row.fragmentation_bytes = bounded_minus(pool.peak.reserved, pool.peak.allocated);
    row.fragmentation_share = share(row.fragmentation_bytes, pool.peak.reserved);
  }
  row.end_bytes = pool.end_bytes;
  row.unknown_releases = pool.unknown_releases;
  row.unknown_released_bytes = pool.unknown_released_bytes;
  row.lost_releases = pool.reused_addresses;
  double lifetimes_ns = 0;
  int64_t released = 0;
  for (const MemoryBlock& block : pool.blocks) {
    if (block.end_ns == kNull) {
      ++row.unreleased_blocks;
      row.unreleased_bytes = bounded_plus(row.unreleased_bytes, block.bytes);
    } else {
      ++released;
      lifetimes_ns += static_cast<double>(block.end_ns - block.start_ns);
    }
  }
  if (released > 0) row.mean_lifetime_ns = lifetimes_ns / static_cast<double>(released);
  if (pool.allocations > 0) row.churn = share(row.allocated_bytes, row.peak_bytes);
  judge_growth(pool, row);
  return row;
}

std::vector<MemoryStepRow> memory_steps(const StoreReader& store, const RankId& rank,
                                        const MemoryPool& pool, std::span<const StepRow> steps) {
  std::vector<MemoryStepRow> rows;
  int64_t carried = pool.before_bytes;
  for (const MemoryStep& step : pool.steps) {
    MemoryStepRow row;
    static_cast<PoolName&>(row) = pool_name(store, rank, pool);
    row.step = step.step;
    row.complete = step.complete;
    // A step without events holds what was there before it.
    row.start_bytes = step.start_bytes == kNull ? carried : step.start_bytes;
    row.peak_bytes = step.peak_bytes == kNull ? carried : step.peak_bytes;
    row.end_bytes = step.end_bytes == kNull ? carried : step.end_bytes;
    carried = row.end_bytes;
    row.allocations = step.allocations;
    row.allocated_bytes = step.allocated_bytes;
    row.releases = step.releases;
    row.released_bytes = step.released_bytes;
    row.churn = share(row.allocated_bytes, row.peak_bytes);
    rows.push_back(row);
  }
  StepOfMoment moments(steps);
  for (const MemoryBlock& block : pool.blocks) {
    const size_t at = moments.find(block.start_ns);
    if (at == StepOfMoment::kNone) continue;
    if (block.end_ns != kNull && block.end_ns < steps[at].end_ns()) continue;
    ++rows[at].kept_blocks;
    rows[at].kept_bytes = bounded_plus(rows[at].kept_bytes, block.bytes);
    if (block.end_ns != kNull) continue;
    ++rows[at].unreleased_blocks;
    rows[at].unreleased_bytes = bounded_plus(rows[at].unreleased_bytes, block.bytes);
  }
  return rows;
}

std::vector<MemoryLeakRow> memory_leaks(const StoreReader& store, const RankId& rank,
                                        const MemoryPool& pool, std::span<const StepRow> steps,
                                        AllocationPlaces& places) {
  std::vector<MemoryLeakRow> rows;
  const size_t count = steps.size();
  if (count <= kLeakSteps) return rows;
  const size_t eligible = count - kLeakSteps;
  struct Group {
    MemoryLeakRow row;
    size_t last_step = StepOfMoment::kNone;
  };
  std::map<std::tuple<int64_t, std::string_view, std::string_view>, Group> groups;
  StepOfMoment moments(steps);
  for (const MemoryBlock& block : pool.blocks) {  // by time, so that steps rise
    if (block.end_ns != kNull) continue;
    const size_t at = moments.find(block.start_ns);
    if (at >= eligible) continue;
    const AllocationPlace& place = places.at(block.slice, block.name);
    Group& group = groups[{block.name, place.module, place.category}];
    MemoryLeakRow& row = group.row;
    if (row.blocks == 0) {
      static_cast<PoolName&>(row) = pool_name(store, rank, pool);
      row.name = store.string(block.name);
      row.module = place.module;
      row.category = place.category;
      row.first_step = steps[at].step;
    }
    ++row.blocks;
    row.bytes = bounded_plus(row.bytes, block.bytes);
    if (group.last_step != at) ++row.steps;
    group.last_step = at;
    row.last_step = steps[at].step;
  }
  const auto enough = static_cast<int64_t>(std::max<size_t>(3, (eligible + 1) / 2));
  for (auto& [key, group] : groups) {
    if (group.row.steps < enough) continue;
    group.row.bytes_per_step = group.row.bytes / group.row.steps;
    rows.push_back(std::move(group.row));
  }
  std::ranges::stable_sort(rows, std::greater<>(), &MemoryLeakRow::bytes);
  return rows;
}

}  // namespace stepscope
