// The raw file of a recording, as the collector appends it and the native importer reads it.
//
// A file is the line kRawFileMagic and then chunks. A chunk is a 24-byte header and a zstd frame of
// sections; it stands for itself, so that a file that ends anywhere is good up to its last whole
// chunk. Sections:
//
//   strings   names first used in this chunk: id and text
//   table     rows of whole numbers in columns, each column as differences to the row before;
//             self-describing (table name, column names), with one key that all rows share (a
//             thread, a device)
//   note      a name and a JSON text: what the recording says about itself
//
// A reader keeps tables and columns that it does not know aside and says so; nothing else in the
// format needs a version. docs/formats/raw.md lists the tables.
#ifndef STEPSCOPE_FORMAT_RAW_FILE_H_
#define STEPSCOPE_FORMAT_RAW_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stepscope {

inline constexpr std::string_view kRawFileMagic = "stepscope raw 1\n";

struct RawChunkHeader {
  uint32_t magic = 0;
  uint32_t packed_bytes = 0;
  uint32_t plain_bytes = 0;
  uint32_t checksum = 0;  // CRC-32C of the packed bytes
  uint64_t number = 0;    // 0, 1, 2 ... in the file
};
static_assert(sizeof(RawChunkHeader) == 24);

inline constexpr uint32_t kRawChunkMagic = 0x4B4E4843;  // "CHNK"
inline constexpr uint32_t kMostChunkBytes = 64u << 20;  // packed or plain; writers stay far below
inline constexpr size_t kMostRawColumns = 64;

enum class RawSection : uint8_t { kStrings = 1, kTable = 2, kNote = 3 };

}  // namespace stepscope

#endif  // STEPSCOPE_FORMAT_RAW_FILE_H_
