// StoreReader: a store file, memory-mapped. Opening checks the directory, not the data: a
// millisecond for any size.
//
// Everything returned points into the mapping and lives as long as the reader. Thread-safe for
// reading. Every place in the file is checked against its size when the store is opened, so a
// damaged store is an error and never a crash.
#ifndef STEPSCOPE_STORE_STORE_READER_H_
#define STEPSCOPE_STORE_STORE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/string_pool.h"
#include "packed/text_pieces.h"
#include "packed/text_source.h"
#include "store/column_codec.h"
#include "store/schema.h"
#include "store/store_file.h"

namespace stepscope {

// A stored column of one rank.
class ColumnView {
 public:
  ColumnView() = default;
  ColumnView(const std::byte* file, std::span<const BlockEntry> blocks, uint64_t rows)
      : file_(file), blocks_(blocks), rows_(rows) {}

  uint64_t rows() const { return rows_; }
  size_t block_count() const { return blocks_.size(); }
  size_t rows_in_block(size_t block) const {
    return block + 1 < blocks_.size() ? kBlockRows : rows_ - block * kBlockRows;
  }
  // Smallest value of a block (NULLs aside, and one less when it has NULLs): lets sorted columns be
  // searched by block.
  int64_t base(size_t block) const { return blocks_[block].base; }
  // Every value of the block is base(block).
  bool is_constant(size_t block) const { return blocks_[block].width() == 0; }

  int64_t at(uint64_t row) const {
    const BlockEntry& block = blocks_[row / kBlockRows];
    return decode_value(block, file_ + block.offset(), row % kBlockRows);
  }
  // Decodes a whole block and returns its number of rows.
  size_t decode(size_t block, int64_t* values) const {
    const size_t count = rows_in_block(block);
    decode_block(blocks_[block], file_ + blocks_[block].offset(), count, values);
    return count;
  }

 private:
  const std::byte* file_ = nullptr;
  std::span<const BlockEntry> blocks_;
  uint64_t rows_ = 0;
};

// A table of one rank that was read from the input as it is.
struct SourceTableView {
  std::string_view name;
  std::string_view doc;
  uint64_t rows = 0;
  struct ColumnInfo {
    std::string_view name;
    Type type;
    ColumnView values;
  };
  std::vector<ColumnInfo> columns;
};

// Pieces of compressed inputs that were unpacked last: reading args row by row without it unpacks
// a piece for every row. One per reading thread.
struct ArgsCache {
  struct Piece {
    const void* of = nullptr;  // the frames or the packed file that it is a piece of
    uint64_t number = 0;
    std::string text;
  };
  Piece pieces[4];
  size_t next = 0;
};

class StoreReader {
 public:
  static constexpr uint32_t kMaxSources = 16;  // args name their source in four bits

  static Result<std::shared_ptr<StoreReader>> open(const std::string& path);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_.bytes().size(); }
  std::string_view run_info_json() const { return run_info_; }

  size_t rank_count() const { return ranks_.size(); }
  int64_t rank_number(size_t position) const { return ranks_[position].number; }

  uint64_t rows(Table table) const;
  uint64_t rows(Table table, size_t rank) const {
    return ranks_[rank].tables[static_cast<size_t>(table)].rows;
  }
  // Number of the rank's first row among all rows of the table.
  uint64_t row_base(Table table, size_t rank) const {
    return ranks_[rank].tables[static_cast<size_t>(table)].base;
  }
  // Stored section number `section` of a table (see stored_sections()); use TableReader for values
  // as users see them.
  const ColumnView& section(Table table, size_t section, size_t rank) const {
    return ranks_[rank].tables[static_cast<size_t>(table)].sections[section];
  }
  // A stored column by name; the name must exist.
  const ColumnView& column(Table table, std::string_view name, size_t rank) const;

  size_t string_count() const { return string_ends_.size(); }
  // "" for ids out of range.
  std::string_view string(int64_t id) const;
  // Ids of all strings that contain `part` (case-insensitive): name search without touching a row.
  std::vector<StringId> find_strings(std::string_view part) const;

  std::span<const Lane> lanes(size_t rank) const { return ranks_[rank].lanes; }
  std::span<const TileLevel> tile_levels(size_t rank) const { return ranks_[rank].levels; }
  std::span<const Tile> tiles(size_t rank) const { return ranks_[rank].tiles; }

  const std::vector<SourceTableView>& source_tables(size_t rank) const {
    return ranks_[rank].source_tables;
  }

  // The args of a slice as JSON text, "" when it has none. Reads the input file; fails when that
  // changed or is gone.
  Result<std::string> args(size_t rank, uint64_t slice_row, ArgsCache* cache = nullptr) const;

  // Checks every section and block place against its checksum. Reads the whole file.
  Status verify() const;

 private:
  struct TableSections {
    uint64_t rows = 0;
    uint64_t base = 0;
    std::vector<ColumnView> sections;
  };
  struct Rank {
    int64_t number = 0;
    TableSections tables[kTableCount];
    std::span<const Lane> lanes;
    std::span<const TileLevel> levels;
    std::span<const Tile> tiles;
    std::vector<SourceTableView> source_tables;
    std::vector<std::span<const MirrorFrame>> mirrors;  // by source number
    std::string_view own_args;
  };
  struct OpenInput {
    std::unique_ptr<TextSource> text;    // its file, and how it is packed
    std::unique_ptr<TextPieces> pieces;  // when it is packed
    std::optional<Error> error;
  };

  Status load();
  Status load_section(const SectionEntry& entry);
  Status finish_tables();
  Status check_lanes(const Rank& rank) const;
  Result<ColumnView> column_view(const SectionEntry& entry) const;
  Error damaged(std::string why) const;
  Result<std::string> read_mirror(std::span<const MirrorFrame> frames, uint64_t offset,
                                  uint32_t length, ArgsCache* cache) const;
  Status unpack_frame(const MirrorFrame& frame, std::string& text) const;
  using UnpackPiece = std::function<Status(uint64_t, std::string&)>;
  Result<std::string> read_pieces(const void* of, uint64_t first, uint64_t skip, uint32_t length,
                                  ArgsCache* cache, const UnpackPiece& unpack) const;
  Status open_input(size_t rank, uint32_t source, OpenInput& input) const;
  Result<std::string> read_input(size_t rank, uint32_t source, uint64_t offset, uint32_t length,
                                 ArgsCache* cache) const;
  static Result<std::string> read_plain(const InputFile& file, uint64_t offset, uint32_t length);

  std::string path_;
  MappedFile file_;
  std::span<const SectionEntry> directory_;
  std::vector<Rank> ranks_;
  std::span<const uint64_t> string_ends_;
  std::string_view string_bytes_;
  std::string_view run_info_;
  mutable std::mutex inputs_mutex_;
  mutable std::vector<std::vector<OpenInput>>
      inputs_;  // by rank and source number, opened on first use
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_STORE_READER_H_
