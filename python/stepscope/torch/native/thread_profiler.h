// AllocatorEvents: what torch's allocators report, as records of kind STEPSCOPE_MEMORY.
//
// torch hands reports to the profiler state of the thread, and to those threads that it runs work
// of this thread on (autograd's, at::launch). Threads that the program starts by itself report
// nothing, to torch.profiler neither. Only one profiler may own that state, and torch.profiler
// raises where it is taken: with torch.profiler running it is left alone, and ours is taken off
// when torch.profiler is about to start (../_give_way.py).
#ifndef STEPSCOPE_TORCH_ALLOCATOR_EVENTS_H_
#define STEPSCOPE_TORCH_ALLOCATOR_EVENTS_H_

#include <cstdint>
#include <memory>
#include <string>

#include <c10/util/ThreadLocalDebugInfo.h>
#include <stepscope/record.h>
#include <torch/csrc/profiler/orchestration/observer.h>

namespace stepscope_torch {

namespace profiling = torch::profiler::impl;

// "Disabled" keeps torch from taking it for a profiler that collects operators.
class AllocatorEvents final : public profiling::ProfilerStateBase {
 public:
  AllocatorEvents()
      : ProfilerStateBase(profiling::ProfilerConfig(profiling::ProfilerState::Disabled)) {}

  profiling::ActiveProfilerType profilerType() override {
    return profiling::ActiveProfilerType::NONE;
  }
  bool memoryProfilingEnabled() const override { return stepscope_is_recording() != 0; }

  void reportMemoryUsage(void* pointer, int64_t bytes, size_t allocated, size_t reserved,
                         c10::Device device) override {
    if (!stepscope_is_recording()) return;
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
    const std::string text = "out of memory on " + device.str() + ": " + std::to_string(bytes) +
                             " bytes asked for, " + std::to_string(allocated) + " allocated, " +
                             std::to_string(reserved) + " reserved";
    stepscope_mark(stepscope_name(text.data(), text.size()));
  }

  // On the thread that trains. False when another profiler has the place.
  static bool attach() {
    if (c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) != nullptr) return false;
    c10::ThreadLocalDebugInfo::_push(c10::DebugInfoKind::PROFILER_STATE,
                                     std::make_shared<AllocatorEvents>());
    return true;
  }

  // On the same thread. False when something was pushed above it meanwhile: it then stays, and
  // reports nothing.
  static bool detach() {
    const auto kind = c10::DebugInfoKind::PROFILER_STATE;
    if (dynamic_cast<AllocatorEvents*>(c10::ThreadLocalDebugInfo::get(kind)) == nullptr)
      return false;
    c10::ThreadLocalDebugInfo::_pop(kind);
    return true;
  }

 private:
  static uint32_t code(c10::Device device) {
    return static_cast<uint32_t>(device.type()) << 8 | static_cast<uint8_t>(device.index() + 1);
  }
};

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_ALLOCATOR_EVENTS_H_
