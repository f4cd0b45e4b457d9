#include "importers/mindinsight/device_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/decimal.h"
#include "importers/common/ascend_recording.h"
#include "importers/common/checked_math.h"
#include "importers/common/csv_reader.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindinsight/framework_files.h"
#include "importers/mindinsight/hccl_trace.h"
#include "importers/mindinsight/job_files.h"
#include "importers/mindinsight/memory_usage.h"
#include "importers/mindinsight/operator_files.h"
#include "importers/mindinsight/step_trace.h"
#include "importers/mindinsight/timeline.h"
#include "json/json_tree.h"

namespace stepscope::mindinsight {
namespace {

using enum FileKind;

std::vector<std::string> paths_of(const DeviceFiles& files, FileKind kind) {
  std::vector<std::string> paths;
  for (const KnownFile* file : files.of(kind)) paths.push_back(file->path);
  return paths;
}

class DeviceReader {
 public:
  DeviceReader(const ProfilerFolder& all, const DeviceFiles& files, int64_t device,
               const ImportContext& context, RankBuilder& rank)
      : all_(all), files_(files), context_(context), rank_(rank), tracks_(device, rank) {}

  // Number of records and tables that were read.
  int64_t read(const std::string& folder) {
    for (const KnownFile* file : files_.of(kOperatorInfo)) infos_.read(file->path, rank_);
    read_framework();
    read_timeline();  // the first with times: it shifts every time in the builder
    read_steps();
    read_executions();
    read_job();
    read_transfers(folder);
    for (const KnownFile* file : files_.of(kMemoryUsage)) {
      records_ += read_memory_usage(file->path, tracks_.device(), rank_);
    }
    const auto offset_ns = find_clock_offset_ns(folder);
    records_ += read_minddata({&files_.minddata, 1}, offset_ns, MinddataCpu::kAll, rank_);
    if (files_.minddata.pipeline.empty()) read_queues_of_tables();
    for (const KnownFile& file : files_.files) keep(file);
    read_advice(folder);
    for (const KnownFile& file : all_.shared) {
      if (!kept_tables_.contains(file.table)) keep(file);  // the numbered variant wins
    }
    return records_;
  }

 private:
  // msadvisor/device_N/recommendation/*.json
  void read_advice(const std::string& folder) {
    const std::string place =
        folder + "/msadvisor/device_" + std::to_string(tracks_.device()) + "/recommendation";
    std::vector<std::string> names = list_folder(place).files;
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".json"); });
    for (const std::string& name : names) {
      const KnownFile file{kDocument, place + "/" + name, "msadvisor"};
      if (name == names.back())
        keep(file);
      else
        ignore(file, "there is a later one");
    }
  }

  void read_framework() {
    const FrameworkPaths paths = {
        paths_of(files_, kFrameworkHashes), paths_of(files_, kFrameworkTasks),
        paths_of(files_, kFrameworkSteps), paths_of(files_, kFrameworkTensors)};
    records_ += read_framework_files(paths, task_names_, infos_, rank_);
  }

  void read_transfers(const std::string& folder) {
    std::set<int64_t> devices;
    for (const auto& [device, files] : all_.devices) devices.insert(device);
    records_ += read_hccl_traces(folder, {tracks_.device(), devices, steps_}, rank_);
  }

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
    std::vector<StepTraceRow>& rows = steps_;
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
    for (const KnownFile* file : files_.of(kJobTasks)) {
      records_ += read_job_tasks(file->path, task_names_, rank_);
    }
    records_ += keep_job_graph(paths_of(files_, kJobGraph), rank_);
    for (const KnownFile* file : files_.of(kJobPoints)) {
      records_ += keep_job_points(file->path, rank_);
    }
    if (const auto paths = paths_of(files_, kJobTaskTrack); !paths.empty()) {
      records_ += read_job_task_track(paths, task_names_, infos_, tracks_, rank_);
    }
    for (const KnownFile* file : files_.of(kJobAiCpu)) {
      records_ += read_job_aicpu(file->path, infos_, tracks_, rank_);
    }
    for (const KnownFile* file : files_.of(kJobDequeue)) {
      records_ += read_job_dequeue(file->path, rank_);
    }
    for (const KnownFile* file : files_.of(kJobCounters)) {
      records_ += keep_aicore_counters(file->path, task_names_, rank_);
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
      const size_t workers = csv->column({"num_workers"});
      const size_t parent = csv->column({"parent_id"});
      std::map<int64_t, StringId> names;
      std::vector<std::pair<StageRecord, int64_t>> stages;  // with the number of the parent
      while (csv->next(ignored)) {
        StageRecord stage;
        stage.stage =
            rank_.strings.intern(std::string(csv->cell(type)) + "_" + std::string(csv->cell(id)));
        stage.kind = rank_.strings.intern(csv->cell(type));
        stage.workers = csv->integer(workers, ignored);
        stage.capacity = csv->integer(length, ignored);
        names[csv->integer(id, ignored)] = stage.stage;
        stages.emplace_back(stage, csv->integer(parent, ignored));
        const auto text = csv->value(sizes);
        if (!text) continue;
        const auto list = parse_json(*text, file.path);
        if (!list || !list->is_array()) {
          rank_.quality.add(QualityCode::kUnparsableEvent,
                            file.path + " line " + std::to_string(csv->line()));
          continue;
        }
        QueueRecord record;
        record.stage = stage.stage;
        record.capacity = stage.capacity;
        const int64_t step_ns = csv->scaled(interval, 6, ignored);
        for (const auto& size : *list) {
          record.size = json_integer(size);
          rank_.queues.push_back(record);
          record.ts_ns = std::max<int64_t>(0, plus_or_null(record.ts_ns, step_ns));
        }
        rank_.quality.add(QualityCode::kClockCoarse,
                          file.path + ": samples at the nominal interval, from 0");
      }
      for (auto& [stage, taker] : stages) {
        if (const auto known = names.find(taker); known != names.end())
          stage.consumer = known->second;
        rank_.stages.push_back(stage);
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
      case kNotUnderstood:
        rank_.quality.add(QualityCode::kNotUnderstood, file.path);
        return add_source(rank_, file.path, "ignored", 0);
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
    rank_.info.versions_json = write_json(*tree);
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
    if (config.is_object()) rank_.info.parallel_json = write_json(config);
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
    rank_.info.parallel_json = write_json(parallel);
  }

  const ProfilerFolder& all_;
  const DeviceFiles& files_;
  const ImportContext& context_;
  RankBuilder& rank_;
  DeviceTracks tracks_;
  OperatorInfos infos_;
  TaskNames task_names_;
  std::vector<StepTraceRow> steps_;
  DisplayedTimeline timeline_;
  std::set<std::string> kept_tables_;
  int64_t records_ = 0;
};

}  // namespace

int64_t read_device(const ProfilerFolder& folder, const DeviceFiles& files,
                    const Candidate& candidate, const ImportContext& context, RankBuilder& rank) {
  return DeviceReader(folder, files, candidate.rank, context, rank).read(candidate.path);
}

}  // namespace stepscope::mindinsight
