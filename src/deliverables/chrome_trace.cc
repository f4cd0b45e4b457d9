#include "deliverables/chrome_trace.h"

#include <algorithm>
#include <bit>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>

#include "base/json_text.h"
#include "deliverables/chrome_arrows.h"
#include "deliverables/chrome_database_args.h"
#include "deliverables/chrome_head.h"
#include "deliverables/chrome_rank.h"
#include "deliverables/number_text.h"
#include "deliverables/trace_view.h"

namespace stepscope {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

// Lanes on which slices nest properly: each is a stack of the ends of what is open.
class NestingLanes {
 public:
  void clear() { open_ends_.clear(); }
  // Slices must come by rising start. Returns the lane's number.
  size_t place(int64_t start_ns, int64_t end_ns) {
    for (size_t lane = 0;; ++lane) {
      if (lane == open_ends_.size()) open_ends_.emplace_back();
      std::vector<int64_t>& ends = open_ends_[lane];
      while (!ends.empty() && ends.back() <= start_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < end_ns) continue;
      ends.push_back(end_ns);
      return lane;
    }
  }

 private:
  std::vector<std::vector<int64_t>> open_ends_;
};

class ChromeTrace {
 public:
  ChromeTrace(const StoreReader& store, size_t rank, const ChromeTraceOptions& options,
              const TraceViewParts& view, const std::function<Status(std::string_view)>& sink)
      : rank_(store, rank, options),
        arrows_(rank_, view.places != nullptr),
        database_args_(rank_),
        options_(options),
        view_(view),
        sink_(sink) {
    own_ids_ = rank_.text(Table::kRanks, "source_format") != "kineto";
    is_npu_ = rank_.text(Table::kRanks, "device_kind") == "Ascend NPU";
  }

  Status write() {
    if (is_view()) {
      out_ = "[";
      for (const std::string& event : view_.places->metadata()) {
        separate();
        out_ += event;
      }
      places_ = view_.places->places();
    } else {
      out_ = chrome_head(rank_);
      describe_tracks();
    }
    if (auto status = write_slices(); !status) return status;
    if (auto status = write_arrows(); !status) return status;
    if (auto status = write_counters(); !status) return status;
    if (is_view()) {
      if (auto status = write_computed_lanes(); !status) return status;
    } else if (!has_memory_slices_) {
      if (auto status = write_memory(); !status) return status;
    }
    out_ += is_view() ? "\n]\n" : "\n]}\n";
    return sink_(out_);
  }

 private:
  bool is_view() const { return view_.places != nullptr; }

  // Begins an event: {"ph":"X","pid":0,"tid":7,"ts":1.000
  void begin(const char* phase, const std::string& place, int64_t ts_ns) {
    separate();
    out_ += R"({"ph":")";
    out_ += phase;
    out_ += "\",";
    out_ += place;
    out_ += R"(,"ts":)";
    append_time(ts_ns - (is_view() ? 0 : rank_.base_ns()));
  }
  void append_time(int64_t ns) {
    if (is_view()) out_ += '"';
    append_us(out_, ns);
    if (is_view()) out_ += '"';
  }
  void separate() {
    out_ += first_event_ ? "\n" : ",\n";
    first_event_ = false;
  }
  void label(std::string_view cat, std::string_view name, bool needs_cat = false) {
    if (!cat.empty() || needs_cat) {
      out_ += R"(,"cat":)";
      append_json_text(out_, cat);
    }
    out_ += R"(,"name":)";
    append_json_text(out_, name);
  }
  Status end_event() {
    out_ += '}';
    if (out_.size() < kFlushBytes) return {};
    if (options_.progress != nullptr && options_.progress->cancelled())
      return Error{ErrorCode::kCancelled, "the export was cancelled", "", "", ""};
    const Status status = sink_(out_);
    out_.clear();
    return status;
  }

