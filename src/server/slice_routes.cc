// GET runs/ID/slices/N    everything about one slice
#include <algorithm>
#include <set>
#include <utility>

#include "analyses/common/rank_rows.h"
#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/request_values.h"
#include "server/routes.h"

namespace stepscope {
namespace {

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

// What the columns of a table mean.
std::string docs_json(Table table) {
  JsonObject docs;
  for (const Column& column : table_spec(table).columns) docs.add(column.name, column.doc);
  return docs.text();
}

// A slice where the timeline draws it.
std::string place_json(OpenRun& run, size_t rank, uint64_t row) {
  const StoreReader& store = run.store();
  const auto number = [&](std::string_view column) {
    return store.column(Table::kSlices, column, rank).at(row);
  };
  const auto lanes = store.lanes(rank);
  // Lanes are sorted by track and depth like the slices, so by their first rows.
  const auto after =
      std::upper_bound(lanes.begin(), lanes.end(), row,
                       [](uint64_t at, const Lane& lane) { return at < lane.first_row; });
  const int64_t track = after == lanes.begin() ? 0 : static_cast<int64_t>((after - 1)->track);
  return JsonObject()
      .add("slice", static_cast<int64_t>(store.row_base(Table::kSlices, rank) + row))
      .add("track", static_cast<int64_t>(store.row_base(Table::kTracks, rank)) + track)
      .add("depth", number("depth"))
      .add("start", number("ts") - run.origin_ns())
      .add("dur", std::max<int64_t>(number("dur"), 0))
      .add("name", store.string(number("name")))
      .text();
}

// Arrows from and to a slice: those of the source, and from a call or operator to the device work
// that it started where the source has none. Reads the columns of flows and kernels once.
class Arrows {
 public:
  Arrows(OpenRun& run, size_t rank, uint64_t row) : run_(run), rank_(rank), row_(row) {}

  std::string json() {
    each_pair(Table::kFlows, "from_slice", "to_slice",
              [&](int64_t from, int64_t to, uint64_t place) {
                const ColumnView& kinds = run_.store().column(Table::kFlows, "kind", rank_);
                add(from, to, run_.store().string(kinds.at(place)));
              });
    each_pair(Table::kKernels, "launch", "id",
              [&](int64_t from, int64_t to, uint64_t) { add(from, to, "launch"); });
    each_pair(Table::kKernels, "op", "id",
              [&](int64_t from, int64_t to, uint64_t) { add(from, to, "operator"); });
    return "[" + json_ + "]";
  }

 private:
  template <class Use>
  void each_pair(Table table, std::string_view from_column, std::string_view to_column, Use&& use) {
    const ColumnView& from = run_.store().column(table, from_column, rank_);
    const ColumnView& to = run_.store().column(table, to_column, rank_);
    std::vector<int64_t> froms(kBlockRows);
    std::vector<int64_t> tos(kBlockRows);
    const auto wanted = static_cast<int64_t>(row_);
    for (size_t block = 0; block < from.block_count() && arrows_ < kMostArrows; ++block) {
      const size_t rows = std::min(from.decode(block, froms.data()), to.decode(block, tos.data()));
      for (size_t i = 0; i < rows; ++i) {
        if (froms[i] == wanted || tos[i] == wanted) use(froms[i], tos[i], block * kBlockRows + i);
      }
    }
  }

  void add(int64_t from, int64_t to, std::string_view kind) {
    const auto rows = static_cast<int64_t>(run_.store().rows(Table::kSlices, rank_));
    if (from < 0 || to < 0 || from >= rows || to >= rows || from == to) return;
    if (arrows_ == kMostArrows || !seen_.emplace(from, to).second) return;
    json_ += arrows_++ == 0 ? "{\"kind\":" : ",{\"kind\":";
    append_json_text(json_, kind);
    json_ += ",\"from\":" + place_json(run_, rank_, static_cast<uint64_t>(from)) +
             ",\"to\":" + place_json(run_, rank_, static_cast<uint64_t>(to)) + "}";
  }

