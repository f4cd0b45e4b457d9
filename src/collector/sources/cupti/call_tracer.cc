#include "collector/sources/cupti/call_tracer.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "collector/sources/cupti/api_calls.h"
#include "stepscope/record.h"

namespace stepscope::cupti {
namespace {

struct Call {
  uint32_t name = 0;  // 0: not wanted
  SyncType waits_for = SyncType::kNothing;
  bool per_thread_stream = false;
  bool launches_kernel = false;
};
using CallsById = std::vector<Call>;

enum class Ear : uint8_t { kShut, kOpen, kHeardCalls };
enum class Callbacks : uint8_t { kNone, kOfLaunches, kOfAllCalls };

// Callbacks may still run when they have been switched off: what they use is the process's and is
// never destroyed.
struct Tracing {
  std::atomic<uint32_t> recording = 0;  // its number; 0: none
  std::atomic<uint64_t> began = 0;      // in ticks
  std::atomic<Ear> ear = Ear::kShut;
  uint32_t last_recording = 0;
  Callbacks callbacks = Callbacks::kNone;
  CallsById runtime;
  CallsById driver;
  const CuptiLibrary* library = nullptr;
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
  uint32_t last_recorded = 0;  // its correlation
  bool is_ours = false;        // and its calls are nobody's business
  const CuptiLibrary* detach_from = nullptr;
  ReturnCode detached = kSuccess;
};
thread_local ThisThread this_thread;

void finalize_here(const CallbackData& data) {
  if (this_thread.detach_from == nullptr || data.site != kCallExit) return;
  const CuptiLibrary& library = *std::exchange(this_thread.detach_from, nullptr);
  tracing().subscriber = nullptr;
  tracing().callbacks = Callbacks::kNone;
  this_thread.detached = library.finalize();
}

// What the ring's record says beside the call's own times: see STEPSCOPE_DEVICE_CALL.
uint64_t stream_bits(const Call& call, const CallbackData& data, const CuptiLibrary& library) {
  if (call.waits_for != SyncType::kStream && call.waits_for != SyncType::kStreamWaitsForEvent)
    return 0;
  void* stream = nullptr;
  std::memcpy(&stream, data.parameters, sizeof stream);  // the first argument of all of them
  uint32_t id = 0;
  const bool known =
      library.get_stream_id != nullptr &&
      library.get_stream_id(data.context, stream, call.per_thread_stream, &id) == kSuccess;
  return known ? (uint64_t{id} + 1) << 32 : 0;
}

extern "C" void stepscope_cupti_call(void*, uint32_t domain, uint32_t id,
                                     const CallbackData* data) {
  ThisThread& thread = this_thread;
  if (__builtin_expect(thread.is_ours, 0)) return finalize_here(*data);
  Tracing& all = tracing();
  const uint32_t recording = all.recording.load(std::memory_order_acquire);
  if (__builtin_expect(all.ear.load(std::memory_order_relaxed) == Ear::kOpen, 0))
    all.ear.store(Ear::kHeardCalls, std::memory_order_relaxed);
  if (recording == 0) return;
  if (thread.recording != recording) {
    thread.recording = recording;
    thread.open_runtime_calls = 0;
    thread.last_recorded = 0;
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
  // Once callbacks were switched on and off beside threads that call, CUPTI 13.0 to 13.4 tells of
  // one call two to four times.
  if (data->correlation != 0 && data->correlation == thread.last_recorded) return;
  const CallsById& calls = runtime ? all.runtime : all.driver;
  const uint64_t start = *data->between;
  const uint64_t began = all.began.load(std::memory_order_relaxed);
  // A call that was under way when the recording began has no start.
  if (id >= calls.size() || start - began > now - began) return;
  thread.last_recorded = data->correlation;
  const Call& call = calls[id];
  uint64_t value1 = data->correlation;
  uint64_t value2 = runtime ? 0 : 1;
  if (__builtin_expect(call.waits_for != SyncType::kNothing, 0)) {
    value1 |= stream_bits(call, *data, *all.library);
    value2 |= static_cast<uint64_t>(call.waits_for) << 8 | uint64_t{data->context_id} << 32;
  }
  stepscope_put(start, now - start, STEPSCOPE_DEVICE_CALL | STEPSCOPE_VALUES, call.name, value1,
                value2);
}

CallsById learn(const CuptiLibrary& library, uint32_t domain) {
  CallsById calls;
  for_each_call(library, domain, [&](uint32_t id, std::string_view name) {
    if (!(domain == kRuntimeDomain ? runtime_call_is_wanted(name) : driver_call_is_wanted(name)))
      return;
    if (id >= calls.size()) calls.resize(id + 1);
    const bool per_thread_stream = name.ends_with("_ptsz");
    const bool launches_kernel = name.find("LaunchKernel") != std::string_view::npos;
    calls[id] = {stepscope_name(name.data(), name.size()), sync_type(name), per_thread_stream,
                 launches_kernel};
  });
  return calls;
}

bool switch_callbacks(const CuptiLibrary& library, bool on, Callbacks which) {
  Tracing& all = tracing();
  const auto any_of = [&](uint32_t domain, const CallsById& calls) {
    bool any = false;
    for (uint32_t id = 0; id < calls.size(); ++id) {
      if (calls[id].name == 0) continue;
      if (which == Callbacks::kOfLaunches && !calls[id].launches_kernel) continue;
      any |= library.enable_callback(on ? 1 : 0, all.subscriber, domain, id) == kSuccess;
    }
    return any;
  };
  all.callbacks = on ? which : Callbacks::kNone;
  const bool runtime = any_of(kRuntimeDomain, all.runtime);
  return any_of(kDriverDomain, all.driver) && runtime;
}

}  // namespace

bool is_subscribed(const CuptiLibrary& library) {
  if (tracing().subscriber == nullptr) return false;
  const CallsById& calls = tracing().runtime;
  const auto wanted = std::ranges::find_if(calls, [](const Call& call) { return call.name != 0; });
  const auto id = static_cast<uint32_t>(wanted - calls.begin());
  return wanted != calls.end() &&
         library.enable_callback(0, tracing().subscriber, kRuntimeDomain, id) == kSuccess;
}

bool subscribe(const CuptiLibrary& library) {
  if (library.subscribe == nullptr || library.unsubscribe == nullptr ||
      library.enable_callback == nullptr || library.get_callback_name == nullptr) {
    return false;
  }
  Tracing& all = tracing();
  if (all.runtime.empty()) {
    all.runtime = learn(library, kRuntimeDomain);
    all.driver = learn(library, kDriverDomain);
    all.library = &library;
  }
  if (is_subscribed(library)) return true;
  return library.subscribe(&all.subscriber, stepscope_cupti_call, nullptr) == kSuccess;
}

bool start_call_tracing(const CuptiLibrary& library) {
  // A forked child has no recording, and its parent's CUPTI is of no use to it.
  static const int kForkHandled = ::pthread_atfork(
      nullptr, nullptr, [] { tracing().recording.store(0, std::memory_order_relaxed); });
  (void)kForkHandled;
  Tracing& all = tracing();
  all.last_recording = all.last_recording == UINT32_MAX ? 1 : all.last_recording + 1;
  all.began.store(stepscope_ticks(), std::memory_order_relaxed);
  all.recording.store(all.last_recording, std::memory_order_release);
  if (switch_callbacks(library, true, Callbacks::kOfAllCalls)) return true;
  stop_call_tracing(library);
  return false;
}

void pause_call_tracing() { tracing().recording.store(0, std::memory_order_release); }

void ignore_this_thread() { this_thread.is_ours = true; }

void listen_for_calls(const CuptiLibrary& library) {
  Tracing& all = tracing();
  all.ear.store(Ear::kOpen, std::memory_order_relaxed);
  if (all.callbacks == Callbacks::kNone) switch_callbacks(library, true, Callbacks::kOfLaunches);
}

bool heard_calls() { return tracing().ear.load(std::memory_order_relaxed) == Ear::kHeardCalls; }

void stop_call_tracing(const CuptiLibrary& library) {
  pause_call_tracing();
  Tracing& all = tracing();
  all.ear.store(Ear::kShut, std::memory_order_relaxed);
  if (all.callbacks != Callbacks::kNone) switch_callbacks(library, false, all.callbacks);
}

bool detach(const CuptiLibrary& library) {
  // Any function of the driver will do; this one waits for nothing and changes nothing.
  constexpr std::string_view kTrigger = "cuDeviceGetCount";
  using Trigger = int (*)(int*);
  const auto trigger = reinterpret_cast<Trigger>(driver_function(library, kTrigger.data()));
  if (library.finalize == nullptr || trigger == nullptr || !subscribe(library)) return false;
  for_each_call(library, kDriverDomain, [&](uint32_t id, std::string_view name) {
    if (name == kTrigger) library.enable_callback(1, tracing().subscriber, kDriverDomain, id);
  });
  this_thread.detach_from = &library;
  this_thread.is_ours = true;
  int devices = 0;
  trigger(&devices);
  this_thread.is_ours = false;
  if (std::exchange(this_thread.detach_from, nullptr) == nullptr)
    return this_thread.detached == kSuccess;
  return false;  // the callback did not come
}

}  // namespace stepscope::cupti
