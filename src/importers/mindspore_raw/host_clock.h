// The clock of the binary host events: a raw counter that PROF_*/host explains.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_HOST_CLOCK_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_HOST_CLOCK_H_

#include <cstdint>
#include <string>

namespace stepscope::mindspore_raw {

// How to turn the counter of op_range into unix ns.
struct HostClock {
  bool known = false;
  int64_t counter_start = 0;  // counter at the recording's start
  double counter_mhz = 100;   // MindSpore's own default when the host does not say
  int64_t start_ns = 0;       // unix ns at counter_start

  int64_t to_realtime_ns(uint64_t counter) const;
};

// From the PROF_*/host folder beside FRAMEWORK: host_start.log (cntvct, clock_monotonic_raw),
// info.json (the counter's frequency) and start_info (a clock pair).
HostClock find_host_clock(const std::string& window_folder);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_HOST_CLOCK_H_
