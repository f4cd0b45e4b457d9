#include <charconv>

#include "base/json_text.h"
#include "query/result_writer.h"

namespace stepscope {
namespace {

constexpr size_t kFlushBytes = 1 << 18;

template <typename Number>
void append_number(std::string& out, Number value) {
  char buffer[64];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// Calls row(chunk, index, out) for every row and hands the text on in large pieces.
template <typename Row>
Status write_rows(QueryResult& result, const Sink& sink, std::string out, std::string_view end,
                  const Row& row) {
  while (true) {
    auto chunk = result.next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) break;
    for (size_t i = 0; i < (*chunk)->rows(); ++i) row(**chunk, i, out);
    if (out.size() < kFlushBytes) continue;
    if (auto status = sink(out); !status) return status;
    out.clear();
  }
  out += end;
  return sink(out);
}

void append_json_value(const ResultColumn& column, const ResultChunk& chunk, size_t at, size_t row,
                       std::string& out) {
  if (chunk.is_null(at, row)) {
    out += "null";
    return;
  }
  switch (column.type) {
    case ValueType::kBool:
      out += chunk.integers(at)[row] != 0 ? "true" : "false";
      return;
    case ValueType::kInt64:
      append_number(out, chunk.integers(at)[row]);
      return;
    case ValueType::kInt128:
      out += int128_text(chunk.wide_integers(at)[row]);
      return;
    case ValueType::kFloat64:
      append_json_number(out, chunk.floats(at)[row]);
      return;
    case ValueType::kText:
      append_json_text(out, chunk.texts(at)[row]);
      return;
  }
}

void append_json_object(const QueryResult& result, const std::vector<std::string>& keys,
                        const ResultChunk& chunk, size_t row, std::string& out) {
  out += '{';
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) out += ',';
    out += keys[i];
    append_json_value(result.columns()[i], chunk, i, row, out);
  }
  out += '}';
}

std::vector<std::string> json_keys(const QueryResult& result) {
  std::vector<std::string> keys;
  for (const ResultColumn& column : result.columns()) {
    append_json_text(keys.emplace_back(), column.name);
    keys.back() += ':';
  }
  return keys;
}

// An empty text is quoted, to differ from NULL.
void append_csv_text(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += c;
    out += c;
  }
  out += '"';
}

void append_csv_value(const ResultColumn& column, const ResultChunk& chunk, size_t at, size_t row,
                      std::string& out) {
  if (chunk.is_null(at, row)) return;
  switch (column.type) {
    case ValueType::kBool:
      out += chunk.integers(at)[row] != 0 ? "true" : "false";
      return;
    case ValueType::kInt64:
      append_number(out, chunk.integers(at)[row]);
      return;
    case ValueType::kInt128:
      out += int128_text(chunk.wide_integers(at)[row]);
      return;
    case ValueType::kFloat64:
      append_number(out, chunk.floats(at)[row]);
      return;
    case ValueType::kText:
      append_csv_text(out, chunk.texts(at)[row]);
      return;
  }
}

}  // namespace

Status write_csv(QueryResult& result, const Sink& sink) {
  const auto& columns = result.columns();
  std::string out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_csv_text(out, columns[i].name);
  }
  out += "\r\n";
  return write_rows(result, sink, std::move(out), "",
                    [&](const ResultChunk& chunk, size_t row, std::string& text) {
                      for (size_t i = 0; i < columns.size(); ++i) {
                        if (i > 0) text += ',';
                        append_csv_value(columns[i], chunk, i, row, text);
                      }
                      text += "\r\n";
                    });
}

Status write_json(QueryResult& result, const Sink& sink) {
  const auto keys = json_keys(result);
  bool first = true;
  return write_rows(result, sink, "[", "\n]\n",
                    [&](const ResultChunk& chunk, size_t row, std::string& out) {
                      out += first ? "\n" : ",\n";
                      first = false;
                      append_json_object(result, keys, chunk, row, out);
                    });
}

Status write_json_lines(QueryResult& result, const Sink& sink) {
  const auto keys = json_keys(result);
  return write_rows(result, sink, "", "",
                    [&](const ResultChunk& chunk, size_t row, std::string& out) {
                      append_json_object(result, keys, chunk, row, out);
                      out += '\n';
                    });
}

}  // namespace stepscope
