// What overlaps on a device: the lanes "Overlap Analysis" of a timeline, as intervals.
#ifndef STEPSCOPE_ANALYSES_OVERLAP_OVERLAP_LANES_H_
#define STEPSCOPE_ANALYSES_OVERLAP_OVERLAP_LANES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/common/interval_index.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"

namespace stepscope {

// computing + communication_not_overlapped + memory_not_overlapped + free = span of the device.
struct OverlapLanes {
  int64_t device = kHostDevice;
  IntervalIndex computing;
  IntervalIndex communication;
  IntervalIndex communication_not_overlapped;  // by computation
  IntervalIndex overlapped;                    // communication and computation at once
  IntervalIndex memory;
  IntervalIndex memory_not_overlapped;  // by computation or communication
  IntervalIndex working;                // computation or communication
  IntervalIndex busy;
};
// Refers to the lists of `device`, which must outlive it. 16 bytes for each of its own intervals.
OverlapLanes overlap_lanes(const DeviceIntervals& device);
// No event at all, between the device's first and last.
std::vector<Interval> free_intervals(const OverlapLanes& lanes);

struct OverlapRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  std::string_view lane;
  int64_t intervals = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;
};

inline constexpr Field<OverlapRow> kOverlapFields[] = {
    field<&OverlapRow::rank>("rank", Unit::kNone, "rank"),
    field<&OverlapRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&OverlapRow::device>("device", Unit::kNone, "device number; -1: the host"),
    field<&OverlapRow::lane>(
        "lane", Unit::kNone,
        "Computing, Communication, Communication(Not Overlapped), Overlapped, Memory(Not "
        "Overlapped) or Free"),
    field<&OverlapRow::intervals>("intervals", Unit::kCount, "pieces after merging"),
    field<&OverlapRow::total_ns>("total_ns", Unit::kNanoseconds, "their length"),
    field<&OverlapRow::longest_ns>("longest_ns", Unit::kNanoseconds, "the longest piece"),
};

void add_overlap_rows(const RankId& rank, const OverlapLanes& lanes, std::vector<OverlapRow>& rows);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OVERLAP_OVERLAP_LANES_H_
