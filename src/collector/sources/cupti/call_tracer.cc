#include "collector/sources/cupti/call_tracer.h"

#include <pthread.h>

#include <atomic>
#include <vector>

#include "collector/sources/cupti/api_calls.h"
#include "stepscope/record.h"

namespace stepscope::cupti {
namespace {

// By the ids of functions; 0: not wanted.
using NamesById = std::vector<uint32_t>;

// Callbacks may still run when they have been switched off: what they use is the process's and is
// never destroyed.
struct Tracing {
  std::atomic<uint32_t> recording = 0;  // its number; 0: none
  std::atomic<uint64_t> began = 0;      // in ticks
  uint32_t last_recording = 0;
  NamesById runtime;
  NamesById driver;
  void* subscriber = nullptr;
};

Tracing& tracing() {
  static auto* const kTracing = new Tracing;
  return *kTracing;
}

// The runtime calls the driver: what happens inside of a call that is recorded is not recorded.
struct ThisThread {
  uint32_t recording = 0;
  uint32_t open_runtime_calls = 0;
  const CuptiLibrary* detach_from = nullptr;
  ReturnCode detached = kSuccess;
};
thread_local ThisThread this_thread;

bool finalize_here(const CallbackData& data) {
  if (this_thread.detach_from == nullptr || data.site != kCallExit) return false;
  const CuptiLibrary& library = *std::exchange(this_thread.detach_from, nullptr);
  library.unsubscribe(tracing().subscriber);
  this_thread.detached = library.finalize();
  return true;
}

extern "C" void stepscope_cupti_call(void*, uint32_t domain, uint32_t id,
                                     const CallbackData* data) {
  if (__builtin_expect(this_thread.detach_from != nullptr, 0) && finalize_here(*data)) return;
  const Tracing& all = tracing();
  const uint32_t recording = all.recording.load(std::memory_order_acquire);
  if (recording == 0) return;
  ThisThread& thread = this_thread;
  if (thread.recording != recording) {
    thread.recording = recording;
    thread.open_runtime_calls = 0;
  }
  const bool runtime = domain == kRuntimeDomain;
  if (!runtime && thread.open_runtime_calls > 0) return;
  if (data->site == kCallEnter) {
    thread.open_runtime_calls += runtime;
    *data->between = stepscope_ticks();
    return;
  }
  const uint64_t now = stepscope_ticks();
  if (runtime && thread.open_runtime_calls > 0) --thread.open_runtime_calls;
  const NamesById& names = runtime ? all.runtime : all.driver;
  const uint64_t start = *data->between;
  const uint64_t began = all.began.load(std::memory_order_relaxed);
  // A call that was under way when the recording began has no start.
  if (id >= names.size() || start - began > now - began) return;
  stepscope_put(start, now - start, STEPSCOPE_DEVICE_CALL | STEPSCOPE_VALUES, names[id],
                data->correlation, runtime ? 0 : 1);
}

NamesById learn(const CuptiLibrary& library, uint32_t domain) {
  NamesById names;
  for_each_call(library, domain, [&](uint32_t id, std::string_view name) {
    if (!(domain == kRuntimeDomain ? runtime_call_is_wanted(name) : driver_call_is_wanted(name)))
      return;
    if (id >= names.size()) names.resize(id + 1);
    names[id] = stepscope_name(name.data(), name.size());
  });
  return names;
}

bool subscribe(const CuptiLibrary& library) {
  return library.subscribe != nullptr && library.unsubscribe != nullptr &&
         library.enable_callback != nullptr &&
         library.subscribe(&tracing().subscriber, stepscope_cupti_call, nullptr) == kSuccess;
}

bool switch_on(const CuptiLibrary& library, uint32_t domain, const NamesById& names) {
  bool any = false;
  for (uint32_t id = 0; id < names.size(); ++id) {
    if (names[id] == 0) continue;
    any |= library.enable_callback(1, tracing().subscriber, domain, id) == kSuccess;
  }
  return any;
}

}  // namespace

bool start_call_tracing(const CuptiLibrary& library) {
  if (library.get_callback_name == nullptr || !subscribe(library)) return false;
  // A forked child has no recording, and its parent's CUPTI is of no use to it.
  static const int kForkHandled = ::pthread_atfork(
      nullptr, nullptr, [] { tracing().recording.store(0, std::memory_order_relaxed); });
  (void)kForkHandled;
  Tracing& all = tracing();
  if (all.runtime.empty()) {
    all.runtime = learn(library, kRuntimeDomain);
    all.driver = learn(library, kDriverDomain);
  }
  all.last_recording = all.last_recording == UINT32_MAX ? 1 : all.last_recording + 1;
  all.began.store(stepscope_ticks(), std::memory_order_relaxed);
  all.recording.store(all.last_recording, std::memory_order_release);
  const bool runtime = switch_on(library, kRuntimeDomain, all.runtime);
  if (runtime && switch_on(library, kDriverDomain, all.driver)) return true;
  stop_call_tracing(library);
  return false;
}

void stop_call_tracing(const CuptiLibrary& library) {
  tracing().recording.store(0, std::memory_order_release);
  library.unsubscribe(tracing().subscriber);
}

bool detach(const CuptiLibrary& library) {
  // Any function of the driver will do; this one waits for nothing and changes nothing.
  constexpr std::string_view kTrigger = "cuDeviceGetCount";
  using Trigger = int (*)(int*);
  const auto trigger = reinterpret_cast<Trigger>(driver_function(library, kTrigger.data()));
  if (library.finalize == nullptr || library.get_callback_name == nullptr || trigger == nullptr ||
      !subscribe(library)) {
    return false;
  }
  for_each_call(library, kDriverDomain, [&](uint32_t id, std::string_view name) {
    if (name == kTrigger) library.enable_callback(1, tracing().subscriber, kDriverDomain, id);
  });
  this_thread.detach_from = &library;
  int devices = 0;
  trigger(&devices);
  if (std::exchange(this_thread.detach_from, nullptr) == nullptr)
    return this_thread.detached == kSuccess;
  library.unsubscribe(tracing().subscriber);  // the callback did not come
  return false;
}

}  // namespace stepscope::cupti
