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
constexpr size_t kBlockBytes = 4 << 20;
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
};

ColdReader::ColdReader(int descriptor)
    : descriptor_(descriptor),
      current_(std::make_unique<Block>()),
      next_(std::make_unique<Block>()) {
  read_ahead();
}

ColdReader::~ColdReader() {
  reading_.wait();
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
  reader->reading_.wait();
  return reader->next_->filled < 0 ? nullptr : std::move(reader);
}

void ColdReader::read_ahead() {
  // A thread for each block: 20 us beside the millisecond that the block takes.
  reading_ = std::async(std::launch::async, [this, offset = next_offset_] {
    Block& block = *next_;
    block.used = 0;
    do {
      block.filled = ::pread(descriptor_, block.data, kBlockBytes, static_cast<off_t>(offset));
    } while (block.filled < 0 && errno == EINTR);
    block.failure = errno;
  });
  next_offset_ += kBlockBytes;
}

ptrdiff_t ColdReader::read(void* into, size_t bytes) {
  if (current_->used == current_->filled) {
    reading_.wait();
    std::swap(current_, next_);
    // A short block is the last one.
    if (current_->filled == static_cast<ptrdiff_t>(kBlockBytes)) {
      read_ahead();
    } else {
      next_->filled = next_->used = 0;
    }
  }
  if (current_->filled < 0) {
    errno = current_->failure;
    return -1;
  }
  const auto count = std::min(static_cast<ptrdiff_t>(bytes), current_->filled - current_->used);
  std::memcpy(into, current_->data + current_->used, static_cast<size_t>(count));
  current_->used += count;
  return count;
}

}  // namespace stepscope
