#include "importers/native/native_importer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "base/own_files.h"
#include "format/chunk_reader.h"
#include "importers/common/ascend_recording.h"
#include "importers/common/text_file.h"
#include "importers/native/device_tables.h"
#include "importers/native/host_tables.h"
#include "importers/native/mindspore_tables.h"
#include "importers/native/pipeline_tables.h"
#include "importers/native/raw_run.h"
#include "importers/native/still_written.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr std::string_view kFramework = "FRAMEWORK";

std::string window_folder_of(const std::string& raw_file) {
  const std::string folder = folder_of(raw_file);
  return file_name_of(folder) == kFramework ? folder_of(folder) : folder;
}

// Which program records, and its rank: they stand in the first chunk.
nlohmann::json recording_in(ChunkReader& reader) {
  RawChunk chunk;
  auto more = reader.next(chunk);
  if (!more || !*more) return {};
  for (const RawNote& note : chunk.notes) {
    if (note.name == "recording") return json_tree(note.json);
  }
  return {};
}

std::optional<bool> is_open_in_program(const std::string& path) {
  auto reader = ChunkReader::open(path);
  if (!reader) return std::nullopt;
  const nlohmann::json recording = recording_in(*reader);
  return is_open_in_process(path, text_in(recording, "host"), integer_in(recording, "pid", 0));
}

Ending ending_of(const RawRun& run, std::optional<bool> was_open) {
  if (run.has_note("end")) return Ending::kStopped;
  const bool goes_on = was_open.value_or(is_written_lately(run.clock().last_realtime_ns()));
  return goes_on ? Ending::kGoesOn : Ending::kBrokeOff;
}

bool add_candidate(const Importer& importer, const std::string& path,
                   std::vector<Candidate>& found) {
  auto reader = ChunkReader::open(path);
  if (!reader) return false;
  Candidate candidate;
  candidate.importer = &importer;
  candidate.path = path;
  candidate.unit = window_folder_of(path);
  candidate.rank = integer_in(recording_in(*reader), "rank", kNull);
  candidate.richness = NativeImporter::kRichness;
  candidate.bytes = reader->file().size();
  // A run is seen twice when discovery shows both its folder and FRAMEWORK/.
  const bool known = std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
    return other.importer == &importer && other.path == candidate.path;
  });
  if (!known) found.push_back(candidate);
  return true;
}

std::string text_of(const nlohmann::json& json) {
  if (json.is_string()) return json.get<std::string>();
  return write_json(json);
}

// A device with the words that Kineto has for it too, which analyses and exports read.
nlohmann::json device_properties(const nlohmann::json& note) {
  nlohmann::json device = note;
  device["id"] = integer_in(note, "id", 0);
  device["name"] = text_in(note, "name");
  device["numSms"] = integer_in(note, "multiprocessors", 0);
  if (const int64_t bytes = integer_in(note, "memory_bytes", 0); bytes > 0)
    device["totalGlobalMem"] = bytes;
  return device;
}

