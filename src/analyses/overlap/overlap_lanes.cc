#include "analyses/overlap/overlap_lanes.h"

#include <algorithm>
#include <utility>

namespace stepscope {

OverlapLanes overlap_lanes(const DeviceIntervals& device) {
  OverlapLanes lanes;
  lanes.device = device.device;
  std::vector<Interval> working = device.compute;
  working.insert(working.end(), device.communication.begin(), device.communication.end());
  working = merge_intervals(std::move(working));
  lanes.computing = IntervalIndex(device.compute);
  lanes.communication = IntervalIndex(device.communication);
  lanes.communication_not_overlapped =
      IntervalIndex(subtract_intervals(device.communication, device.compute));
  lanes.overlapped = IntervalIndex(intersect_intervals(device.communication, device.compute));
  lanes.memory = IntervalIndex(device.memory);
  lanes.memory_not_overlapped = IntervalIndex(subtract_intervals(device.memory, working));
  lanes.working = IntervalIndex(std::move(working));
  lanes.busy = IntervalIndex(device.busy);
  lanes.free =
      IntervalIndex(subtract_intervals({{device.first_ns(), device.last_ns()}}, device.busy));
  return lanes;
}

void add_overlap_rows(const RankId& rank, const OverlapLanes& lanes,
                      std::vector<OverlapRow>& rows) {
  const auto add = [&](std::string_view name, const IntervalIndex& lane) {
    OverlapRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.device = lanes.device;
    row.lane = name;
    for (const Interval& interval : lane.intervals()) {
      ++row.intervals;
      row.total_ns += interval.end_ns - interval.start_ns;
      row.longest_ns = std::max(row.longest_ns, interval.end_ns - interval.start_ns);
    }
    rows.push_back(row);
  };
  add("Computing", lanes.computing);
  add("Communication", lanes.communication);
  add("Communication(Not Overlapped)", lanes.communication_not_overlapped);
  add("Overlapped", lanes.overlapped);
  add("Memory(Not Overlapped)", lanes.memory_not_overlapped);
  add("Free", lanes.free);
}

}  // namespace stepscope
