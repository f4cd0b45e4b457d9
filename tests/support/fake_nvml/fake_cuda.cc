// A stand-in for CUDA's driver that is initialised when the test says so. It goes by the driver's
// own name: whoever asks whether that is loaded finds this one.
#include <atomic>

namespace {
std::atomic<bool> initialised = false;
}

extern "C" {

__attribute__((visibility("default"))) void fake_cuda_initialise() { initialised = true; }

__attribute__((visibility("default"))) int cuDeviceGetCount(int* count) {
  constexpr int kNotInitialised = 3;
  if (!initialised) return kNotInitialised;
  *count = 1;
  return 0;
}
}
