// How a column of int64 values lies on disk: blocks of 2,048 rows, each a base and fixed-width
// offsets from it.
//
// A block stores min(block) as its base and every value as an unsigned offset of 0 to 8 whole
// bytes, so a constant block has no data at all, a block of near-sorted times takes 4 bytes a row,
// and any row is one load away. NULL is offset 0 in a block that has NULLs (its base is then one
// below the smallest value). Decoding is a loop without branches.
#ifndef STEPSCOPE_STORE_COLUMN_CODEC_H_
#define STEPSCOPE_STORE_COLUMN_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace stepscope {

inline constexpr size_t kBlockRows = 2048;  // one DuckDB vector
inline constexpr size_t kBlockTailBytes =
    8;  // readable bytes after a block's data, so that loads may overrun

struct BlockEntry {
  int64_t base = 0;
  uint64_t place = 0;  // offset in the file (48 bits) | width (8 bits) | has_null (8 bits)

  uint64_t offset() const { return place & 0xFFFFFFFFFFFFull; }
  unsigned width() const { return (place >> 48) & 0xFF; }
  bool has_null() const { return (place >> 56) != 0; }
  static uint64_t pack(uint64_t offset, unsigned width, bool has_null) {
    return offset | static_cast<uint64_t>(width) << 48 | static_cast<uint64_t>(has_null) << 56;
  }
};
static_assert(sizeof(BlockEntry) == 16);

// Appends the block's data to `out` and returns its entry with an offset relative to the start of
// `out`.
BlockEntry encode_block(std::span<const int64_t> values, std::string& out);

// Writes entry's `count` values to `values`. `data` points at the block's data with kBlockTailBytes
// after it.
void decode_block(const BlockEntry& entry, const std::byte* data, size_t count, int64_t* values);

// One value of a block.
int64_t decode_value(const BlockEntry& entry, const std::byte* data, size_t index);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_COLUMN_CODEC_H_
