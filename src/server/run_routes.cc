// GET  runs               the list
// POST runs/ID/import     import it next, also after a failure
// PUT  runs/ID/tags       {"tags": ["word", ...]}
// GET  runs/ID            what is in it: ranks, steps, time, tables
#include <chrono>

#include <nlohmann/json.hpp>

#include "analyses/common/rank_rows.h"
#include "base/json_text.h"
#include "json/json_tree.h"
#include "server/http_reply.h"
#include "server/routes.h"

namespace stepscope {
namespace {

std::string entry_json(const RunEntry& entry, const std::vector<std::string>& tags) {
  return JsonObject()
      .add("id", entry.id)
      .add("name", entry.name)
      .add("path", entry.path)
      .add("former_ids", entry.former_ids)
      .add("state", run_state_name(entry.state))
      .add("reason", entry.reason)
      .add("done_bytes", static_cast<int64_t>(entry.done_bytes))
      .add("total_bytes", static_cast<int64_t>(entry.total_bytes))
      .add("input_bytes", static_cast<int64_t>(entry.input_bytes))
      .add("store_bytes", static_cast<int64_t>(entry.store_bytes))
      .add("modified_ns", std::to_string(entry.modified_ns))
      .add("ranks", entry.ranks)
      .add("steps", entry.steps)
      .add("devices", entry.devices)
      .add("losses", entry.losses)
      .add("suspects", entry.suspects)
      .add("tags", tags)
      .text();
}

void send_list(RunCatalog& catalog, RunTags& tags, bool uploads, httplib::Response& response) {
  std::string json = "{\"runs\":[";
  bool first = true;
  for (const RunEntry& entry : catalog.entries()) {
    if (!first) json += ',';
    first = false;
    json += entry_json(entry, tags.of(entry.path));
  }
  const bool can_add = uploads && catalog.takes_files();
  reply_json(response, json + "],\"can_add\":" + (can_add ? "true" : "false") + "}");
}

Status set_tags(RunCatalog& catalog, RunTags& tags, const httplib::Request& request) {
  const auto path = catalog.path_of(request.matches[1]);
  if (!path) return path.error();
  const auto body = json_tree(request.body);
  const Error wrong{ErrorCode::kBadInput, "bad request", "body",
                    "it is no JSON object with \"tags\", a list of texts",
                    "{\"tags\": [\"baseline\"]}"};
  if (!body.is_object() || !body.contains("tags") || !body["tags"].is_array()) return wrong;
  std::vector<std::string> words;
  for (const auto& tag : body["tags"]) {
    if (!tag.is_string()) return wrong;
    words.push_back(tag.get<std::string>());
  }
  return tags.set(*path, std::move(words));
}

// Times are unix ns, beyond what a JavaScript number holds exactly, and so are text.
std::string time_text(int64_t ns) { return ns == kNull ? "" : std::to_string(ns); }

Status send_run(OpenRun& run, const httplib::Request&, httplib::Response& response) {
  const StoreReader& store = run.store();
  std::string json = "{\"ranks\":[";
  int64_t first_ns = kNull;
  int64_t last_ns = kNull;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const auto text = [&](std::string_view column) {
      return text_at(store, Table::kRanks, column, rank);
    };
    const auto number = [&](std::string_view column) {
      return number_at(store, Table::kRanks, column, rank);
    };
    const int64_t from = number("first_ns");
    const int64_t to = number("last_ns");
    if (from != kNull && (first_ns == kNull || from < first_ns)) first_ns = from;
    if (to != kNull && (last_ns == kNull || to > last_ns)) last_ns = to;
    JsonObject row;
    row.add("position", static_cast<int64_t>(rank))
        .add("rank", store.rank_number(rank))
        .add("window", number("window") == kNull ? 0 : number("window"))
        .add("host", text("host"))
        .add("device_kind", text("device_kind"))
        .add("device_name", text("device_name"))
        .add("format", text("source_format"))
        .add("first_ns", time_text(from))
        .add("last_ns", time_text(to))
        .add("slices", static_cast<int64_t>(store.rows(Table::kSlices, rank)))
        .add("kernels", static_cast<int64_t>(store.rows(Table::kKernels, rank)))
        .add("steps", static_cast<int64_t>(store.rows(Table::kSteps, rank)));
    json += (rank == 0 ? "" : ",") + row.text();
  }
  json += "],\"first_ns\":\"" + time_text(first_ns) + "\",\"last_ns\":\"" + time_text(last_ns) +
          "\",\"slices\":" + std::to_string(store.rows(Table::kSlices)) + ",\"tables\":[";
  bool first = true;
  for (const ResultTable& table : RunAnalyses::descriptions()) {
    if (!first) json += ',';
    first = false;
    json += JsonObject().add("name", table.name()).add("doc", table.doc()).text();
  }
  reply_json(response, json + "]}");
  return {};
}

}  // namespace

httplib::Server::Handler on_run(RunCatalog& catalog, RunHandler handler) {
  return [&catalog, handler = std::move(handler)](const httplib::Request& request,
                                                  httplib::Response& response) {
    const auto begun = std::chrono::steady_clock::now();
    auto run = catalog.open(request.matches[1]);
    if (!run) return reply_error(response, run.error());
    if (auto status = handler(**run, request, response); !status)
      reply_error(response, status.error());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begun;
    response.set_header("Server-Timing", "answer;dur=" + std::to_string(took.count()));
  };
}

void add_run_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog,
                    RunTags& tags, bool uploads) {
  http.Get(prefix + "/runs", [&, uploads](const httplib::Request&, httplib::Response& response) {
    send_list(catalog, tags, uploads, response);
  });
  http.Put(prefix + "/runs/([0-9a-f]{16})/tags",
           [&](const httplib::Request& request, httplib::Response& response) {
             if (auto status = set_tags(catalog, tags, request); !status)
               return reply_error(response, status.error());
             reply_json(response, "{}");
           });
  http.Post(prefix + "/runs/([0-9a-f]{16})/import",
            [&](const httplib::Request& request, httplib::Response& response) {
              if (auto status = catalog.want(request.matches[1]); !status)
                return reply_error(response, status.error());
              reply_json(response, "{}");
            });
  http.Get(prefix + "/runs/([0-9a-f]{16})", on_run(catalog, send_run));
}

}  // namespace stepscope
