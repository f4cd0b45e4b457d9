// NvmlSampler: what NVIDIA's driver says about its GPUs (NVML, libnvidia-ml.so.1), sampled on a
// thread of its own.
//
// Of its own, because a GPU that has fallen off its bus can hold a call of NVML up for ever: the
// thread is then left behind, and neither the other samples nor the program's end wait for it.
// Where there is no NVML there is nothing. Where the process has CUDA's driver loaded it begins
// when that has been initialised.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stepscope {

struct SystemValue {
  uint64_t ticks;
  std::string series;
  double value;
};

// What waits for the writer: `most` values, and how many more there would have been.
struct WaitingValues {
  std::vector<SystemValue> values = {};
  int64_t not_kept = 0;

  void add(SystemValue value, size_t most) {
    if (values.size() < most)
      values.push_back(std::move(value));
    else
      ++not_kept;
  }
};

class NvmlSampler {
 public:
  // Opens NVML and begins. STEPSCOPE_NVML names another library. GPUs are those of
  // CUDA_VISIBLE_DEVICES, or all. `most_waiting` values are kept between two calls of take().
  // Returns a sentence about what will be missing, mostly none.
  std::string start(int64_t interval_ms, size_t most_waiting = 1 << 16);
  // Waits for the thread, at most so long.
  void stop(int64_t most_ms = 2000);
  ~NvmlSampler() {
    if (!has_stopped_) stop();  // a GPU that hangs is waited for once
  }

  // What came together since the last call.
  WaitingValues take();

 private:
  struct Shared;
  bool has_stopped_ = false;
  std::shared_ptr<Shared> shared_;  // with the thread; null: there is none
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_NVML_SAMPLER_H_
