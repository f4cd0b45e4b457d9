// RingRegistry: the rings of a process's threads.
//
// A thread gets a ring at its first record and gives it back when it ends, to the next thread even
// before the writer has drained it: on a busy machine many threads come and go before the writer's
// turn comes. Rings are reused, never unmapped, because a thread may be writing its last record at
// any time. What a stopped recording must not keep is their memory, and that goes back by
// give_memory_back().
#ifndef STEPSCOPE_COLLECTOR_RING_REGISTRY_H_
#define STEPSCOPE_COLLECTOR_RING_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "stepscope/record.h"

namespace stepscope {

// A thread that has or had a ring.
struct RingOwner {
  uint64_t first = 0;  // where in the ring its records begin
  int64_t thread = 0;  // of the kernel
  char name[16] = {};  // as it was when the thread attached
};

struct alignas(64) ThreadRing {
  stepscope_ring shared{};  // what record.h sees
  size_t mapped_bytes = 0;
  std::atomic<bool> ended = false;   // the thread is gone: free once it is drained
  bool in_use = false;               // under the registry's lock, like the owners:
  std::vector<RingOwner> owners;     // the last one's now; the others' records may not be drained
  uint64_t not_recorded_before = 0;  // of earlier recordings
};

class RingRegistry {
 public:
  // Between recordings. Rings made from now on hold `records` (rounded up to a power of two); at
  // most `most_rings`, but for those that living threads have from before.
  void set_limits(size_t records, size_t most_rings);
  // Makes sure that `count` rings are free, their memory touched: threads that attach find one
  // ready.
  void prepare(size_t count);

  // The same for rings that threads have from an earlier recording.
  void touch_in_use();

  // This thread's ring. Null when there are as many as may be; that is counted.
  stepscope_ring* attach();
  // The thread that had it ends.
  void detach(stepscope_ring* ring);

  // All rings that threads have or had since the last release_ended(); new ones may come meanwhile.
  std::vector<ThreadRing*> in_use();
  // Whose records are in the ring, up to a head that was read before; in order. Into a vector that
  // is used again, so that nothing is allocated while threads come and go.
  void copy_owners(const ThreadRing& ring, std::vector<RingOwner>& owners);
  // Rings of ended threads that are drained become free.
  void release_ended();

  // Before a recording: everything written until now is forgotten.
  void forget_content();
  // After a recording. Threads may still be writing: their pages come back empty.
  void give_memory_back();

  // In a forked child, which has none of the threads: all rings are free, their content gone.
  void forget_threads();

  // Records since the last call of forget_content() that found no ring or no room in it, also those
  // of threads that ended meanwhile.
  uint64_t not_recorded();
  // Of these, those that found no ring, and whether it was the system that had no memory for one.
  uint64_t without_ring() const;
  bool without_memory() const { return without_memory_.load(std::memory_order_relaxed); }
  // Memory that they may take: as many as may be, and those that living threads have from before.
  uint64_t most_bytes();
  std::mutex& mutex() { return mutex_; }

 private:
  ThreadRing* find_ring();
  ThreadRing* make_ring();

  std::mutex mutex_;
  std::vector<std::unique_ptr<ThreadRing>> rings_;
  size_t records_ = 1 << 18;
  size_t most_rings_ = 16;
  std::atomic<bool> exhausted_ = false;
  std::atomic<uint64_t> without_ring_ = 0;
  std::atomic<bool> without_memory_ = false;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_RING_REGISTRY_H_