  void name_thread(const std::string& place, const std::string& name, const std::string& more) {
    separate();
    out_ += R"({"ph":"M","name":"thread_name",)" + place + R"(,"ts":0,"args":{"name":)";
    append_json_text(out_, name);
    out_ += more + "}}";
  }

  // Databases of an NPU give its lanes no ids, and those of CANN and of Python the same ones, which
  // would make one lane of several: such processes and lanes are numbered.
  void number_lanes(std::vector<std::string>& pids, std::vector<std::string>& tids) const {
    std::set<std::string> taken(pids.begin(), pids.end());
    const auto number = [&](const std::string& before) {
      int64_t free = 1;
      while (!taken.insert(before + std::to_string(free)).second) ++free;
      return std::to_string(free);
    };
    std::map<std::string, std::string_view> first_process;
    std::map<std::pair<std::string, std::string_view>, std::string> numbers;
    std::vector<size_t> by_name;
    for (size_t track = 0; track < pids.size(); ++track) {
      by_name.push_back(track);
      const std::string_view process = rank_.text(Table::kTracks, "process", track);
      if (!pids[track].empty() &&
          first_process.try_emplace(pids[track], process).first->second == process)
        continue;
      std::string& own = numbers[{pids[track], process}];
      if (own.empty()) own = number("");
      pids[track] = own;
    }
    // A group's own lane comes before those of its planes.
    std::stable_sort(by_name.begin(), by_name.end(), [&](size_t a, size_t b) {
      return rank_.text(Table::kTracks, "thread", a) < rank_.text(Table::kTracks, "thread", b);
    });
    for (const size_t track : by_name) {
      const bool is_counter = rank_.text(Table::kTracks, "kind", track) == "counter";
      if (tids[track].empty() && !is_counter) tids[track] = number(pids[track] + "/");
    }
  }

  void describe_tracks() {
    std::vector<std::string> pids;
    for (uint64_t track = 0; track < rank_.rows(Table::kTracks); ++track) {
      pids.emplace_back(rank_.text(Table::kTracks, "pid", track));
      tids_.emplace_back(rank_.text(Table::kTracks, "tid", track));
    }
    if (is_npu_) number_lanes(pids, tids_);
    std::vector<std::string_view> named;
    for (uint64_t track = 0; track < pids.size(); ++track) {
      const std::string& pid = pids[track];
      places_.push_back(R"("pid":)" + chrome_id(pid) + R"(,"tid":)" + chrome_id(tids_[track]));
      const std::string_view process = rank_.text(Table::kTracks, "process", track);
      if (!process.empty() && std::find(named.begin(), named.end(), pid) == named.end()) {
        named.push_back(pid);
        separate();
        out_ +=
            R"({"ph":"M","name":"process_name",)" + places_.back() + R"(,"ts":0,"args":{"name":)";
        append_json_text(out_, process);
        out_ += "}}";
      }
      const std::string_view thread = rank_.text(Table::kTracks, "thread", track);
      const bool is_counter = rank_.text(Table::kTracks, "kind", track) == "counter";
      if (!thread.empty() && !is_counter) name_thread(places_.back(), std::string(thread), "");
    }
  }

  // pid and tid of a slice; the lane's name is written before its first event.
  const std::string& place_of(uint32_t track, size_t lane) {
    if (lane == 0) return places_[track];
    std::string& place = overlap_places_[static_cast<uint64_t>(track) << 32 | lane];
    if (!place.empty()) return place;
    const std::string& tid = is_view() ? view_.places->tid(track) : tids_[track];
    const std::string suffix = " (overlap " + std::to_string(lane) + ")";
    constexpr std::string_view kTid = R"(,"tid":)";  // in text of the input its quotes are escaped
    place = places_[track].substr(0, places_[track].find(kTid) + kTid.size());
    append_json_text(place, tid + suffix);
    name_thread(place, std::string(rank_.text(Table::kTracks, "thread", track)) + suffix,
                R"(,"overlap_of":)" + chrome_id(tid));
    return place;
  }

