#include "server/connection_threads.h"

#include <system_error>
#include <utility>

namespace stepscope {

void ConnectionThreads::enqueue(std::function<void()> connection) {
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(connection));
    if (waiting_.size() > idle_ && threads_.size() < most_) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // No more threads on this machine: the connection waits for one of those there are.
      }
    }
  }
  wake_.notify_one();
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;  // over
    const std::function<void()> connection = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    connection();
    lock.lock();
  }
}

void ConnectionThreads::shutdown() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace stepscope
