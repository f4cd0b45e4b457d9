// Threads for connections. A connection keeps its thread as long as it is open, also while it is
// idle, and a browser opens six: there are as many threads as connections need, up to a limit, and
// connections beyond that wait. Idle threads cost a few pages each.
#ifndef STEPSCOPE_SERVER_CONNECTION_THREADS_H_
#define STEPSCOPE_SERVER_CONNECTION_THREADS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <httplib.h>

namespace stepscope {

class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(size_t most) : most_(most) {}

  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

 private:
  void work();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool over_ = false;
};

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_CONNECTION_THREADS_H_
