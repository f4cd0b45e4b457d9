#include "store/store_writer.h"

#include <cstring>

#include "base/hash.h"
#include "store/rank_writer.h"

namespace stepscope {
namespace {
constexpr size_t kExtentBytes = 128 * 1024;
}  // namespace

size_t stored_sections(const Column& column) {
  switch (column.origin) {
    case Origin::kStored:
    case Origin::kSlice:
    case Origin::kTrack:
      return 1;
    case Origin::kArgs:
      return 2;
    case Origin::kRow:
    case Origin::kRank:
    case Origin::kViaSlice:
      break;
  }
  return 0;
}

Result<std::unique_ptr<StoreWriter>> StoreWriter::create(const std::string& path,
                                                         uint32_t rank_count, uint32_t mode) {
  auto file = OutputFile::create(path, mode);
  if (!file) return std::move(file.error());
  std::unique_ptr<StoreWriter> writer(new StoreWriter(std::move(*file), rank_count));
  StoreHeader header{};
  std::memcpy(header.magic, kStoreMagic, sizeof header.magic);
  header.version = kStoreVersion;
  header.schema_version = kSchemaVersion;
  if (auto status = writer->file_.append(std::as_bytes(std::span(&header, 1))); !status) {
    return std::move(status.error());
  }
  return writer;
}

Result<uint64_t> StoreWriter::append_extent(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (auto status = file_.align(kSectionAlignment); !status) return std::move(status.error());
  const uint64_t offset = file_.position();
  if (auto status = file_.append(bytes); !status) return std::move(status.error());
  return offset;
}

Status StoreWriter::append_section(SectionEntry entry, std::span<const std::byte> bytes,
                                   uint32_t data_checksum) {
  entry.checksum = crc32c(bytes.data(), bytes.size(), data_checksum);
  entry.bytes = bytes.size();
  auto offset = append_extent(bytes);
  if (!offset) return std::move(offset.error());
  entry.offset = *offset;
  const std::lock_guard lock(mutex_);
  directory_.push_back(entry);
  return {};
}

void StoreWriter::merge_strings(const StringPool& rank_strings, StringRemap& remap) {
  const std::lock_guard lock(mutex_);
  remap.extend(rank_strings, strings_);
}

Status StoreWriter::add_rank(uint32_t position, RankBuilder& rank, unsigned threads) {
  return write_rank(*this, position, rank, threads);
}

Status StoreWriter::write_quality() {
  const auto text = [&](std::string_view value) {
    return value.empty() ? kNull : static_cast<int64_t>(strings_.intern(value));
  };
  for (uint32_t position = 0; position < rank_count_; ++position) {
    TableWriter table(*this, Table::kQuality, position);
    for (const auto& [code, entry] : quality_[position].entries()) {
      const QualitySpec& spec = quality_spec(code);
      table.row({text(spec.name), text(spec.severity), entry.count, text(entry.example),
                 text(spec.meaning), spec.excluded});
    }
    if (auto status = table.finish(); !status) return status;
  }
  return {};
}

Status StoreWriter::finish(std::string_view run_info_json) {
  if (auto status = write_quality(); !status) return status;
  std::vector<uint64_t> ends;
  std::string text;
  ends.reserve(strings_.size());
  text.reserve(strings_.text_bytes() + kBlockTailBytes);
  for (StringId id = 0; id < strings_.size(); ++id) {
    text += strings_.view(id);
    ends.push_back(text.size());
  }
  SectionEntry entry{};
  entry.kind = SectionKind::kStringEnds;
  entry.rows = ends.size();
  if (auto status = append_section(entry, std::as_bytes(std::span(ends))); !status) return status;
  entry.kind = SectionKind::kStringBytes;
  if (auto status = append_section(entry, std::as_bytes(std::span(text))); !status) return status;
  entry.kind = SectionKind::kRunInfo;
  entry.rows = 1;
  if (auto status = append_section(entry, std::as_bytes(std::span(run_info_json))); !status)
    return status;

  auto directory_offset = append_extent(std::as_bytes(std::span(directory_)));
  if (!directory_offset) return std::move(directory_offset.error());
  if (auto status = file_.align(kSectionAlignment); !status) return status;
  StoreFooter footer{};
  footer.directory_offset = *directory_offset;
  footer.section_count = directory_.size();
  footer.directory_checksum = crc32c(directory_.data(), directory_.size() * sizeof(SectionEntry));
  footer.rank_count = rank_count_;
  footer.file_bytes = file_.position() + sizeof footer;
  std::memcpy(footer.magic, kStoreMagic, sizeof footer.magic);
  if (auto status = file_.append(std::as_bytes(std::span(&footer, 1))); !status) return status;
  return file_.commit();
}

void ColumnWriter::encode() {
  blocks_.push_back(encode_block({buffer_.get(), filled_}, pending_));
  rows_ += filled_;
  filled_ = 0;
  if (pending_.size() >= kExtentBytes) flush();
}

void ColumnWriter::flush() {
  uint64_t place = 0;
  if (!pending_.empty()) {
    data_checksum_ = crc32c(pending_.data(), pending_.size(), data_checksum_);
    pending_.append(kBlockTailBytes, '\0');
    auto offset = store_->append_extent(std::as_bytes(std::span(pending_)));
    if (!offset && status_.ok()) status_ = std::move(offset.error());
    if (offset) place = *offset;
    pending_.clear();
  }
  for (; first_pending_ < blocks_.size(); ++first_pending_) {
    BlockEntry& block = blocks_[first_pending_];
    if (block.width() > 0) block.place += place;
  }
}

Status ColumnWriter::finish() {
  if (filled_ > 0) encode();
  flush();
  if (!status_.ok()) return status_;
  entry_.rows = rows_;
  return store_->append_section(entry_, std::as_bytes(std::span(blocks_)), data_checksum_);
}

TableWriter::TableWriter(StoreWriter& store, Table table, uint32_t rank) {
  const TableSpec& spec = table_spec(table);
  uint16_t section = 0;
  for (const Column& column : spec.columns) {
    for (size_t part = 0; part < stored_sections(column); ++part) {
      SectionEntry entry{};
      entry.kind = SectionKind::kColumn;
      entry.table = static_cast<uint16_t>(table);
      entry.column = section++;
      entry.rank = rank;
      columns_.emplace_back(store, entry);
    }
  }
}

void TableWriter::row(std::initializer_list<int64_t> values) {
  size_t index = 0;
  for (const int64_t value : values) columns_[index++].push(value);
}

Status TableWriter::finish() {
  for (ColumnWriter& column : columns_) {
    if (auto status = column.finish(); !status) return status;
  }
  return {};
}

}  // namespace stepscope
