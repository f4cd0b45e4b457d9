// GET runs/ID/timeline/tracks           tracks of the store
// GET runs/ID/timeline/lanes            lanes that are computed, and how busy the tracks are
// GET runs/ID/timeline/view?from=&to=&width=&tracks=1,2   what those tracks show, as typed arrays
// GET runs/ID/timeline/names?ids=1,2    texts of name ids
//
// Times are ns after the run's first_ns, so that they fit a JavaScript number exactly.
#include <algorithm>
#include <cstring>
#include <limits>

#include "analyses/common/rank_rows.h"
#include "base/intervals.h"
#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/lane_segments.h"
#include "server/request_values.h"
#include "server/routes.h"
#include "server/track_work.h"
#include "store/viewport.h"

namespace stepscope {
namespace {

constexpr size_t kMostTracks = 400;
constexpr size_t kMostNames = 20'000;
constexpr size_t kMostRoom = 128 << 10;  // items, 33 bytes each; what comes above makes its own

// Rows [first, last) of a lane without the marks (slices without a length) at both ends. Whole
// blocks of marks are passed by at once.
struct Rows {
  uint64_t first, last;
};
Rows without_marks(const ColumnView& durations, const Lane& lane) {
  Rows rows{lane.first_row, lane.first_row + lane.rows};
  const auto is_mark = [&](uint64_t row) { return durations.at(row) <= 0; };
  const auto all_marks = [&](uint64_t row) {
    const size_t block = row / kBlockRows;
    return durations.is_constant(block) && durations.base(block) <= 0;
  };
  while (rows.first < rows.last && is_mark(rows.first)) {
    const uint64_t next =
        all_marks(rows.first) ? (rows.first / kBlockRows + 1) * kBlockRows : rows.first + 1;
    rows.first = std::min(next, rows.last);
  }
  while (rows.first < rows.last && is_mark(rows.last - 1)) {
    const uint64_t next =
        all_marks(rows.last - 1) ? (rows.last - 1) / kBlockRows * kBlockRows : rows.last - 1;
    rows.last = std::max(next, rows.first);
  }
  return rows;
}

// From the first to the last slice that has a length: the part of the run that the timeline shows
// as a whole. Sources put marks before and long after it.
Interval extent(const StoreReader& store) {
  Interval found{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const ColumnView& starts = store.column(Table::kSlices, "ts", rank);
    const ColumnView& durations = store.column(Table::kSlices, "dur", rank);
    for (const Lane& lane : store.lanes(rank)) {
      if (lane.depth != 0) continue;
      const Rows rows = without_marks(durations, lane);
      if (rows.first == rows.last) continue;
      found.start_ns = std::min(found.start_ns, starts.at(rows.first));
      found.end_ns = std::max(found.end_ns, starts.at(rows.last - 1) + durations.at(rows.last - 1));
    }
  }
  return found.start_ns < found.end_ns ? found : Interval{};
}

Status send_tracks(OpenRun& run, const httplib::Request&, httplib::Response& response) {
  const StoreReader& store = run.store();
  const Interval shown = extent(store);
  std::string json = "{\"origin_ns\":\"" + std::to_string(run.origin_ns()) + "\"";
  if (shown != Interval{})
    json += ",\"from\":" + std::to_string(shown.start_ns - run.origin_ns()) +
            ",\"to\":" + std::to_string(shown.end_ns - run.origin_ns());
  json += ",\"tracks\":[";
  bool first = true;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const uint64_t base = store.row_base(Table::kTracks, rank);
    for (uint64_t row = 0; row < store.rows(Table::kTracks, rank); ++row) {
      const auto text = [&](std::string_view column) {
        return text_at(store, Table::kTracks, column, rank, row);
      };
      const auto number = [&](std::string_view column) {
        return number_at(store, Table::kTracks, column, rank, row);
      };
      JsonObject track;
      track.add("track", static_cast<int64_t>(base + row))
          .add("position", static_cast<int64_t>(rank))
          .add("rank", store.rank_number(rank))
          .add("process", text("process"))
          .add("thread", text("thread"))
          .add("kind", text("kind"))
          .add("pid", text("pid"))
          .add("tid", text("tid"))
          .add("slices", number("slices"))
          .add("depth", number("depth"));
      if (number("device") != kNull) track.add("device", number("device"));
      if (number("stream") != kNull) track.add("stream", number("stream"));
      if (!first) json += ',';
      first = false;
      json += track.text();
    }
  }
  reply_json(response, json + "]}");
  return {};
}

Status send_lanes(OpenRun& run, const httplib::Request&, httplib::Response& response) {
  const LaneSegments& segments = run.lane_segments();
  std::string json = "{\"lanes\":[";
  bool first = true;
  for (size_t i = 0; i < segments.lanes().size(); ++i) {
    const ComputedLaneView& view = segments.lanes()[i];
    if (view.rows.empty() || view.lane->segments.empty()) continue;
    JsonObject lane;
    lane.add("track", static_cast<int64_t>(kFirstComputedLane + i))
        .add("position", static_cast<int64_t>(view.rank_position))
        .add("rank", view.lane->rank)
        .add("process", view.lane->process)
        .add("thread", view.lane->name)
        .add("kind", view.lane->kind_name)
        .add("slices", view.lane->count)
        .add("depth", static_cast<int64_t>(view.rows.size()))
        .add("busy_ns", view.lane->busy_ns);
    if (view.lane->level != kNull) lane.add("level", view.lane->level);
    if (view.lane->device != kNull) lane.add("device", view.lane->device);
    json += (first ? "" : ",") + lane.text();
    first = false;
  }
  json += "],\"busy\":[";
  first = true;
  const StoreReader& store = run.store();
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    for (const int64_t busy_ns : busy_of_tracks(store, rank)) {
      json += (first ? "" : ",") + std::to_string(busy_ns);
      first = false;
    }
  }
  reply_json(response, json + "]}");
  return {};
}

