// StoreWriter: one store file, written rank by rank in any order and from several threads, visible
// only after finish().
#ifndef STEPSCOPE_STORE_STORE_WRITER_H_
#define STEPSCOPE_STORE_STORE_WRITER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/string_pool.h"
#include "store/column_codec.h"
#include "store/rank_builder.h"
#include "store/store_file.h"

namespace stepscope {

class StoreWriter {
 public:
  static Result<std::unique_ptr<StoreWriter>> create(const std::string& path, uint32_t rank_count,
                                                     uint32_t mode = 0644);

  // Sorts, nests, links and writes one rank; `position` is its place in the run. Thread-safe for
  // different positions. `threads` bounds the parallelism inside the rank.
  Status add_rank(uint32_t position, RankBuilder& rank, unsigned threads);

  // The quality report of a rank; written by finish(), so that findings about the whole run can
  // still be added. Not thread-safe against add_rank() of the same position.
  QualityReport& quality(uint32_t position) { return quality_[position]; }

  // `run_info_json`: what `stepscope info` and the freshness check need (see RunInfo in
  // store_reader.h).
  Status finish(std::string_view run_info_json);

  // --- used by the pieces that write a rank ---

  // Appends bytes and returns where they are. Thread-safe.
  Result<uint64_t> append_extent(std::span<const std::byte> bytes);
  // Appends bytes as a section of their own. `data_checksum` is that of the extents the section
  // points at, so that the section's checksum covers them too.
  Status append_section(SectionEntry entry, std::span<const std::byte> bytes,
                        uint32_t data_checksum = 0);
  // Adds the rank's new strings to the run's and to the map between the two. Thread-safe.
  void merge_strings(const StringPool& rank_strings, StringRemap& remap);

 private:
  explicit StoreWriter(OutputFile file, uint32_t rank_count)
      : file_(std::move(file)), rank_count_(rank_count), quality_(rank_count) {}
  Status write_quality();

  std::mutex mutex_;
  OutputFile file_;
  uint32_t rank_count_;
  std::vector<QualityReport> quality_;
  StringPool strings_;
  std::vector<SectionEntry> directory_;
};

// Encodes one column, block by block; data goes out in extents so that memory stays small.
class ColumnWriter {
 public:
  ColumnWriter(StoreWriter& store, SectionEntry entry) : store_(&store), entry_(entry) {}

  void push(int64_t value) {
    buffer_[filled_++] = value;
    if (filled_ == kBlockRows) encode();
  }
  // Writes what is left and the block entries. Returns the first failure of any write.
  Status finish();

 private:
  void encode();
  void flush();

  StoreWriter* store_;
  SectionEntry entry_;
  size_t filled_ = 0;
  uint64_t rows_ = 0;
  std::vector<BlockEntry> blocks_;
  size_t first_pending_ = 0;  // blocks from here on still have offsets relative to pending_
  std::string pending_;
  uint32_t data_checksum_ = 0;  // of all blocks' data, in order
  Status status_;
  std::unique_ptr<int64_t[]> buffer_ = std::make_unique_for_overwrite<int64_t[]>(kBlockRows);
};

// All stored columns of one table of one rank.
class TableWriter {
 public:
  TableWriter(StoreWriter& store, Table table, uint32_t rank);

  // Values of the stored columns, in schema order (args count twice: place and length).
  void row(std::initializer_list<int64_t> values);
  ColumnWriter& column(size_t stored_index) { return columns_[stored_index]; }
  size_t column_count() const { return columns_.size(); }
  Status finish();

 private:
  std::vector<ColumnWriter> columns_;
};

// The sections that a stored column of the schema has: args have two, computed columns none.
size_t stored_sections(const Column& column);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_STORE_WRITER_H_
