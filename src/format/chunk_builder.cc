#include "format/chunk_builder.h"

#include <cstring>

#include <zstd.h>

#include "base/hash.h"

namespace stepscope {
namespace {

// The columns are small differences already: higher levels gain a tenth and cost several times.
constexpr int kCompressionLevel = 1;

void append_varint(PodVector<uint8_t>& to, uint64_t value) {
  const size_t before = to.size();
  to.resize_uninitialised(before + kLongestVarint);
  const uint8_t* const end = put_varint(to.data() + before, value);
  to.resize_uninitialised(static_cast<size_t>(end - to.data()));
}

void append_text(PodVector<uint8_t>& to, std::string_view text) {
  append_varint(to, text.size());
  to.append(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

void append_section(PodVector<uint8_t>& to, RawSection section) {
  to.push_back(static_cast<uint8_t>(section));
}

}  // namespace

RawTableBuilder::RawTableBuilder(const RawTableLayout& layout, int64_t key)
    : layout_(layout), key_(key), columns_(layout.columns.size()) {}

void RawTableBuilder::add(std::span<const int64_t> row) {
  for (size_t at = 0; at < columns_.size(); ++at) {
    Column& column = columns_[at];
    // Differences wrap around, which undoes itself on reading.
    const auto difference =
        static_cast<int64_t>(static_cast<uint64_t>(row[at]) - static_cast<uint64_t>(column.last));
    append_varint(column.bytes, zigzag(difference));
    column.last = row[at];
  }
  ++rows_;
}

size_t RawTableBuilder::bytes() const {
  size_t bytes = 0;
  for (const Column& column : columns_) bytes += column.bytes.size();
  return bytes;
}

ChunkBuilder::ChunkBuilder() : compressor_(ZSTD_createCCtx()) {}

ChunkBuilder::~ChunkBuilder() { ZSTD_freeCCtx(compressor_); }

void ChunkBuilder::add_string(uint32_t id, std::string_view text) {
  append_varint(strings_, id);
  append_text(strings_, text);
  ++string_count_;
}

void ChunkBuilder::add_note(std::string_view name, std::string_view json) {
  append_section(notes_, RawSection::kNote);
  append_text(notes_, name);
  append_text(notes_, json);
}

RawTableBuilder& ChunkBuilder::table(const RawTableLayout& layout, int64_t key) {
  for (const auto& table : tables_) {
    if (table->key_ == key && table->layout_.name == layout.name) return *table;
  }
  return *tables_.emplace_back(std::make_unique<RawTableBuilder>(layout, key));
}

void ChunkBuilder::discard() {
  strings_.clear();
  string_count_ = 0;
  notes_.clear();
  tables_.clear();
}

bool ChunkBuilder::empty() const {
  if (string_count_ > 0 || !notes_.empty()) return false;
  for (const auto& table : tables_) {
    if (table->rows() > 0) return false;
  }
  return true;
}

size_t ChunkBuilder::bytes() const {
  size_t bytes = strings_.size() + notes_.size();
  for (const auto& table : tables_) bytes += table->bytes();
  return bytes;
}

std::span<const std::byte> ChunkBuilder::pack(uint64_t number) {
  if (empty()) return {};
  compose();
  for (const auto& table : tables_) {
    for (RawTableBuilder::Column& column : table->columns_) {
      column.bytes.clear();
      column.last = 0;
    }
    table->rows_ = 0;
  }
  return compress(number);
}

std::span<const std::byte> ChunkBuilder::pack_and_keep_rows(uint64_t number) {
  if (empty()) return {};
  compose();
  return compress(number);
}

void ChunkBuilder::compose() {
  plain_.clear();
  if (string_count_ > 0) {
    append_section(plain_, RawSection::kStrings);
    append_varint(plain_, string_count_);
    plain_.append(strings_.data(), strings_.size());
  }
  plain_.append(notes_.data(), notes_.size());
  strings_.clear();
  string_count_ = 0;
  notes_.clear();
  // Threads end and series stop: their tables must not stay for as long as the program runs.
  std::erase_if(tables_, [](const auto& table) { return table->rows_ == 0; });
  for (const auto& table : tables_) {
    append_section(plain_, RawSection::kTable);
    append_text(plain_, table->layout_.name);
    append_varint(plain_, zigzag(table->key_));
    append_varint(plain_, table->rows_);
    append_varint(plain_, table->columns_.size());
    for (const std::string_view column : table->layout_.columns) append_text(plain_, column);
    for (const RawTableBuilder::Column& column : table->columns_) {
      append_varint(plain_, column.bytes.size());
      plain_.append(column.bytes.data(), column.bytes.size());
    }
  }
}

std::span<const std::byte> ChunkBuilder::compress(uint64_t number) {
  if (compressor_ == nullptr) return {};
  RawChunkHeader header;
  packed_.resize_uninitialised(sizeof header + ZSTD_compressBound(plain_.size()));
  const size_t bytes =
      ZSTD_compressCCtx(compressor_, packed_.data() + sizeof header, packed_.size() - sizeof header,
                        plain_.data(), plain_.size(), kCompressionLevel);
  if (ZSTD_isError(bytes)) return {};  // only without memory
  header.magic = kRawChunkMagic;
  header.packed_bytes = static_cast<uint32_t>(bytes);
  header.plain_bytes = static_cast<uint32_t>(plain_.size());
  header.checksum = crc32c(packed_.data() + sizeof header, bytes);
  header.number = number;
  std::memcpy(packed_.data(), &header, sizeof header);
  return std::as_bytes(std::span<const uint8_t>(packed_.data(), sizeof header + bytes));
}

}  // namespace stepscope
