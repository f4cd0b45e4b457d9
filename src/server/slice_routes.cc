// GET runs/ID/slices/N                         everything about one slice
// GET runs/ID/timeline/range?from=&to=&tracks=  what happens between two times, by name
#include <algorithm>
#include <map>

#include "analyses/common/rank_rows.h"
#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

constexpr size_t kMostTracks = 4000;
constexpr size_t kMostArrows = 64;

std::string cell_json(const StoreReader& store, const Column& column, int64_t value) {
  if (value == kNull) return "null";
  std::string json;
  switch (column.type) {
    case Type::kText:
      append_json_text(json, store.string(value));
      return json;
    case Type::kFloat64:
      append_json_number(json, std::bit_cast<double>(value));
      return json;
    case Type::kBool:
      return value != 0 ? "true" : "false";
    case Type::kInt64:
      return "\"" + std::to_string(value) + "\"";
  }
  return "null";
}

// One row of a table as an object; integers are text, since they may exceed 2^53.
std::string row_json(const StoreReader& store, Table table, size_t rank, uint64_t row) {
  const TableReader reader(store, table, rank);
  const TableSpec& spec = table_spec(table);
  const Morsel& morsel = reader.morsels()[row / kBlockRows];
  std::vector<int64_t> values(kBlockRows);
  std::string json = "{";
  for (size_t column = 0; column < spec.columns.size(); ++column) {
    if (spec.columns[column].origin == Origin::kArgs) continue;
    reader.read(morsel, column, values.data());
    if (json.size() > 1) json += ',';
    append_json_text(json, spec.columns[column].name);
    json += ':' + cell_json(store, spec.columns[column], values[row % kBlockRows]);
  }
  return json + "}";
}

// The row of a typed table (sorted by its slice, or not) that belongs to the slice.
std::string typed_row_json(const StoreReader& store, Table table, size_t rank, uint64_t slice) {
  uint64_t row = 0;
  uint64_t found = UINT64_MAX;
  for_each_row<1>(store, table, rank, {"id"}, [&](const auto& values) {
    if (static_cast<uint64_t>(values[0]) == slice) found = row;
    ++row;
  });
  return found == UINT64_MAX ? "null" : row_json(store, table, rank, found);
}

Status send_slice(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  const uint64_t slice = std::strtoull(request.matches[2].str().c_str(), nullptr, 10);
  const size_t rank = run.rank_of_row(Table::kSlices, slice);
  if (rank == store.rank_count())
    return Error{ErrorCode::kNotFound, "no such slice", std::to_string(slice), "", ""};
  const uint64_t row = slice - store.row_base(Table::kSlices, rank);
  std::string json = "{\"slice\":" + row_json(store, Table::kSlices, rank, row);
  json += ",\"kernel\":" + typed_row_json(store, Table::kKernels, rank, slice);
  json += ",\"op\":" + typed_row_json(store, Table::kOps, rank, slice);
  json += ",\"communication\":" + typed_row_json(store, Table::kCommunications, rank, slice);

  // The slices it lies in, innermost first.
  json += ",\"parents\":[";
  const ColumnView& parents = store.column(Table::kSlices, "parent", rank);
  const ColumnView& names = store.column(Table::kSlices, "name", rank);
  int64_t at = parents.at(row);
  for (int depth = 0; at != kNull && depth < 200 && static_cast<uint64_t>(at) < parents.rows();
       ++depth) {
    json += (depth == 0 ? "" : ",") +
            JsonObject()
                .add("slice", at + static_cast<int64_t>(store.row_base(Table::kSlices, rank)))
                .add("name", store.string(names.at(static_cast<uint64_t>(at))))
                .text();
    at = parents.at(static_cast<uint64_t>(at));
  }
  json += "],\"flows\":[";
  size_t arrows = 0;
  for_each_row<3>(
      store, Table::kFlows, rank, {"from_slice", "to_slice", "kind"}, [&](const auto& values) {
        const auto [from, to, kind] = values;
        if (static_cast<uint64_t>(from) != slice && static_cast<uint64_t>(to) != slice) return;
        if (++arrows > kMostArrows) return;
        json += (arrows == 1 ? "" : ",") +
                JsonObject().add("from", from).add("to", to).add("kind", store.string(kind)).text();
      });
  json += "],\"args\":";
  auto args = store.args(rank, row);
  if (!args) {
    json += "null,\"args_error\":";
    append_json_text(json, args.error().message());
  } else if (args->empty()) {
    json += "null";
  } else if (is_json(*args)) {
    json += *args;
  } else {
    append_json_text(json, *args);
  }
  reply_json(response, json + "}");
  return {};
}

Status send_range(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  const auto from = integer_value(request, "from", 0, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", kFar, -kFar, kFar);
  if (!to) return to.error();
  auto tracks = number_list(request, "tracks", kMostTracks);
  if (!tracks) return tracks.error();

  int64_t origin = kNull;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const int64_t ns = number_at(store, Table::kRanks, "first_ns", rank);
    if (ns != kNull && (origin == kNull || ns < origin)) origin = ns;
  }
  if (origin == kNull) origin = 0;
  const int64_t start_ns = origin + *from;
  const int64_t end_ns = origin + *to;
  struct Total {
    int64_t count = 0;
    int64_t total_ns = 0;  // of what lies inside
    int64_t max_ns = 0;
  };
  std::map<int64_t, Total> by_name;
  for (const uint64_t track : *tracks) {
    const size_t rank = run.rank_of_row(Table::kTracks, track);
    if (rank == store.rank_count()) continue;
    const uint64_t row = track - store.row_base(Table::kTracks, rank);
    const ColumnView& ts = store.column(Table::kSlices, "ts", rank);
    const ColumnView& dur = store.column(Table::kSlices, "dur", rank);
    const ColumnView& names = store.column(Table::kSlices, "name", rank);
    for (const Lane& lane : store.lanes(rank)) {
      if (lane.track != row) continue;
      // Slices of a lane are sorted and do not overlap: the first that ends after the start.
      uint64_t low = lane.first_row;
      uint64_t high = lane.first_row + lane.rows;
      while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ts.at(middle) + std::max<int64_t>(dur.at(middle), 0) <= start_ns) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      for (uint64_t at = low; at < lane.first_row + lane.rows; ++at) {
        const int64_t begin = ts.at(at);
        if (begin >= end_ns) break;
        const int64_t end = begin + std::max<int64_t>(dur.at(at), 0);
        Total& total = by_name[names.at(at)];
        ++total.count;
        const int64_t inside = std::min(end, end_ns) - std::max(begin, start_ns);
        total.total_ns += std::max<int64_t>(inside, 0);
        total.max_ns = std::max(total.max_ns, end - begin);
      }
    }
  }
  std::vector<std::pair<int64_t, Total>> sorted(by_name.begin(), by_name.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  std::string json = "{\"rows\":[";
  for (size_t i = 0; i < sorted.size() && i < 1000; ++i) {
    const auto& [name, total] = sorted[i];
    json += (i == 0 ? "" : ",") + JsonObject()
                                      .add("name", store.string(name))
                                      .add("count", total.count)
                                      .add("total_ns", total.total_ns)
                                      .add("max_ns", total.max_ns)
                                      .text();
  }
  reply_json(response, json + "],\"names\":" + std::to_string(sorted.size()) + "}");
  return {};
}

}  // namespace

void add_slice_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  http.Get(prefix + "/runs/([0-9a-f]{16})/slices/([0-9]{1,18})", on_run(catalog, send_slice));
  http.Get(prefix + "/runs/([0-9a-f]{16})/timeline/range", on_run(catalog, send_range));
}

}  // namespace stepscope
