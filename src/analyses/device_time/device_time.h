// Where the time of each device went, over the whole recording: computing, communication, copies,
// what of them overlaps, and idle.
#ifndef STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_TIME_H_
#define STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_TIME_H_

#include <cstdint>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"

namespace stepscope {

// busy = compute + communication + memory - what they share; span = busy + idle.
struct DeviceTimeRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t events = 0;
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t memory_ns = 0;
  int64_t overlap_ns = 0;
  int64_t exposed_communication_ns = 0;
};

inline constexpr Field<DeviceTimeRow> kDeviceTimeFields[] = {
    field<&DeviceTimeRow::rank>("rank", Unit::kNone, "rank"),
    field<&DeviceTimeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&DeviceTimeRow::device>("device", Unit::kNone,
                                  "device number; -1: the host, for runs without a device"),
    field<&DeviceTimeRow::events>("events", Unit::kCount, "events on the device"),
    field<&DeviceTimeRow::span_ns>("span_ns", Unit::kNanoseconds,
                                   "start of the first event to end of the last"),
    field<&DeviceTimeRow::busy_ns>("busy_ns", Unit::kNanoseconds, "time with any event"),
    field<&DeviceTimeRow::idle_ns>("idle_ns", Unit::kNanoseconds, "time of the span with no event"),
    field<&DeviceTimeRow::compute_ns>("compute_ns", Unit::kNanoseconds, "time with computation"),
    field<&DeviceTimeRow::communication_ns>("communication_ns", Unit::kNanoseconds,
                                            "time with communication"),
    field<&DeviceTimeRow::memory_ns>("memory_ns", Unit::kNanoseconds, "time with copies or sets"),
    field<&DeviceTimeRow::overlap_ns>("overlap_ns", Unit::kNanoseconds,
                                      "time with communication and computation at once"),
    field<&DeviceTimeRow::exposed_communication_ns>("exposed_communication_ns", Unit::kNanoseconds,
                                                    "time with communication and no computation"),
};

DeviceTimeRow device_time(const RankId& rank, const DeviceIntervals& device);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_TIME_H_