// Little-endian arrays behind each other, all starts first, then all ends and so on, each 8-byte
// aligned. Head: magic, number of rows, number of items.
class ViewReply {
 public:
  // Room for `items`: pages that are not written to cost nothing, moving what was written does.
  ViewReply(int64_t origin_ns, size_t items) : origin_ns_(origin_ns) {
    for (auto* const column : {&starts_, &ends_, &slices_}) column->reserve(items);
    for (auto* const column : {&names_, &counts_}) column->reserve(items);
    colours_.reserve(items);
  }
  // Adds a row of items; `slice_of` and `colour_of` tell what the kinds of items do not share.
  template <typename Item, typename SliceOf, typename ColourOf>
  void add_row(uint32_t track, uint32_t depth, const std::vector<Item>& items, SliceOf slice_of,
               ColourOf colour_of) {
    rows_.insert(rows_.end(), {track, depth, static_cast<uint32_t>(items.size())});
    size_t at = starts_.size();
    const size_t size = at + items.size();
    for (auto* const column : {&starts_, &ends_, &slices_}) column->resize(size);
    for (auto* const column : {&names_, &counts_}) column->resize(size);
    colours_.resize(size);
    for (const Item& item : items) {
      starts_[at] = static_cast<double>(item.start_ns - origin_ns_);
      ends_[at] = static_cast<double>(item.end_ns - origin_ns_);
      slices_[at] = slice_of(item);
      names_[at] = static_cast<uint32_t>(item.name);
      counts_[at] = static_cast<uint32_t>(std::min<uint64_t>(item.count, UINT32_MAX));
      colours_[at] = colour_of(item);
      ++at;
    }
  }
  std::string bytes() const {
    std::string out;
    out.reserve(starts_.size() * kItemBytes + rows_.size() * sizeof(uint32_t) + kMostPadding);
    append_array(out, std::vector<uint32_t>{kMagic, static_cast<uint32_t>(rows_.size() / 3),
                                            static_cast<uint32_t>(starts_.size()), 0});
    append_array(out, rows_);
    append_array(out, starts_);
    append_array(out, ends_);
    append_array(out, slices_);
    append_array(out, names_);
    append_array(out, counts_);
    append_array(out, colours_);
    return out;
  }

