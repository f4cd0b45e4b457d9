// GET
// runs/ID/analyses/TABLE?rank=&step=&search=&sort=-COLUMN&offset=&limit=&format=csv|json|parquet
//
// {"columns": [{"name", "unit", "kind", "doc"}], "rows": [[...]], "total": rows that match,
//  "reasons": [why it is empty or incomplete]}
//
// With `format` the rows that match come as a file, all of them.
#include <algorithm>
#include <numeric>

#include "analyses/common/names.h"
#include "analyses/common/result_text.h"
#include "base/json_text.h"
#include "query/parquet_rows.h"
#include "server/asked_table.h"
#include "server/download.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr int64_t kMostRows = 100'000;

std::string_view kind_name(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInteger:
      return "integer";
    case ValueKind::kFloat:
      return "float";
    case ValueKind::kBool:
      return "bool";
    case ValueKind::kText:
      return "text";
  }
  return "";
}

bool matches_text(const ResultTable& table, size_t row, std::string_view part) {
  for (size_t column = 0; column < table.columns().size(); ++column) {
    const Value value = table.value(row, column);
    const auto* text = std::get_if<std::string_view>(&value);
    if (text != nullptr && contains_ignoring_case(*text, part)) return true;
  }
  return false;
}

// NULLs come last in either direction.
bool comes_before(const Value& a, const Value& b, bool falling) {
  const bool a_null = std::holds_alternative<std::monostate>(a);
  const bool b_null = std::holds_alternative<std::monostate>(b);
  if (a_null || b_null) return !a_null && b_null;
  return falling ? b < a : a < b;
}

Result<std::vector<size_t>> chosen_rows(const RunAnalyses& run, const ResultTable& table,
                                        const httplib::Request& request) {
  std::vector<size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), size_t{0});
  for (const char* name : {"rank", "window", "device", "step"}) {
    auto wanted = std::string_view(name) == "rank" ? asked_rank(run, request)
                                                   : optional_integer(request, name);
    if (!wanted) return std::move(wanted.error());
    const size_t column = table.find_column(name);
    if (!wanted->has_value() || column == table.columns().size()) continue;
    std::erase_if(rows, [&](size_t row) {
      const Value value = table.value(row, column);
      const auto* number = std::get_if<int64_t>(&value);
      return number == nullptr || *number != **wanted;
    });
  }
  if (const std::string part = request.get_param_value("search"); !part.empty())
    std::erase_if(rows, [&](size_t row) { return !matches_text(table, row, part); });
  std::string by = request.get_param_value("sort");
  const bool falling = by.starts_with('-');
  if (falling) by.erase(0, 1);
  if (!by.empty()) {
    const size_t column = table.find_column(by);
    if (column == table.columns().size())
      return Error{ErrorCode::kBadInput, "cannot sort", std::string(table.name()),
                   "it has no column " + by.substr(0, 80), "the answer without sort has them"};
    std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
      return comes_before(table.value(a, column), table.value(b, column), falling);
    });
  }
  return rows;
}

struct AppendValue {
  std::string& out;
  void operator()(std::monostate) const { out += "null"; }
  void operator()(int64_t value) const {
    // Beyond 2^53 a JavaScript number is no longer exact.
    constexpr int64_t kExact = int64_t{1} << 53;
    const std::string text = std::to_string(value);
    out += value > kExact || value < -kExact ? '"' + text + '"' : text;
  }
  void operator()(double value) const { append_json_number(out, value); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::string_view text) const { append_json_text(out, text); }
};

ValueType parquet_type(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInteger:
      return ValueType::kInt64;
    case ValueKind::kFloat:
      return ValueType::kFloat64;
    case ValueKind::kBool:
      return ValueType::kBool;
    case ValueKind::kText:
      return ValueType::kText;
  }
  return ValueType::kText;
}

