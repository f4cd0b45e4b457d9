#include "importers/mindinsight/mindinsight_importer.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/csv_reader.h"
#include "importers/common/json_file.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/profiler_names.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindinsight/folder_files.h"
#include "importers/mindinsight/job_files.h"
#include "importers/mindinsight/operator_files.h"
#include "importers/mindinsight/step_trace.h"
#include "importers/mindinsight/timeline.h"

namespace stepscope {
namespace {

using namespace mindinsight;  // NOLINT: the importer is the front of that folder
using enum FileKind;

std::vector<std::string> paths_of(const DeviceFiles& files, FileKind kind) {
  std::vector<std::string> paths;
  for (const KnownFile* file : files.of(kind)) paths.push_back(file->path);
  return paths;
}

uint64_t bytes_of(const DeviceFiles& files) {
  uint64_t bytes = 0;
  for (const KnownFile& file : files.files) {
    const auto stamp = stamp_file(file.path);
    if (stamp) bytes += stamp->bytes;
  }
  return bytes;
}

// Reads one device's files, in an order in which each finds what it needs.
class DeviceReader {
 public:
  DeviceReader(const DeviceFiles& files, int64_t device, const ImportContext& context,
               RankBuilder& rank)
      : files_(files), context_(context), rank_(rank), tracks_(device, rank) {}

  // Number of records and tables that were read.
  int64_t read(const std::vector<KnownFile>& shared, const std::string& folder) {
    for (const KnownFile* file : files_.of(kOperatorInfo)) infos_.read(file->path, rank_);
    read_timeline();  // first: it shifts the times of everything in the builder
    read_steps();
    read_executions();
    read_job();
    const auto offset_ns = find_clock_offset_ns(folder);
    records_ += read_minddata(files_.minddata, offset_ns, rank_);
    if (files_.minddata.pipeline.empty()) read_queues_of_tables();
    for (const KnownFile& file : files_.files) keep(file);
    for (const KnownFile& file : shared) {
      if (!kept_tables_.contains(file.table)) keep(file);  // the numbered variant wins
    }
    return records_;
  }

 private:
  void read_timeline() {
    const auto displays = files_.of(kTimelineDisplay);
    std::optional<int64_t> offset_ns;
    for (const KnownFile* file : files_.of(kFirstCycle)) {
      offset_ns = read_first_cycle_ns(file->path, rank_);
    }
    for (const KnownFile* file : displays) {
      if (file != displays.front()) {
        // Two clocks cannot share an axis; no recording has both, only collections of examples.
        ignore(*file, "another timeline of this device was read");
        continue;
      }
      auto timeline = read_timeline_display(file->path, offset_ns.value_or(0), infos_, tracks_,
                                            context_, rank_);
      if (!timeline) {
        add_unreadable(rank_, file->path, timeline.error());
        continue;
      }
      if (!rank_.sources.empty()) rank_.sources.back().role = file->table;
      timeline_ = *timeline;
      records_ += timeline_.events;
    }
  }

  void read_steps() {
    std::vector<StepTraceRow> rows;
    for (const KnownFile* file : files_.of(kStepTrace)) {
      rows = read_step_trace_csv(file->path, rank_);
    }
    const auto add_if_first = [&](std::vector<StepTraceRow> raw) {
      records_ += static_cast<int64_t>(raw.size());
      if (rows.empty()) rows = std::move(raw);
    };
    if (const auto paths = paths_of(files_, kJobStepTrace); !paths.empty()) {
      add_if_first(read_training_trace(paths, rank_));
    }
    if (const auto paths = paths_of(files_, kJobTsTrack); !paths.empty()) {
      add_if_first(read_ts_track(paths, rank_));
    }
    for (const KnownFile* file : files_.of(kGpuStepTrace)) {
      add_if_first(read_gpu_step_trace(file->path, rank_));
    }
    add_step_trace(rows, timeline_.communication_slices == 0, rank_);
    records_ += static_cast<int64_t>(rows.size());
  }

