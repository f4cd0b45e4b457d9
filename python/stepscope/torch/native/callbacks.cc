// Operator ranges from torch's RecordFunction callbacks, and its profiler's place on the thread.
//
// Built on the user's machine against the torch that is installed (see ../_build.py), because
// torch's C++ interface changes with every version. Python reaches it by the C functions below.
// Nothing throws out of it, and nothing is unloaded: operators may be open when recording stops.
#include <pthread.h>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "stepscope/torch/native/thread_profiler.h"
#include "stepscope/torch/native/thread_state.h"

namespace stepscope_torch {
namespace {

enum Wish : uint32_t { kShapes = 1, kMemory = 2, kCompiled = 4 };

// The sequence number joins a forward operator with the backward ones that it causes.
uint64_t sequence_value(const at::RecordFunction& function) {
  const int64_t sequence = function.seqNr();
  const uint64_t forward_thread = function.forwardThreadId();
  const uint64_t number = sequence < 0 ? 0 : static_cast<uint64_t>(sequence) + 1;
  return number | (forward_thread < 1u << 16 ? forward_thread << 48 : 0);
}

template <bool kWithShapes>
std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  ThreadState* thread = thread_state;
  if (__builtin_expect(thread == nullptr, 0)) {
    thread = make_thread_state();
    if (thread == nullptr) return nullptr;
  }
  const uint64_t state = current_state.load(std::memory_order_relaxed);
  const auto recording = static_cast<uint32_t>(state);
  if (__builtin_expect(thread->state != state, 0)) {
    if (recording == 0) return nullptr;
    thread->join(state);
  }
  auto* const range = new (*thread) OpenRange;
  std::unique_ptr<at::ObserverContext> owner(range);
  range->thread = thread;
  range->recording = recording;
  range->name = thread->names.id(function);
  range->sequence = sequence_value(function);
  if constexpr (kWithShapes) range->args = thread->inputs_id(range->name, function);
  range->start = stepscope_ticks();
  return owner;
}

// Before a recording: fills the caches with what the program's steps are made of.
template <bool kWithShapes>
std::unique_ptr<at::ObserverContext> learn(const at::RecordFunction& function) {
  ThreadState* const thread = thread_state != nullptr ? thread_state : make_thread_state();
  if (thread == nullptr) return nullptr;
  if (stepscope_thread.ring == nullptr) stepscope_make_room();
  thread->forget_outdated_names(current_state.load(std::memory_order_relaxed));
  const uint32_t name = thread->names.id(function);
  if constexpr (kWithShapes) thread->inputs_id(name, function);
  return nullptr;
}

// Asynchronous work (a collective of gloo) ends on another thread and is kept there: this thread
// may write to its own ring only.
uint32_t other_thread_args(const OpenRange& range) {
  const std::string text =
      "{\"Started by thread\":" + std::to_string(range.thread->kernel_id) + "}";
  return stepscope_name(text.data(), text.size());
}

// Where the open step began, in ticks. Steps are one sequence for the process.
std::atomic<uint64_t> step_start{0};

void complete_step(int64_t number, uint64_t now) {
  stepscope_put(step_start.exchange(now), 0, STEPSCOPE_STEP | STEPSCOPE_VALUES, 0,
                static_cast<uint64_t>(number), 0);
  stepscope_put(now, 0, STEPSCOPE_STEP_END, 0, 0, 0);
}

void end(const at::RecordFunction& function, at::ObserverContext* context) {
  const uint64_t now = stepscope_ticks();
  const auto* const range = static_cast<const OpenRange*>(context);
  if (range == nullptr) return;
  const bool same_thread = range->thread == thread_state;
  // Another recording may have begun meanwhile; it did not see this range begin.
  if (range->recording != current_recording()) return;
  uint64_t args = range->args;
  if (__builtin_expect(!same_thread && args == 0, 0)) args = other_thread_args(*range);
  const uint32_t kind =
      function.scope() == at::RecordScope::USER_SCOPE ? STEPSCOPE_USER : STEPSCOPE_OPERATOR;
  const bool with_values = (args | range->sequence) != 0;
  stepscope_put(range->start, now - range->start, with_values ? kind | STEPSCOPE_VALUES : kind,
                range->name, args, range->sequence);
  if (kind == STEPSCOPE_USER && same_thread && range->thread->step_to_complete >= 0)
    complete_step(std::exchange(range->thread->step_to_complete, -1), now);
}

// Not the scopes of mobile builds: at every node of a backward pass torch makes its lists of
// callbacks anew, one for each scope that has any.
at::RecordFunctionCallback& choose(at::RecordFunctionCallback& callback, bool shapes) {
  using at::RecordScope;
  return callback.needsInputs(shapes).scopes({RecordScope::FUNCTION, RecordScope::BACKWARD_FUNCTION,
                                              RecordScope::TORCHSCRIPT_FUNCTION,
                                              RecordScope::USER_SCOPE});
}

at::RecordFunctionCallback callback(uint32_t wishes) {
  const bool shapes = (wishes & kShapes) != 0;
  at::RecordFunctionCallback chosen(shapes ? begin<true> : begin<false>, end);
  return choose(chosen, shapes);
}

at::RecordFunctionCallback learner(uint32_t wishes) {
  const bool shapes = (wishes & kShapes) != 0;
  at::RecordFunctionCallback chosen(shapes ? learn<true> : learn<false>);
  return choose(chosen, shapes);
}

// Of one process. Python calls from one thread at a time; the mutex is for programs that do not.
struct Recording {
  std::mutex mutex;
  at::CallbackHandle handle = at::INVALID_CALLBACK_HANDLE;
  at::CallbackHandle warm_up = at::INVALID_CALLBACK_HANDLE;
  uint32_t last = 0;
  bool wants_memory = false;
  bool wants_place = false;  // it costs programs without torch.compile 50 to 150 ns an operator
  bool has_place = false;    // of ThreadProfiler, on its thread
  bool has_given_way = false;
  pthread_t thread{};       // that started it
  bool is_parents = false;  // in a forked child: all of it is what the parent did
};

void remove(at::CallbackHandle& handle) {
  if (handle != at::INVALID_CALLBACK_HANDLE) at::removeCallback(handle);
  handle = at::INVALID_CALLBACK_HANDLE;
}

Recording& the_recording() {
  static auto* const recording = new Recording;
  // A forked child (a DataLoader's worker) has the callbacks, and no recording: names that it finds
  // would be unknown to its parent's.
  static const int kForkHandled = ::pthread_atfork(nullptr, nullptr, [] {
    set_current_recording(0);
    recording->is_parents = true;
  });
  (void)kForkHandled;
  return *recording;
}

// A forked child that wants to record begins anew: with the parent's callbacks beside its own it
// would record everything twice. Not at the fork itself: torch's locks may be taken there.
void leave_parents(Recording& recording) {
  if (!std::exchange(recording.is_parents, false)) return;
  remove(recording.handle);
  if (std::exchange(recording.has_place, false)) ThreadProfiler::detach();
}

// Whether the place on this thread is for a recording that runs.
bool is_own_thread(const Recording& recording) {
  return recording.handle != at::INVALID_CALLBACK_HANDLE && !recording.is_parents &&
         ::pthread_equal(recording.thread, ::pthread_self()) != 0;
}

}  // namespace
}  // namespace stepscope_torch