// What the recording says about itself and about what it could not do.
void read_notes(const RawRun& run, RankBuilder& rank) {
  nlohmann::json versions = nlohmann::json::object();
  nlohmann::json parallel = nlohmann::json::object();
  int64_t lost_until_signal = 0;
  for (const auto& [name, json] : run.notes()) {
    if (name == "source_left_out") {
      rank.quality.add(QualityCode::kSourceLeftOut,
                       text_in(json, "source") + ": " + text_in(json, "why"));
    } else if (name == "not_honoured" && json.is_object()) {
      for (const auto& [option, why] : json.items())
        rank.quality.add(QualityCode::kNotHonoured, option + ": " + text_of(why));
    } else if (name == "open_ranges" && json.is_number_integer()) {
      rank.quality.add(QualityCode::kUnfinishedOperation,
                       "ranges of the program; they are not in any table", json.get<int64_t>());
    } else if (name == "recording" || name == "end") {
      versions[name] = json;
    } else if (name == "profiler_window") {
      versions["windows"].push_back(json);
    } else if (name == "device" && json.is_object()) {
      versions["deviceProperties"].push_back(device_properties(json));
    } else if (name == "written_until") {
      lost_until_signal = integer_in(json, "not_recorded", 0);
    } else if (name == "trigger") {
      versions["triggers"].push_back(json);
    } else if (name != "torch_thread" && name != "python_threads" && name != "names_lost") {
      versions["metadata"][name] = json;
      // How the job is split: what MindSpore's context says, and what suites of models add.
      if (name == "parallel" && json.is_object()) parallel.update(json);
      if (name == "distributed_args" || name == "parallel_group_info" || name == "pp_info")
        parallel[name] = json;
    }
    if (name != "end") continue;
    const int64_t lost = integer_in(json, "not_recorded", 0);
    const std::string stopped_by = text_in(json, "stopped_by");
    if (lost > 0 || !stopped_by.empty()) {
      const std::string why = stopped_by.empty() ? text_in(json, "lost_because") : stopped_by;
      rank.quality.add(QualityCode::kDroppedRecords, why, std::max<int64_t>(lost, 1));
    }
  }
  if (lost_until_signal > 0 && !run.has_note("end"))
    rank.quality.add(QualityCode::kDroppedRecords, "until the signal", lost_until_signal);
  rank.info.versions_json = text_of(versions);
  if (!parallel.empty()) rank.info.parallel_json = text_of(parallel);
}

// `stepscope record` marks every step of a program whose own profiler chose some of them: only in
// those are operators recorded. The others say nothing about where a step goes, so they are not
// complete. A program that was killed has not noted its last window; all its steps are kept then.
void mark_steps_outside_of_windows(const RawRun& run, RankBuilder& rank) {
  constexpr double kCovered = 0.9;  // of a step; beginning a window takes a part of its first one
  std::vector<std::pair<int64_t, int64_t>> windows;
  for (const auto& [name, json] : run.notes()) {
    if (name != "profiler_window") continue;
    const int64_t began_ns = integer_in(json, "began_ns", kNull);
    const int64_t ended_ns = integer_in(json, "ended_ns", kNull);
    if (began_ns != kNull && ended_ns != kNull) windows.emplace_back(began_ns, ended_ns);
  }
  if (windows.empty() || !run.has_note("end")) return;
  for (StepRecord& step : rank.steps) {
    if (!step.complete) continue;
    int64_t covered_ns = 0;
    for (const auto& [began_ns, ended_ns] : windows) {
      covered_ns += std::max<int64_t>(
          0, std::min(ended_ns, step.ts_ns + step.dur_ns) - std::max(began_ns, step.ts_ns));
    }
    if (static_cast<double>(covered_ns) >= kCovered * static_cast<double>(step.dur_ns)) continue;
    step.complete = false;
    rank.quality.add(QualityCode::kWindowCut, rank.strings.view(step.name));
  }
}

// Whether a step has less than a tenth of the length that the other complete ones have.
bool much_shorter_than_others(const std::vector<StepRecord>& steps, size_t which) {
  constexpr int64_t kTimesShorter = 10;
  std::vector<int64_t> lengths_ns;
  for (size_t at = 0; at < steps.size(); ++at) {
    if (at != which && steps[at].complete) lengths_ns.push_back(steps[at].dur_ns);
  }
  if (lengths_ns.empty()) return false;
  const auto middle = lengths_ns.begin() + static_cast<ptrdiff_t>(lengths_ns.size() / 2);
  std::nth_element(lengths_ns.begin(), middle, lengths_ns.end());
  return steps[which].dur_ns < *middle / kTimesShorter;
}

