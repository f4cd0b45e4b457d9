#include "importers/common/csv_reader.h"

#include <bit>
#include <charconv>

#include "base/decimal.h"
#include "base/file.h"

namespace stepscope {
namespace {

constexpr uint64_t kMostBytes = 4ull << 30;

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view cell) { return cell.empty() || cell == "N/A"; }

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<CsvReader> CsvReader::open(const std::string& path) {
  auto text = read_file(path, kMostBytes);
  if (!text) return std::move(text.error());
  return from_text(std::move(*text), path);
}

Result<CsvReader> CsvReader::from_text(std::string text, std::string path) {
  CsvReader reader;
  reader.path_ = std::move(path);
  reader.text_ = std::move(text);
  if (reader.text_.starts_with("\xEF\xBB\xBF")) reader.at_ = 3;
  std::vector<std::string_view> cells;
  if (!reader.read_record(cells) || (cells.size() == 1 && trim(cells[0]).empty())) {
    return Error{ErrorCode::kBadInput, "cannot read the table", reader.path_,
                 "it has no header line",
                 "record again; the profiler that wrote it probably stopped early"};
  }
  for (const std::string_view cell : cells) reader.header_.emplace_back(trim(cell));
  return reader;
}

size_t CsvReader::column(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (size_t i = 0; i < header_.size(); ++i) {
      if (header_[i] == name) return i;
    }
  }
  return npos;
}

// Cells are views into text_, except those with doubled quotes, which are rewritten into unquoted_.
// That buffer is sized for the record first, so the views stay valid.
bool CsvReader::read_record(std::vector<std::string_view>& cells) {
  cells.clear();
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  unquoted_.clear();
  bool quotes_inside = false;
  const size_t first = at_;
  for (int pass = 0; pass < 2; ++pass) {
    size_t at = first;
    uint64_t lines = line_;
    cells.clear();
    bool more = true;
    while (more) {
      size_t start = at;
      if (at < text_.size() && text_[at] == '"') {
        start = ++at;
        const size_t rewritten = unquoted_.size();
        bool doubled = false;
        while (at < text_.size()) {
          if (text_[at] == '"') {
            if (at + 1 >= text_.size() || text_[at + 1] != '"') break;
            doubled = quotes_inside = true;
            ++at;
          }
          if (text_[at] == '\n') ++lines;
          if (pass == 1) unquoted_ += text_[at];
          ++at;
        }
        if (doubled && pass == 1) {
          cells.emplace_back(unquoted_.data() + rewritten, unquoted_.size() - rewritten);
        } else {
          cells.emplace_back(text_.data() + start, at - start);
        }
        if (at < text_.size()) ++at;  // closing quote
        while (at < text_.size() && text_[at] != ',' && text_[at] != '\n') ++at;
      } else {
        while (at < text_.size() && text_[at] != ',' && text_[at] != '\n') ++at;
        cells.emplace_back(text_.data() + start, at - start);
      }
      more = at < text_.size() && text_[at] == ',';
      if (more) ++at;
    }
    if (at < text_.size()) ++at;  // line end
    at_ = at;
    next_line_ = lines + 1;
    if (!quotes_inside) break;
    if (pass == 0) unquoted_.reserve(at - first);
  }
  return true;
}

bool CsvReader::next(QualityReport& quality) {
  do {
    if (!read_record(cells_)) return false;
  } while (cells_.size() == 1 && trim(cells_[0]).empty());  // blank lines
  ++rows_;
  if (cells_.size() != header_.size()) {
    quality.add(QualityCode::kRaggedRow, path_ + " line " + std::to_string(line_) + ": " +
                                             std::to_string(cells_.size()) + " cells for " +
                                             std::to_string(header_.size()) + " columns");
    cells_.resize(header_.size());
  }
  return true;
}

std::string_view CsvReader::cell(size_t column) const {
  return column < cells_.size() ? trim(cells_[column]) : std::string_view();
}

std::optional<std::string_view> CsvReader::value(size_t column) const {
  const std::string_view text = cell(column);
  if (is_missing(text)) return std::nullopt;
  return text;
}

int64_t CsvReader::scaled(size_t column, int shift, QualityReport& quality) const {
  const auto text = value(column);
  if (!text) return kNull;
  const auto number = parse_scaled(*text, shift);
  if (number) return *number;
  quality.add(QualityCode::kBadNumber,
              path_ + " line " + std::to_string(line_) + ": " + std::string(*text));
  return kNull;
}

int64_t CsvReader::times(size_t column, int64_t factor, QualityReport& quality) const {
  const auto text = value(column);
  if (!text) return kNull;
  const auto number = parse_times(*text, factor);
  if (number) return *number;
  quality.add(QualityCode::kBadNumber,
              path_ + " line " + std::to_string(line_) + ": " + std::string(*text));
  return kNull;
}

Status keep_csv(const std::string& path, std::string_view table_name, RankBuilder& rank) {
  auto reader = CsvReader::open(path);
  if (!reader) return std::move(reader.error());
  SourceTable table;
  table.name = table_name;
  table.doc = path;
  const size_t columns = reader->header().size();
  std::vector<std::vector<StringId>> cells(columns);
  std::vector<bool> all_integers(columns, true);
  std::vector<bool> all_numbers(columns, true);
  while (reader->next(rank.quality)) {
    for (size_t column = 0; column < columns; ++column) {
      const auto text = reader->value(column);
      cells[column].push_back(text ? rank.strings.intern(*text) : kNoString);
      if (!text) continue;
      const bool plain = text->find_first_not_of("0123456789-") == std::string_view::npos;
      if (all_integers[column] && !(plain && parse_integer(*text))) all_integers[column] = false;
      if (all_numbers[column] && !parse_double(*text)) all_numbers[column] = false;
    }
  }
  for (size_t column = 0; column < columns; ++column) {
    SourceColumn kept{reader->header()[column], Type::kText, {}};
    if (all_numbers[column]) kept.type = all_integers[column] ? Type::kInt64 : Type::kFloat64;
    for (const StringId id : cells[column]) {
      if (id == kNoString)
        kept.values.push_back(kNull);
      else if (kept.type == Type::kInt64)
        kept.values.push_back(*parse_integer(rank.strings.view(id)));
      else if (kept.type == Type::kFloat64)
        kept.values.push_back(std::bit_cast<int64_t>(*parse_double(rank.strings.view(id))));
      else
        kept.values.push_back(id);
    }
    table.columns.push_back(std::move(kept));
  }
  auto stamp = stamp_file(path);
  rank.sources.push_back({path, stamp ? *stamp : FileStamp{}, std::string(table_name),
                          static_cast<int64_t>(reader->rows_read())});
  rank.source_tables.push_back(std::move(table));
  return {};
}

}  // namespace stepscope
