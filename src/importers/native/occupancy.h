// How much of a multiprocessor a kernel can fill.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_OCCUPANCY_H_
#define STEPSCOPE_IMPORTERS_NATIVE_OCCUPANCY_H_

#include <cstdint>

namespace stepscope {

// What a device has on each multiprocessor; 0 where the recording does not say.
struct MultiprocessorLimits {
  int64_t multiprocessors = 0;
  int64_t threads_per_warp = 32;
  int64_t warps = 0;
  int64_t blocks = 0;
  int64_t registers = 0;
  int64_t shared_bytes = 0;
  int64_t compute_major = 0;
};

struct LaunchShape {
  int64_t blocks = 0;  // of the whole grid
  int64_t threads_per_block = 0;
  int64_t registers_per_thread = 0;
  int64_t shared_bytes = 0;  // of a block, static and dynamic
};

// Resident threads in percent of what a multiprocessor can hold, by registers, shared memory,
// blocks and warps, and by how many blocks there are for each multiprocessor: what other profilers
// call the estimated achieved occupancy. -1 when the limits are not known. The rounding of
// registers and shared memory is that of compute capability 7 to 12; the split between cache and
// shared memory is taken to be the best one.
int32_t estimated_occupancy(const MultiprocessorLimits& limits, const LaunchShape& launch);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_OCCUPANCY_H_
