#include "cli/recorded_run.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/own_files.h"
#include "cli/terminal.h"
#include "format/chunk_reader.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kNotKnown = "not known";

void take_note(const RawNote& note, RecordedRun& run) {
  json about = json_tree(note.json);
  if (note.name == "parameters") run.has_profiler = true;
  if (!about.is_object()) return;
  if (note.name == "device" && run.device.empty()) {
    run.device = text_in(about, "name");
    run.device_kind = "GPU";
  } else if (note.name == "npu" && run.device.empty()) {
    run.device = fmt::format("Ascend NPU {:.0f}", number_in(about, "device", 0));
    run.device_kind = "NPU";
  } else if (note.name == "source_left_out") {
    const std::string source = text_in(about, "source");
    if (source == "gpu" || source == "npu") run.without_device = text_in(about, "why");
  } else if (note.name == "recording") {
    run.recording = std::move(about);
  } else if (note.name == "end") {
    run.end = std::move(about);
  }
}

// What the run lacks, in words.
std::string missing_in(const RecordedRun& run) {
  if (!run.end.is_object()) return "the program ended before its recording did";
  std::string missing;
  if (const int64_t lost = integer_in(run.end, "not_recorded", 0); lost > 0)
    missing = count_text(lost) + " events were not recorded";
  if (const std::string by = text_in(run.end, "stopped_by"); !by.empty())
    missing += (missing.empty() ? "it ended early: " : " and it ended early: ") + by;
  return missing;
}

}  // namespace

std::set<std::string> runs_in(const std::string& output) {
  std::set<std::string> runs;
  std::error_code error;
  for (const fs::path& run : paths_in(output, error)) {
    if (fs::exists(run / "FRAMEWORK" / kRawFileName, error)) runs.insert(run.string());
  }
  return runs;
}

Result<RecordedRun> read_recorded_run(const std::string& path) {
  auto reader = ChunkReader::open(path + "/FRAMEWORK/" + std::string(kRawFileName));
  if (!reader) return std::move(reader.error());
  RecordedRun run;
  run.path = path;
  run.bytes = reader->file().size();
  run.without_device = "no CUDA device was used";
  RawChunk chunk;
  while (true) {
    auto more = reader->next(chunk);
    if (!more || !*more) break;
    for (const RawNote& note : chunk.notes) take_note(note, run);
  }
  return run;
}

std::string describe(const RecordedRun& run) {
  std::string events = "not ended";
  std::string writing;
  if (run.end.is_object()) {
    events = count_text(integer_in(run.end, "events", 0)) + " events";
    if (const double seconds = number_in(run.end, "seconds", 0); seconds > 0) {
      events += fmt::format(" in {:.1f} s", seconds);
      writing = fmt::format(", {:.2g} % of a core to write them",
                            100 * number_in(run.end, "writer_cpu_seconds", 0) / seconds);
    }
  }
  return fmt::format("{}, {}{}, {}", events, bytes_text(run.bytes), writing,
                     run.device.empty() ? run.without_device : run.device);
}

Status write_profiler_info(const RecordedRun& run) {
  std::error_code error;
  for (const fs::path& file : paths_in(run.path, error)) {
    if (file.filename().string().starts_with("profiler_info_")) return {};
  }
  const int64_t rank = run.recording.is_object() ? integer_in(run.recording, "rank", 0) : 0;
  json activities = {"CPU"};
  if (!run.device.empty()) activities.push_back(run.device_kind);
  const std::string missing = missing_in(run);
  json budget = json::object();
  if (run.recording.is_object()) {
    budget["max_host_mb"] = integer_in(run.recording, "max_host_mb", 0);
    budget["max_disk_gb"] = number_in(run.recording, "max_disk_mb", 0) / 1024;
    budget["min_free_gb"] = number_in(run.recording, "min_free_mb", 0) / 1024;
  }
  const nlohmann::ordered_json info = {
      {"profiler_parameters",
       {{"is_set_schedule", false},
        {"output_path", fs::path(run.path).parent_path().string()},
        {"activities", activities},
        {"start_profile", true}}},
      {"ms_profiler_info", {{"rank_id", std::to_string(rank)}}},
      {"cann_profiler_info", json::object()},
      {"analysis_cost_time", json::object()},
      {"ms_version", kNotKnown},
      {"cann_version", kNotKnown},
      {"jit_level", ""},
      {"stepscope",
       {{"budget", budget},
        {"recorded", run.end.is_object() ? run.end : json::object()},
        {"complete", missing.empty()},
        {"missing", missing}}}};
  const std::string path = fmt::format("{}/profiler_info_{}.json", run.path, rank);
  auto file = OutputFile::create(path);
  if (!file) return std::move(file.error());
  if (Status written = file->append(write_json(info, 4)); !written) return written;
  if (Status written = file->commit(); !written) return written;
  // As confidential as the raw data.
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read,
                  error);
  return {};
}

}  // namespace stepscope
