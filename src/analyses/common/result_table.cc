#include "analyses/common/result_table.h"

#include <charconv>

#include "analyses/common/result_text.h"
#include "base/json_text.h"

namespace stepscope {
namespace {

void append_integer(std::string& out, int64_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  out.append(text, end);
}

struct AppendJson {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(int64_t value) const { append_integer(out, value); }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::string_view text) const { append_json_text(out, text); }
};

struct AppendCsv {
  std::string& out;
  void operator()(std::monostate) const {}
  void operator()(int64_t value) const { append_integer(out, value); }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::string_view text) const {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
      out += text;
      return;
    }
    out += '"';
    for (const char c : text) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
};

}  // namespace

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kTimestamp:
      return "unix_ns";
    case Unit::kNanoseconds:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kCount:
      return "count";
    case Unit::kShare:
      return "share";
    case Unit::kFlops:
      return "flops";
    case Unit::kFlopsPerSecond:
      return "flops_per_second";
    case Unit::kBytesPerSecond:
      return "bytes_per_second";
  }
  return "";
}

size_t ResultTable::find_column(std::string_view name) const {
  size_t column = 0;
  while (column < columns_.size() && columns_[column].name != name) ++column;
  return column;
}

void append_json_row(std::string& out, const ResultTable& table, size_t row) {
  out += '{';
  for (size_t column = 0; column < table.columns().size(); ++column) {
    if (column > 0) out += ',';
    append_json_text(out, table.columns()[column].name);
    out += ':';
    std::visit(AppendJson{out}, table.value(row, column));
  }
  out += '}';
}

void append_json(std::string& out, const ResultTable& table) {
  out += '[';
  for (size_t row = 0; row < table.rows(); ++row) {
    if (row > 0) out += ',';
    append_json_row(out, table, row);
  }
  out += ']';
}

void append_csv_head(std::string& out, const ResultTable& table) {
  for (size_t column = 0; column < table.columns().size(); ++column) {
    if (column > 0) out += ',';
    out += table.columns()[column].name;
  }
  out += '\n';
}

void append_csv_row(std::string& out, const ResultTable& table, size_t row) {
  for (size_t column = 0; column < table.columns().size(); ++column) {
    if (column > 0) out += ',';
    std::visit(AppendCsv{out}, table.value(row, column));
  }
  out += '\n';
}

void append_csv(std::string& out, const ResultTable& table) {
  append_csv_head(out, table);
  for (size_t row = 0; row < table.rows(); ++row) append_csv_row(out, table, row);
}

}  // namespace stepscope
