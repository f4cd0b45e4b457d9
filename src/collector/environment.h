// A recording that the environment asks for, made by `stepscope record` for programs that do not
// start one themselves.
#ifndef STEPSCOPE_COLLECTOR_ENVIRONMENT_H_
#define STEPSCOPE_COLLECTOR_ENVIRONMENT_H_

#include <cstdint>
#include <string>

#include "base/result.h"

namespace stepscope {

struct EnvironmentRequest {
  std::string output;     // STEPSCOPE_OUTPUT; empty: nothing is asked for
  uint32_t gpu_tier = 2;  // STEPSCOPE_TIER
  int64_t rank = 0;       // of the launchers' variables, see environment.cc
};

Result<EnvironmentRequest> read_environment();

// Creates OUTPUT/HOST_PID_TIME_ascend_ms/FRAMEWORK, the layout that MindSpore's tools expect, and
// returns it.
Result<std::string> make_run_folder(const std::string& output);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_ENVIRONMENT_H_
