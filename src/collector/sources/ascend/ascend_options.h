// What of an NPU is recorded, and CANN's words for it.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_OPTIONS_H_
#define STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/sources/ascend/acl_abi.h"

namespace stepscope::ascend {

// The numbers are those of stepscope_options::npu_level.
enum class Level : uint32_t {
  kNone = 1,  // nothing of the device's operators; marks of the program
  k0 = 2,     // kernels and whole collectives
  k1 = 3,     // and calls of AscendCL, counters of the cores, parts of collectives
  k2 = 4,     // and the runtime below, and AI CPUs
};

struct AscendOptions {
  std::string folder;  // the run's: CANN makes PROF_... in it
  Level level = Level::k0;
  uint32_t metrics = kNoMetrics;  // a group of counters of the cores
  uint32_t data = 0;              // bits of stepscope_npu_data
  int32_t device = 0;             // where this thread has not chosen one
  int64_t wait_at_start_ms = 30'000;
  int64_t wait_at_stop_ms = 60'000;
};

struct Value {
  Setting setting;
  std::string text;
  const char* parameter;  // what the user calls it
};

uint64_t data_types(const AscendOptions& options);
// To be set before profiling is configured, and right before it starts.
std::vector<Value> device_settings(const AscendOptions& options);
std::vector<Value> host_settings(const AscendOptions& options);

const char* level_name(Level level);

}  // namespace stepscope::ascend

#endif  // STEPSCOPE_COLLECTOR_SOURCES_ASCEND_ASCEND_OPTIONS_H_
