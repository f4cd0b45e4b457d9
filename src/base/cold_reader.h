// ColdReader: reads a large file that is not in the page cache from front to back, past the cache.
//
// Going through the cache costs a page to be found, filled, copied and thrown away again for every
// 4 KiB: 0.75 s of processor time a gigabyte on a virtual disk, as much as reading the events in
// it. Direct reads cost a twentieth of that, and the next block is read while this one is being
// used.
#ifndef STEPSCOPE_BASE_COLD_READER_H_
#define STEPSCOPE_BASE_COLD_READER_H_

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "base/file.h"

namespace stepscope {

class ColdReader {
 public:
  // Null when the file is small, mostly cached already, or on a file system without direct reads:
  // InputFile::read_at is the better way then.
  static std::unique_ptr<ColdReader> open(const InputFile& file);
  // The same without looking at size and cache, for tests. Null without direct reads.
  static std::unique_ptr<ColdReader> open_always(const InputFile& file);
  ~ColdReader();
  ColdReader(const ColdReader&) = delete;
  ColdReader& operator=(const ColdReader&) = delete;

  // The next bytes of the file; 0 at its end, negative when reading failed (errno is set). Returns
  // fewer bytes than asked for at the edge of a block.
  ptrdiff_t read(void* into, size_t bytes);

 private:
  struct Block;
  explicit ColdReader(int descriptor);
  // Starts to fill the block with what comes next.
  void read_ahead(Block& block);

  int descriptor_;
  std::vector<std::unique_ptr<Block>> blocks_;
  size_t current_ = 0;
  uint64_t next_offset_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_COLD_READER_H_
