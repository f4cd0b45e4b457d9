#include "store/store_reader.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "store/args_ref.h"
#include "store/store_writer.h"

namespace stepscope {
namespace {

constexpr uint32_t kMaxRanks = 1u << 20;

template <typename T>
std::span<const T> view_as(std::span<const std::byte> file, const SectionEntry& entry) {
  return {reinterpret_cast<const T*>(file.data() + entry.offset), entry.bytes / sizeof(T)};
}

}  // namespace

Error StoreReader::damaged(std::string why) const {
  return {ErrorCode::kBadInput, "cannot open the store", path_, std::move(why),
          "delete it and import the trace again"};
}

Result<std::shared_ptr<StoreReader>> StoreReader::open(const std::string& path) {
  auto reader = std::make_shared<StoreReader>();
  reader->path_ = path;
  auto file = MappedFile::open(path);
  if (!file) return std::move(file.error());
  reader->file_ = std::move(*file);
  if (auto status = reader->load(); !status) return std::move(status.error());
  return reader;
}

Status StoreReader::load() {
  const auto bytes = file_.bytes();
  if (bytes.size() < sizeof(StoreHeader) + sizeof(StoreFooter))
    return damaged("it is too short to be a store");
  StoreHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kStoreMagic, sizeof header.magic) != 0) {
    return Error{ErrorCode::kNotRecognised, "cannot open the store", path_,
                 "it does not begin like a store", "give a trace or a .stepscope file"};
  }
  if (header.version != kStoreVersion || header.schema_version != kSchemaVersion) {
    return Error{ErrorCode::kUnsupported, "cannot open the store", path_,
                 "it has format version " + std::to_string(header.version) + "." +
                     std::to_string(header.schema_version) + ", this program reads " +
                     std::to_string(kStoreVersion) + "." + std::to_string(kSchemaVersion),
                 "import the trace again"};
  }
  StoreFooter footer;
  std::memcpy(&footer, bytes.data() + bytes.size() - sizeof footer, sizeof footer);
  if (std::memcmp(footer.magic, kStoreMagic, sizeof footer.magic) != 0 ||
      footer.file_bytes != bytes.size()) {
    return damaged("its end is missing");
  }
  const uint64_t limit = bytes.size() - sizeof footer;
  if (footer.directory_offset > limit || footer.directory_offset % alignof(SectionEntry) != 0 ||
      footer.section_count > (limit - footer.directory_offset) / sizeof(SectionEntry) ||
      footer.rank_count > kMaxRanks) {
    return damaged("its directory lies outside the file");
  }
  directory_ = {reinterpret_cast<const SectionEntry*>(bytes.data() + footer.directory_offset),
                static_cast<size_t>(footer.section_count)};
  if (crc32c(directory_.data(), directory_.size_bytes()) != footer.directory_checksum) {
    return damaged("the checksum of its directory is wrong");
  }
  // Every rank has every column, so the directory bounds the number of ranks that can be real.
  size_t sections_a_rank = 0;
  for (const TableSpec& table : tables()) {
    for (const Column& column : table.columns) sections_a_rank += stored_sections(column);
  }
  if (footer.rank_count > footer.section_count / sections_a_rank)
    return damaged("it has more ranks than columns for them");
  ranks_.resize(footer.rank_count);
  inputs_.resize(footer.rank_count);
  for (Rank& rank : ranks_) {
    for (size_t table = 0; table < kTableCount; ++table) {
      size_t sections = 0;
      for (const Column& column : tables()[table].columns) sections += stored_sections(column);
      rank.tables[table].sections.resize(sections);
    }
    rank.mirrors.resize(kMaxSources);
  }
  for (const SectionEntry& entry : directory_) {
    if (auto status = load_section(entry); !status) return status;
  }
  return finish_tables();
}

