#include "importers/common/csv_reader.h"

#include <algorithm>

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

// Whether a double holds the number to more places than anybody measures: epoch microseconds with a
// fraction are not such numbers, and are kept as text. The 17th digit of a ratio is noise of the
// program that printed it.
bool is_exact_double(std::string_view text) {
  if (!parse_double(text)) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view whole = text.substr(0, text.find_first_of(".eE"));
  return std::count_if(text.begin(), text.end(), is_digit) <= 15 ||
         std::count_if(whole.begin(), whole.end(), is_digit) <= 9;
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

namespace {

Status find_types(const std::string& path, std::vector<bool>& all_integers,
                  std::vector<bool>& all_numbers) {
  auto reader = CsvReader::open(path);
  if (!reader) return std::move(reader.error());
  const size_t columns = reader->header().size();
  all_integers.assign(columns, true);
  all_numbers.assign(columns, true);
  std::vector<bool> needs_integer(columns, false);  // a cell that no double holds
  QualityReport counted_later;
  while (reader->next(counted_later)) {
    for (size_t column = 0; column < columns; ++column) {
      const auto text = reader->value(column);
      if (!text || !all_numbers[column]) continue;
      const bool plain = text->find_first_not_of("0123456789-") == std::string_view::npos;
      const bool integer = plain && parse_integer(*text);
      const bool exact = is_exact_double(*text);
      if (!integer) all_integers[column] = false;
      if (!exact) needs_integer[column] = true;
      if ((!integer && !exact) || (needs_integer[column] && !all_integers[column]))
        all_numbers[column] = false;
    }
  }
  return {};
}

}  // namespace

Status keep_csv(const std::string& path, std::string_view table_name, RankBuilder& rank) {
  // Two passes: types first, so that numbers never enter the pool of strings.
  std::vector<bool> all_integers;
  std::vector<bool> all_numbers;
  if (auto status = find_types(path, all_integers, all_numbers); !status) return status;
  auto reader = CsvReader::open(path);
  if (!reader) return std::move(reader.error());
  SourceTable table;
  table.name = table_name;
  table.doc = path;
  const size_t columns = std::min(reader->header().size(), all_numbers.size());
  for (size_t column = 0; column < columns; ++column) {
    SourceColumn kept{reader->header()[column], Type::kText, {}};
    if (all_numbers[column]) kept.type = all_integers[column] ? Type::kInt64 : Type::kFloat64;
    table.columns.push_back(std::move(kept));
  }
  while (reader->next(rank.quality)) {
    for (size_t column = 0; column < columns; ++column) {
      const auto text = reader->value(column);
      SourceColumn& kept = table.columns[column];
      int64_t value = kNull;
      if (text && kept.type == Type::kInt64)
        value = parse_integer(*text).value_or(kNull);
      else if (text && kept.type == Type::kFloat64)
        value = float_bits(parse_double(*text).value_or(0));
      else if (text)
        value = rank.strings.intern(*text);
      kept.values.push_back(value);
    }
  }
  auto stamp = stamp_file(path);
  rank.sources.push_back({path, stamp ? *stamp : FileStamp{}, std::string(table_name),
                          static_cast<int64_t>(reader->rows_read())});
  rank.source_tables.push_back(std::move(table));
  return {};
}

}  // namespace stepscope
