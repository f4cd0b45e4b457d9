#include "collector/bounded_call.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "collector/signals_blocked.h"

namespace stepscope {

bool call_within(int64_t most_ms, std::function<void()> work) {
  struct Call {
    std::mutex mutex;
    std::condition_variable done_changed;
    bool done = false;
  };
  const auto call = std::make_shared<Call>();
  {
    const SignalsBlocked for_new_threads;
    std::thread([call, work = std::move(work)]() mutable {
      work();
      work = nullptr;  // what it holds is free when the caller goes on
      const std::lock_guard lock(call->mutex);
      call->done = true;
      call->done_changed.notify_all();
    }).detach();
  }
  std::unique_lock lock(call->mutex);
  return call->done_changed.wait_for(lock, std::chrono::milliseconds(most_ms),
                                     [&] { return call->done; });
}

}  // namespace stepscope