  void read_executions() {
    for (const KnownFile* file : files_.of(kTimelineData)) {
      const auto executions = read_timeline_data(file->path, rank_);
      const auto count = static_cast<int64_t>(executions.size());
      records_ += count;
      // The displayed timeline has the same executions with more detail, but may have been cut at
      // 20 MB; then this list is the complete one.
      if (count > 0 && timeline_.device_slices >= count) {
        ignore(*file, "the timeline has the same executions");
        continue;
      }
      clear_device_slices(rank_);
      for (const TimelineExecution& execution : executions) {
        add_kernel_slice(rank_.strings.view(execution.name), "AI_CORE", execution.start_ns,
                         execution.dur_ns, execution.stream, infos_, tracks_, rank_);
      }
      add_source(rank_, file->path, file->table, count);
    }
    for (const KnownFile* file : files_.of(kGpuActivities)) {
      records_ += read_gpu_activities(file->path, infos_, tracks_, rank_);
    }
    for (const FileKind kind : {kCpuOperators, kGpuOperators}) {
      for (const KnownFile* file : files_.of(kind)) {
        const bool cpu = kind == kCpuOperators;
        auto operators = read_op_timestamps(file->path, cpu ? 6 : 3, rank_);
        if (!operators) {
          add_unreadable(rank_, file->path, operators.error());
          continue;
        }
        add_op_slices(*operators, {}, cpu ? "CPU OP" : "GPU OP", rank_);
        records_ += static_cast<int64_t>(operators->size());
        add_source(rank_, file->path, file->table, static_cast<int64_t>(operators->size()));
      }
    }
    for (const KnownFile* file : files_.of(kAiCpu)) {
      records_ += read_aicpu_csv(file->path, infos_, tracks_, rank_);
    }
    for (const KnownFile* file : files_.of(kDequeue)) {
      records_ += read_dequeue(file->path, 3, file->table, rank_);
    }
    for (const KnownFile* file : files_.of(kDequeueGpu)) {
      records_ += read_dequeue(file->path, 0, file->table, rank_);
    }
    for (const KnownFile* file : files_.of(kComputeTimes)) {
      records_ += keep_compute_times(file->path, rank_);
    }
    for (const KnownFile* file : files_.of(kAiCpuText)) {
      records_ += keep_aicpu_text(file->path, rank_);
    }
  }

  void read_job() {
    TaskNames names;
    for (const KnownFile* file : files_.of(kJobTasks)) {
      records_ += read_job_tasks(file->path, names, rank_);
    }
    records_ += keep_job_graph(paths_of(files_, kJobGraph), rank_);
    for (const KnownFile* file : files_.of(kJobPoints)) {
      records_ += keep_job_points(file->path, rank_);
    }
    if (const auto paths = paths_of(files_, kJobTaskTrack); !paths.empty()) {
      records_ += read_job_task_track(paths, names, infos_, tracks_, rank_);
    }
    for (const KnownFile* file : files_.of(kJobAiCpu)) {
      records_ += read_job_aicpu(file->path, infos_, tracks_, rank_);
    }
    for (const KnownFile* file : files_.of(kJobDequeue)) {
      records_ += read_job_dequeue(file->path, rank_);
    }
  }

  // Queue sizes of minddata_pipeline_raw, when the raw file they come from is not there.
  void read_queues_of_tables() {
    for (const KnownFile& file : files_.files) {
      if (file.table != "minddata_pipeline_raw") continue;
      auto csv = CsvReader::open(file.path);
      if (!csv) continue;
      QualityReport ignored;
      const size_t id = csv->column({"op_id"});
      const size_t type = csv->column({"op_type"});
      const size_t sizes = csv->column({"output_queue_size"});
      const size_t length = csv->column({"output_queue_length"});
      const size_t interval = csv->column({"sample_interval"});
      while (csv->next(ignored)) {
        const auto text = csv->value(sizes);
        if (!text) continue;
        const auto list = parse_json(*text, file.path);
        if (!list || !list->is_array()) {
          rank_.quality.add(QualityCode::kUnparsableEvent,
                            file.path + " line " + std::to_string(csv->line()));
          continue;
        }
        QueueRecord record;
        record.stage =
            rank_.strings.intern(std::string(csv->cell(type)) + "_" + std::string(csv->cell(id)));
        record.capacity = csv->integer(length, ignored);
        const int64_t step_ns = csv->scaled(interval, 6, ignored);
        for (const auto& size : *list) {
          record.size = json_integer(size);
          rank_.queues.push_back(record);
          record.ts_ns = std::max<int64_t>(0, plus_or_null(record.ts_ns, step_ns));
        }
        rank_.quality.add(QualityCode::kClockCoarse,
                          file.path + ": samples at the nominal interval, from 0");
      }
    }
  }

  void keep(const KnownFile& file) {
    Status kept;
    switch (file.kind) {
      case kTable:
      case kStepTrace:
      case kOperatorInfo:
      case kAiCpu:
        kept = keep_csv(file.path, file.table, rank_);
        break;
      case kClusterTable:
        kept = keep_csv(file.path, file.table, rank_);
        read_cluster_name(file_name_of(file.path));
        break;
      case kDocument:
        kept = keep_json(file.path, file.table, rank_);
        break;
      case kProfilerInfo:
        kept = keep_json(file.path, file.table, rank_);
        read_profiler_info(file.path);
        break;
      case kParallelStrategy:
        kept = keep_json(file.path, file.table, rank_);
        read_parallel_strategy(file.path);
        break;
      case kIgnored:
        return ignore(file, "");
      default:
        return;  // read above
    }
    if (!kept) return add_unreadable(rank_, file.path, kept.error());
    kept_tables_.insert(file.table);
    ++records_;
  }

  void ignore(const KnownFile& file, std::string_view why) {
    rank_.quality.add(QualityCode::kIgnoredFile,
                      file.path + (why.empty() ? "" : ": " + std::string(why)));
    add_source(rank_, file.path, "ignored", 0);
  }