 private:
  static constexpr uint32_t kMagic = 0x31565353;  // "SSV1"
  static constexpr size_t kItemBytes = 3 * sizeof(double) + 2 * sizeof(uint32_t) + 1;
  static constexpr size_t kMostPadding = 128;  // the head, and behind each array
  int64_t origin_ns_;
  std::vector<uint32_t> rows_;  // track, depth, items
  std::vector<double> starts_, ends_, slices_;
  std::vector<uint32_t> names_, counts_;
  std::vector<uint8_t> colours_;
};

Status send_view(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  const int64_t origin = run.origin_ns();
  const auto viewport = viewport_value(request, origin);
  if (!viewport) return viewport.error();
  const auto tracks = number_list(request, "tracks", kMostTracks);
  if (!tracks) return tracks.error();

  // Most lanes have one row.
  ViewReply reply(origin, std::min<size_t>(tracks->size() * (viewport->pixels + 1), kMostRoom));
  std::vector<ViewportItem> items;
  std::vector<SegmentItem> segments;
  for (const uint64_t track : *tracks) {
    if (track >= kFirstComputedLane) {
      const ComputedLaneView* lane = run.lane_segments().find(track);
      if (lane == nullptr) return not_in_run("lane", track, "runs/ID/timeline/lanes");
      const SliceColour colour = lane_colour(lane->lane->kind);
      for (size_t depth = 0; depth < lane->rows.size(); ++depth) {
        segments.clear();
        run.lane_segments().query(*lane, lane->rows[depth], *viewport, segments);
        reply.add_row(
            static_cast<uint32_t>(track), static_cast<uint32_t>(depth), segments,
            [](const SegmentItem&) { return -1.0; },
            [&](const SegmentItem& item) {
              return colour == SliceColour::kScope
                         ? shaded(colour, run.lane_segments().name(item.name))
                         : static_cast<uint8_t>(colour);
            });
      }
      continue;
    }
    const size_t rank = run.rank_of_row(Table::kTracks, track);
    if (rank == store.rank_count()) return not_in_run("track", track, "runs/ID/timeline/tracks");
    const uint64_t row = track - store.row_base(Table::kTracks, rank);
    const uint64_t slice_base = store.row_base(Table::kSlices, rank);
    const auto lanes = store.lanes(rank);
    const std::string_view kind = text_at(store, Table::kTracks, "kind", rank, row);
    // Lanes are sorted by track and depth.
    auto lane = std::lower_bound(lanes.begin(), lanes.end(), row,
                                 [](const Lane& one, uint64_t at) { return one.track < at; });
    for (; lane != lanes.end() && lane->track == row; ++lane) {
      items.clear();
      query_viewport(store, rank, static_cast<size_t>(lane - lanes.begin()), *viewport, items);
      reply.add_row(
          static_cast<uint32_t>(track), lane->depth, items,
          [&](const ViewportItem& item) {
            return static_cast<double>(slice_base + item.slice_row);
          },
          [&](const ViewportItem& item) {
            return on_track(run.colour(item.name, rank, item.slice_row), kind);
          });
    }
  }
  response.set_header("Cache-Control", "no-store");
  response.set_header("Content-Type", "application/octet-stream");
  response.body = reply.bytes();  // megabytes, which set_content() would copy
  return {};
}

Status send_names(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const auto ids = number_list(request, "ids", kMostNames);
  if (!ids) return ids.error();
  std::string json = "{\"names\":[";
  for (size_t i = 0; i < ids->size(); ++i) {
    if (i > 0) json += ',';
    const uint64_t id = (*ids)[i];
    if (LaneSegments::is_own_name(id)) {
      append_json_text(json, run.lane_segments().name(id));
    } else {
      append_json_text(json, run.store().string(static_cast<int64_t>(id)));
    }
  }
  reply_json(response, json + "]}");
  return {};
}

}  // namespace

void add_timeline_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  const std::string run = prefix + "/runs/([0-9a-f]{16})/timeline";
  http.Get(run + "/tracks", on_run(catalog, send_tracks));
  http.Get(run + "/lanes", on_run(catalog, send_lanes));
  http.Get(run + "/view", on_run(catalog, send_view));
  http.Get(run + "/names", on_run(catalog, send_names));
}

}  // namespace stepscope
