// POST runs/ID/sql   {"sql": "...", "limit": 1000}   one statement that only reads
// GET  runs/ID/schema                                 tables and columns that SQL knows
// GET  runs/ID/trace?position=N                       a rank as Chrome trace JSON, streamed
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "deliverables/chrome_trace.h"
#include "query/result_writer.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr double kQuerySeconds = 30;
constexpr int64_t kMostRows = 100'000;

void append_cell(std::string& out, const QueryResult& result, const ResultChunk& chunk,
                 size_t column, size_t row) {
  if (chunk.is_null(column, row)) {
    out += "null";
    return;
  }
  switch (result.columns()[column].type) {
    case ValueType::kFloat64:
      append_json_number(out, chunk.floats(column)[row]);
      return;
    case ValueType::kText:
      append_json_text(out, chunk.texts(column)[row]);
      return;
    case ValueType::kInt128: {
      const auto wide = chunk.wide_integers(column)[row];
      const auto value = static_cast<int64_t>(wide);
      // Sums that do not fit 64 bits lose nothing in the files; here they are rounded.
      if (static_cast<__int128>(value) == wide) {
        out += '"' + std::to_string(value) + '"';
      } else {
        append_json_number(out, static_cast<double>(wide));
      }
      return;
    }
    case ValueType::kBool:
      out += chunk.integers(column)[row] != 0 ? "true" : "false";
      return;
    default: {
      const int64_t value = chunk.integers(column)[row];
      constexpr int64_t kExact = int64_t{1} << 53;
      const std::string text = std::to_string(value);
      out += value > kExact || value < -kExact ? '"' + text + '"' : text;
    }
  }
}

Status send_sql(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const auto body = nlohmann::json::parse(request.body, nullptr, false);
  if (!body.is_object() || !body.contains("sql") || !body["sql"].is_string())
    return Error{ErrorCode::kBadInput, "bad request", "body", "it is no JSON object with \"sql\"",
                 "{\"sql\": \"select ...\"}"};
  int64_t limit = 1000;
  if (body.contains("limit") && body["limit"].is_number_integer())
    limit = std::clamp<int64_t>(body["limit"].get<int64_t>(), 1, kMostRows);
  auto database = run.database();
  if (!database) return std::move(database.error());
  const auto start = std::chrono::steady_clock::now();
  auto result = (*database)->query(body["sql"].get<std::string>(), {kQuerySeconds, nullptr});
  if (!result) return std::move(result.error());

  std::string json = "{\"columns\":[";
  const auto& columns = (*result)->columns();
  for (size_t column = 0; column < columns.size(); ++column) {
    if (column > 0) json += ',';
    append_json_text(json, columns[column].name);
  }
  json += "],\"rows\":[";
  int64_t rows = 0;
  bool more = false;
  while (!more) {
    auto chunk = (*result)->next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) break;
    for (size_t row = 0; row < (*chunk)->rows(); ++row) {
      if (rows == limit) {
        more = true;
        break;
      }
      json += rows == 0 ? "[" : ",[";
      for (size_t column = 0; column < columns.size(); ++column) {
        if (column > 0) json += ',';
        append_cell(json, **result, **chunk, column, row);
      }
      json += ']';
      ++rows;
    }
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  json += "],\"more\":" + std::string(more ? "true" : "false") + ",\"ms\":";
  append_json_number(json, took.count());
  reply_json(response, json + "}");
  return {};
}

Status send_schema(OpenRun& run, const httplib::Request&, httplib::Response& response) {
  auto database = run.database();
  if (!database) return std::move(database.error());
  std::string json = "{\"tables\":[";
  bool first = true;
  for (const Database::TableName& table : (*database)->tables()) {
    if (!first) json += ',';
    first = false;
    json += "{\"name\":";
    append_json_text(json, table.name);
    json += ",\"columns\":[";
    for (size_t column = 0; column < table.columns.size(); ++column) {
      if (column > 0) json += ',';
      append_json_text(json, table.columns[column]);
    }
    json += "]}";
  }
  reply_json(response, json + "]}");
  return {};
}

void send_trace(RunCatalog& catalog, const httplib::Request& request, httplib::Response& response) {
  auto run = catalog.open(request.matches[1]);
  if (!run) return reply_error(response, run.error());
  const auto position = integer_value(request, "position", 0, 0, INT32_MAX);
  if (!position) return reply_error(response, position.error());
  const auto rank = static_cast<size_t>(*position);
  if (rank >= (*run)->store().rank_count())
    return reply_error(response,
                       {ErrorCode::kNotFound, "no such rank", std::to_string(rank), "", ""});
  response.set_header("Content-Disposition", "attachment; filename=\"rank_" +
                                                 std::to_string((*run)->store().rank_number(rank)) +
                                                 ".json\"");
  // The run stays open as long as somebody reads; a client that goes away ends it.
  response.set_chunked_content_provider(
      "application/json", [run = *run, rank](size_t, httplib::DataSink& sink) {
        const auto status =
            write_chrome_trace(run->store(), rank, {}, [&](std::string_view text) -> Status {
              if (sink.write(text.data(), text.size())) return {};
              return Error{ErrorCode::kCancelled, "the client went away", "", "", ""};
            });
        if (!status) return false;
        sink.done();
        return true;
      });
}

}  // namespace

void add_query_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  const std::string run = prefix + "/runs/([0-9a-f]{16})";
  http.Post(run + "/sql", on_run(catalog, send_sql));
  http.Get(run + "/schema", on_run(catalog, send_schema));
  http.Get(run + "/trace",
           [&catalog](const httplib::Request& request, httplib::Response& response) {
             send_trace(catalog, request, response);
           });
}

}  // namespace stepscope