  void read_profiler_info(const std::string& path) {
    const auto tree = read_json_file(path);
    if (!tree) return;
    rank_.info.versions_json = dump_json(*tree);
    const int64_t rank = json_integer(json_member(*tree, "rank_id"));
    if (rank != kNull) {
      rank_.info.rank = rank;
      rank_.info.rank_inferred = false;
    }
    const int64_t ranks = json_integer(json_member(*tree, "rank_size"));
    if (ranks != kNull) rank_.info.world_size = ranks;
  }

  void read_parallel_strategy(const std::string& path) {
    const auto tree = read_json_file(path);
    if (!tree) return;
    const auto& config = json_member(*tree, "config");
    if (config.is_object()) rank_.info.parallel_json = dump_json(config);
  }

  // ascend_cluster_analyse_MODE_STAGES_RANKS_RANK.csv
  void read_cluster_name(std::string_view name) {
    const auto parts = split_text(name, '_');
    if (parts.size() < 6) return;
    const auto ranks = parse_integer(parts[parts.size() - 2]);
    const auto stages = parse_integer(parts[parts.size() - 3]);
    if (!ranks || !stages) return;
    rank_.info.world_size = *ranks;
    if (!rank_.info.parallel_json.empty()) return;
    nlohmann::json parallel;
    parallel["mode"] = std::string(parts[parts.size() - 4]);
    parallel["stages"] = *stages;
    rank_.info.parallel_json = dump_json(parallel);
  }

  const DeviceFiles& files_;
  const ImportContext& context_;
  RankBuilder& rank_;
  DeviceTracks tracks_;
  OperatorInfos infos_;
  DisplayedTimeline timeline_;
  std::set<std::string> kept_tables_;
  int64_t records_ = 0;
};

std::string device_kind(const DeviceFiles& files) {
  for (const KnownFile& file : files.files) {
    if (file_name_of(file.path).starts_with("gpu_")) return "NVIDIA GPU";
  }
  for (const KnownFile& file : files.files) {
    const std::string_view name = file_name_of(file.path);
    if (!name.starts_with("cpu_") && !name.starts_with("minddata_")) return "Ascend NPU";
  }
  return "CPU";
}

}  // namespace

bool MindinsightImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  if (!is_mindinsight_folder(folder.files)) return false;
  const ProfilerFolder files = sort_profiler_files(folder.path, folder.files);
  for (const auto& [device, device_files] : files.devices) {
    Candidate candidate;
    candidate.importer = this;
    candidate.path = folder.path;
    candidate.unit =
        files.devices.size() == 1 ? folder.path : folder.path + "#device" + std::to_string(device);
    candidate.rank = device;
    // The number is a rank on Ascend in later versions, a device elsewhere.
    candidate.rank_inferred = device_files.of(kProfilerInfo).empty();
    candidate.richness = kRichness;
    candidate.bytes = bytes_of(device_files);
    found.push_back(candidate);
  }
  if (files.devices.empty()) return false;
  return std::ranges::none_of(folder.folders, [](const std::string& name) {
    return name.starts_with("PROF_") || name.ends_with("_ascend_ms") || name == "FRAMEWORK";
  });
}

bool MindinsightImporter::probe_file(const std::string& path, std::string_view,
                                     std::vector<Candidate>& found) const {
  const std::string folder = folder_of(path);
  return std::ranges::any_of(found, [&](const Candidate& candidate) {
    return candidate.importer == this && candidate.path == folder;
  });
}

Status MindinsightImporter::import(const Candidate& candidate, const ImportContext& context,
                                   RankBuilder& rank) const {
  const ProfilerFolder folder = list_profiler_folder(candidate.path);
  const DeviceFiles* files = folder.files_for(candidate.rank);
  if (files == nullptr) {
    return Error{
        ErrorCode::kNotFound, "cannot import", candidate.path,
        "there are no profiler files of device " + std::to_string(candidate.rank) + " any more",
        "check that the folder was not moved or cleaned up"};
  }
  rank.info.source_format = name();
  rank.info.source_path = candidate.path;
  rank.info.rank = candidate.rank;
  rank.info.rank_inferred = candidate.rank_inferred;
  rank.info.device_kind = device_kind(*files);
  const int64_t records =
      DeviceReader(*files, candidate.rank, context, rank).read(folder.shared, candidate.path);
  for (const std::string& path : folder.unknown) {
    rank.quality.add(QualityCode::kIgnoredFile, path);
    add_source(rank, path, "ignored", 0);
  }
  if (rank.info.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred,
                     "the number in the file names, " + std::to_string(rank.info.rank));
  }
  context.progress.add_done_bytes(candidate.bytes);
  if (context.progress.cancelled()) {
    return Error{ErrorCode::kCancelled, "import stopped", candidate.path, "cancelled", ""};
  }
  if (records > 0) return {};
  std::string why = "none of its files holds a readable record";
  for (const auto& [code, entry] : rank.quality.entries()) {
    if (!entry.example.empty()) why += "; " + entry.example;
  }
  return Error{ErrorCode::kBadInput, "cannot import", candidate.path, why,
               "profile again, or analyse the raw data again with the profiler that wrote it"};
}

}  // namespace stepscope
