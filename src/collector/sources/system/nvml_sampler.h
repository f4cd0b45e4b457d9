// NvmlSampler: what NVIDIA's driver says about its GPUs (NVML, libnvidia-ml.so.1), sampled on a
// thread of its own.
//
// Of its own, because a GPU that has fallen off its bus can hold a call of NVML up for ever: the
// thread is then left behind, and neither the other samples nor the program's end wait for it.
// Where there is no NVML there is nothing. Where the process has CUDA's driver loaded it begins
// when that has been initialised.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stepscope {

struct SystemValue {
  uint64_t ticks;
  std::string series;
  double value;
};

class NvmlSampler {
 public:
  // Opens NVML and begins. STEPSCOPE_NVML names another library. GPUs are those of
  // CUDA_VISIBLE_DEVICES, or all. Returns a sentence about what will be missing, mostly none.
  std::string start(int64_t interval_ms);
  // Waits for the thread, at most so long.
  void stop(int64_t most_ms = 2000);
  ~NvmlSampler() {
    if (!has_stopped_) stop();  // a GPU that hangs is waited for once
  }

  // What came together since the last call.
  std::vector<SystemValue> take();

 private:
  struct Shared;
  bool has_stopped_ = false;
  std::shared_ptr<Shared> shared_;  // with the thread; null: there is none
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_
