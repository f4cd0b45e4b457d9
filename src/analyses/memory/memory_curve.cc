#include "analyses/memory/memory_curve.h"

#include <algorithm>

#include "analyses/memory/pool_reader.h"
#include "analyses/steps/step_number.h"

namespace stepscope {

CurveThinner::CurveThinner(uint64_t points, size_t most) {
  const uint64_t runs = std::max<uint64_t>(1, most / 2);
  stride_ = points <= most ? 1 : (points + runs - 1) / runs;
}

void CurveThinner::add(const MemoryPoint& point, std::vector<MemoryPoint>& out) {
  if (stride_ == 1 || !started_) {
    started_ = true;
    out.push_back(point);
    return;
  }
  if (in_run_ == 0) {
    low_ = point;
    high_ = point;
  }
  if (point.allocated_bytes < low_.allocated_bytes) low_ = point;
  if (point.allocated_bytes > high_.allocated_bytes) high_ = point;
  last_ = point;
  pending_ = true;
  if (++in_run_ < stride_) return;
  finish(out);
}

void CurveThinner::finish(std::vector<MemoryPoint>& out) {
  if (!pending_) return;
  pending_ = false;
  in_run_ = 0;
  std::array<const MemoryPoint*, 3> kept = {&low_, &high_, &last_};
  std::ranges::sort(kept, {}, [](const MemoryPoint* point) { return point->position; });
  int64_t position = kNull;
  for (const MemoryPoint* point : kept) {
    if (point->position != position) out.push_back(*point);
    position = point->position;
  }
}

std::vector<MemoryPoint> memory_curve(const StoreReader& store, const RankId& rank,
                                      std::span<const StepRow> steps, const CurveRange& range) {
  std::vector<uint64_t> counts;
  const auto inside = [&](const PoolEvent& event) {
    return event.ts_ns >= range.first_ns && event.ts_ns <= range.last_ns;
  };
  PoolReader counting(store, rank.position);
  counting.read([&](const PoolEvent& event) {
    if (event.pool >= counts.size()) counts.resize(event.pool + 1);
    if (inside(event)) ++counts[event.pool];
  });
  // A run gives up to three points.
  const size_t most = std::max<size_t>(6, range.points * 2 / 3);
  std::vector<CurveThinner> thinners;
  for (const uint64_t count : counts)
    thinners.emplace_back(count, count <= range.points ? count : most);
  std::vector<std::vector<MemoryPoint>> curves(counts.size());
  PoolReader reader(store, rank.position);
  reader.read([&](const PoolEvent& event) {
    if (!inside(event)) return;
    const PoolKey& key = reader.keys()[event.pool];
    MemoryPoint point;
    static_cast<PoolName&>(point) = {rank.rank, rank.window, store.string(key.device_kind),
                                     key.device, store.string(key.component)};
    point.position = event.place;
    point.ts = event.ts_ns;
    point.allocated_bytes = event.allocated;
    point.reserved_bytes = event.reserved;
    point.active_bytes = event.active;
    point.change_bytes = event.bytes;
    point.name = store.string(event.name);
    thinners[event.pool].add(point, curves[event.pool]);
  });
  std::vector<MemoryPoint> all;
  StepNumber step_number(steps);
  for (size_t pool = 0; pool < curves.size(); ++pool) {
    thinners[pool].finish(curves[pool]);
    for (MemoryPoint& point : curves[pool]) {
      point.step = step_number.at(point.ts);
      all.push_back(point);
    }
  }
  return all;
}

}  // namespace stepscope
