// ChunkReader: the chunks of a raw file, one after another, every byte of them distrusted.
#ifndef STEPSCOPE_FORMAT_CHUNK_READER_H_
#define STEPSCOPE_FORMAT_CHUNK_READER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/pod_vector.h"
#include "base/result.h"
#include "format/raw_file.h"

namespace stepscope {

struct RawString {
  uint32_t id = 0;
  std::string_view text;
};

struct RawNote {
  std::string_view name;
  std::string_view json;
};

struct RawTable {
  std::string_view name;
  int64_t key = 0;
  size_t rows = 0;
  std::vector<std::string_view> column_names;
  std::vector<std::vector<int64_t>> columns;

  // The column of that name, or null: old and new writers may lack it.
  const std::vector<int64_t>* column(std::string_view column_name) const;
};

// Views into the reader's buffer: valid until the next chunk.
struct RawChunk {
  uint64_t number = 0;
  std::vector<RawString> strings;
  std::vector<RawNote> notes;
  std::vector<RawTable> tables;
};

// Takes a chunk's unpacked bytes apart. False when they are not well-formed; what was read before
// the fault is in `chunk`.
bool parse_chunk(std::span<const uint8_t> plain, RawChunk& chunk);

class ChunkReader {
 public:
  // Fails when the file cannot be read or is no raw file.
  static Result<ChunkReader> open(const std::string& path);

  // The next chunk; false at the end. Damaged chunks are passed over and counted.
  Result<bool> next(RawChunk& chunk);

  // Goes on to the last whole chunk; what lies before it is not read, nor checked.
  void skip_to_last();

  int64_t damaged_chunks() const { return damaged_chunks_; }
  // Where the first damage is, in bytes from the start of the file.
  uint64_t first_damage() const { return first_damage_; }
  // Bytes behind the last whole chunk: what a killed process did not finish writing.
  uint64_t torn_bytes() const { return torn_bytes_; }
  uint64_t position() const { return position_; }
  const InputFile& file() const { return file_; }

 private:
  explicit ChunkReader(InputFile file) : file_(std::move(file)) {}
  void note_damage(uint64_t position);

  InputFile file_;
  uint64_t position_ = kRawFileMagic.size();
  int64_t damaged_chunks_ = 0;
  uint64_t first_damage_ = 0;
  uint64_t torn_bytes_ = 0;
  PodVector<uint8_t> packed_;
  PodVector<uint8_t> plain_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_FORMAT_CHUNK_READER_H_
