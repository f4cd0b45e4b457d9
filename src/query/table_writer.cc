#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/utf8.h"
#include "query/result_writer.h"

namespace stepscope {
namespace {

constexpr size_t kRowsForWidths = 1000;  // later rows use the widths that these need
constexpr size_t kNarrowest = 8;         // text is cut to no less than this
constexpr std::string_view kGap = "  ";
constexpr std::string_view kCut = "\xE2\x80\xA6";  // an ellipsis, one column wide

struct Character {
  size_t bytes;
  size_t columns;
};

// Of the character at the start of the text; a byte that is no UTF-8 counts as one column.
Character next_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  size_t bytes = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  bytes = std::min(bytes, text.size());
  uint32_t code = bytes == 1 ? first : first & (0xFF >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
  const bool combining = (code >= 0x300 && code <= 0x36F) || (code >= 0x200B && code <= 0x200F) ||
                         (code >= 0xFE00 && code <= 0xFE0F);
  const bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                    (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                    (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                    (code >= 0xFFE0 && code <= 0xFFE6) || (code >= 0x1F300 && code <= 0x1FAFF) ||
                    (code >= 0x20000 && code <= 0x3FFFD);
  return {bytes, combining ? size_t{0} : wide ? size_t{2} : size_t{1}};
}

std::string cut_to(std::string_view text, size_t columns) {
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const Character next = next_character(text);
    if (used + next.columns + 1 > columns) return out.append(kCut);
    out += text.substr(0, next.bytes);
    used += next.columns;
    text.remove_prefix(next.bytes);
  }
  return out;
}

// A float as people read it: three decimals, or four digits when it is small.
std::string readable(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  const double size = std::abs(value);
  char buffer[64];
  if (size >= 1e15 || (size > 0 && size < 0.1)) {
    std::snprintf(buffer, sizeof buffer, "%.4g", value);
    return buffer;
  }
  std::snprintf(buffer, sizeof buffer, "%.3f", value);
  std::string text = buffer;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string cell(const ResultColumn& column, const ResultChunk& chunk, size_t at, size_t row) {
  if (chunk.is_null(at, row)) return "NULL";
  switch (column.type) {
    case ValueType::kBool:
      return chunk.integers(at)[row] != 0 ? "true" : "false";
    case ValueType::kInt64:
      return std::to_string(chunk.integers(at)[row]);
    case ValueType::kInt128:
      return int128_text(chunk.wide_integers(at)[row]);
    case ValueType::kFloat64:
      return readable(chunk.floats(at)[row]);
    case ValueType::kText:
      return visible_text(chunk.texts(at)[row]);
  }
  return {};
}

bool right_aligned(ValueType type) {
  return type == ValueType::kInt64 || type == ValueType::kInt128 || type == ValueType::kFloat64;
}

class Table {
 public:
  Table(const std::vector<ResultColumn>& columns, size_t width, const Sink& sink)
      : columns_(columns), width_(width), sink_(sink) {}

  Status add(const ResultChunk& chunk) {
    for (size_t row = 0; row < chunk.rows(); ++row) {
      std::vector<std::string>& cells = pending_.emplace_back();
      for (size_t i = 0; i < columns_.size(); ++i)
        cells.push_back(cell(columns_[i], chunk, i, row));
    }
    rows_ += chunk.rows();
    return pending_.size() >= kRowsForWidths ? flush() : Status();
  }

  Status finish() {
    if (auto status = flush(); !status) return status;
    std::string count = std::to_string(rows_);
    count.insert(count.begin(), '(');
    return sink_(count + (rows_ == 1 ? " row)\n" : " rows)\n"));
  }

 private:
  Status flush() {
    std::string out;
    if (widths_.empty()) {
      choose_widths();
      std::vector<std::string> head;
      for (const ResultColumn& column : columns_) head.push_back(visible_text(column.name));
      append_row(head, out);
      std::vector<std::string> rule;
      for (const size_t columns : widths_) rule.emplace_back(columns, '-');
      append_row(rule, out);
    }
    for (const auto& cells : pending_) append_row(cells, out);
    pending_.clear();
    return sink_(out);
  }

  void choose_widths() {
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t widest = display_width(visible_text(columns_[i].name));
      for (const auto& cells : pending_) widest = std::max(widest, display_width(cells[i]));
      widths_.push_back(widest);
    }
    if (width_ == 0) return;
    // The widest text column gives way first; numbers are never cut.
    while (true) {
      size_t total = columns_.empty() ? 0 : kGap.size() * (columns_.size() - 1);
      size_t widest = columns_.size();
      for (size_t i = 0; i < columns_.size(); ++i) {
        total += widths_[i];
        if (right_aligned(columns_[i].type) || widths_[i] <= kNarrowest) continue;
        if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
      }
      if (total <= width_ || widest == columns_.size()) return;
      --widths_[widest];
    }
  }

  void append_row(const std::vector<std::string>& cells, std::string& out) const {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += kGap;
      const size_t columns = display_width(cells[i]);
      const bool cut = width_ > 0 && columns > widths_[i] && !right_aligned(columns_[i].type);
      const std::string shown = cut ? cut_to(cells[i], widths_[i]) : cells[i];
      const size_t used = cut ? display_width(shown) : columns;
      const std::string blanks(used < widths_[i] ? widths_[i] - used : 0, ' ');
      line += right_aligned(columns_[i].type) ? blanks + shown : shown + blanks;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }

  const std::vector<ResultColumn>& columns_;
  size_t width_;
  const Sink& sink_;
  std::vector<std::vector<std::string>> pending_;
  std::vector<size_t> widths_;
  uint64_t rows_ = 0;
};

}  // namespace

size_t display_width(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character next = next_character(text);
    columns += next.columns;
    text.remove_prefix(next.bytes);
  }
  return columns;
}

Status write_table(QueryResult& result, size_t width, const Sink& sink) {
  Table table(result.columns(), width, sink);
  while (true) {
    auto chunk = result.next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) return table.finish();
    if (auto status = table.add(**chunk); !status) return status;
  }
}

}  // namespace stepscope
