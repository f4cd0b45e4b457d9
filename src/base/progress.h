// Progress of a long piece of work, and the way to stop it. Called from any thread, cheaply.
#ifndef STEPSCOPE_BASE_PROGRESS_H_
#define STEPSCOPE_BASE_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace stepscope {

class Progress {
 public:
  void add_total_bytes(uint64_t bytes) { total_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void add_done_bytes(uint64_t bytes) { done_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  uint64_t total_bytes() const { return total_bytes_.load(std::memory_order_relaxed); }
  uint64_t done_bytes() const { return done_bytes_.load(std::memory_order_relaxed); }

  // Safe in a signal handler. Work that sees it returns ErrorCode::kCancelled soon and leaves
  // nothing behind.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> total_bytes_{0};
  std::atomic<uint64_t> done_bytes_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_PROGRESS_H_
