#include "importers/ascend_text/ascend_text_importer.h"

#include <filesystem>

#include "importers/ascend_text/kernel_table.h"
#include "importers/ascend_text/memory_tables.h"
#include "importers/ascend_text/side_tables.h"
#include "importers/ascend_text/step_table.h"
#include "importers/ascend_text/trace_view.h"
#include "importers/chrome/chrome_reader.h"
#include "importers/common/ascend_recording.h"
#include "importers/kineto/trace_properties.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr int kRichnessWithTimeline = 90;
constexpr int kRichnessWithoutTimeline = 20;

uint64_t bytes_of(const AscendRecording& recording) {
  return total_bytes(recording.traces) + total_bytes(recording.tables) +
         total_bytes(recording.summaries);
}

// The recording behind a candidate: a folder, or a timeline file on its own.
Result<AscendRecording> recording_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (auto found = find_ascend_recording(path); found && found->has_text()) {
      return std::move(*found);
    }
    return Error{ErrorCode::kNotRecognised, "cannot import", path,
                 "there is no trace_view.json, msprof_*.json or table of an Ascend recording in it",
                 "run the profiler's analyse step first, or name the *_ascend_pt folder"};
  }
  AscendRecording recording;
  recording.folder = path;
  recording.traces = {path};
  return recording;
}

// The tools of the NPU write bare lists. An object is a timeline that was exported, whose times
// count from a base.
void use_properties(const std::string& text, const std::string& path, RankBuilder& rank) {
  if (text.empty()) return;
  const auto properties = parse_json(text, path);
  if (!properties) {
    return rank.quality.add(QualityCode::kUnparsableEvent,
                            "the properties beside the events: " + properties.error().why);
  }
  apply_properties(*properties, rank);
  shift_times(rank, rank.info.clock_base_ns);
}

}  // namespace

bool AscendTextImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  const auto recording = find_ascend_recording(folder);
  if (!recording || !recording->has_text()) return false;
  Candidate candidate;
  candidate.importer = this;
  candidate.path = folder.path;
  recording->place(candidate);
  candidate.rank = recording->rank;
  candidate.rank_inferred = recording->rank_inferred;
  candidate.richness = recording->traces.empty() ? kRichnessWithoutTimeline : kRichnessWithTimeline;
  candidate.bytes = bytes_of(*recording);
  found.push_back(std::move(candidate));
  return !recording->is_host_run;
}

// A timeline named on its own: a list of events that names the processes of the NPU's profiler.
bool AscendTextImporter::probe_file(const std::string& path, std::string_view head,
                                    std::vector<Candidate>& found) const {
  if (!looks_like_chrome_trace(head)) return false;
  const std::string name = std::filesystem::path(path).filename().string();
  const bool named =
      name == "trace_view.json" || (name.starts_with("msprof") && name.ends_with(".json"));
  const bool telling = head.find("\"Ascend Hardware\"") != std::string_view::npos ||
                       head.find("\"async_npu\"") != std::string_view::npos;
  if (!named && !telling) return false;
  Candidate candidate;
  candidate.importer = this;
  candidate.path = path;
  candidate.unit = path;
  candidate.richness = kRichnessWithTimeline;
  candidate.bytes = total_bytes({path});
  found.push_back(std::move(candidate));
  return true;
}

std::optional<RecordingAround> AscendTextImporter::recording_around(const std::string& path) const {
  return ascend_recording_around(path, false);
}

Status AscendTextImporter::import(const Candidate& candidate, const ImportContext& context,
                                  RankBuilder& rank) const {
  auto recording = recording_of(candidate.path);
  if (!recording.ok()) return std::move(recording.error());
  rank.info.source_format = name();
  int timelines = 0;
  bool truncated = false;
  std::optional<Error> failure;
  for (const std::string& path : recording->traces) {
    ChromeOptions options;
    options.ascend_args = true;
    const auto trace = read_chrome_trace(path, options, context, rank);
    if (trace.ok()) {
      ++timelines;
      truncated |= trace->truncated;
      if (recording->traces.size() == 1) use_properties(trace->properties, path, rank);
      continue;
    }
    if (trace.error().code == ErrorCode::kCancelled) return trace.error();
    rank.quality.add(QualityCode::kUnreadableFile, trace.error().message());
    if (!failure) failure = trace.error();
  }
  if (timelines == 0 && failure && recording->tables.empty()) return std::move(*failure);
  read_ascend_metadata(*recording, rank);
  rank.info.source_path = candidate.path;
  keep_side_tables(*recording, rank);
  if (context.progress.cancelled()) {
    return Error{ErrorCode::kCancelled, "import stopped", candidate.path, "", ""};
  }

  const int64_t device = read_memory_tables(*recording, rank);
  KernelTable kernels;
  for (const std::string& path : recording->tables) {
    const std::string table = ascend_table_name(path);
    if (table == "kernel_details" || table == "op_summary") kernels.read(path, rank);
  }
  kernels.finish();
  TraceView(kernels, device, rank).finish();
  if (rank.steps.empty()) add_steps_of_timeline(rank);
  if (rank.steps.empty()) add_steps_of_table(*recording, rank);
  if (truncated) mark_cut_step(rank);
  add_queue_of_table(*recording, rank);
  apply_communication_times(rank);
  if (rank.info.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred, "taken as rank " + std::to_string(rank.info.rank));
  }
  context.progress.add_done_bytes(total_bytes(recording->tables) +
                                  total_bytes(recording->summaries));
  return {};
}

}  // namespace stepscope
