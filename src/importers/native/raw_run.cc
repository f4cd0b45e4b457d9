#include "importers/native/raw_run.h"

#include <algorithm>
#include <cstdlib>

namespace stepscope {
namespace {

constexpr int64_t kSmallCorrectionNs = 1'000'000;

}  // namespace

int64_t number_in(const nlohmann::json& object, const char* key, int64_t otherwise) {
  if (!object.is_object()) return otherwise;
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int64_t>() : otherwise;
}

std::string text_in(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

void RawRun::learn(const RawChunk& chunk) {
  for (const RawString& string : chunk.strings) {
    names_[string.id] = rank_.strings.intern(string.text);
  }
  for (const RawNote& note : chunk.notes) {
    auto json = nlohmann::json::parse(note.json, nullptr, false);
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
      const auto* thread = table.column("thread");
      const auto* thread_name = table.column("name");
      if (thread == nullptr || thread_name == nullptr) continue;
      for (size_t row = 0; row < table.rows; ++row)
        thread_names_[(*thread)[row]] = name((*thread_name)[row]);
    }
  }
}

Status RawRun::finish_learning(const std::string& path) {
  for (const auto& [note_name, json] : notes_) {
    if (note_name == "world_size" && json.is_number_integer() && json.get<int64_t>() > 0)
      rank_.info.world_size = json.get<int64_t>();
    if (note_name != "recording") continue;
    rank_.info.rank = number_in(json, "rank", rank_.info.rank);
    rank_.info.host = text_in(json, "host");
    rank_.info.pid = number_in(json, "pid", kNull);
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
  TrackInfo track;
  track.process = process_;
  track.pid = pid_;
  track.tid = rank_.strings.intern(std::to_string(thread));
  const auto thread_name = thread_names_.find(thread);
  track.thread = thread_name == thread_names_.end() ? track.tid : thread_name->second;
  track.kind = TrackKind::kHost;
  const TrackId id = rank_.add_track(track);
  thread_tracks_[thread] = id;
  return id;
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
