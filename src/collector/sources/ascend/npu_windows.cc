#include "collector/sources/ascend/npu_windows.h"

#include <memory>
#include <utility>

namespace stepscope::ascend {

void NpuWindows::open() {
  const std::lock_guard lock(mutex_);
  ++recording_;
  is_open_ = true;
  ended_.clear();  // what the last recording did not ask for any more
}

void NpuWindows::close() {
  {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  end();
  std::unique_lock lock(mutex_);
  ended_one_.wait(lock, [this] { return ending_ == 0; });
}

uint64_t NpuWindows::recording() {
  const std::lock_guard lock(mutex_);
  return recording_;
}

// CANN is called without the lock: the writer thread must not wait for a device.
Status NpuWindows::begin(AscendOptions options, uint64_t recording) {
  auto source = std::make_unique<AscendSource>(std::move(options));
  if (auto started = source->start(); !started) return started;  // also where one runs already
  {
    const std::lock_guard lock(mutex_);
    if (is_open_ && recording_ == recording) {
      running_ = std::move(source);
      return {};
    }
  }
  source->stop();
  return Error{ErrorCode::kUnsupported, "cannot record the NPU", "",
               "the recording ended while CANN was starting", "start another recording"};
}

void NpuWindows::end() {
  std::unique_ptr<AscendSource> source;
  {
    const std::lock_guard lock(mutex_);
    if (running_ == nullptr) return;
    source = std::move(running_);
    ++ending_;
  }
  source->stop();
  const std::lock_guard lock(mutex_);
  --ending_;
  ended_one_.notify_all();
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
  // Whoever waited or was in end() is not here.
  std::construct_at(&ended_one_);
  is_open_ = false;
  ending_ = 0;
}

}  // namespace stepscope::ascend
