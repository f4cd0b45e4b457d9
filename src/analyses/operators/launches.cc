#include "analyses/operators/launches.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyses/common/duration_groups.h"
#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

constexpr size_t kManyRuns = 64;  // from here on an ordinary sort is as fast

struct Stream {
  LaunchRow row;
  std::vector<int64_t> launches_ns;
  std::vector<int64_t> starts_ns;
  std::vector<int64_t> delays_ns;
  int64_t last_launch = kNull;
};

// The order of the table is by lane, then start, so there are few rising runs to merge.
void merge_runs(std::vector<int64_t>& times_ns) {
  std::vector<size_t> ends;  // of the runs
  for (size_t i = 1; i <= times_ns.size(); ++i) {
    if (i == times_ns.size() || times_ns[i] < times_ns[i - 1]) ends.push_back(i);
  }
  if (ends.size() > kManyRuns) {
    std::sort(times_ns.begin(), times_ns.end());
    return;
  }
  const auto at = [&](size_t index) { return times_ns.begin() + static_cast<ptrdiff_t>(index); };
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t begin = i == 0 ? 0 : ends[i - 1];
      const size_t end = i + 1 < ends.size() ? ends[i + 1] : ends[i];
      std::inplace_merge(at(begin), at(ends[i]), at(end));
      merged.push_back(end);
    }
    ends = std::move(merged);
  }
}

// The number of tasks that were launched and have not started, over time: a launch adds one when
// the call begins, a start takes one away.
void measure_queue(Stream& stream, int64_t full_queue) {
  std::vector<int64_t>& launches = stream.launches_ns;
  std::vector<int64_t>& starts = stream.starts_ns;
  if (launches.empty()) return;
  merge_runs(launches);
  merge_runs(starts);
  const int64_t begin = std::min(launches.front(), starts.front());
  const int64_t end = std::max(launches.back(), starts.back());
  int64_t now = begin;
  int64_t length = 0;
  int64_t empty_ns = 0;
  double area = 0;
  size_t launch = 0;
  size_t start = 0;
  while (start < starts.size() || launch < launches.size()) {
    // At one instant a launch comes first, so that a task that starts at once is counted.
    const bool is_launch =
        launch < launches.size() && (start == starts.size() || launches[launch] <= starts[start]);
    const int64_t at = is_launch ? launches[launch] : starts[start];
    const int64_t passed = at - now;
    area += static_cast<double>(length) * static_cast<double>(passed);
    if (length <= 0) add_saturated(empty_ns, passed);
    if (length >= full_queue) add_saturated(stream.row.full_queue_ns, passed);
    now = at;
    if (is_launch) {
      ++length;
      ++launch;
      stream.row.max_queue = std::max(stream.row.max_queue, length);
    } else {
      --length;
      ++start;
    }
  }
  if (end > begin) {
    const auto span = static_cast<double>(end - begin);
    stream.row.mean_queue = area / span;
    stream.row.empty_queue_share = static_cast<double>(empty_ns) / span;
  }
}

void measure_delays(Stream& stream) {
  const DurationSpread spread = spread_of(stream.delays_ns);
  stream.row.delay_ns = spread.total_ns;
  stream.row.mean_delay_ns = spread.mean_ns;
  stream.row.median_delay_ns = spread.median_ns;
  stream.row.p90_delay_ns = spread.p90_ns;
  stream.row.p99_delay_ns = spread.p99_ns;
  stream.row.max_delay_ns = spread.max_ns;
}

}  // namespace