  Status write_slices() {
    const auto lanes = rank_.store().lanes(rank_.position());
    for (size_t first = 0; first < lanes.size();) {
      size_t end = first;
      while (end < lanes.size() && lanes[end].track == lanes[first].track) ++end;
      if (auto status = write_track(lanes.subspan(first, end - first)); !status) return status;
      first = end;
    }
    return {};
  }

  // The rows of a track are sorted per depth; here they are merged by start, outer ones first.
  Status write_track(std::span<const Lane> depths) {
    if (places_[depths[0].track].empty()) return {};  // computed anew
    struct Next {
      int64_t ts_ns;
      uint32_t depth;  // number in `depths`
      uint64_t row;
      bool operator>(const Next& other) const {
        return ts_ns != other.ts_ns ? ts_ns > other.ts_ns : depth > other.depth;
      }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto push = [&](uint32_t depth, uint64_t row) {
      if (row < depths[depth].first_row + depths[depth].rows)
        queue.push({rank_.slice(row).ts_ns, depth, row});
    };
    for (uint32_t depth = 0; depth < depths.size(); ++depth) push(depth, depths[depth].first_row);
    const bool is_async = rank_.text(Table::kTracks, "kind", depths[0].track) == "async";
    lanes_.clear();
    while (!queue.empty()) {
      const Next next = queue.top();
      queue.pop();
      push(next.depth, next.row + 1);
      if (!rank_.chosen(next.row)) continue;
      const ChromeSlice slice = rank_.slice(next.row);
      if (is_async) {
        if (auto status = write_async(slice); !status) return status;
        continue;
      }
      const size_t lane = lanes_.place(slice.ts_ns, slice.end_ns);
      if (lane > 0) moved_[slice.row] = lane;
      if (auto status = write_slice(slice, place_of(slice.track, lane)); !status) return status;
    }
    return {};
  }

  Status write_slice(const ChromeSlice& slice, const std::string& place) {
    auto args = args_of(slice.row);
    if (!args) return std::move(args.error());
    const std::string_view name = rank_.name(slice.row);
    const bool instant = (slice.flags & kFlagInstant) != 0;
    // An operation without an end is written without one; Kineto marks its own in args.
    const bool open =
        (slice.flags & kFlagUnfinished) != 0 && args->find("\"finished\"") == std::string::npos;
    has_memory_slices_ |= instant && name == "[memory]";
    begin(instant ? "i" : open ? "B" : "X", place, slice.ts_ns);
    if (instant) {
      out_ += R"(,"s":"t")";
    } else if (!open) {
      out_ += R"(,"dur":)";
      append_time(slice.dur_ns);
    }
    if (is_view()) {
      label(view_.places->category(slice.track, rank_.cat(slice.row), name), name, true);
    } else {
      label(rank_.cat(slice.row), name);
    }
    if (!args->empty() || is_view()) {
      out_ += R"(,"args":)";
      out_ += args->empty() ? "{}" : *args;
    }
    if (auto status = end_event(); !status) return status;
    return write_launch_arrow(slice, place);
  }

  Status write_computed_lanes() {
    for (const ComputedLane& computed : view_.lanes) {
      for (const LaneSegment& segment : computed.lane->segments) {
        if (!rank_.chosen_time(segment.start_ns)) continue;
        begin("X", computed.place, segment.start_ns);
        out_ += R"(,"dur":)";
        append_time(segment.end_ns - segment.start_ns);
        label("", computed.name.empty() ? segment.name : computed.name, true);
        out_ += R"(,"args":{})";
        if (auto status = end_event(); !status) return status;
      }
    }
    return {};
  }

  // Two events with an id of their own; viewers draw such slices above each other.
  Status write_async(const ChromeSlice& slice) {
    auto args = args_of(slice.row);
    if (!args) return std::move(args.error());
    const std::string& place = places_[slice.track];
    const auto add = [&](const char* phase, int64_t ts_ns, bool with_args) {
      begin(phase, place, ts_ns);
      out_ += R"(,"id":)";
      append_integer(out_, static_cast<int64_t>(slice.row));
      label(rank_.cat(slice.row), rank_.name(slice.row), true);
      if (with_args && !args->empty()) out_ += R"(,"args":)" + *args;
      return end_event();
    };
    if ((slice.flags & kFlagInstant) != 0) return add("n", slice.ts_ns, true);
    if (auto status = add("b", slice.ts_ns, true); !status) return status;
    if ((slice.flags & kFlagUnfinished) != 0) return {};
    return add("e", slice.ts_ns + slice.dur_ns, false);
  }

  // JSON, or "" for none. What the source keeps outside of args (ids, an NPU's kernel types) is put
  // into them, where readers of this format look for it.
  Result<std::string> args_of(uint64_t row) {
    auto text = rank_.store().args(rank_.position(), row, &args_cache_);
    if (!text) return text;
    std::string args = std::move(*text);
    if (!args.empty() && !is_json(args)) {
      std::string raw = R"({"raw":)";
      append_json_text(raw, args);
      args = raw + "}";
    }
    if (!own_ids_ || (!args.empty() && args.front() != '{')) return args;
    database_args_.complete(row, args);
    std::string added;
    const auto add = [&](const char* key, int64_t id) {
      if (id == kNull || args.find(key) != std::string::npos) return;
      if (!added.empty()) added += ',';
      added += key;
      added += ':';
      append_integer(added, id);
    };
    add(is_npu_ && is_view() ? "\"connection_id\"" : "\"correlation\"", rank_.correlation(row));
    add("\"External id\"", rank_.external_id(row));
    add_kernel_type(row, args, added);
    if (added.empty()) return args;
    const size_t rest = args.empty() ? std::string::npos : args.find_first_not_of(" \t\r\n", 1);
    if (rest == std::string::npos || args[rest] == '}') return "{" + added + "}";
    return "{" + added + "," + args.substr(rest);
  }

  // The timeline of an NPU calls every task of a kernel AI_CORE; only the table of kernels knows
  // better. Its word goes along, in the files that are ours.
  void add_kernel_type(uint64_t row, std::string_view args, std::string& added) const {
    constexpr std::string_view kKey = R"("Accelerator Core")";
    if (!is_npu_ || is_view() || args.find(kKey) != std::string_view::npos) return;
    std::string_view type = rank_.kernel_type(row);
    // A task that is no kernel, whatever its type: tasks of collectives may be called AI_CORE.
    if (type.empty() && args.find(R"("Task Type")") != std::string_view::npos) type = "N/A";
    if (type.empty()) return;
    if (!added.empty()) added += ',';
    added += kKey;
    added += ':';
    append_json_text(added, type);
  }

  Status write_launch_arrow(const ChromeSlice& slice, const std::string& place) {
    const int64_t id = rank_.correlation(slice.row);
    if (id == kNull) return {};
    if ((slice.flags & kFlagFlowStart) != 0) {
      if (auto status = write_arrow_end("s", place, slice.ts_ns, arrows_.launch_kind(), id);
          !status)
        return status;
    }
    if ((slice.flags & kFlagFlowEnd) == 0) return {};
    return write_arrow_end("f", place, slice.ts_ns, arrows_.launch_kind(), id);
  }

  Status write_arrow_end(const char* phase, const std::string& place, int64_t ts_ns,
                         std::string_view category, int64_t id) {
    begin(phase, place, ts_ns);
    out_ += R"(,"id":)";
    append_integer(out_, id);
    if (*phase == 'f' || arrows_.marks_start(category)) out_ += R"(,"bp":"e")";
    label(category, arrows_.name_of(category, id), true);
    return end_event();
  }

  Status write_arrows() {
    return arrows_.for_each([&](const ChromeArrow& arrow) -> Status {
      const ChromeSlice ends[] = {rank_.slice(arrow.from), rank_.slice(arrow.to)};
      for (const ChromeSlice& slice : ends) {
        if (places_[slice.track].empty()) return {};  // on a lane that is computed anew
      }
      for (const ChromeSlice& slice : ends) {
        const auto moved = moved_.find(slice.row);
        const std::string& place = place_of(slice.track, moved == moved_.end() ? 0 : moved->second);
        const char* phase = &slice == ends ? "s" : "f";
        if (auto status = write_arrow_end(phase, place, slice.ts_ns, arrow.category, arrow.id);
            !status)
          return status;
      }
      return {};
    });
  }

  Status write_counters() {
    for (uint64_t row = 0; row < rank_.rows(Table::kCounters); ++row) {
      const int64_t ts_ns = rank_.number(Table::kCounters, "ts", row);
      const auto track = static_cast<uint64_t>(rank_.number(Table::kCounters, "track", row));
      if (!rank_.chosen_time(ts_ns) || track >= places_.size() || places_[track].empty()) continue;
      begin("C", places_[track], ts_ns);
      label("", rank_.text(Table::kTracks, "thread", track));
      out_ += R"(,"args":{"value":)";
      append_json_number(out_, std::bit_cast<double>(rank_.number(Table::kCounters, "value", row)));
      out_ += '}';
      if (auto status = end_event(); !status) return status;
    }
    return {};
  }

  Status write_memory() {
    static const std::string kNoPlace = R"("pid":0,"tid":0)";
    for (uint64_t row = 0; row < rank_.rows(Table::kMemory); ++row) {
      const int64_t ts_ns = rank_.number(Table::kMemory, "ts", row);
      // A plan without times has no place on a timeline.
      if (ts_ns == kNull || !rank_.chosen_time(ts_ns)) continue;
      const int64_t op = rank_.number(Table::kMemory, "slice", row);
      const bool is_known = op >= 0 && static_cast<uint64_t>(op) < rank_.slice_count();
      const uint32_t track =
          is_known ? rank_.slice(static_cast<uint64_t>(op)).track : rank_.idle_host_track(ts_ns);
      const std::string& place = track < places_.size() ? places_[track] : kNoPlace;
      begin("i", place, ts_ns);
      out_ += R"(,"s":"t")";
      label("cpu_instant_event", "[memory]");
      out_ += R"(,"args":)" + chrome_memory_args(rank_, row);
      if (auto status = end_event(); !status) return status;
    }
    return {};
  }

  ChromeRank rank_;
  ChromeArrows arrows_;
  ChromeDatabaseArgs database_args_;
  const ChromeTraceOptions& options_;
  const TraceViewParts& view_;
  const std::function<Status(std::string_view)>& sink_;
  std::string out_;
  bool first_event_ = true;
  bool own_ids_ = false;
  bool is_npu_ = false;
  bool has_memory_slices_ = false;   // memory rows that are instants already
  std::vector<std::string> tids_;    // by track; not of a view
  std::vector<std::string> places_;  // "pid":..,"tid":.. by track
  std::unordered_map<uint64_t, std::string> overlap_places_;
  std::unordered_map<uint64_t, size_t> moved_;  // slice to overlap lane
  NestingLanes lanes_;
  ArgsCache args_cache_;
};

}  // namespace

Status write_chrome_trace(const StoreReader& store, size_t rank, const ChromeTraceOptions& options,
                          const std::function<Status(std::string_view)>& sink) {
  return ChromeTrace(store, rank, options, {}, sink).write();
}

Status write_chrome_events(const StoreReader& store, size_t rank, const ChromeTraceOptions& options,
                           const TraceViewParts& view,
                           const std::function<Status(std::string_view)>& sink) {
  return ChromeTrace(store, rank, options, view, sink).write();
}

}  // namespace stepscope
