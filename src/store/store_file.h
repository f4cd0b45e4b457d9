// The layout of a store file (docs/formats/store.md):
//
//   header   64 bytes: magic, format version, schema version
//   data     extents of column blocks and other sections, each 64-byte aligned, in any order
//   directory  one SectionEntry per section
//   footer   64 bytes: place and checksum of the directory, total size, magic
//
// Readers trust nothing: the directory is checked against its checksum and every place against the
// file size.
#ifndef STEPSCOPE_STORE_STORE_FILE_H_
#define STEPSCOPE_STORE_STORE_FILE_H_

#include <cstdint>

namespace stepscope {

inline constexpr char kStoreMagic[8] = {'S', 'T', 'E', 'P', 'S', 'C', 'P', '\n'};
// Raised when the file's form changes, and when importers put other values into it than before: a
// store of another version is made again from its inputs, so that no old value stays unseen.
inline constexpr uint32_t kStoreVersion = 4;
inline constexpr size_t kSectionAlignment = 64;

enum class SectionKind : uint16_t {
  kColumn = 1,         // BlockEntry array; table and column say of what
  kStringEnds = 2,     // uint32/uint64 end offset of every string
  kStringBytes = 3,    // the strings, concatenated
  kRunInfo = 4,        // JSON: path, tool version, inputs' stamps
  kLanes = 5,          // Lane array of one rank
  kTileLevels = 6,     // TileLevel array of one rank
  kTiles = 7,          // Tile array of one rank
  kMirrorIndex = 8,    // MirrorFrame array: compressed inputs kept for args
  kMirrorBytes = 9,    // zstd frames
  kSourceTable = 10,   // JSON head of a table that was read as it is (name, columns)
  kSourceColumn = 11,  // BlockEntry array of one column of it
};

struct StoreHeader {
  char magic[8];
  uint32_t version;
  uint32_t schema_version;
  char reserved[48];
};
static_assert(sizeof(StoreHeader) == 64);

struct SectionEntry {
  SectionKind kind;
  uint16_t table;   // Table for kColumn; number of the source table for kSource*
  uint16_t column;  // column number
  uint16_t reserved;
  uint32_t rank;      // position of the rank in the run, not its number
  uint32_t checksum;  // CRC-32C of the data the section points at, then of its own bytes
  uint64_t offset;
  uint64_t bytes;
  uint64_t rows;
};
static_assert(sizeof(SectionEntry) == 40);

struct StoreFooter {
  uint64_t directory_offset;
  uint64_t section_count;
  uint64_t file_bytes;
  uint32_t directory_checksum;
  uint32_t rank_count;
  char reserved[24];
  char magic[8];
};
static_assert(sizeof(StoreFooter) == 64);

// A lane is one row of the timeline: a track and a depth. Its slices are consecutive rows, sorted
// by start, and never overlap.
struct Lane {
  uint32_t track;
  uint32_t depth;
  uint64_t first_row;
  uint64_t rows;
  int64_t first_ns;      // start of the first slice; bucket 0 of every tile level begins here
  uint32_t first_level;  // in the rank's TileLevel array, finest first
  uint32_t level_count;
};
static_assert(sizeof(Lane) == 40);

struct TileLevel {
  uint32_t shift;  // buckets are 2^shift ns wide
  uint32_t tiles;
  uint64_t first_tile;
};
static_assert(sizeof(TileLevel) == 16);

// A non-empty bucket: the slices of the lane that start in it.
struct Tile {
  uint32_t bucket;
  uint32_t first_row;    // relative to the lane; the next tile's first_row ends it
  uint32_t longest_row;  // relative to the lane
  uint16_t longest;      // length of that slice as a small float, see tile_length(): exact to 0.1 %
  uint16_t busy;  // covered time of the bucket's slices in 2^-8 of the bucket width, saturating
  uint32_t name;  // of the longest slice: its row lies anywhere, and a wide view shows thousands
};
static_assert(sizeof(Tile) == 20);
inline constexpr uint32_t kNoTileName = ~0u;

// A piece of a compressed input, kept recompressed so that args can be fetched by their offset in
// the plain text.
struct MirrorFrame {
  uint64_t text_offset;
  uint64_t file_offset;
  uint32_t text_bytes;
  uint32_t file_bytes;
};
static_assert(sizeof(MirrorFrame) == 24);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_STORE_FILE_H_
