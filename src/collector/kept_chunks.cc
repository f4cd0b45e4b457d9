#include "collector/kept_chunks.h"

#include <cstring>

#include "format/raw_file.h"

namespace stepscope {

void KeptChunks::add(KeptChunk chunk) {
  if (chunk.bytes.empty()) return;
  bytes_ += chunk.bytes.size();
  chunks_.push_back(std::move(chunk));
  while (bytes_ > most_bytes_) forget_first();
}

void KeptChunks::forget_before(int64_t time_ns) {
  while (!chunks_.empty() && chunks_.front().ended_ns < time_ns) forget_first();
}

std::deque<KeptChunk> KeptChunks::take() {
  bytes_ = 0;
  return std::exchange(chunks_, {});
}

void KeptChunks::forget_first() {
  bytes_ -= chunks_.front().bytes.size();
  chunks_.pop_front();
}

void set_chunk_number(std::span<std::byte> chunk, uint64_t number) {
  if (chunk.size() < sizeof(RawChunkHeader)) return;
  std::memcpy(chunk.data() + offsetof(RawChunkHeader, number), &number, sizeof number);
}

}  // namespace stepscope