using namespace stepscope_torch;

extern "C" {

// Begins to record operators. `wishes`: 1 shapes and types of inputs, 2 allocator events of this
// thread and of those that work for it. Returns the wishes that hold, or -1 when it cannot be. The
// GPU's work is linked to operators by its launching calls, which lie inside of them.
STEPSCOPE_API int stepscope_torch_start(uint32_t wishes) noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  leave_parents(recording);
  if (recording.handle != at::INVALID_CALLBACK_HANDLE || !stepscope_is_recording()) return -1;
  RemovedOperators::watch();
  remove(recording.warm_up);
  recording.last = recording.last == UINT32_MAX ? 1 : recording.last + 1;
  recording.wants_memory = (wishes & kMemory) != 0;
  recording.wants_place = (wishes & (kMemory | kCompiled)) != 0;
  recording.thread = ::pthread_self();
  recording.has_place =
      recording.wants_place && ThreadProfiler::attach(recording.last, recording.wants_memory);
  recording.has_given_way = false;
  set_current_recording(recording.last);
  recording.handle = at::addGlobalCallback(callback(wishes));
  return static_cast<int>(recording.has_place ? wishes : wishes & kShapes);
} catch (const std::exception&) {
  return -1;
}

// From here to the start of a recording operators are looked at and not recorded: it finds their
// names and shapes known. Costs about what recording does.
STEPSCOPE_API void stepscope_torch_warm_up(uint32_t wishes) noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  leave_parents(recording);
  if (recording.handle != at::INVALID_CALLBACK_HANDLE) return;
  RemovedOperators::watch();
  remove(recording.warm_up);
  recording.warm_up = at::addGlobalCallback(learner(wishes));
} catch (const std::exception&) {  // it is a recording's first step then that learns
}

// Where no recording follows.
STEPSCOPE_API void stepscope_torch_end_warm_up() noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  remove(recording.warm_up);
} catch (const std::exception&) {
}

// Operators cost afterwards what they cost before. 0, or -1 when the place of torch's profiler
// stays taken: another thread stops than started, or something was put above it.
STEPSCOPE_API int stepscope_torch_stop() noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  set_current_recording(0);
  remove(recording.handle);
  return !std::exchange(recording.has_place, false) || ThreadProfiler::detach() ? 0 : -1;
} catch (const std::exception&) {
  return -1;
}

// Another profiler is about to start on this thread: it raises where the place is taken. 1 where
// this recording has no memory reports meanwhile, and says so for the first time.
STEPSCOPE_API int stepscope_torch_give_way() noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  if (!ThreadProfiler::detach()) return 0;
  if (is_own_thread(recording)) recording.has_place = false;
  if (!recording.wants_memory || current_recording() == 0) return 0;
  if (std::exchange(recording.has_given_way, true)) return 0;
  stepscope_metadata("not_honoured",
                     "{\"profile_memory\":\"torch.profiler ran on this thread as well and had the "
                     "reports meanwhile\"}");
  return 1;
} catch (const std::exception&) {
  return 0;
}

// That profiler has ended.
STEPSCOPE_API void stepscope_torch_come_back() noexcept try {
  Recording& recording = the_recording();
  const std::lock_guard lock(recording.mutex);
  if (is_own_thread(recording) && recording.wants_place && !recording.has_place)
    recording.has_place = ThreadProfiler::attach(recording.last, recording.wants_memory);
} catch (const std::exception&) {  // the place stays free
}

// Steps that nobody marks: one begins here, another with every completed one.
STEPSCOPE_API void stepscope_torch_begin_steps() noexcept { step_start = stepscope_ticks(); }

// Called inside of the range that torch has around an optimizer's step. The training step is
// complete when that range is.
STEPSCOPE_API void stepscope_torch_complete_step(int64_t number) noexcept {
  if (!stepscope_is_recording()) return;
  if (thread_state != nullptr) {
    thread_state->step_to_complete = number;
  } else {
    complete_step(number, stepscope_ticks());
  }
}

}  // extern "C"
