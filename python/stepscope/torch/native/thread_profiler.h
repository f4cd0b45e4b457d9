// ThreadProfiler: what torch takes for the profiler of a thread. Where there is one, torch makes
// the ranges of torch.compile (_RecordFunctionFast), and its allocators tell what they do; that is
// kept as records of kind STEPSCOPE_MEMORY, where it was asked for.
//
// It also serves those threads that torch runs work of this thread on (autograd's, at::launch). On
// threads that the program starts by itself there is none, and none of torch.profiler. A thread has
// one at a time, and torch.profiler raises where the place is taken: with torch.profiler running it
// is left alone, and ours is taken off when torch.profiler is about to start (../_give_way.py).
#ifndef STEPSCOPE_TORCH_THREAD_PROFILER_H_
#define STEPSCOPE_TORCH_THREAD_PROFILER_H_

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include <c10/util/ThreadLocalDebugInfo.h>
#include <stepscope/record.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include "stepscope/torch/native/thread_state.h"

namespace stepscope_torch {

namespace profiling = torch::profiler::impl;

// "Disabled" keeps torch from taking it for a profiler that collects operators.
class ThreadProfiler final : public profiling::ProfilerStateBase {
 public:
  ThreadProfiler(uint32_t recording, bool with_memory)
      : ProfilerStateBase(profiling::ProfilerConfig(profiling::ProfilerState::Disabled)),
        recording_(recording),
        with_memory_(with_memory) {}

  profiling::ActiveProfilerType profilerType() override {
    return profiling::ActiveProfilerType::NONE;
  }
  bool memoryProfilingEnabled() const override { return with_memory_ && is_current(); }

  void reportMemoryUsage(void* pointer, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    if (!memoryProfilingEnabled()) return;  // the GPU's allocator does not ask
    const uint64_t now = stepscope_ticks();
    stepscope_put(now, allocated, STEPSCOPE_MEMORY | STEPSCOPE_VALUES, code(device),
                  reinterpret_cast<uintptr_t>(pointer), static_cast<uint64_t>(bytes));
    if (reserved != 0) {
      stepscope_put(now, 0, STEPSCOPE_MEMORY_RESERVED | STEPSCOPE_VALUES, code(device), reserved,
                    0);
    }
  }

  void reportOutOfMemory(int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    if (!is_current()) return;
    const std::string text = "out of memory on " + device.str() + ": " + std::to_string(bytes) +
                             " bytes asked for, " + std::to_string(allocated) + " allocated, " +
                             std::to_string(reserved) + " reserved";
    stepscope_mark(stepscope_name(text.data(), text.size()));
  }

  // On the thread that trains. False when another profiler has the place.
  static bool attach(uint32_t recording, bool with_memory) {
    detach();  // one that could not be taken off when its recording stopped
    if (in_place() != nullptr) return false;
    c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE,
                                     std::make_shared<ThreadProfiler>(recording, with_memory));
    return true;
  }

  // On the same thread. False when there is none of ours, or something was pushed above it
  // meanwhile: it then stays, and reports nothing once its recording has stopped.
  static bool detach() noexcept try {
    if (dynamic_cast<ThreadProfiler*>(in_place()) == nullptr) return false;
    c10::ThreadLocalDebugInfo::_pop(c10::DebugInfoKind::PROFILER_STATE);
    return true;
  } catch (const std::exception&) {
    return false;
  }

 private:
  static c10::DebugInfoBase* in_place() {
    return c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE);
  }
  bool is_current() const { return recording_ == current_recording(); }

  static uint32_t code(c10::Device device) {
    return static_cast<uint32_t>(device.type()) << 8 | static_cast<uint8_t>(device.index() + 1);
  }

  const uint32_t recording_;
  const bool with_memory_;
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_THREAD_PROFILER_H_
