// ChunkBuilder: collects names, rows and notes, and packs them into one chunk of a raw file.
//
// Lives on the collector's writer thread. The memory of tables that every chunk has is kept; what a
// chunk does not use is given back. Not thread-safe.
#ifndef STEPSCOPE_FORMAT_CHUNK_BUILDER_H_
#define STEPSCOPE_FORMAT_CHUNK_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/pod_vector.h"
#include "format/raw_file.h"
#include "format/varint.h"

struct ZSTD_CCtx_s;

namespace stepscope {

// What a table is called and which columns it has: a constant of the source that fills it.
struct RawTableLayout {
  std::string_view name;
  std::span<const std::string_view> columns;
};

// The rows of one table with one key.
class RawTableBuilder {
 public:
  RawTableBuilder(const RawTableLayout& layout, int64_t key);

  void add(std::initializer_list<int64_t> row) { add(std::span(row.begin(), row.size())); }
  // One value for each column.
  void add(std::span<const int64_t> row);

  size_t rows() const { return rows_; }
  size_t bytes() const;

 private:
  friend class ChunkBuilder;
  struct Column {
    PodVector<uint8_t> bytes;
    int64_t last = 0;
  };
  RawTableLayout layout_;
  int64_t key_;
  size_t rows_ = 0;
  std::vector<Column> columns_;
};

class ChunkBuilder {
 public:
  ChunkBuilder();
  ~ChunkBuilder();
  ChunkBuilder(const ChunkBuilder&) = delete;
  ChunkBuilder& operator=(const ChunkBuilder&) = delete;

  void add_string(uint32_t id, std::string_view text);
  void add_note(std::string_view name, std::string_view json);
  // The table to add rows to; stays valid until pack().
  RawTableBuilder& table(const RawTableLayout& layout, int64_t key);

  // Everything so far is dropped, also what an exception left half done.
  void discard();

  bool empty() const;
  // About how large the chunk is so far, unpacked.
  size_t bytes() const;
  // The whole chunk, ready to be appended to the file; valid until the next call. The builder is
  // empty afterwards. Empty when there was nothing to pack.
  std::span<const std::byte> pack(uint64_t number);
  // The same, but the rows of all tables stay, for a later chunk that has them again.
  std::span<const std::byte> pack_and_keep_rows(uint64_t number);

 private:
  void compose();
  std::span<const std::byte> compress(uint64_t number);

  PodVector<uint8_t> strings_;
  uint64_t string_count_ = 0;
  PodVector<uint8_t> notes_;
  std::vector<std::unique_ptr<RawTableBuilder>> tables_;
  PodVector<uint8_t> plain_;
  PodVector<uint8_t> packed_;
  ZSTD_CCtx_s* compressor_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_FORMAT_CHUNK_BUILDER_H_
