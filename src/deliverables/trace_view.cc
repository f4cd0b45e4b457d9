#include "deliverables/trace_view.h"

#include <algorithm>

#include "base/json_text.h"
#include "deliverables/chrome_head.h"

namespace stepscope {
namespace {

struct KnownProcess {
  std::string_view name;
  int64_t pid;  // -1: as the source has it
  int64_t sort_index;
  std::string_view label;
};
// MindSpore's own order, with the layers of CANN between.
constexpr KnownProcess kKnown[] = {
    {"Python", -1, 0, "CPU"}, {"MindSpore", 1, 1, "CPU"},         {"CPU OP", 2, 2, "CPU"},
    {"CANN", -1, 7, "CPU"},   {"Ascend Hardware", -1, 13, "NPU"}, {"AI Core Freq", -1, 14, "NPU"},
    {"HCCL", -1, 15, "NPU"},  {"Communication", -1, 16, "NPU"},
};
constexpr int64_t kScopePid = 3;
constexpr int64_t kScopeSort = 12;
constexpr int64_t kOverlapPid = 4;
constexpr int64_t kOverlapSort = 31;
constexpr int64_t kFirstFreePid = 5;

const KnownProcess* known_process(std::string_view name) {
  for (const KnownProcess& known : kKnown) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

bool is_computed(std::string_view process) {
  return process == "Overlap Analysis" || process.starts_with("Scope Layer");
}

std::string meta(std::string_view name, const std::string& place, std::string_view key,
                 const std::string& value) {
  std::string text = R"({"ph":"M","name":")";
  text += name;
  text += "\"," + place + R"(,"args":{")";
  text += key;
  return text + "\":" + value + "}}";
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

}  // namespace

TraceViewPlaces::TraceViewPlaces(const ChromeRank& rank) {
  const uint64_t tracks = rank.rows(Table::kTracks);
  is_database_ = rank.text(Table::kRanks, "source_format") == "ascend_db";
  for (uint64_t track = 0; track < tracks; ++track) {
    taken_.emplace_back(rank.text(Table::kTracks, "pid", track));
    tids_.emplace_back(rank.text(Table::kTracks, "tid", track));
  }
  if (is_database_) number_lanes(rank);
  for (uint64_t track = 0; track < tracks; ++track) {
    const std::string_view process = rank.text(Table::kTracks, "process", track);
    const std::string_view kind = rank.text(Table::kTracks, "kind", track);
    is_host_.push_back(kind == "host" || kind == "python");
    const bool from_table =
        kind == "counter" && rank.text(Table::kTracks, "pid", track).empty() && !is_database_;
    if (from_table || (is_computed(process) && kind == "analysis")) {
      places_.emplace_back();
      continue;
    }
    const std::string pid = process_id(rank, track);
    places_.push_back(R"("pid":)" + pid + R"(,"tid":)" + chrome_id(tids_[track]));
    describe_process(pid, process);
    const std::string_view thread = rank.text(Table::kTracks, "thread", track);
    if (!thread.empty() && kind != "counter")
      metadata_.push_back(meta("thread_name", places_.back(), "name", json_string(thread)));
  }
}

std::string TraceViewPlaces::process_id(const ChromeRank& rank, uint64_t track) {
  const std::string pid(rank.text(Table::kTracks, "pid", track));
  const std::string name(rank.text(Table::kTracks, "process", track));
  if (!pid.empty() &&
      (!is_database_ || first_process_.try_emplace(pid, name).first->second == name))
    return chrome_id(pid);
  std::string& id = own_ids_[{pid, name}];
  if (!id.empty()) return id;
  const KnownProcess* known = known_process(name);
  id = std::to_string(free_pid(known != nullptr && known->pid >= 0 ? known->pid : kFirstFreePid));
  return id;
}

// A group's own lane comes before those of its planes.
void TraceViewPlaces::number_lanes(const ChromeRank& rank) {
  const auto text = [&](std::string_view column, uint64_t track) {
    return rank.text(Table::kTracks, column, track);
  };
  std::vector<uint64_t> without_id;
  for (uint64_t track = 0; track < tids_.size(); ++track) {
    if (!tids_[track].empty()) continue;
    if (text("kind", track) == "counter") {
      tids_[track] = "0";
    } else {
      without_id.push_back(track);
    }
  }
  std::stable_sort(without_id.begin(), without_id.end(),
                   [&](uint64_t a, uint64_t b) { return text("thread", a) < text("thread", b); });
  std::map<std::string_view, int64_t> numbers;  // by process
  for (const uint64_t track : without_id)
    tids_[track] = std::to_string(numbers[text("process", track)]++);
}

std::string_view TraceViewPlaces::category(uint64_t track, std::string_view cat,
                                           std::string_view name) const {
  if (!is_host_[track]) return "";
  if (!is_database_) return cat;
  if (cat == "op") return "cpu_op";
  if (cat == "trace") return "python_function";
  if (cat == "queue") return name.starts_with("Dequeue") ? "dequeue" : "enqueue";
  return cat;
}

int64_t TraceViewPlaces::free_pid(int64_t usual) {
  const auto is_taken = [&](int64_t pid) {
    return std::find(taken_.begin(), taken_.end(), std::to_string(pid)) != taken_.end();
  };
  int64_t pid = usual;
  if (is_taken(pid)) pid = kFirstFreePid;
  while (is_taken(pid)) ++pid;
  taken_.push_back(std::to_string(pid));
  return pid;
}

void TraceViewPlaces::describe_process(const std::string& pid, std::string_view name) {
  if (name.empty() || std::find(described_.begin(), described_.end(), pid) != described_.end())
    return;
  described_.push_back(pid);
  const std::string place = R"("pid":)" + pid + R"(,"tid":0)";
  metadata_.push_back(meta("process_name", place, "name", json_string(name)));
  const KnownProcess* known = known_process(name);
  if (known == nullptr) return;
  metadata_.push_back(
      meta("process_sort_index", place, "sort_index", std::to_string(known->sort_index)));
  metadata_.push_back(meta("process_labels", place, "labels", json_string(known->label)));
}

int64_t TraceViewPlaces::add_process(std::string_view name, int64_t usual_pid, int64_t sort_index) {
  const int64_t pid = free_pid(usual_pid);
  const std::string place = R"("pid":)" + std::to_string(pid) + R"(,"tid":0)";
  metadata_.push_back(meta("process_name", place, "name", json_string(name)));
  metadata_.push_back(meta("process_sort_index", place, "sort_index", std::to_string(sort_index)));
  return pid;
}

void TraceViewPlaces::add_thread(int64_t pid, int64_t tid, std::string_view name) {
  const std::string place = R"("pid":)" + std::to_string(pid) + R"(,"tid":)" + std::to_string(tid);
  metadata_.push_back(meta("thread_name", place, "name", json_string(name)));
  metadata_.push_back(meta("thread_sort_index", place, "sort_index", std::to_string(tid)));
}

Status write_trace_view(const StoreReader& store, size_t rank, std::span<const TimelineLane> lanes,
                        const ChromeTraceOptions& options,
                        const std::function<Status(std::string_view)>& sink) {
  const ChromeRank columns(store, rank, options);
  TraceViewPlaces places(columns);
  std::vector<ComputedLane> computed;
  int64_t scope_pid = -1;
  int64_t overlap_pid = -1;
  int64_t overlap_threads = 0;
  for (const TimelineLane& lane : lanes) {
    std::string_view name;
    switch (lane.kind) {
      case LaneKind::kScope:
        if (scope_pid < 0) scope_pid = places.add_process("Scope Layer", kScopePid, kScopeSort);
        places.add_thread(scope_pid, lane.level - 1, "Thread " + std::to_string(lane.level - 1));
        computed.push_back({R"("pid":)" + std::to_string(scope_pid) + R"(,"tid":)" +
                                std::to_string(lane.level - 1),
                            "", &lane});
        continue;
      case LaneKind::kMergedComputation:
        name = "Computing";
        break;
      case LaneKind::kMergedCommunication:
        name = "Communication";
        break;
      case LaneKind::kPureCommunication:
        name = "Communication(Not Overlapped)";
        break;
      case LaneKind::kFree:
        name = "Free";
        break;
      default:
        continue;
    }
    if (overlap_pid < 0)
      overlap_pid = places.add_process("Overlap Analysis", kOverlapPid, kOverlapSort);
    places.add_thread(overlap_pid, overlap_threads, name);
    computed.push_back({R"("pid":)" + std::to_string(overlap_pid) + R"(,"tid":)" +
                            std::to_string(overlap_threads++),
                        name, &lane});
  }
  return write_chrome_events(store, rank, options, {&places, computed}, sink);
}

}  // namespace stepscope
