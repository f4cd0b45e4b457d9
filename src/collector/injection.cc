// libstepscope_injection.so: records a program that knows nothing of us.
//
// CUDA loads it (CUDA_INJECTION64_PATH) when the program first uses a GPU, NVTX (through
// NVTX_INJECTION64_PATH) at the program's first NVTX call. `stepscope record` sets both, and:
//
//   STEPSCOPE_OUTPUT   where the run's folder goes
//   STEPSCOPE_TIER     pulse, kernels (the default) or full
//   STEPSCOPE_SYSTEM_INTERVAL_MS, STEPSCOPE_MAX_HOST_MB, STEPSCOPE_MAX_DISK_GB,
//   STEPSCOPE_MIN_FREE_GB
//
// The recording begins there and ends with the program. It goes through libstepscope_collector: a
// program which also uses record.h has been recorded since that was loaded, and gets the GPU added.
#include <cstdio>

#include "stepscope/record.h"

extern "C" {

// CUDA's entry point: 1 is success. A failure is said once and never stops the program.
STEPSCOPE_API int InitializeInjection(void) {
  if (stepscope_start_from_environment(1) < 0)
    std::fprintf(stderr, "stepscope: %s\n", stepscope_last_error());
  return 1;
}

// NVTX's entry point: CUPTI has it, under the same name.
STEPSCOPE_API int InitializeInjectionNvtx2(void* get_export_table) {
  using Initialize = int (*)(void*);
  const auto initialize =
      reinterpret_cast<Initialize>(stepscope_vendor_function("InitializeInjectionNvtx2"));
  return initialize == nullptr ? 0 : initialize(get_export_table);
}
}