Status send_parquet(const ResultTable& table, const std::vector<size_t>& rows,
                    const std::string& file_name, httplib::Response& response) {
  auto spool = SpoolFile::create();
  if (!spool) return std::move(spool.error());
  std::vector<ResultColumn> columns;
  for (const AnalysisColumn& column : table.columns())
    columns.push_back({std::string(column.name), parquet_type(column.kind)});
  const auto status = write_parquet_rows(
      columns, rows.size(),
      [&](size_t row, size_t column) { return table.value(rows[row], column); }, (*spool)->path());
  if (!status) return status;
  return send_file(response, file_name, download_type("parquet"), std::move(*spool));
}

Status send_download(OpenRun& run, const std::shared_ptr<AskedTable>& asked,
                     std::vector<size_t> rows, const std::string& format,
                     httplib::Response& response) {
  const ResultTable& table = asked->table;
  const std::string file_name = std::string(table.name()) + "." + format;
  if (format == "parquet") return send_parquet(table, rows, file_name, response);
  if (format != "csv" && format != "json")
    return Error{ErrorCode::kBadInput, "bad request", "format=" + format.substr(0, 80),
                 "there is no such format", "csv, json or parquet"};
  stream_download(
      response, file_name, download_type(format),
      [run = run.shared_from_this(), asked, rows = std::move(rows),
       csv = format == "csv"](const std::function<Status(std::string_view)>& sink) -> Status {
        const ResultTable& table = asked->table;
        std::string text;
        if (csv) append_csv_head(text, table);
        for (size_t i = 0; i < rows.size(); ++i) {
          if (!csv) text += i == 0 ? "[\n" : ",\n";
          csv ? append_csv_row(text, table, rows[i]) : append_json_row(text, table, rows[i]);
          if (auto status = sink(text); !status) return status;
          text.clear();
        }
        if (!csv) text += rows.empty() ? "[]\n" : "\n]\n";
        return sink(text);
      });
  return {};
}

Status send_table(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const std::string name = request.matches[2];
  auto answer = asked_table(run.analyses(), name, request);
  if (!answer) return std::move(answer.error());
  const auto asked = std::make_shared<AskedTable>(std::move(*answer));
  const ResultTable* table = &asked->table;
  auto rows = chosen_rows(run.analyses(), *table, request);
  if (!rows) return std::move(rows.error());
  if (const std::string format = request.get_param_value("format"); !format.empty())
    return send_download(run, asked, std::move(*rows), format, response);
  const auto offset = integer_value(request, "offset", 0, 0, INT64_MAX);
  if (!offset) return offset.error();
  const auto limit = integer_value(request, "limit", 1000, 0, kMostRows);
  if (!limit) return limit.error();

  std::string json = "{\"columns\":[";
  for (size_t column = 0; column < table->columns().size(); ++column) {
    const AnalysisColumn& one = table->columns()[column];
    json += (column == 0 ? "" : ",") + JsonObject()
                                           .add("name", one.name)
                                           .add("unit", unit_name(one.unit))
                                           .add("kind", kind_name(one.kind))
                                           .add("doc", one.doc)
                                           .text();
  }
  json += "],\"rows\":[";
  const size_t from = std::min<size_t>(static_cast<size_t>(*offset), rows->size());
  const size_t to = std::min<size_t>(from + static_cast<size_t>(*limit), rows->size());
  for (size_t i = from; i < to; ++i) {
    json += i == from ? "[" : ",[";
    for (size_t column = 0; column < table->columns().size(); ++column) {
      if (column > 0) json += ',';
      std::visit(AppendValue{json}, table->value((*rows)[i], column));
    }
    json += ']';
  }
  json += "],\"total\":" + std::to_string(rows->size()) + ",\"reasons\":[";
  bool first = true;
  for (const Reason& reason : run.analyses().reasons(name)) {
    if (!first) json += ',';
    first = false;
    append_json_text(json, reason.why);
  }
  reply_json(response, json + "]}");
  return {};
}

}  // namespace

void add_analysis_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  http.Get(prefix + "/runs/([0-9a-f]{16})/analyses/([a-z_0-9]{1,64})", on_run(catalog, send_table));
}

}  // namespace stepscope