Result<ColumnView> StoreReader::column_view(const SectionEntry& entry) const {
  const auto blocks = view_as<BlockEntry>(file_.bytes(), entry);
  // Not (rows + kBlockRows - 1) / kBlockRows, which wraps around for a damaged count.
  if (entry.offset % alignof(BlockEntry) != 0 ||
      blocks.size() != entry.rows / kBlockRows + (entry.rows % kBlockRows != 0)) {
    return damaged("a column has the wrong number of blocks");
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const uint64_t rows = i + 1 < blocks.size() ? kBlockRows : entry.rows - i * kBlockRows;
    const uint64_t needed = blocks[i].width() == 0 ? 0 : rows * blocks[i].width() + kBlockTailBytes;
    if (blocks[i].width() > 8 || blocks[i].offset() > file_.bytes().size() ||
        needed > file_.bytes().size() - blocks[i].offset()) {
      return damaged("a block of a column lies outside the file");
    }
  }
  return ColumnView(file_.bytes().data(), blocks, entry.rows);
}

Status StoreReader::load_section(const SectionEntry& entry) {
  const auto bytes = file_.bytes();
  if (entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset) {
    return damaged("a section lies outside the file");
  }
  const bool of_rank = entry.kind != SectionKind::kStringEnds &&
                       entry.kind != SectionKind::kStringBytes &&
                       entry.kind != SectionKind::kRunInfo;
  if (of_rank && entry.rank >= ranks_.size()) return damaged("a section belongs to no rank");
  if (entry.offset % 8 != 0) return damaged("a section is not aligned");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data() + entry.offset),
                              entry.bytes);
  Rank* rank = of_rank ? &ranks_[entry.rank] : nullptr;
  switch (entry.kind) {
    case SectionKind::kStringEnds:
      string_ends_ = view_as<uint64_t>(bytes, entry);
      return {};
    case SectionKind::kStringBytes:
      string_bytes_ = text;
      return {};
    case SectionKind::kRunInfo:
      run_info_ = text;
      return {};
    case SectionKind::kLanes:
      rank->lanes = view_as<Lane>(bytes, entry);
      return {};
    case SectionKind::kTileLevels:
      rank->levels = view_as<TileLevel>(bytes, entry);
      return {};
    case SectionKind::kTiles:
      rank->tiles = view_as<Tile>(bytes, entry);
      return {};
    case SectionKind::kMirrorBytes:
      rank->own_args = text;
      return {};
    case SectionKind::kMirrorIndex:
      if (entry.table >= kMaxSources) return damaged("an input has an impossible number");
      rank->mirrors[entry.table] = view_as<MirrorFrame>(bytes, entry);
      return {};
    case SectionKind::kColumn: {
      auto view = column_view(entry);
      if (!view) return std::move(view.error());
      if (entry.table >= kTableCount || entry.column >= rank->tables[entry.table].sections.size()) {
        return damaged("a column belongs to no table");
      }
      TableSections& table = rank->tables[entry.table];
      if (entry.column > 0 && table.rows != entry.rows)
        return damaged("columns of a table differ in length");
      table.rows = entry.rows;
      table.sections[entry.column] = *view;
      return {};
    }
    case SectionKind::kSourceTable: {
      SourceTableView table;
      table.rows = entry.rows;
      std::string_view rest = text;
      const auto line = [&] {
        const size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view first = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return first;
      };
      table.name = line();
      table.doc = line();
      while (!rest.empty()) {
        const std::string_view column = line();
        if (column.empty() || column[0] < '0' || column[0] > '3')
          return damaged("a source table has a bad column");
        table.columns.push_back({column.substr(1), static_cast<Type>(column[0] - '0'), {}});
      }
      if (rank->source_tables.size() != entry.table)
        return damaged("source tables are out of order");
      rank->source_tables.push_back(std::move(table));
      return {};
    }
    case SectionKind::kSourceColumn: {
      auto view = column_view(entry);
      if (!view) return std::move(view.error());
      if (entry.table >= rank->source_tables.size() ||
          entry.column >= rank->source_tables[entry.table].columns.size() ||
          rank->source_tables[entry.table].rows != entry.rows) {
        return damaged("a source column belongs to no table");
      }
      rank->source_tables[entry.table].columns[entry.column].values = *view;
      return {};
    }
  }
  return damaged("it has a section of an unknown kind");
}

