// KeptChunks: the last seconds of a recording that is not written to disk, as packed chunks.
//
// Bounded by bytes whatever happens: the oldest go first. The writer thread's own.
#ifndef STEPSCOPE_COLLECTOR_KEPT_CHUNKS_H_
#define STEPSCOPE_COLLECTOR_KEPT_CHUNKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

namespace stepscope {

// Records that were lost since the recording began.
struct Losses {
  int64_t records = 0;
  int64_t without_ring = 0;  // of these: their threads found no ring
};

struct KeptChunk {
  std::vector<std::byte> bytes;
  int64_t began_ns = 0;  // monotonic clock: what it holds was recorded between these
  int64_t ended_ns = 0;
  int64_t events = 0;
  Losses lost_before;  // as of began_ns
};

class KeptChunks {
 public:
  explicit KeptChunks(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  void add(KeptChunk chunk);
  // Chunks that end before go.
  void forget_before(int64_t time_ns);
  // All of them, oldest first; none are kept any more.
  std::deque<KeptChunk> take();
  uint64_t bytes() const { return bytes_; }
  size_t count() const { return chunks_.size(); }

 private:
  void forget_first();

  uint64_t most_bytes_;
  uint64_t bytes_ = 0;
  std::deque<KeptChunk> chunks_;
};

// Chunks are numbered in the order of the file, which is not known when they are packed.
void set_chunk_number(std::span<std::byte> chunk, uint64_t number);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_KEPT_CHUNKS_H_
