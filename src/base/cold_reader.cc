#include "base/cold_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace stepscope {
namespace {

constexpr uint64_t kLargeFromBytes = 64ull << 20;
constexpr size_t kBlockBytes = 2 << 20;
constexpr size_t kBlocks = 6;
constexpr size_t kAlignment = 4096;  // what direct reads ask of offset, length and address
constexpr size_t kSamples = 64;

bool is_mostly_cached(const InputFile& file) {
  const size_t bytes = file.size();
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (at == MAP_FAILED) return true;
  size_t cached = 0;
  for (size_t sample = 0; sample < kSamples; ++sample) {
    const size_t page = bytes / kSamples * sample / kAlignment * kAlignment;
    unsigned char resident = 0;
    if (::mincore(static_cast<char*>(at) + page, kAlignment, &resident) == 0)
      cached += resident & 1;
  }
  ::munmap(at, bytes);
  return cached * 2 > kSamples;
}

}  // namespace

struct ColdReader::Block {
  Block() : data(static_cast<char*>(std::aligned_alloc(kAlignment, kBlockBytes))) {}
  ~Block() { std::free(data); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data;
  ptrdiff_t filled = 0;  // negative: failed
  ptrdiff_t used = 0;
  int failure = 0;
  std::future<void> reading;
};

ColdReader::ColdReader(int descriptor) : descriptor_(descriptor) {
  for (size_t i = 0; i < kBlocks; ++i) read_ahead(*blocks_.emplace_back(std::make_unique<Block>()));
}

ColdReader::~ColdReader() {
  for (const auto& block : blocks_) block->reading.wait();
  ::close(descriptor_);
}

std::unique_ptr<ColdReader> ColdReader::open(const InputFile& file) {
  if (file.size() < kLargeFromBytes || is_mostly_cached(file)) return nullptr;
  return open_always(file);
}

std::unique_ptr<ColdReader> ColdReader::open_always(const InputFile& file) {
  // Through /proc the very same file is opened, even if its name means another one by now.
  const std::string same = "/proc/self/fd/" + std::to_string(file.descriptor());
  const int descriptor = ::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (descriptor < 0) return nullptr;
  auto reader = std::unique_ptr<ColdReader>(new ColdReader(descriptor));
  // Some file systems accept the flag and refuse the read.
  Block& first = *reader->blocks_.front();
  first.reading.wait();
  return first.filled < 0 ? nullptr : std::move(reader);
}

void ColdReader::read_ahead(Block& block) {
  block.used = 0;
  // A thread for each block: 20 us beside the half millisecond that the block takes.
  block.reading = std::async(std::launch::async, [this, &block, offset = next_offset_] {
    do {
      block.filled = ::pread(descriptor_, block.data, kBlockBytes, static_cast<off_t>(offset));
    } while (block.filled < 0 && errno == EINTR);
    block.failure = errno;
  });
  next_offset_ += kBlockBytes;
}

ptrdiff_t ColdReader::read(void* into, size_t bytes) {
  Block* block = blocks_[current_].get();
  block->reading.wait();
  // A short block is the last one.
  if (block->used == block->filled && block->filled == static_cast<ptrdiff_t>(kBlockBytes)) {
    read_ahead(*block);
    current_ = (current_ + 1) % blocks_.size();
    block = blocks_[current_].get();
    block->reading.wait();
  }
  if (block->filled < 0) {
    errno = block->failure;
    return -1;
  }
  const auto count = std::min(static_cast<ptrdiff_t>(bytes), block->filled - block->used);
  std::memcpy(into, block->data + block->used, static_cast<size_t>(count));
  block->used += count;
  return count;
}

}  // namespace stepscope
