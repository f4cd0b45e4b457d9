// What the callbacks keep for each thread: caches, a pool of open ranges.
//
// Made at a thread's first operator and freed when the thread ends. Everything on the way of an
// operator is this thread's own: no lock, no atomic write, no allocation once the caches are warm.
#ifndef STEPSCOPE_TORCH_THREAD_STATE_H_
#define STEPSCOPE_TORCH_THREAD_STATE_H_

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include "stepscope/torch/native/name_cache.h"
#include "stepscope/torch/native/shape_cache.h"

// torch's classes have other members without it than the installed libraries were built with.
#ifndef NDEBUG
#error "build with -DNDEBUG"
#endif

namespace stepscope_torch {

struct ThreadState;

// Number of the recording that callbacks write to, 0: none; above it, how many times operators were
// taken out of torch: names that caches hold by their address may be gone then.
inline std::atomic<uint64_t> current_state{0};
constexpr uint64_t kOneRemoval = uint64_t{1} << 32;

inline uint32_t current_recording() {
  return static_cast<uint32_t>(current_state.load(std::memory_order_relaxed));
}

inline void set_current_recording(uint32_t recording) {
  uint64_t state = current_state.load(std::memory_order_relaxed);
  while (!current_state.compare_exchange_weak(state, (state & ~(kOneRemoval - 1)) | recording,
                                              std::memory_order_relaxed)) {
  }
}

// Counts operators that are taken out. Torch keeps it for as long as the process lives.
class RemovedOperators final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    current_state.fetch_add(kOneRemoval, std::memory_order_relaxed);
  }
  static void watch() {
    static const auto* const kWatching = new c10::RegistrationHandleRAII(
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<RemovedOperators>()));
    (void)kWatching;
  }
};

// Between the two callbacks of an operator. torch deletes it, and its memory goes back to a pool.
struct OpenRange final : at::ObserverContext {
  uint64_t start = 0;
  uint64_t sequence = 0;  // value2 of the record
  ThreadState* thread = nullptr;
  uint32_t name = 0;
  uint32_t args = 0;
  uint32_t recording = 0;

  static void* operator new(size_t size, ThreadState& thread);
  static void operator delete(void* memory);
  static void operator delete(void* memory, ThreadState&) { operator delete(memory); }
};

struct ThreadState {
  uint64_t state = 0;  // of current_state, when it was last looked at
  int64_t kernel_id = ::syscall(SYS_gettid);
  int64_t step_to_complete = -1;  // when the user's range that is open now ends
  void* free_ranges = nullptr;
  NameCache names;
  std::unique_ptr<ShapeCache> shapes;

  ThreadState() = default;
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;
  ~ThreadState() {
    while (free_ranges != nullptr) {
      void* const next = *static_cast<void**>(free_ranges);
      ::operator delete(free_ranges);
      free_ranges = next;
    }
  }

  // 0 when the inputs cannot be told, which is then only missing.
  uint32_t inputs_id(uint32_t name, const at::RecordFunction& function) noexcept try {
    if (!shapes) shapes = std::make_unique<ShapeCache>();
    return shapes->id(name, function.inputs());
  } catch (const std::exception&) {
    return 0;
  }

  void forget_outdated_names(uint64_t now) {
    if (now / kOneRemoval != state / kOneRemoval) names.forget();
    state = now / kOneRemoval * kOneRemoval | (state & (kOneRemoval - 1));
  }

  // The first operator of this thread in a recording, or behind the removal of others. torch counts
  // threads by itself, and backward operators name the forward thread by that count, so the file
  // has to say which is which.
  void join(uint64_t new_state) {
    forget_outdated_names(new_state);
    if (state == new_state) return;
    state = new_state;
    step_to_complete = -1;
    kernel_id = ::syscall(SYS_gettid);
    const std::string about = "{\"thread\":" + std::to_string(kernel_id) + ",\"number\":" +
                              std::to_string(at::RecordFunction::currentThreadId()) + "}";
    stepscope_metadata("torch_thread", about.c_str());
  }
};

// initial-exec: one load instead of a call into the loader. It takes 8 bytes of the space that the
// C library keeps for libraries loaded late.
inline __thread ThreadState* thread_state __attribute__((tls_model("initial-exec"))) = nullptr;
inline __thread bool thread_has_ended __attribute__((tls_model("initial-exec"))) = false;

// Null when there is no memory for it, or when the thread is at its end.
inline ThreadState* make_thread_state() noexcept {
  struct Owner {
    std::unique_ptr<ThreadState> state;
    ~Owner() {
      thread_state = nullptr;
      thread_has_ended = true;
    }
  };
  if (thread_has_ended) return nullptr;
  try {
    thread_local Owner owner;
    owner.state = std::make_unique<ThreadState>();
    thread_state = owner.state.get();
  } catch (const std::exception&) {
    return nullptr;
  }
  return thread_state;
}

inline void* OpenRange::operator new(size_t size, ThreadState& thread) {
  void* const memory = thread.free_ranges;
  if (memory == nullptr) return ::operator new(size);
  thread.free_ranges = *static_cast<void**>(memory);
  return memory;
}

// By the thread that ends the range, which is another one for asynchronous work.
inline void OpenRange::operator delete(void* memory) {
  ThreadState* const thread = thread_state;
  if (thread == nullptr) {
    ::operator delete(memory);
    return;
  }
  *static_cast<void**>(memory) = thread->free_ranges;
  thread->free_ranges = memory;
}

}  // namespace stepscope_torch

#endif  // STEPSCOPE_TORCH_THREAD_STATE_H_
