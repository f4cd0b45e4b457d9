#include "format/chunk_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <zstd.h>

#include "base/hash.h"
#include "base/own_files.h"
#include "format/varint.h"

namespace stepscope {
namespace {

class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool number(uint64_t& value) { return get_varint(at_, end_, value); }
  bool bytes(std::span<const uint8_t>& value) {
    uint64_t size = 0;
    if (!number(size) || size > left()) return false;
    value = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }
  bool text(std::string_view& value) {
    std::span<const uint8_t> raw;
    if (!bytes(raw)) return false;
    value = {reinterpret_cast<const char*>(raw.data()), raw.size()};
    return true;
  }
  uint8_t byte() { return *at_++; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

bool parse_strings(Cursor& cursor, RawChunk& chunk) {
  uint64_t count = 0;
  if (!cursor.number(count) || count > cursor.left()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t id = 0;
    RawString string;
    if (!cursor.number(id) || id > std::numeric_limits<uint32_t>::max()) return false;
    if (!cursor.text(string.text)) return false;
    string.id = static_cast<uint32_t>(id);
    chunk.strings.push_back(string);
  }
  return true;
}

bool parse_note(Cursor& cursor, RawChunk& chunk) {
  RawNote note;
  if (!cursor.text(note.name) || !cursor.text(note.json)) return false;
  chunk.notes.push_back(note);
  return true;
}

bool parse_column(Cursor& cursor, size_t rows, std::vector<int64_t>& values) {
  std::span<const uint8_t> raw;
  if (!cursor.bytes(raw) || raw.size() < rows) return false;  // a value takes a byte at least
  values.resize(rows);
  Cursor numbers(raw);
  uint64_t last = 0;
  for (int64_t& value : values) {
    uint64_t difference = 0;
    if (!numbers.number(difference)) return false;
    last += static_cast<uint64_t>(unzigzag(difference));
    value = static_cast<int64_t>(last);
  }
  return numbers.at_end();
}

bool parse_table(Cursor& cursor, RawChunk& chunk) {
  RawTable table;
  uint64_t key = 0;
  uint64_t rows = 0;
  uint64_t columns = 0;
  if (!cursor.text(table.name) || !cursor.number(key) || !cursor.number(rows) ||
      !cursor.number(columns))
    return false;
  if (rows > cursor.left() || columns > kMostRawColumns) return false;
  table.key = unzigzag(key);
  table.rows = static_cast<size_t>(rows);
  table.column_names.resize(columns);
  table.columns.resize(columns);
  for (std::string_view& name : table.column_names) {
    if (!cursor.text(name)) return false;
  }
  for (auto& column : table.columns) {
    if (!parse_column(cursor, table.rows, column)) return false;
  }
  chunk.tables.push_back(std::move(table));
  return true;
}

}  // namespace

const std::vector<int64_t>* RawTable::column(std::string_view column_name) const {
  for (size_t at = 0; at < column_names.size(); ++at) {
    if (column_names[at] == column_name) return &columns[at];
  }
  return nullptr;
}

bool parse_chunk(std::span<const uint8_t> plain, RawChunk& chunk) {
  chunk.strings.clear();
  chunk.notes.clear();
  chunk.tables.clear();
  Cursor cursor(plain);
  while (!cursor.at_end()) {
    bool good = false;
    switch (static_cast<RawSection>(cursor.byte())) {
      case RawSection::kStrings:
        good = parse_strings(cursor, chunk);
        break;
      case RawSection::kTable:
        good = parse_table(cursor, chunk);
        break;
      case RawSection::kNote:
        good = parse_note(cursor, chunk);
        break;
    }
    if (!good) return false;
  }
  return true;
}

Result<ChunkReader> ChunkReader::open(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) return std::move(file.error());
  char magic[kRawFileMagic.size()];
  auto got = file->read_at(0, magic, sizeof magic);
  if (!got) return std::move(got.error());
  if (std::string_view(magic, *got) != kRawFileMagic) {
    return Error{ErrorCode::kNotRecognised, "cannot import", path,
                 "it does not begin as a recording of Stepscope does",
                 "give the run's folder or its " + std::string(kRawFileName)};
  }
  return ChunkReader(std::move(*file));
}

void ChunkReader::note_damage(uint64_t position) {
  if (damaged_chunks_++ == 0) first_damage_ = position;
}

Result<bool> ChunkReader::next(RawChunk& chunk) {
  while (true) {
    RawChunkHeader header;
    auto got = file_.read_at(position_, &header, sizeof header);
    if (!got) return std::move(got.error());
    if (*got == 0) return false;
    const uint64_t left = file_.size() - std::min(file_.size(), position_);
    if (*got < sizeof header || header.packed_bytes > left) {
      torn_bytes_ = left;
      return false;
    }
    if (header.magic != kRawChunkMagic || header.packed_bytes > kMostChunkBytes ||
        header.plain_bytes > kMostChunkBytes) {
      // Where the next chunk begins is not known any more.
      note_damage(position_);
      torn_bytes_ = left;
      return false;
    }
    const uint64_t start = position_;
    packed_.resize_uninitialised(header.packed_bytes);
    got = file_.read_at(position_ + sizeof header, packed_.data(), packed_.size());
    if (!got) return std::move(got.error());
    if (*got < packed_.size()) {
      torn_bytes_ = left;
      return false;
    }
    position_ += sizeof header + header.packed_bytes;
    plain_.resize_uninitialised(header.plain_bytes);
    if (crc32c(packed_.data(), packed_.size()) != header.checksum ||
        ZSTD_decompress(plain_.data(), plain_.size(), packed_.data(), packed_.size()) !=
            plain_.size()) {
      note_damage(start);
      continue;
    }
    chunk.number = header.number;
    if (!parse_chunk(plain_.span(), chunk)) note_damage(start);
    return true;
  }
}

void ChunkReader::skip_to_last() {
  RawChunkHeader header;
  uint64_t at = position_;
  while (true) {
    const auto got = file_.read_at(at, &header, sizeof header);
    if (!got || *got < sizeof header || header.magic != kRawChunkMagic) return;
    const uint64_t end = at + sizeof header + header.packed_bytes;
    if (end > file_.size()) return;
    position_ = at;
    at = end;
  }
}

}  // namespace stepscope
