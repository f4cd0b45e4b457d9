#include "analyses/device_time/device_time.h"

namespace stepscope {

DeviceTimeRow device_time(const RankId& rank, const DeviceIntervals& device) {
  DeviceTimeRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.device = device.device;
  row.events = device.events;
  row.span_ns = device.span_ns();
  row.busy_ns = device.busy_ns();
  row.idle_ns = row.span_ns - row.busy_ns;
  row.compute_ns = total_length_ns(device.compute);
  row.communication_ns = total_length_ns(device.communication);
  row.memory_ns = total_length_ns(device.memory);
  row.overlap_ns = total_length_ns(intersect_intervals(device.communication, device.compute));
  row.exposed_communication_ns = row.communication_ns - row.overlap_ns;
  return row;
}

}  // namespace stepscope
