#include "server/curves.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/pool_reader.h"

namespace stepscope {
namespace {

void add_counters(const StoreReader& store, size_t rank, std::vector<NamedCurve>& curves) {
  int64_t track = kNull;
  const auto base = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  const size_t before = curves.size();
  for_each_row<3>(store, Table::kCounters, rank, {"track", "ts", "value"}, [&](const auto& row) {
    if (row[0] != track) {
      track = row[0];
      NamedCurve& added = curves.emplace_back();
      added.rank_position = rank;
      const auto place = static_cast<uint64_t>(std::max<int64_t>(track - base, 0));
      added.group = text_at(store, Table::kTracks, "process", rank, place);
      added.name = text_at(store, Table::kTracks, "thread", rank, place);
      added.track = track;
    }
    if (row[1] != kNull && row[2] != kNull)
      curves.back().curve.add(row[1], std::bit_cast<double>(row[2]));
  });
  for (size_t i = before; i < curves.size(); ++i) curves[i].curve.finish();
}

void add_memory(const StoreReader& store, size_t rank, std::vector<NamedCurve>& curves) {
  constexpr std::string_view kNames[] = {"allocated", "reserved", "active"};
  std::vector<Curve> found;  // three of each pool
  PoolReader reader(store, rank);
  reader.read([&](const PoolEvent& event) {
    if (found.size() < 3 * (event.pool + 1)) found.resize(3 * (event.pool + 1));
    const int64_t values[] = {event.allocated, event.reserved, event.active};
    for (size_t i = 0; i < 3; ++i) {
      if (values[i] != kNull)
        found[3 * event.pool + i].add(event.ts_ns, static_cast<double>(values[i]));
    }
  });
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].samples() == 0) continue;
    const PoolKey& key = reader.keys()[i / 3];
    NamedCurve& added = curves.emplace_back();
    added.rank_position = rank;
    added.kind = CurveKind::kMemory;
    added.group = store.string(key.device_kind);
    if (key.device != kNull && key.device >= 0) added.group += " " + std::to_string(key.device);
    const std::string_view component = store.string(key.component);
    if (!component.empty()) added.group += " " + std::string(component);
    added.name = kNames[i % 3];
    added.unit = "bytes";
    added.curve = std::move(found[i]);
    added.curve.finish();
  }
}

void add_queues(const StoreReader& store, size_t rank, std::vector<NamedCurve>& curves) {
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> samples;  // by stage
  for_each_row<3>(store, Table::kQueues, rank, {"stage", "ts", "size"}, [&](const auto& row) {
    if (row[1] != kNull && row[2] != kNull) samples[row[0]].emplace_back(row[1], row[2]);
  });
  for (auto& [stage, points] : samples) {
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    NamedCurve& added = curves.emplace_back();
    added.rank_position = rank;
    added.kind = CurveKind::kQueue;
    added.name = store.string(stage);
    for (const auto& [ts_ns, size] : points) added.curve.add(ts_ns, static_cast<double>(size));
    added.curve.finish();
  }
}

}  // namespace

void Curve::add(int64_t ts_ns, double value) {
  if (!std::isfinite(value)) return;
  low_ = given_ == 0 ? value : std::min(low_, value);
  high_ = given_ == 0 ? value : std::max(high_, value);
  ++given_;
  last_ns_ = ts_ns;
  if (!values_.empty() && values_.back() == value) return;
  times_ns_.push_back(ts_ns);
  values_.push_back(value);
}

void Curve::finish() {
  // The very last sample says how long the value was seen.
  if (!times_ns_.empty() && times_ns_.back() != last_ns_) {
    times_ns_.push_back(last_ns_);
    values_.push_back(values_.back());
  }
  times_ns_.shrink_to_fit();
  values_.shrink_to_fit();
  for (size_t first = 0; first < values_.size(); first += kBlock) {
    const auto begin = values_.begin() + static_cast<ptrdiff_t>(first);
    const auto end =
        values_.begin() + static_cast<ptrdiff_t>(std::min(first + kBlock, values_.size()));
    const auto [low, high] = std::minmax_element(begin, end);
    blocks_.push_back({*low, *high});
  }
}

Curve::Extent Curve::extent(size_t from, size_t to) const {
  Extent extent{values_[from], values_[from]};
  const auto take = [&](double low, double high) {
    extent.low = std::min(extent.low, low);
    extent.high = std::max(extent.high, high);
  };
  while (from < to) {
    if (from % kBlock == 0 && from + kBlock <= to) {
      take(blocks_[from / kBlock].low, blocks_[from / kBlock].high);
      from += kBlock;
    } else {
      take(values_[from], values_[from]);
      ++from;
    }
  }
  return extent;
}

void Curve::query(const Viewport& viewport, std::vector<CurveItem>& items) const {
  if (viewport.end_ns <= viewport.start_ns) return;
  const auto span =
      static_cast<uint64_t>(viewport.end_ns) - static_cast<uint64_t>(viewport.start_ns);
  const auto pixel_ns =
      static_cast<int64_t>(std::max<uint64_t>(1, span / std::max(1u, viewport.pixels)));
  const auto index_of = [&](size_t from, int64_t ns) {
    return static_cast<size_t>(
        std::lower_bound(times_ns_.begin() + static_cast<ptrdiff_t>(from), times_ns_.end(), ns) -
        times_ns_.begin());
  };
  size_t i = index_of(0, viewport.start_ns);
  if (i > 0) items.push_back({times_ns_[i - 1], values_[i - 1], values_[i - 1], values_[i - 1]});
  while (i < times_ns_.size() && times_ns_[i] < viewport.end_ns) {
    const int64_t stop =
        viewport.start_ns + ((times_ns_[i] - viewport.start_ns) / pixel_ns + 1) * pixel_ns;
    // Rising times: at least the first one lies before the pixel's end.
    const size_t next = std::max(i + 1, index_of(i, std::min(stop, viewport.end_ns)));
    const Extent found = extent(i, next);
    items.push_back({times_ns_[i], found.low, found.high, values_[next - 1]});
    i = next;
  }
}

std::string_view curve_kind_name(CurveKind kind) {
  constexpr std::string_view kNames[] = {"counter", "memory", "queue"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<NamedCurve> run_curves(const StoreReader& store) {
  std::vector<NamedCurve> curves;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    add_counters(store, rank, curves);
    add_memory(store, rank, curves);
    add_queues(store, rank, curves);
  }
  return curves;
}

}  // namespace stepscope