std::vector<LaunchRow> launches(const StoreReader& store, const RankId& rank,
                                const LaunchLimits& limits) {
  const ColumnView& call_lengths = store.column(Table::kSlices, "dur", rank.position);
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank.position));
  std::map<std::pair<int64_t, int64_t>, Stream> streams;
  Stream* last = nullptr;
  std::pair<int64_t, int64_t> last_key{kNull, kNull};
  for_each_row<7>(store, Table::kKernels, rank.position,
                  {"device", "stream", "ts", "dur", "flags", "launch", "queue_delay"},
                  [&](const auto& row) {
                    const auto [device, stream_number, ts, dur, flags, launch, queue_delay] = row;
                    if (dur < 0 || (flags & kFlagImpossible) != 0) return;
                    const std::pair key(device, stream_number);
                    if (last == nullptr || key != last_key) {
                      last = &streams[key];
                      last_key = key;
                    }
                    Stream& stream = *last;
                    ++stream.row.tasks;
                    add_saturated(stream.row.task_ns, dur);
                    if (launch == kNull || queue_delay == kNull) return;
                    const auto call = static_cast<uint64_t>(launch - base);
                    if (call >= call_lengths.rows()) return;
                    const int64_t call_ns = std::max<int64_t>(call_lengths.at(call), 0);
                    ++stream.row.launched;
                    // The kernels of a graph follow one another and share one call.
                    if (launch != stream.last_launch) add_saturated(stream.row.call_ns, call_ns);
                    stream.last_launch = launch;
                    const int64_t delay_ns = std::max<int64_t>(queue_delay - call_ns, 0);
                    stream.delays_ns.push_back(delay_ns);
                    // Work that seems to start before its call was never queued.
                    stream.launches_ns.push_back(ts - queue_delay);
                    stream.starts_ns.push_back(std::max(ts, ts - queue_delay));
                    if (queue_delay < 0) ++stream.row.before_launch;
                    if (call_ns > limits.long_call_ns)
                      ++stream.row.long_calls;
                    else if (dur < call_ns)
                      ++stream.row.short_tasks;
                    if (delay_ns > limits.long_delay_ns) ++stream.row.long_delays;
                  });
  std::vector<LaunchRow> rows;
  for (auto& [key, stream] : streams) {
    stream.row.rank = rank.rank;
    stream.row.window = rank.window;
    stream.row.device = key.first == kNull ? 0 : key.first;
    stream.row.stream = key.second;
    measure_delays(stream);
    stream.delays_ns = {};
    measure_queue(stream, limits.full_queue);
    rows.push_back(stream.row);
    stream = {};
  }
  return rows;
}

std::vector<CopyRow> copies(const StoreReader& store, const RankId& rank) {
  struct Sums {
    CopyRow row;
    int64_t sized_ns = 0;
    double min_rate = 0;
    double max_rate = 0;
    bool has_rate = false;
  };
  std::map<std::pair<int64_t, int64_t>, Sums> kinds;  // by device and name
  int64_t memory_class = kNull;
  for_each_row<6>(store, Table::kKernels, rank.position,
                  {"class", "device", "name", "dur", "flags", "bytes"}, [&](const auto& row) {
                    const auto [work_class, device, name, dur, flags, bytes] = row;
                    if (work_class != memory_class) {
                      if (store.string(work_class) != "memory") return;
                      memory_class = work_class;
                    }
                    if (dur < 0 || (flags & kFlagImpossible) != 0) return;
                    Sums& sums = kinds[{device == kNull ? 0 : device, name}];
                    ++sums.row.count;
                    add_saturated(sums.row.total_ns, dur);
                    if (bytes == kNull || bytes < 0) {
                      ++sums.row.without_size;
                      return;
                    }
                    add_saturated(sums.row.bytes, bytes);
                    add_saturated(sums.sized_ns, dur);
                    if (dur == 0) return;  // shorter than the clock can tell: no rate of its own
                    const double rate = static_cast<double>(bytes) * 1e9 / static_cast<double>(dur);
                    sums.min_rate = sums.has_rate ? std::min(sums.min_rate, rate) : rate;
                    sums.max_rate = sums.has_rate ? std::max(sums.max_rate, rate) : rate;
                    sums.has_rate = true;
                  });
  std::vector<CopyRow> rows;
  for (auto& [key, sums] : kinds) {
    CopyRow& row = sums.row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.device = key.first;
    row.kind = store.string(key.second);
    if (sums.has_rate) {
      row.bandwidth = static_cast<double>(row.bytes) * 1e9 / static_cast<double>(sums.sized_ns);
      row.min_bandwidth = sums.min_rate;
      row.max_bandwidth = sums.max_rate;
    }
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CopyRow& a, const CopyRow& b) {
    return std::tuple(a.device, -a.total_ns) < std::tuple(b.device, -b.total_ns);
  });
  return rows;
}

}  // namespace stepscope
