// WorkerRings: rings in memory that worker processes share with the process that records them.
//
// The memory has a path (that of a memfd below /proc), which works behind fork and behind exec and
// is gone with the processes, however they end. Each worker has one ring and writes it as a thread
// of the recording process would its own; the writer thread reads them. What a worker can do to the
// recording process is to write nonsense into its ring: positions are checked, pointers not taken.
//
// The ring of a worker that has ended goes to the next one that joins, once it is empty: mostly
// nothing records, and then nobody else looks after the rings.
#ifndef STEPSCOPE_COLLECTOR_WORKER_RINGS_H_
#define STEPSCOPE_COLLECTOR_WORKER_RINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "stepscope/record.h"

namespace stepscope {

inline constexpr size_t kMostWorkerRings = 64;
inline constexpr size_t kWorkerRecords = 2048;  // of a ring; a power of two

struct alignas(64) SharedRing {
  stepscope_ring ring{};  // its pointer is not used: addresses differ
  // The worker that has it: its process id, and above 32 bits when it started, because ids are used
  // again. One number, so that a ring passes from one worker to the next in one step; 0: nobody.
  std::atomic<uint64_t> owner = 0;
};

struct SharedWorkerArea {
  uint64_t magic = 0;
  std::atomic<uint32_t> recording = 0;
  std::atomic<uint64_t> without_ring = 0;  // workers that found none
  SharedRing rings[kMostWorkerRings];
  stepscope_record records[kMostWorkerRings][kWorkerRecords];
};

// The recording process's side.
class WorkerRings {
 public:
  // What a worker joins by; made at the first call. Empty when the system has no memfd.
  const std::string& address();

  void start();
  void stop();
  // Whether a ring is half full.
  bool filling() const;
  // For each ring with records: its worker, a view of it, tail and head. Then they are gone.
  using Visit = std::function<void(int64_t process, const stepscope_ring& view, uint64_t tail,
                                   uint64_t head)>;
  void drain(const Visit& visit);
  // The same for nobody. While a ring holds records it stays with its worker, even an ended one.
  void discard();
  // Records that found no room since the last call.
  int64_t take_not_recorded();
  // Workers that found no ring, so far.
  int64_t turned_away() const;

  // For fork(): no other thread may hold the lock while the process is copied.
  std::mutex& mutex() { return mutex_; }
  // In a forked child, whose workers are not these.
  void forget();

 private:
  mutable std::mutex mutex_;
  SharedWorkerArea* area_ = nullptr;
  int file_ = -1;  // stays open: the address leads through it
  std::string address_;
  bool recording_ = false;
  int64_t not_recorded_ = 0;
  uint64_t counted_[kMostWorkerRings] = {};  // of each ring's not_recorded
};

// A worker's side, for the calling thread.
bool join_worker_rings(const char* address);
// Whether this thread has joined and its parent records.
bool worker_is_recorded();
// This thread records for itself from now on.
void leave_worker_rings();

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_WORKER_RINGS_H_
