// POST runs/ID/sql {"sql": "...", "limit": 1000}  one statement that only reads
//      runs/ID/sql {"sql": "...", "format": F}    its rows as csv, json, jsonl, parquet or arrow
// DELETE runs/ID/sql?name=N                      stops a statement that was sent with "name": N
// GET  runs/ID/schema                             tables and columns that SQL knows
// GET  runs/ID/trace?position=N                   a rank as Chrome trace JSON, streamed
//      runs/ID/trace?position=N&scope_levels=K    ... as a trace view, with scopes down to level K
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "deliverables/chrome_trace.h"
#include "deliverables/trace_view.h"
#include "json/json_tree.h"
#include "query/result_writer.h"
#include "server/download.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr double kDownloadSeconds = 600;  // as long as the client reads
constexpr int64_t kMostRows = 100'000;

// Text where a JavaScript number would not hold it exactly.
void append_integer(std::string& out, Int128 value) {
  constexpr Int128 kExact = int64_t{1} << 53;
  const auto narrow = static_cast<int64_t>(value);
  const std::string text = narrow == value ? std::to_string(narrow) : int128_text(value);
  out += value > kExact || value < -kExact ? '"' + text + '"' : text;
}

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
    case ValueType::kInt128:
      append_integer(out, chunk.wide_integers(column)[row]);
      return;
    case ValueType::kBool:
      out += chunk.integers(column)[row] != 0 ? "true" : "false";
      return;
    case ValueType::kInt64:
      append_integer(out, chunk.integers(column)[row]);
      return;
  }
}

// A column of numbers may be sent as text: its kind is told beside it.
std::string_view kind_name(ValueType type) {
  switch (type) {
    case ValueType::kBool:
      return "bool";
    case ValueType::kInt64:
    case ValueType::kInt128:
      return "integer";
    case ValueType::kFloat64:
      return "float";
    case ValueType::kText:
      return "text";
  }
  return "text";
}

// Statements that their clients gave a name, to stop them by: httplib does not tell a handler that
// its client has gone. Thread-safe.
class NamedQueries {
 public:
  // Stopped as long as somebody holds it.
  std::shared_ptr<Progress> begin(const std::string& name) {
    auto progress = std::make_shared<Progress>();
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [](const auto& one) { return one.second.expired(); });
    if (!name.empty()) running_[name] = progress;
    return progress;
  }
  bool stop(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(name);
    const auto progress = found == running_.end() ? nullptr : found->second.lock();
    if (progress) progress->cancel();
    return progress != nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Progress>> running_;
};

// What is wrong with a statement comes from DuckDB, which does not know where our names are listed;
// nor can whoever asks the server raise its limits.
Error explained(Error error) {
  if (error.code == ErrorCode::kLimit) {
    const size_t detail = std::min(error.remedy.find(';'), error.remedy.size());
    error.remedy =
        "ask for less: fewer rows or steps, or sums in place of rows" + error.remedy.substr(detail);
  }
  if (error.remedy.empty())
    error.remedy = "the tables and columns of this run are in runs/ID/schema";
  return error;
}

Result<int64_t> row_limit(const nlohmann::json& body) {
  if (!body.contains("limit")) return 1000;
  const auto& limit = body["limit"];
  if (!limit.is_number_unsigned() || limit == 0)
    return Error{
        ErrorCode::kBadInput, "bad request", "limit", "it must be a whole number above 0",
        "at most " + std::to_string(kMostRows) + " rows are sent; \"format\" has no limit"};
  return static_cast<int64_t>(std::min<uint64_t>(limit.get<uint64_t>(), kMostRows));
}

Status send_sql_parquet(OpenRun& run, const std::string& sql, double seconds,
                        httplib::Response& response) {
  auto spool = SpoolFile::create();
  if (!spool) return std::move(spool.error());
  // The run's own database may not write files.
  auto database = Database::open(run.shared_store(), {kQueryMemory, 0, {(*spool)->path()}});
  if (!database) return std::move(database.error());
  const QueryLimits limits{seconds, nullptr};
  if (auto status = (*database)->write_parquet(sql, (*spool)->path(), limits); !status)
    return explained(std::move(status.error()));
  return send_file(response, "query.parquet", download_type("parquet"), std::move(*spool));
}

Status send_sql_file(OpenRun& run, const std::string& sql, const std::string& format,
                     double seconds, httplib::Response& response) {
  if (download_type(format).empty())
    return Error{ErrorCode::kBadInput, "bad request", "format=" + format.substr(0, 80),
                 "there is no such format", "csv, json, jsonl, parquet or arrow"};
  if (format == "parquet") return send_sql_parquet(run, sql, seconds, response);
  auto database = run.database();
  if (!database) return std::move(database.error());
  auto started = (*database)->query(sql, {kDownloadSeconds, nullptr});
  if (!started) return explained(std::move(started.error()));
  const std::shared_ptr<QueryResult> result = std::move(*started);
  stream_download(response, "query." + format, download_type(format),
                  [run = run.shared_from_this(), result, format](const Sink& sink) {
                    if (format == "csv") return write_csv(*result, sink);
                    if (format == "json") return write_json(*result, sink);
                    if (format == "jsonl") return write_json_lines(*result, sink);
                    return write_arrow(*result, sink);
                  });
  return {};
}