Status StoreReader::finish_tables() {
  uint64_t bases[kTableCount] = {};
  for (Rank& rank : ranks_) {
    for (size_t table = 0; table < kTableCount; ++table) {
      TableSections& sections = rank.tables[table];
      for (const ColumnView& column : sections.sections) {
        if (column.rows() != sections.rows) return damaged("a column is missing");
      }
      sections.base = bases[table];
      bases[table] += sections.rows;
    }
    for (const SourceTableView& table : rank.source_tables) {
      for (const auto& column : table.columns) {
        if (column.values.rows() != table.rows)
          return damaged("a column of a source table is missing");
      }
    }
    if (auto status = check_lanes(rank); !status) return status;
  }
  uint64_t before = 0;
  for (const uint64_t end : string_ends_) {
    if (end < before || end > string_bytes_.size())
      return damaged("a string lies outside its section");
    before = end;
  }
  for (size_t position = 0; position < ranks_.size(); ++position) {
    if (rows(Table::kRanks, position) != 1) return damaged("a rank has no description");
    ranks_[position].number = column(Table::kRanks, "rank", position).at(0);
  }
  return {};
}

Status StoreReader::check_lanes(const Rank& rank) const {
  const uint64_t slices = rank.tables[static_cast<size_t>(Table::kSlices)].rows;
  for (const Lane& lane : rank.lanes) {
    if (lane.first_row > slices || lane.rows > slices - lane.first_row ||
        lane.first_level > rank.levels.size() ||
        lane.level_count > rank.levels.size() - lane.first_level) {
      return damaged("a lane lies outside its rank");
    }
  }
  for (const TileLevel& level : rank.levels) {
    if (level.shift >= 64 || level.first_tile > rank.tiles.size() ||
        level.tiles > rank.tiles.size() - level.first_tile) {
      return damaged("a tile level lies outside its rank");
    }
  }
  return {};
}

uint64_t StoreReader::rows(Table table) const {
  uint64_t total = 0;
  for (size_t rank = 0; rank < ranks_.size(); ++rank) total += rows(table, rank);
  return total;
}

const ColumnView& StoreReader::column(Table table, std::string_view name, size_t rank) const {
  static const ColumnView kEmpty;
  size_t at = 0;
  for (const Column& column : table_spec(table).columns) {
    if (column.name == name) return stored_sections(column) > 0 ? section(table, at, rank) : kEmpty;
    at += stored_sections(column);
  }
  return kEmpty;
}

std::string_view StoreReader::string(int64_t id) const {
  if (id < 0 || static_cast<uint64_t>(id) >= string_ends_.size()) return {};
  const uint64_t start = id == 0 ? 0 : string_ends_[id - 1];
  return string_bytes_.substr(start, string_ends_[id] - start);
}

std::vector<StringId> StoreReader::find_strings(std::string_view part) const {
  const auto lower = [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; };
  const auto same = [&](unsigned char a, unsigned char b) { return lower(a) == lower(b); };
  std::vector<StringId> found;
  for (size_t id = 0; id < string_ends_.size(); ++id) {
    const std::string_view text = string(static_cast<int64_t>(id));
    if (std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end() ||
        part.empty()) {
      found.push_back(static_cast<StringId>(id));
    }
  }
  return found;
}

Status StoreReader::verify() const {
  const auto bytes = file_.bytes();
  for (const SectionEntry& entry : directory_) {
    // Sections that point at data are checked together with it. Places of blocks were checked when
    // the store was opened, those of mirror frames were not.
    uint32_t data = 0;
    if (entry.kind == SectionKind::kColumn || entry.kind == SectionKind::kSourceColumn) {
      const auto blocks = view_as<BlockEntry>(bytes, entry);
      for (size_t i = 0; i < blocks.size(); ++i) {
        const uint64_t rows = std::min<uint64_t>(kBlockRows, entry.rows - i * kBlockRows);
        const uint64_t size = rows * blocks[i].width();
        if (size > 0) data = crc32c(bytes.data() + blocks[i].offset(), size, data);
      }
    } else if (entry.kind == SectionKind::kMirrorIndex) {
      for (const MirrorFrame& frame : view_as<MirrorFrame>(bytes, entry)) {
        if (frame.file_offset > bytes.size() ||
            frame.file_bytes > bytes.size() - frame.file_offset) {
          return damaged("a kept piece of the input lies outside the file");
        }
        data = crc32c(bytes.data() + frame.file_offset, frame.file_bytes, data);
      }
    }
    if (crc32c(bytes.data() + entry.offset, entry.bytes, data) != entry.checksum) {
      return damaged("the checksum of a section is wrong");
    }
  }
  return {};
}

}  // namespace stepscope
