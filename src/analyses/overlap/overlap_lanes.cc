#include "analyses/overlap/overlap_lanes.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stepscope {

OverlapLanes overlap_lanes(const DeviceIntervals& device) {
  OverlapLanes lanes;
  lanes.device = device.device;
  lanes.computing = IntervalIndex(device.compute);
  lanes.communication = IntervalIndex(device.communication);
  lanes.memory = IntervalIndex(device.memory);
  lanes.busy = IntervalIndex(device.busy());
  lanes.communication_not_overlapped =
      IntervalIndex(subtract_intervals(device.communication, device.compute));
  lanes.overlapped = IntervalIndex(intersect_intervals(device.communication, device.compute));
  if (device.communication.empty()) {
    lanes.working = IntervalIndex(device.compute);
    lanes.memory_not_overlapped = IntervalIndex(subtract_intervals(device.memory, device.compute));
  } else {
    std::vector<Interval> working = unite_intervals(device.compute, device.communication);
    lanes.memory_not_overlapped = IntervalIndex(subtract_intervals(device.memory, working));
    lanes.working = IntervalIndex(std::move(working));
  }
  return lanes;
}

std::vector<Interval> free_intervals(const OverlapLanes& lanes) {
  std::vector<Interval> free;
  const auto busy = lanes.busy.intervals();
  for (size_t i = 1; i < busy.size(); ++i) free.push_back({busy[i - 1].end_ns, busy[i].start_ns});
  return free;
}

void add_overlap_rows(const RankId& rank, const OverlapLanes& lanes,
                      std::vector<OverlapRow>& rows) {
  const auto add = [&](std::string_view name, std::span<const Interval> lane) {
    OverlapRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.device = lanes.device;
    row.lane = name;
    for (const Interval& interval : lane) {
      ++row.intervals;
      row.total_ns += interval.end_ns - interval.start_ns;
      row.longest_ns = std::max(row.longest_ns, interval.end_ns - interval.start_ns);
    }
    rows.push_back(row);
  };
  add("Computing", lanes.computing.intervals());
  add("Communication", lanes.communication.intervals());
  add("Communication(Not Overlapped)", lanes.communication_not_overlapped.intervals());
  add("Overlapped", lanes.overlapped.intervals());
  add("Memory(Not Overlapped)", lanes.memory_not_overlapped.intervals());
  add("Free", free_intervals(lanes));
}

}  // namespace stepscope