Status send_sql(OpenRun& run, const httplib::Request& request, double seconds, NamedQueries& named,
                httplib::Response& response) {
  const auto body = json_tree(request.body);
  if (!body.is_object() || !body.contains("sql") || !body["sql"].is_string())
    return Error{ErrorCode::kBadInput, "bad request", "body", "it is no JSON object with \"sql\"",
                 "{\"sql\": \"select ...\"}"};
  if (body.contains("format")) {
    if (!body["format"].is_string())
      return Error{ErrorCode::kBadInput, "bad request", "format", "a text is wanted",
                   "csv, json, jsonl, parquet or arrow"};
    return send_sql_file(run, body["sql"].get<std::string>(), body["format"].get<std::string>(),
                         seconds, response);
  }
  const auto limit = row_limit(body);
  if (!limit) return limit.error();
  if (body.contains("name") && !body["name"].is_string())
    return Error{ErrorCode::kBadInput, "bad request", "name", "a text is wanted",
                 "any that no other statement has; DELETE runs/ID/sql?name=... stops it"};
  const auto progress = named.begin(body.value("name", std::string()));
  auto database = run.database();
  if (!database) return std::move(database.error());
  const auto start = std::chrono::steady_clock::now();
  auto result = (*database)->query(body["sql"].get<std::string>(), {seconds, progress.get()});
  if (!result) return explained(std::move(result.error()));

  std::string json = "{\"columns\":[";
  const auto& columns = (*result)->columns();
  for (size_t column = 0; column < columns.size(); ++column) {
    if (column > 0) json += ',';
    append_json_text(json, columns[column].name);
  }
  json += "],\"kinds\":[";
  for (size_t column = 0; column < columns.size(); ++column) {
    if (column > 0) json += ',';
    append_json_text(json, kind_name(columns[column].type));
  }
  json += "],\"rows\":[";
  int64_t rows = 0;
  bool more = false;
  while (!more) {
    auto chunk = (*result)->next();
    if (!chunk) return explained(std::move(chunk.error()));
    if (*chunk == nullptr) break;
    for (size_t row = 0; row < (*chunk)->rows(); ++row) {
      if (rows == *limit) {
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

// The lanes of a trace view, without scopes deeper than somebody wants to see.
std::vector<TimelineLane> chosen_lanes(std::span<const TimelineLane> all, int64_t scope_levels) {
  std::vector<TimelineLane> lanes;
  for (const TimelineLane& lane : all) {
    if (lane.kind == LaneKind::kScope && lane.level > scope_levels) continue;
    lanes.push_back(lane);
  }
  return lanes;
}

Status send_trace(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const auto position = integer_value(request, "position", 0, 0, INT32_MAX);
  if (!position) return position.error();
  const auto levels = optional_integer(request, "scope_levels");
  if (!levels) return levels.error();
  if (levels->has_value() && (**levels < 0 || **levels > 1000))
    return Error{ErrorCode::kBadInput, "bad request", "scope_levels",
                 "it must lie between 0 and 1000", "see docs/api.md"};
  const auto rank = static_cast<size_t>(*position);
  if (rank >= run.store().rank_count()) return not_in_run("rank", rank, "runs/ID");
  std::string name = "rank_" + std::to_string(run.store().rank_number(rank));
  if (levels->has_value()) name += "_scopes_" + std::to_string(**levels);
  const std::string file_name = name + ".json";
  if (!levels->has_value()) {
    stream_download(response, file_name, download_type("json"),
                    [run = run.shared_from_this(), rank](const Sink& sink) {
                      return write_chrome_trace(run->store(), rank, {}, sink);
                    });
    return {};
  }
  stream_download(
      response, file_name, download_type("json"),
      [run = run.shared_from_this(), rank,
       lanes = chosen_lanes(run.analyses().timeline(rank), **levels)](const Sink& sink) {
        return write_trace_view(run->store(), rank, lanes, {}, sink);
      });
  return {};
}

}  // namespace

void add_query_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                      double seconds) {
  const std::string run = prefix + "/runs/([0-9a-f]{16})";
  const auto named = std::make_shared<NamedQueries>();
  http.Post(run + "/sql",
            on_run(catalog, [seconds, named](OpenRun& open, const httplib::Request& request,
                                             httplib::Response& response) {
              return send_sql(open, request, seconds, *named, response);
            }));
  // Needs no run: what is not there was not running either.
  http.Delete(run + "/sql", [named](const httplib::Request& request, httplib::Response& response) {
    const bool stopped = named->stop(request.get_param_value("name"));
    reply_json(response, stopped ? "{\"stopped\":true}" : "{\"stopped\":false}");
  });
  http.Get(run + "/schema", on_run(catalog, send_schema));
  http.Get(run + "/trace", on_run(catalog, send_trace));
}

}  // namespace stepscope
