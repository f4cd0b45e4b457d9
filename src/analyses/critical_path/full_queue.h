// Launches that had to wait for a place in the device's queue: the host is as far ahead as it may.
#ifndef STEPSCOPE_ANALYSES_CRITICAL_PATH_FULL_QUEUE_H_
#define STEPSCOPE_ANALYSES_CRITICAL_PATH_FULL_QUEUE_H_

#include <cstdint>
#include <unordered_map>

#include "analyses/critical_path/step_events.h"

namespace stepscope {

// CUDA holds up the launch after about this many that have not begun; recordings show 1022.
inline constexpr int64_t kFullQueue = 1000;

// Slices of the calls that a full queue held up, with the time that such a call takes without: of
// the step's calls of that name an eighth take less, since even then some find a place at once (10
// us where none seems to).
std::unordered_map<uint32_t, int64_t> held_up_launches(const StepEvents& events);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CRITICAL_PATH_FULL_QUEUE_H_