// Whether anything that was recorded began or ended in the step. A range of the program that begins
// in it and lasts longer is around the loop.
bool holds_something(const RankBuilder& rank, const StepRecord& step) {
  const int64_t end_ns = step.ts_ns + step.dur_ns;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      if (slice.kind == SliceKind::kAnnotation && slice.name == step.name) continue;
      const int64_t slice_end_ns = slice.ts_ns + slice.dur_ns;
      if (slice_end_ns > step.ts_ns && slice_end_ns <= end_ns) return true;
      const bool began = slice.ts_ns >= step.ts_ns && slice.ts_ns < end_ns;
      if (began && slice.kind != SliceKind::kAnnotation) return true;
    }
  }
  return false;
}

// A profiler without a schedule cannot know what comes before the program's first step(): an
// iteration, if the program calls it at their ends, and nothing, if it does so at their beginnings.
// What is in it tells. Where the next step is as empty, it stays, and counts if it is long enough.
void leave_out_empty_unmarked_steps(const std::vector<size_t>& unmarked, RankBuilder& rank) {
  for (auto at = unmarked.rbegin(); at != unmarked.rend(); ++at) {
    StepRecord& step = rank.steps[*at];
    if (!step.complete || *at + 1 == rank.steps.size() || holds_something(rank, step)) continue;
    if (holds_something(rank, rank.steps[*at + 1])) {
      rank.steps.erase(rank.steps.begin() + static_cast<ptrdiff_t>(*at));
    } else if (much_shorter_than_others(rank.steps, *at)) {
      step.complete = false;
      rank.quality.add(QualityCode::kWindowCut, rank.strings.view(step.name));
    }
  }
}

// A loop that says at its end that the next step begins, and then stops, leaves a mark of a step
// that never was. Its end is marked as that of others is, so what tells is that nothing is in it,
// unlike in the one before, or, where none holds anything, that it is much shorter. It is not
// counted; the mark stays in the timeline.
void leave_out_step_that_never_was(RankBuilder& rank) {
  if (rank.steps.size() < 2 || !rank.steps.back().complete) return;
  const StepRecord& last = rank.steps.back();
  const StepRecord& before = rank.steps[rank.steps.size() - 2];
  bool work_before = false;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    for (const SliceRecord& slice : rank.slices(track)) {
      if (slice.kind == SliceKind::kAnnotation && slice.name == last.name) continue;
      if (slice.ts_ns + slice.dur_ns > last.ts_ns) return;
      work_before |= slice.name != before.name && slice.ts_ns >= before.ts_ns;
    }
  }
  if (work_before) {
    rank.steps.pop_back();
  } else if (much_shorter_than_others(rank.steps, rank.steps.size() - 1)) {
    rank.steps.back().complete = false;
    rank.quality.add(QualityCode::kWindowCut, rank.strings.view(rank.steps.back().name));
  }
}

// The recording counts the names that it lost; each may name many slices, or none of this run.
void report_lost_names(const RawRun& run, RankBuilder& rank) {
  int64_t lost = 0;
  std::string why = "they are called (too many names)";
  for (const auto& [name, json] : run.notes()) {
    if (name != "names_lost") continue;
    lost = integer_in(json, "names", 1);
    why = text_in(json, "why");
  }
  int64_t slices = 0;
  const StringId too_many = rank.strings.find("(too many names)");
  for (TrackId track = 0; track < rank.track_count() && too_many != kNoString; ++track)
    slices += std::ranges::count(rank.slices(track), too_many, &SliceRecord::name);
  rank.quality.add(QualityCode::kNamesLost, why, std::max(lost, slices));
}

// Raw data of an NPU that nobody has exported yet: CANN alone knows their meaning.
void report_raw_npu_data(const std::string& run, RankBuilder& rank) {
  const Folder folder = list_folder(run);
  for (const std::string& name : folder.folders) {
    if (!name.starts_with("PROF_")) continue;
    const Folder inside = list_folder(run + "/" + name);
    const bool exported = inside.has_folder("mindstudio_profiler_output") ||
                          std::any_of(inside.files.begin(), inside.files.end(),
                                      [](const auto& file) { return file.ends_with(".db"); });
    if (exported) continue;
    rank.quality.add(QualityCode::kNotUnderstood,
                     name +
                         ": raw data of the NPU; where CANN is installed, run: msprof "
                         "--export=on --output=" +
                         inside.path);
  }
}

