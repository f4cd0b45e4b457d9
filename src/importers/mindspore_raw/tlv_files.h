// The binary files that MindSpore writes into FRAMEWORK/ on Ascend: host events
// (mindspore.op_range), memory events (mindspore.memory_usage) and operator shapes
// (mindspore.record_shapes).
//
// All are sequences of records: u16 type, u32 length, value (little-endian). The value begins with
// a fixed structure, then come fields of the same type-length-value form. A file that ends inside a
// record is cut there and counted.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_

#include <cstdint>
#include <string>

#include "store/rank_builder.h"

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

// Each returns the number of records read.
int64_t read_op_range(const std::string& path, const HostClock& clock, RankBuilder& rank);
int64_t read_memory_usage(const std::string& path, RankBuilder& rank);
int64_t read_record_shapes(const std::string& path, RankBuilder& rank);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_TLV_FILES_H_
