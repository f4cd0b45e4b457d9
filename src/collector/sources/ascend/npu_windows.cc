#include "collector/sources/ascend/npu_windows.h"

#include <utility>

namespace stepscope::ascend {

// CANN is called without the lock: the writer thread must not wait for a device.
Status NpuWindows::begin(AscendOptions options) {
  auto source = std::make_unique<AscendSource>(std::move(options));
  if (auto started = source->start(); !started) return started;  // also where one runs already
  const std::lock_guard lock(mutex_);
  running_ = std::move(source);
  return {};
}

void NpuWindows::end() {
  std::unique_ptr<AscendSource> source;
  {
    const std::lock_guard lock(mutex_);
    source = std::move(running_);
  }
  if (source == nullptr) return;
  source->stop();
  const std::lock_guard lock(mutex_);
  ended_.push_back(std::move(source));
}

void NpuWindows::collect(SourceOutput& output) {
  const std::lock_guard lock(mutex_);
  if (running_ != nullptr) running_->collect(output);
  for (const auto& source : std::exchange(ended_, {})) source->collect(output);
}

void NpuWindows::forget() {
  if (running_ != nullptr) new std::unique_ptr<AscendSource>(std::move(running_));
  ended_.clear();
}

}  // namespace stepscope::ascend
