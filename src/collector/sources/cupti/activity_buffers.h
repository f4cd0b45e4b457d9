// ActivityBuffers: the memory that CUPTI writes its records to, used over and over.
//
// CUPTI asks for a buffer on whichever thread needs one, often the one that launches kernels, so
// taking and completing are a few atomic operations: no lock, no allocation, no page fault (the
// memory is touched beforehand). CUPTI is not told that buffers come zeroed, which would spare it
// the work once for some ten thousand records: it does not say how far it has written.
//
// Lives as long as the process: CUPTI may come back with a buffer at any time.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_BUFFERS_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_BUFFERS_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace stepscope::cupti {

class ActivityBuffers {
 public:
  static constexpr size_t kMost = 64;

  struct Filled {
    std::span<uint8_t> records;
    size_t slot;
  };

  // Before a recording: buffers of this size, so many at once and so many at most. What earlier
  // recordings left is forgotten.
  void prepare(size_t buffer_bytes, size_t ready, size_t most);

  // CUPTI's threads. take() is empty when there are as many as may be, which is counted.
  std::span<uint8_t> take();
  void complete(const uint8_t* buffer, size_t valid_bytes);

  // The writer thread's. The oldest buffer that was completed, until recycle() gives it back.
  std::optional<Filled> next();
  void recycle(const Filled& filled);
  // Makes sure that a few are free, while there may be more.
  void keep_ready();
  // Whether keep_ready() should come soon. Any thread may ask.
  bool running_low() const {
    const auto free = static_cast<size_t>(std::popcount(free_.load(std::memory_order_relaxed)));
    return free <= ready_ / 2 && !all_made_.load(std::memory_order_relaxed);
  }
  bool any_filled() const { return filled_.load(std::memory_order_relaxed) != 0; }

  // The writer thread's, when CUPTI has left the process: what it still had is free.
  void take_all_back();
  // After a recording: the memory goes back to the system, except of buffers that CUPTI holds. The
  // addresses stay ours: a thread that launches may have a last record under way to one that CUPTI
  // has given back.
  void give_memory_back();

  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  size_t count() const { return kMost - static_cast<size_t>(std::popcount(without_memory_)); }
  size_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Slot {
    std::atomic<uint8_t*> memory = nullptr;
    uint8_t* address = nullptr;  // also while it has no memory
    size_t bytes = 0;
    size_t valid_bytes = 0;
    uint64_t order = 0;
  };

  bool add_slot();
  uint8_t* memory_for(Slot& slot) const;

  // Bit n stands for slot n. A slot in neither is CUPTI's, or the writer's while it reads it.
  std::atomic<uint64_t> free_ = 0;
  std::atomic<uint64_t> filled_ = 0;
  std::atomic<uint64_t> next_order_ = 0;
  std::atomic<uint64_t> refused_ = 0;
  std::atomic<bool> all_made_ = false;
  std::array<Slot, kMost> slots_;
  uint64_t without_memory_ = ~uint64_t{0};  // the writer's
  size_t buffer_bytes_ = 0;
  size_t ready_ = 0;
  size_t most_ = 0;
};

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_ACTIVITY_BUFFERS_H_
