// GET runs/ID/timeline/search?q=&from=&to=&latest=   slices whose name contains a text: how many
//   there are, how many come before those that are sent, and the earliest (or latest) of a range
// GET runs/ID/timeline/range?from=&to=&tracks=       what happens between two times: by name and by
//   track
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analyses/common/rank_rows.h"
#include "base/json_text.h"
#include "server/http_reply.h"
#include "server/lane_segments.h"
#include "server/request_values.h"
#include "server/routes.h"
#include "server/slice_colour.h"
#include "server/track_work.h"

namespace stepscope {
namespace {

constexpr size_t kMostTracks = 1000;
constexpr size_t kMostRows = 1000;
constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;

struct Hit {
  int64_t ts_ns, dur_ns, track, slice, name;
  bool operator<(const Hit& other) const {
    return ts_ns != other.ts_ns ? ts_ns < other.ts_ns : slice < other.slice;
  }
};

// The first hits in an order, of any number.
template <class Before>
class FirstHits {
 public:
  FirstHits(size_t most, Before before) : most_(most), before_(before) {}
  void add(const Hit& hit) {
    if (hits_.size() == most_ && !before_(hit, hits_.front())) return;
    if (hits_.size() == most_) {
      std::pop_heap(hits_.begin(), hits_.end(), before_);
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::push_heap(hits_.begin(), hits_.end(), before_);
  }
  std::vector<Hit> take() { return std::move(hits_); }

 private:
  size_t most_;
  Before before_;
  std::vector<Hit> hits_;
};

std::string hit_json(const StoreReader& store, int64_t origin_ns, const Hit& hit) {
  return JsonObject()
      .add("slice", hit.slice)
      .add("track", hit.track)
      .add("start", hit.ts_ns - origin_ns)
      .add("dur", hit.dur_ns == kNull ? 0 : hit.dur_ns)
      .add("name", store.string(hit.name))
      .text();
}

Status send_search(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  const std::string part = request.get_param_value("q");
  if (part.empty())
    return Error{ErrorCode::kBadInput, "nothing to search for", "q=", "", "write a part of a name"};
  const auto limit = integer_value(request, "limit", 1000, 1, 100'000);
  if (!limit) return limit.error();
  const auto from = integer_value(request, "from", -kFar, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", kFar, -kFar, kFar);
  if (!to) return to.error();
  const auto latest = integer_value(request, "latest", 0, 0, 1);
  if (!latest) return latest.error();
  const auto rank_wanted = optional_integer(request, "rank");
  if (!rank_wanted) return rank_wanted.error();

  std::vector<bool> wanted(store.string_count());
  bool any = false;
  for (const StringId id : store.find_strings(part)) any = wanted[id] = true;
  const int64_t origin = run.origin_ns();
  const auto most = static_cast<size_t>(*limit);
  const auto order = [backwards = *latest == 1](const Hit& a, const Hit& b) {
    return backwards ? b < a : a < b;
  };
  FirstHits first(most, order);
  uint64_t total = 0;
  uint64_t before = 0;
  uint64_t inside = 0;
  for (size_t rank = 0; any && rank < store.rank_count(); ++rank) {
    if (*rank_wanted && store.rank_number(rank) != **rank_wanted) continue;
    for_each_row<5>(store, Table::kSlices, rank, {"name", "ts", "dur", "track", "id"},
                    [&](const auto& row) {
                      const auto [name, ts_ns, dur_ns, track, slice] = row;
                      if (name < 0 || static_cast<size_t>(name) >= wanted.size() ||
                          !wanted[static_cast<size_t>(name)])
                        return;
                      ++total;
                      if (ts_ns < origin + *from) ++before;
                      if (ts_ns < origin + *from || ts_ns >= origin + *to) return;
                      ++inside;
                      first.add({ts_ns, dur_ns, track, slice, name});
                    });
  }
  std::vector<Hit> hits = first.take();
  std::sort(hits.begin(), hits.end());
  if (*latest == 1) before += inside - hits.size();
  std::string json = "{\"total\":" + std::to_string(total) +
                     ",\"before\":" + std::to_string(before) + ",\"hits\":[";
  for (size_t i = 0; i < hits.size(); ++i)
    json += (i == 0 ? "" : ",") + hit_json(store, origin, hits[i]);
  reply_json(response, json + "]}");
  return {};
}

// Totals of the slices between two times.
class RangeTotals {
 public:
  RangeTotals(OpenRun& run, int64_t start_ns, int64_t end_ns)
      : run_(run), store_(run.store()), start_ns_(start_ns), end_ns_(end_ns) {}

  void add_track(size_t rank, uint64_t row) {
    const auto lanes = store_.lanes(rank);
    auto lane = std::lower_bound(lanes.begin(), lanes.end(), row,
                                 [](const Lane& one, uint64_t at) { return one.track < at; });
    Track track;
    track.number = static_cast<int64_t>(store_.row_base(Table::kTracks, rank) + row);
    for (; lane != lanes.end() && lane->track == row; ++lane) add_lane(rank, *lane, track);
    if (track.count == 0) return;
    if (const int64_t work_ns = device_work(rank, row); work_ns != kNull) track.busy_ns = work_ns;
    tracks_.push_back(track);
  }

  // A lane of the overlap analysis.
  void add_computed(uint64_t number, const TimelineLane& lane) {
    const auto& segments = lane.segments;
    auto at = std::lower_bound(segments.begin(), segments.end(), start_ns_,
                               [](const LaneSegment& one, int64_t ns) { return one.end_ns <= ns; });
    Track track;
    track.number = static_cast<int64_t>(number);
    for (; at != segments.end() && at->start_ns < end_ns_; ++at) {
      ++track.count;
      track.busy_ns += std::min(at->end_ns, end_ns_) - std::max(at->start_ns, start_ns_);
    }
    if (track.count > 0) tracks_.push_back(track);
  }

  std::string json() {
    std::vector<std::pair<int64_t, Total>> sorted(by_name_.begin(), by_name_.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return a.second.total_ns != b.second.total_ns ? a.second.total_ns > b.second.total_ns
                                                    : a.first < b.first;
    });
    int64_t total_ns = 0;
    int64_t self_ns = 0;
    int64_t count = 0;
    for (auto& [name, total] : sorted) {
      // Slices that lie beside each other in one, as those of a device, cover it more than once.
      total.self_ns = std::max<int64_t>(total.self_ns, 0);
      total_ns += total.total_ns;
      self_ns += total.self_ns;
      count += total.count;
    }
    std::string json = "{\"rows\":[";
    for (size_t i = 0; i < sorted.size() && i < kMostRows; ++i) {
      const auto& [name, total] = sorted[i];
      json += (i == 0 ? "" : ",") + JsonObject()
                                        .add("name", store_.string(name))
                                        .add("count", total.count)
                                        .add("total_ns", total.total_ns)
                                        .add("self_ns", total.self_ns)
                                        .add("max_ns", total.max_ns)
                                        .add("slice", total.longest)
                                        .add("colour", static_cast<int64_t>(total.colour))
                                        .text();
    }
    json += "],\"tracks\":[";
    for (size_t i = 0; i < tracks_.size(); ++i) {
      json += (i == 0 ? "" : ",") + JsonObject()
                                        .add("track", tracks_[i].number)
                                        .add("count", tracks_[i].count)
                                        .add("busy_ns", tracks_[i].busy_ns)
                                        .text();
    }
    return json + "],\"names\":" + std::to_string(sorted.size()) +
           ",\"count\":" + std::to_string(count) + ",\"total_ns\":" + std::to_string(total_ns) +
           ",\"self_ns\":" + std::to_string(self_ns) + "}";
  }

 private:
  struct Total {
    int64_t count = 0;
    int64_t total_ns = 0;  // of what lies inside
    int64_t self_ns = 0;   // of that, without the slices directly inside of each
    int64_t max_ns = -1;
    int64_t longest = 0;  // slice
    uint8_t colour = 0;
  };
  struct Track {
    int64_t number = 0;
    int64_t count = 0;
    int64_t busy_ns = 0;  // of its outermost slices, of a device its work
  };

  int64_t device_work(size_t rank, uint64_t row) {
    const auto [known, added] = device_work_.try_emplace(rank);
    if (added) known->second = device_work_ns(store_, rank, {start_ns_, end_ns_});
    return row < known->second.size() ? known->second[row] : kNull;
  }

  void add_lane(size_t rank, const Lane& lane, Track& track) {
    const ColumnView& starts = store_.column(Table::kSlices, "ts", rank);
    const ColumnView& durations = store_.column(Table::kSlices, "dur", rank);
    const ColumnView& names = store_.column(Table::kSlices, "name", rank);
    const ColumnView& parents = store_.column(Table::kSlices, "parent", rank);
    const auto base = static_cast<int64_t>(store_.row_base(Table::kSlices, rank));
    // Slices of a lane are sorted and do not overlap: the first that ends after the start.
    uint64_t low = lane.first_row;
    uint64_t high = lane.first_row + lane.rows;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (starts.at(middle) + std::max<int64_t>(durations.at(middle), 0) <= start_ns_) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (uint64_t at = low; at < lane.first_row + lane.rows; ++at) {
      const int64_t begin = starts.at(at);
      if (begin >= end_ns_) break;
      const int64_t length = std::max<int64_t>(durations.at(at), 0);
      const int64_t inside =
          std::max<int64_t>(std::min(begin + length, end_ns_) - std::max(begin, start_ns_), 0);
      const int64_t name = names.at(at);
      Total& total = by_name_[name];
      if (total.count++ == 0)
        total.colour = on_track(run_.colour(name, rank, at),
                                text_at(store_, Table::kTracks, "kind", rank, lane.track));
      total.total_ns += inside;
      total.self_ns += inside;
      if (length > total.max_ns) {
        total.max_ns = length;
        total.longest = base + static_cast<int64_t>(at);
      }
      ++track.count;
      if (lane.depth == 0) track.busy_ns += inside;
      // Whoever it lies in overlaps the range too.
      const auto parent = static_cast<uint64_t>(parents.at(at));
      if (inside > 0 && parent < names.rows()) by_name_[names.at(parent)].self_ns -= inside;
    }
  }

  OpenRun& run_;
  const StoreReader& store_;
  const int64_t start_ns_;
  const int64_t end_ns_;
  std::unordered_map<int64_t, Total> by_name_;
  std::unordered_map<size_t, std::vector<int64_t>> device_work_;  // by rank
  std::vector<Track> tracks_;
};

bool is_overlap(LaneKind kind) {
  return kind == LaneKind::kMergedComputation || kind == LaneKind::kMergedCommunication ||
         kind == LaneKind::kPureCommunication || kind == LaneKind::kFree;
}

Status send_range(OpenRun& run, const httplib::Request& request, httplib::Response& response) {
  const StoreReader& store = run.store();
  const auto from = integer_value(request, "from", 0, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", kFar, -kFar, kFar);
  if (!to) return to.error();
  const auto rank_wanted = optional_integer(request, "rank");
  if (!rank_wanted) return rank_wanted.error();
  const auto tracks = number_list(request, "tracks", kMostTracks);
  if (!tracks) return tracks.error();

  RangeTotals totals(run, run.origin_ns() + *from, run.origin_ns() + *to);
  if (request.has_param("tracks")) {
    for (const uint64_t track : *tracks) {
      const size_t rank = run.rank_of_row(Table::kTracks, track);
      if (rank < store.rank_count())
        totals.add_track(rank, track - store.row_base(Table::kTracks, rank));
    }
  } else {
    for (size_t rank = 0; rank < store.rank_count(); ++rank) {
      if (*rank_wanted && store.rank_number(rank) != **rank_wanted) continue;
      for (uint64_t row = 0; row < store.rows(Table::kTracks, rank); ++row)
        totals.add_track(rank, row);
    }
  }
  const std::vector<ComputedLaneView>& lanes = run.lane_segments().lanes();
  for (size_t i = 0; i < lanes.size(); ++i) {
    const TimelineLane& lane = *lanes[i].lane;
    if (is_overlap(lane.kind) && (!*rank_wanted || lane.rank == **rank_wanted))
      totals.add_computed(kFirstComputedLane + i, lane);
  }
  reply_json(response, totals.json());
  return {};
}

}  // namespace

void add_search_routes(httplib::Server& http, const std::string& prefix, RunCatalog& catalog) {
  const std::string run = prefix + "/runs/([0-9a-f]{16})/timeline";
  http.Get(run + "/search", on_run(catalog, send_search));
  http.Get(run + "/range", on_run(catalog, send_range));
}

}  // namespace stepscope