void report_damage(const ChunkReader& reader, Ending ending, RankBuilder& rank) {
  const auto at_byte = [](uint64_t byte) { return "byte " + std::to_string(byte); };
  if (reader.damaged_chunks() > 0) {
    rank.quality.add(QualityCode::kUnparsableEvent, "chunk at " + at_byte(reader.first_damage()),
                     reader.damaged_chunks());
  }
  // A chunk that is just being written is not torn.
  if (reader.torn_bytes() > 0 && ending != Ending::kGoesOn)
    rank.quality.add(QualityCode::kTruncatedInput, at_byte(reader.position()));
}

}  // namespace

bool NativeImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  const std::string name(kRawFileName);
  if (folder.has_file(name)) add_candidate(*this, folder.path + "/" + name, found);
  // Seen from the run's folder too, before others look at what else is in it.
  if (folder.has_folder(kFramework))
    add_candidate(*this, folder.path + "/" + std::string(kFramework) + "/" + name, found);
  return false;
}

bool NativeImporter::probe_file(const std::string& path, std::string_view head,
                                std::vector<Candidate>& found) const {
  return head.starts_with(kRawFileMagic) && add_candidate(*this, path, found);
}

Status NativeImporter::import(const Candidate& candidate, const ImportContext& context,
                              RankBuilder& rank) const {
  RawRun run(rank);
  DeviceTables device(run);
  PipelineTables pipeline(run);
  RawChunk chunk;
  rank.info.source_format = name();
  rank.info.source_path = candidate.unit;
  rank.info.device_kind = "CPU";
  const std::optional<bool> was_open = is_open_in_program(candidate.path);
  std::vector<size_t> unmarked_steps;
  uint64_t learned_bytes = 0;  // what a recording writes later is not read
  for (const bool learning : {true, false}) {
    auto reader = ChunkReader::open(candidate.path);
    if (!reader) return std::move(reader.error());
    HostTables host(run, pipeline);
    MindsporeTables mindspore(run);
    std::map<std::string, int64_t, std::less<>> unknown_tables;
    while (learning || reader->position() < learned_bytes) {
      auto more = reader->next(chunk);
      if (!more) return std::move(more.error());
      if (!*more) break;
      if (context.progress.cancelled())
        return Error{ErrorCode::kCancelled, "import stopped", candidate.path, "cancelled", ""};
      if (learning) {
        run.learn(chunk);
        device.learn(chunk);
        pipeline.learn(chunk);
        continue;
      }
      for (const RawTable& table : chunk.tables) {
        if (host.read(table) || device.read(table) || mindspore.read(table)) continue;
        if (table.name == "clocks" || table.name == "threads") continue;
        if (PipelineTables::owns(table.name)) continue;
        unknown_tables[std::string(table.name)] += static_cast<int64_t>(table.rows);
      }
    }
    if (learning) {
      if (auto status = run.finish_learning(candidate.path); !status) return status;
      pipeline.finish_learning();
      learned_bytes = reader->position();
      report_damage(*reader, ending_of(run, was_open), rank);
      continue;
    }
    host.finish(ending_of(run, was_open));
    unmarked_steps = host.unmarked_steps();
    device.finish();
    mindspore.finish(folder_of(candidate.path), ending_of(run, was_open));
    for (const auto& [table, rows] : unknown_tables)
      rank.quality.add(QualityCode::kUnknownCategory, "table " + table, rows);
    add_source(rank, candidate.path, "raw",
               host.records() + device.records() + mindspore.records());
  }
  read_notes(run, rank);
  mark_steps_outside_of_windows(run, rank);
  leave_out_empty_unmarked_steps(unmarked_steps, rank);
  leave_out_step_that_never_was(rank);
  report_lost_names(run, rank);
  report_raw_npu_data(candidate.unit, rank);
  context.progress.add_done_bytes(candidate.bytes);
  return {};
}

}  // namespace stepscope
