#include "analyses/overlap/idle.h"

#include <algorithm>
#include <limits>
#include <span>

namespace stepscope {
namespace {

bool waits_for_host(int64_t gap_start_ns, int64_t launch_ns) {
  return launch_ns != kNull && launch_ns > gap_start_ns;
}

void add_gap(int64_t start_ns, int64_t end_ns, int64_t launch_ns, IdleRow& row) {
  const int64_t gap_ns = end_ns - start_ns;
  ++row.gaps;
  row.idle_ns += gap_ns;
  row.longest_ns = std::max(row.longest_ns, gap_ns);
  if (waits_for_host(start_ns, launch_ns)) {
    row.host_wait_ns += gap_ns;
    row.launch_ns += std::max<int64_t>(0, end_ns - launch_ns);
  } else if (gap_ns < kKernelWaitNs) {
    row.kernel_wait_ns += gap_ns;
  } else {
    row.other_ns += gap_ns;
  }
}

struct Work {
  int64_t start_ns;
  int64_t end_ns;
  int64_t launch_ns;  // kNull: unknown
};

void add_stream(std::vector<Work>& work, IdleRow& row) {
  // The lanes of the stream are in order, one after the other: few runs to merge.
  const auto earlier = [](const Work& a, const Work& b) { return a.start_ns < b.start_ns; };
  auto sorted_end = work.begin();
  while ((sorted_end = std::is_sorted_until(sorted_end, work.end(), earlier)) != work.end()) {
    const auto run_end = std::is_sorted_until(sorted_end, work.end(), earlier);
    std::inplace_merge(work.begin(), sorted_end, run_end, earlier);
    sorted_end = run_end;
  }
  int64_t end_ns = work.front().end_ns;
  for (const Work& next : work) {
    if (next.start_ns > end_ns) add_gap(end_ns, next.start_ns, next.launch_ns, row);
    end_ns = std::max(end_ns, next.end_ns);
  }
}

// The gaps of a whole device, with the launch of the work that ends each.
class DeviceGaps {
 public:
  explicit DeviceGaps(const OverlapLanes& lanes)
      : busy_(lanes.busy.intervals()), launch_ns_(busy_.size(), kNull) {}

  void see(const Work& work) {
    if (work.start_ns < last_start_ns_) at_ = 0;  // another stream
    last_start_ns_ = work.start_ns;
    while (at_ < busy_.size() && busy_[at_].start_ns < work.start_ns) ++at_;
    if (at_ == busy_.size() || busy_[at_].start_ns != work.start_ns) return;
    // Of several that start together the first launched one could have started first.
    if (work.launch_ns != kNull && (launch_ns_[at_] == kNull || work.launch_ns < launch_ns_[at_]))
      launch_ns_[at_] = work.launch_ns;
  }

  void add_to(IdleRow& row) const {
    for (size_t i = 1; i < busy_.size(); ++i)
      add_gap(busy_[i - 1].end_ns, busy_[i].start_ns, launch_ns_[i], row);
  }

  std::vector<Interval> launched() const {
    std::vector<Interval> gaps;
    for (size_t i = 1; i < busy_.size(); ++i) {
      const Interval gap{busy_[i - 1].end_ns, busy_[i].start_ns};
      if (launch_ns_[i] != kNull && !waits_for_host(gap.start_ns, launch_ns_[i]))
        gaps.push_back(gap);
    }
    return gaps;
  }

 private:
  std::span<const Interval> busy_;
  std::vector<int64_t> launch_ns_;  // of the work that starts each busy interval
  size_t at_ = 0;
  int64_t last_start_ns_ = std::numeric_limits<int64_t>::max();
};

struct DeviceIdle {
  explicit DeviceIdle(const OverlapLanes& lanes) : device(lanes.device), gaps(lanes) {}
  int64_t device;
  DeviceGaps gaps;
  std::vector<IdleRow> streams;
};

// Work without a device number is the only device's, or device 0's.
DeviceIdle* device_of(int64_t number, std::vector<DeviceIdle>& devices) {
  const int64_t wanted = number != kNull       ? number
                         : devices.size() == 1 ? devices.front().device
                                               : 0;
  const auto at = std::find_if(devices.begin(), devices.end(),
                               [&](const DeviceIdle& one) { return one.device == wanted; });
  return at == devices.end() ? nullptr : &*at;
}

Work work_of(int64_t ts_ns, int64_t dur_ns, int64_t delay_ns) {
  return {ts_ns, ts_ns + dur_ns, delay_ns == kNull ? kNull : ts_ns - delay_ns};
}

}  // namespace

std::vector<std::vector<Interval>> launched_gaps(const StoreReader& store, const RankId& rank,
                                                 const std::vector<OverlapLanes>& devices) {
  std::vector<DeviceIdle> found;
  for (const OverlapLanes& lanes : devices) found.emplace_back(lanes);
  for_each_row<5>(store, Table::kKernels, rank.position,
                  {"ts", "dur", "flags", "queue_delay", "device"}, [&](const auto& row) {
                    const auto [ts_ns, dur_ns, flags, delay_ns, number] = row;
                    if (dur_ns == kNull || dur_ns < 0 || (flags & kFlagImpossible)) return;
                    DeviceIdle* device = device_of(number, found);
                    if (device != nullptr) device->gaps.see(work_of(ts_ns, dur_ns, delay_ns));
                  });
  std::vector<std::vector<Interval>> gaps;
  for (const DeviceIdle& device : found) gaps.push_back(device.gaps.launched());
  return gaps;
}

std::vector<IdleRow> idle_rows(const StoreReader& store, const RankId& rank,
                               const std::vector<OverlapLanes>& devices) {
  std::vector<DeviceIdle> found;
  for (const OverlapLanes& lanes : devices) found.emplace_back(lanes);
  IdleRow blank;
  blank.rank = rank.rank;
  blank.window = rank.window;

  std::vector<Work> work;  // of one track
  int64_t track = kNull;
  DeviceIdle* device = nullptr;
  int64_t stream = kNull;
  const auto finish_track = [&] {
    if (work.empty() || device == nullptr) return;
    IdleRow row = blank;
    row.device = device->device;
    row.stream = stream;
    row.lane =
        text_at(store, Table::kTracks, "thread", rank.position,
                static_cast<uint64_t>(track) - store.row_base(Table::kTracks, rank.position));
    add_stream(work, row);
    device->streams.push_back(row);
    work.clear();
  };
  for_each_row<7>(store, Table::kKernels, rank.position,
                  {"track", "ts", "dur", "flags", "queue_delay", "device", "stream"},
                  [&](const auto& row) {
                    const auto [on_track, ts_ns, dur_ns, flags, delay_ns, number, on_stream] = row;
                    if (dur_ns == kNull || dur_ns < 0 || (flags & kFlagImpossible)) return;
                    if (on_track != track) {
                      finish_track();
                      track = on_track;
                      stream = on_stream;
                      device = device_of(number, found);
                    }
                    const Work next = work_of(ts_ns, dur_ns, delay_ns);
                    work.push_back(next);
                    if (device != nullptr) device->gaps.see(next);
                  });
  finish_track();

  std::vector<IdleRow> rows;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].device == kHostDevice) continue;
    IdleRow whole = blank;
    whole.device = devices[i].device;
    whole.lane = "device";
    found[i].gaps.add_to(whole);
    whole.exposed_communication_ns = devices[i].communication_not_overlapped.total_ns();
    rows.push_back(whole);
    rows.insert(rows.end(), found[i].streams.begin(), found[i].streams.end());
  }
  return rows;
}

}  // namespace stepscope
