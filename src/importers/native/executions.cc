#include "importers/native/executions.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>
#include <tuple>

#include "format/chunk_reader.h"
#include "importers/native/native_importer.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

struct Recording {
  std::string unit;  // its folder
  int64_t rank = 0;
  std::string process;
  int64_t started_ns = 0;
  int64_t ended_ns = 0;
};

nlohmann::json note_in(const RawChunk& chunk, std::string_view name) {
  for (const RawNote& note : chunk.notes) {
    if (note.name == name) return json_tree(note.json);
  }
  return {};
}

// The last reading of the clock, or what the recording says about its length where it was stopped.
int64_t end_of(ChunkReader& reader, int64_t started_ns) {
  RawChunk chunk;
  reader.skip_to_last();
  const auto more = reader.next(chunk);
  if (!more || !*more) return started_ns;
  const double seconds = std::clamp(number_in(note_in(chunk, "end"), "seconds", 0), 0.0, 1e9);
  int64_t ended_ns = started_ns + static_cast<int64_t>(seconds * 1e9);
  for (const RawTable& table : chunk.tables) {
    const auto* times = table.name == "clocks" ? table.column("realtime_ns") : nullptr;
    if (times != nullptr && !times->empty()) ended_ns = std::max(ended_ns, times->back());
  }
  return ended_ns;
}

std::optional<Recording> read_recording(const RankSource& source) {
  auto reader = ChunkReader::open(source.chosen.path);
  if (!reader) return std::nullopt;
  RawChunk chunk;
  const auto more = reader->next(chunk);
  if (!more || !*more) return std::nullopt;
  const nlohmann::json about = note_in(chunk, "recording");
  const int64_t pid = integer_in(about, "pid", kNull);
  const int64_t started_ns = integer_in(about, "started_ns", kNull);
  // A damaged note may have any number.
  if (pid == kNull || started_ns < 0 || started_ns > INT64_MAX / 2) return std::nullopt;
  return Recording{source.chosen.unit, source.chosen.rank,
                   text_in(about, "host") + " " + std::to_string(pid), started_ns,
                   end_of(*reader, started_ns)};
}

struct Execution {
  int64_t started_ns = 0;
  std::map<int64_t, int64_t> ended_ns;  // of each rank's last recording
};

std::string time_text(int64_t unix_ns) {
  const time_t seconds = unix_ns / 1'000'000'000;
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  return {text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc)};
}

bool is_ours(const RankSource& source) {
  return dynamic_cast<const NativeImporter*>(source.chosen.importer) != nullptr;
}

}  // namespace

std::string keep_newest_execution(std::vector<RankSource>& sources) {
  const auto repeats = [](const RankSource& source) { return source.window > 0; };
  if (std::ranges::none_of(sources, repeats)) return {};
  std::vector<Recording> recordings;
  for (const RankSource& source : sources) {
    if (!is_ours(source)) continue;
    if (auto recording = read_recording(source)) recordings.push_back(std::move(*recording));
  }
  std::ranges::sort(recordings, {}, &Recording::started_ns);

  std::vector<Execution> executions;
  std::map<std::string, size_t> of_process;
  std::map<std::string, size_t> of_unit;
  for (const Recording& recording : recordings) {
    const auto known = of_process.find(recording.process);
    if (known == of_process.end()) {
      const bool begins = executions.empty() || [&] {
        const auto before = executions.back().ended_ns.find(recording.rank);
        return before != executions.back().ended_ns.end() && before->second < recording.started_ns;
      }();
      if (begins) executions.push_back({recording.started_ns, {}});
      of_process[recording.process] = executions.size() - 1;
    }
    const size_t execution = of_process[recording.process];
    int64_t& ended_ns = executions[execution].ended_ns[recording.rank];
    ended_ns = std::max(ended_ns, recording.ended_ns);
    of_unit[recording.unit] = execution;
  }
  if (executions.size() < 2) return {};

  std::erase_if(sources, [&](const RankSource& source) {
    const auto found = of_unit.find(source.chosen.unit);
    return found != of_unit.end() && found->second + 1 < executions.size();
  });
  std::map<int64_t, int64_t> windows;
  for (RankSource& source : sources) source.window = windows[source.chosen.rank]++;
  return std::to_string(executions.size()) + " executions in this folder; this is the newest, " +
         "started " + time_text(executions.back().started_ns) +
         "; name the folder of another to open it";
}

}  // namespace stepscope
