#include "importers/native/raw_run.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/decimal.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr int64_t kSmallCorrectionNs = 1'000'000;

struct TaskCounter {
  std::string_view what;
  int64_t task;
  bool is_process;
};

// "worker cpu % 17 python": what the system source calls its series of threads and processes.
std::optional<TaskCounter> parse_task_counter(std::string_view text) {
  for (const std::string_view begin :
       {"thread cpu % ", "worker cpu % ", "worker resident bytes "}) {
    if (!text.starts_with(begin)) continue;
    const std::string_view rest = text.substr(begin.size());
    const auto task = parse_integer(rest.substr(0, rest.find(' ')));
    if (!task) return std::nullopt;
    std::string_view what = begin;
    what.remove_prefix(what.find(' ') + 1);
    what.remove_suffix(1);
    return TaskCounter{what, *task, begin.front() == 'w'};
  }
  return std::nullopt;
}

}  // namespace

void RawRun::learn(const RawChunk& chunk) {
  for (const RawString& string : chunk.strings) {
    names_[string.id] = rank_.strings.intern(string.text);
  }
  for (const RawNote& note : chunk.notes) {
    auto json = json_tree(note.json);
    if (json.is_discarded()) {
      rank_.quality.add(QualityCode::kUnparsableEvent, "note " + std::string(note.name));
      continue;
    }
    notes_.emplace_back(note.name, std::move(json));
  }
  for (const RawTable& table : chunk.tables) {
    if (table.name == "clocks") {
      const auto* ticks = table.column("ticks");
      const auto* monotonic = table.column("monotonic_ns");
      const auto* realtime = table.column("realtime_ns");
      if (ticks == nullptr || monotonic == nullptr || realtime == nullptr) continue;
      for (size_t row = 0; row < table.rows; ++row)
        clock_.add({(*ticks)[row], (*monotonic)[row], (*realtime)[row]});
    } else if (table.name == "threads") {
      learn_names(table, "thread", thread_names_);
    } else if (table.name == "processes") {
      learn_names(table, "process", process_names_);
    }
  }
}

void RawRun::learn_names(const RawTable& table, std::string_view key,
                         std::unordered_map<int64_t, StringId>& names) {
  const auto* task = table.column(key);
  const auto* task_name = table.column("name");
  if (task == nullptr || task_name == nullptr) return;
  for (size_t row = 0; row < table.rows; ++row) names[(*task)[row]] = name((*task_name)[row]);
}

void RawRun::learn_python_names(const nlohmann::json& names_by_thread) {
  for (const auto& [thread, thread_name] : names_by_thread.items()) {
    const auto number = parse_integer(thread);
    if (number && thread_name.is_string() && !thread_name.get_ref<const std::string&>().empty())
      thread_names_[*number] = rank_.strings.intern(thread_name.get_ref<const std::string&>());
  }
}

StringId RawRun::stage_of_task(int64_t task) const {
  const auto found = task_stages_.find(task);
  return found == task_stages_.end() ? kNoString : found->second;
}

Status RawRun::finish_learning(const std::string& path) {
  for (const auto& [note_name, json] : notes_) {
    if (note_name == "world_size" && json.is_number_integer() && json.get<int64_t>() > 0)
      rank_.info.world_size = json.get<int64_t>();
    if (note_name == "python_threads") learn_python_names(json);
    if (note_name != "recording") continue;
    rank_.info.rank = integer_in(json, "rank", rank_.info.rank);
    rank_.info.host = text_in(json, "host");
    rank_.info.pid = integer_in(json, "pid", kNull);
    const std::string program = text_in(json, "program");
    process_ = rank_.strings.intern(program.empty() ? "host" : program);
    if (rank_.info.pid != kNull) pid_ = rank_.strings.intern(std::to_string(rank_.info.pid));
  }
  if (!clock_.finish()) {
    return Error{ErrorCode::kBadInput, "cannot import", path,
                 "it has fewer than two readings of the clock: the program ended right after the "
                 "recording began",
                 "record for longer than half a second"};
  }
  if (std::abs(clock_.correction_ns()) > kSmallCorrectionNs) {
    rank_.quality.add(QualityCode::kClockJump,
                      "the calendar clock was set by " + std::to_string(clock_.correction_ns()) +
                          " ns while recording; times follow the steady clock");
  }
  if (clock_.contradictions() > 0) {
    rank_.quality.add(QualityCode::kClockJump, "clock readings that go backwards",
                      clock_.contradictions());
  }
  return {};
}

StringId RawRun::name(int64_t id) {
  const auto found = names_.find(id);
  if (found != names_.end()) return found->second;
  if (id != 0)
    rank_.quality.add(QualityCode::kUnparsableEvent, "name " + std::to_string(id) + " is missing");
  return kEmptyString;
}

TrackId RawRun::thread_track(int64_t thread) {
  const auto found = thread_tracks_.find(thread);
  if (found != thread_tracks_.end()) return found->second;
  const TrackId id = rank_.add_track(about_thread(thread));
  thread_tracks_[thread] = id;
  return id;
}

TrackInfo RawRun::about_thread(int64_t thread) {
  TrackInfo track;
  track.process = process_;
  track.pid = pid_;
  track.tid = rank_.strings.intern(std::to_string(thread));
  const auto thread_name = thread_names_.find(thread);
  track.thread = thread_name == thread_names_.end() ? track.tid : thread_name->second;
  if (const auto worker = process_names_.find(thread); worker != process_names_.end()) {
    const StringId stage = stage_of_task(thread);
    track.process = stage != kNoString ? stage : worker->second;
    track.pid = track.tid;
    track.thread = worker->second;
  }
  track.kind = TrackKind::kHost;
  return track;
}

TrackId RawRun::named_track(std::string_view track_name) {
  TrackInfo track;
  track.process = process_;
  track.pid = pid_;
  track.thread = rank_.strings.intern(track_name);
  track.kind = TrackKind::kHost;
  return rank_.add_track(track);
}

TrackId RawRun::counter_track(StringId counter_name) {
  const auto found = counter_tracks_.find(counter_name);
  if (found != counter_tracks_.end()) return found->second;
  TrackInfo track;
  track.process = process_;
  track.pid = pid_;
  track.thread = counter_name;
  if (const auto of_task = parse_task_counter(rank_.strings.view(counter_name))) {
    if (const StringId stage = stage_of_task(of_task->task); stage != kNoString) {
      track.process = stage;
      track.thread = rank_.strings.intern(std::string(of_task->what));
      track.tid = rank_.strings.intern(std::to_string(of_task->task));
      if (of_task->is_process) track.pid = track.tid;
    }
  }
  track.kind = TrackKind::kCounter;
  const TrackId id = rank_.add_track(track);
  counter_tracks_[counter_name] = id;
  return id;
}

bool RawRun::has_note(std::string_view note_name) const {
  return std::any_of(notes_.begin(), notes_.end(),
                     [&](const auto& note) { return note.first == note_name; });
}

}  // namespace stepscope
