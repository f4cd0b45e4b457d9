// What the devices of a rank were doing, as merged intervals: the ground on which step times,
// overlap and idle time are computed. Every device event counts, on all streams; impossible ones do
// not.
#ifndef STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_INTERVALS_H_
#define STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_INTERVALS_H_

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

// The device number of a rank without device work: its operators run on the host's CPUs.
inline constexpr int64_t kHostDevice = -1;

struct DeviceIntervals {
  int64_t device = kHostDevice;
  int64_t events = 0;
  int64_t left_out = 0;  // impossible events
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  std::vector<Interval> memory;  // copies and sets

  // Time with any of them, and the list, which is as long as all three: made when it is needed.
  int64_t busy_ns() const;
  std::vector<Interval> busy() const;
  // Start of the first event to end of the last.
  int64_t span_ns() const;
};

// By rising device number. A rank with no device work has one entry, kHostDevice, of its outermost
// operators and host collectives; a rank with neither has none. Work
// without a device number belongs to the rank's only device, else to device 0. O(n log n); 16 bytes
// a gap.
std::vector<DeviceIntervals> device_intervals(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_DEVICE_TIME_DEVICE_INTERVALS_H_
