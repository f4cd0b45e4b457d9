// A recording that the environment asks for, made by `stepscope record` for programs that do not
// start one themselves.
#ifndef STEPSCOPE_COLLECTOR_ENVIRONMENT_H_
#define STEPSCOPE_COLLECTOR_ENVIRONMENT_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace stepscope {

struct EnvironmentRequest {
  std::string output;                  // STEPSCOPE_OUTPUT; empty: nothing is asked for
  uint32_t gpu_tier = 2;               // STEPSCOPE_TIER
  uint32_t system_interval_ms = 1000;  // STEPSCOPE_SYSTEM_INTERVAL_MS; the default is Python's, too
  // Bounds; 0: the default.
  uint32_t max_host_mb = 0;  // STEPSCOPE_MAX_HOST_MB
  uint32_t max_disk_mb = 0;  // STEPSCOPE_MAX_DISK_GB
  uint32_t min_free_mb = 0;  // STEPSCOPE_MIN_FREE_GB
  int64_t rank = 0;          // of the launchers' variables, see environment.cc
};

Result<EnvironmentRequest> read_environment();

// Creates OUTPUT/HOST_PID_TIME_ascend_ms/FRAMEWORK, the layout that MindSpore's tools expect, and
// returns it.
Result<std::string> make_run_folder(const std::string& output);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_ENVIRONMENT_H_