  OpenRun& run_;
  const size_t rank_;
  const uint64_t row_;
  std::set<std::pair<int64_t, int64_t>> seen_;
  size_t arrows_ = 0;
  std::string json_;
};

// The slices it lies in, innermost first.
std::string parents_json(OpenRun& run, size_t rank, uint64_t row) {
  const ColumnView& parents = run.store().column(Table::kSlices, "parent", rank);
  std::string json = "[";
  int64_t at = parents.at(row);
  for (int depth = 0;
       at != kNull && at >= 0 && depth < 200 && static_cast<uint64_t>(at) < parents.rows();
       ++depth) {
    json += (depth == 0 ? "" : ",") + place_json(run, rank, static_cast<uint64_t>(at));
    at = parents.at(static_cast<uint64_t>(at));
  }
  return json + "]";
}

// Its length without the slices that lie directly in it; the neighbours on its row.
struct Surroundings {
  int64_t self_ns = 0;
  int64_t previous = kNull;
  int64_t next = kNull;
};
Surroundings look_around(const StoreReader& store, size_t rank, uint64_t row) {
  const ColumnView& starts = store.column(Table::kSlices, "ts", rank);
  const ColumnView& durations = store.column(Table::kSlices, "dur", rank);
  const ColumnView& parents = store.column(Table::kSlices, "parent", rank);
  const auto lanes = store.lanes(rank);
  const auto after =
      std::upper_bound(lanes.begin(), lanes.end(), row,
                       [](uint64_t at, const Lane& lane) { return at < lane.first_row; });
  Surroundings found;
  found.self_ns = std::max<int64_t>(durations.at(row), 0);
  if (after == lanes.begin()) return found;
  const Lane& own = *(after - 1);
  if (row > own.first_row) found.previous = static_cast<int64_t>(row - 1);
  if (row + 1 < own.first_row + own.rows) found.next = static_cast<int64_t>(row + 1);
  const int64_t start_ns = starts.at(row);
  const int64_t end_ns = start_ns + found.self_ns;
  // What lies in it is on a deeper row of the same track, often the next.
  for (auto lane = after; lane != lanes.end() && lane->track == own.track; ++lane) {
    uint64_t low = lane->first_row;
    uint64_t high = lane->first_row + lane->rows;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (starts.at(middle) < start_ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < lane->first_row + lane->rows && starts.at(low) < end_ns; ++low) {
      if (parents.at(low) == static_cast<int64_t>(row))
        found.self_ns -= std::max<int64_t>(durations.at(low), 0);
    }
  }
  found.self_ns = std::max<int64_t>(found.self_ns, 0);
  return found;
}

std::string args_json(const StoreReader& store, size_t rank, uint64_t row) {
  auto args = store.args(rank, row);
  std::string json;
  if (!args) {
    json = "null,\"args_error\":";
    append_json_text(json, args.error().message());
  } else if (args->empty()) {
    json = "null";
  } else if (is_json(*args)) {
    json = *args;
  } else {
    append_json_text(json, *args);
  }
  return json;
}

Status send_slice(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  const uint64_t slice = std::strtoull(request.matches[2].str().c_str(), nullptr, 10);
  const size_t rank = run.rank_of_row(Table::kSlices, slice);
  if (rank == store.rank_count())
    return not_in_run("slice", slice, "runs/ID/timeline/search?q=NAME");
  const uint64_t base = store.row_base(Table::kSlices, rank);
  const uint64_t row = slice - base;
  const Surroundings around = look_around(store, rank, row);
  const auto neighbour = [&](int64_t at) {
    return at == kNull ? std::string("null") : std::to_string(static_cast<int64_t>(base) + at);
  };
  std::string json = "{\"slice\":" + row_json(store, Table::kSlices, rank, row);
  json += ",\"place\":" + place_json(run, rank, row);
  json += ",\"self_ns\":" + std::to_string(around.self_ns);
  json += ",\"previous\":" + neighbour(around.previous);
  json += ",\"next\":" + neighbour(around.next);
  std::string docs;
  for (const auto& [name, table] : {std::pair{"kernel", Table::kKernels},
                                    {"op", Table::kOps},
                                    {"communication", Table::kCommunications}}) {
    const std::string key = "\"" + std::string(name) + "\":";
    const std::string typed = typed_row_json(store, table, rank, slice);
    json += "," + key + typed;
    if (typed != "null") docs += (docs.empty() ? "" : ",") + key + docs_json(table);
  }
  json += ",\"docs\":{" + docs + "}";
  json += ",\"parents\":" + parents_json(run, rank, row);
  json += ",\"arrows\":" + Arrows(run, rank, row).json();
  json += ",\"args\":" + args_json(store, rank, row);
  reply_json(response, json + "}");
  return {};
}

}  // namespace

void add_slice_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  http.Get(prefix + "/runs/([0-9a-f]{16})/slices/([0-9]{1,18})", on_run(catalog, send_slice));
}

}  // namespace stepscope
