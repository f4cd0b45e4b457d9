#include "importers/mindinsight/folder_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "base/decimal.h"
#include "importers/common/text_file.h"
#include "importers/discover.h"

namespace stepscope::mindinsight {
namespace {

using enum FileKind;

struct NumberedName {
  std::string_view prefix;
  std::string_view suffix;
  FileKind kind;
  std::string_view table;
};

constexpr NumberedName kNumbered[] = {
    {"step_trace_raw_", "_detail_time.csv", kStepTrace, "step_trace_raw"},
    {"step_trace_profiling_", ".txt", kGpuStepTrace, "step_trace_profiling"},
    {"step_trace_point_info_", ".json", kDocument, "step_trace_point_info"},
    {"framework_raw_", ".csv", kOperatorInfo, "framework_raw"},
    {"aicore_intermediate_", "_type.csv", kTable, "aicore_type"},
    {"aicore_intermediate_", "_detail.csv", kTable, "aicore_detail"},
    {"aicpu_intermediate_", ".csv", kAiCpu, "aicpu_intermediate"},
    {"pynative_op_intermediate_", "_type.csv", kTable, "pynative_op_type"},
    {"pynative_op_intermediate_", "_detail.csv", kTable, "pynative_op_detail"},
    {"flops_", ".txt", kTable, "flops"},
    {"flops_summary_", ".json", kDocument, "flops_summary"},
    {"flops_scope_", ".json", kDocument, "flops_scope"},
    {"flops_utilization_step_", ".json", kIgnored, "flops_utilization_step"},
    {"minddata_pipeline_raw_", ".csv", kTable, "minddata_pipeline_raw"},
    {"minddata_pipeline_summary_", ".json", kDocument, "minddata_pipeline_summary"},
    {"minddata_pipeline_summary_", ".csv", kIgnored, "minddata_pipeline_summary"},
    {"minddata_aicpu_", ".txt", kDequeue, "minddata_aicpu"},
    {"minddata_getnext_profiling_", ".txt", kDequeueGpu, "minddata_getnext_profiling"},
    {"ascend_timeline_display_", ".json", kTimelineDisplay, "ascend_timeline_display"},
    {"gpu_timeline_display_", ".json", kTimelineDisplay, "gpu_timeline_display"},
    {"cpu_timeline_display_", ".json", kTimelineDisplay, "cpu_timeline_display"},
    {"timeline_display_", ".json", kTimelineDisplay, "timeline_display"},
    {"ascend_timeline_summary_", ".json", kDocument, "timeline_summary"},
    {"gpu_timeline_summary_", ".json", kDocument, "gpu_timeline_summary"},
    {"cpu_timeline_summary_", ".json", kDocument, "cpu_timeline_summary"},
    {"timeline_summary_", ".json", kDocument, "timeline_summary"},
    {"dynamic_shape_info_", ".json", kDocument, "dynamic_shape_info"},
    {"memory_usage_summary_", ".json", kDocument, "memory_usage_summary"},
    {"memory_usage_details_", ".json", kDocument, "memory_usage_details"},
    {"memory_usage_", ".pb", kMemoryUsage, "memory_usage"},
    {"operator_memory_", ".csv", kTable, "operator_memory"},
    {"hccl_raw_", ".csv", kTable, "hccl_raw"},
    {"parallel_strategy_", ".json", kParallelStrategy, "parallel_strategy"},
    {"profiler_info_", ".json", kProfilerInfo, "profiler_info"},
    {"gpu_op_type_info_", ".csv", kTable, "gpu_op_type_info"},
    {"gpu_op_detail_info_", ".csv", kTable, "gpu_op_detail_info"},
    {"gpu_activity_data_", ".csv", kTable, "gpu_activity_data"},
    {"cpu_op_type_info_", ".csv", kTable, "cpu_op_type_info"},
    {"cpu_op_detail_info_", ".csv", kTable, "cpu_op_detail_info"},
    {"cpu_op_execute_timestamp_", ".txt", kCpuOperators, "cpu_op_execute_timestamp"},
    {"gpu_op_execute_timestamp_", ".txt", kGpuOperators, "gpu_op_execute_timestamp"},
    {"activity_execute_timestamp_", ".txt", kGpuActivities, "activity_execute_timestamp"},
    {"gpu_framework_", ".txt", kIgnored, "gpu_framework"},
    {"cpu_framework_", ".txt", kIgnored, "cpu_framework"},
    {"start_time_", ".txt", kIgnored, "start_time"},
    {"output_timeline_data_", ".txt", kTimelineData, "output_timeline_data"},
    {"output_op_compute_time_", ".txt", kComputeTimes, "op_compute_time"},
    {"output_op_compute_time_detail_", ".txt", kIgnored, "op_compute_time_detail"},
    {"output_data_preprocess_aicpu_", ".txt", kAiCpuText, "aicpu_text"},
    {"output_format_data_hwts_", ".txt", kIgnored, "format_data_hwts"},
    {"min_cycle_counter_", ".txt", kFirstCycle, "min_cycle_counter"},
};

struct SlicedName {
  std::string_view prefix;
  std::string_view part;  // somewhere after the prefix
  FileKind kind;
  std::string_view table;
};
constexpr SlicedName kSliced[] = {
    {"training_trace.", "", kJobStepTrace, "training_trace"},
    {"ts_track.data", "", kJobTsTrack, "ts_track"},
    {"hwts.", "", kJobTaskTrack, "hwts"},
    {"Framework.host", "task_desc_info", kJobTasks, "task_desc_info"},
    {"Framework.host", "graph_desc_info", kJobGraph, "graph_desc_info"},
    {"Framework.host", ".point.", kJobPoints, "points"},
    {"Framework.hash_dic.", "", kFrameworkHashes, "framework_hashes"},
    {"Framework.task_desc_info.", "", kFrameworkTasks, "framework_tasks"},
    {"Framework.step_info.", "", kFrameworkSteps, "framework_steps"},
    {"Framework.tensor_data_info.", "", kFrameworkTensors, "framework_tensors"},
    {"Framework.", "", kNotUnderstood, "framework"},
    {"DATA_PREPROCESS.dev.AICPUMI", "", kJobDequeue, "aicpu_dequeue"},
    {"DATA_PREPROCESS.dev.AICPU", "", kJobAiCpu, "aicpu_raw"},
    {"aicore.data.", "", kJobCounters, "aicore_counters"},
};

// "name.N.slice_S": the device and the slice.
std::optional<std::pair<int64_t, int64_t>> sliced_numbers(std::string_view name) {
  const size_t slice_at = name.rfind(".slice_");
  if (slice_at == std::string_view::npos || slice_at == 0) return std::nullopt;
  const size_t device_at = name.rfind('.', slice_at - 1);
  if (device_at == std::string_view::npos) return std::nullopt;
  const auto slice = number_in_name(name.substr(slice_at), ".slice_", "");
  const auto device = number_in_name(name.substr(device_at + 1, slice_at - device_at - 1), "", "");
  if (!slice || !device) return std::nullopt;
  return std::pair(*device, *slice);
}

// The rank is the last number of the name, behind mode, stages and ranks.
std::optional<int64_t> cluster_rank(std::string_view name) {
  if (name.find("_cluster_analyse_") == std::string_view::npos || !name.ends_with(".csv")) {
    return std::nullopt;
  }
  const size_t at = name.rfind('_');
  return number_in_name(name.substr(at + 1), "", ".csv");
}

}  // namespace

std::vector<const KnownFile*> DeviceFiles::of(FileKind kind) const {
  std::vector<const KnownFile*> found;
  for (const KnownFile& file : files) {
    if (file.kind == kind) found.push_back(&file);
  }
  return found;
}

bool DeviceFiles::any() const {
  return minddata.any() || std::ranges::any_of(files, [](const KnownFile& file) {
           return file.kind != kIgnored && file.kind != kNotUnderstood &&
                  file.kind != kProfilerInfo && file.kind != kFirstCycle;
         });
}

const DeviceFiles* ProfilerFolder::files_for(int64_t device) const {
  const auto found = devices.find(device);
  if (found != devices.end()) return &found->second;
  return devices.size() == 1 ? &devices.begin()->second : nullptr;
}

ProfilerFolder sort_profiler_files(const std::string& folder,
                                   const std::vector<std::string>& names) {
  ProfilerFolder sorted;
  std::vector<std::tuple<int64_t, int64_t, KnownFile>> slices;  // device, slice
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (name.ends_with(".done") || name.ends_with(".complete")) continue;  // empty markers
    if (const auto device = minddata_rank(name)) {
      sorted.devices[*device].minddata.take(name, path);
      continue;
    }
    if (const auto rank = cluster_rank(name)) {
      sorted.devices[*rank].files.push_back({kClusterTable, path, "cluster_analyse"});
      continue;
    }
    if (name == "step_trace_point_info.json") {
      sorted.shared.push_back({kDocument, path, "step_trace_point_info"});
      continue;
    }
    bool known = false;
    for (const NumberedName& entry : kNumbered) {
      const auto device = number_in_name(name, entry.prefix, entry.suffix);
      if (!device) continue;
      sorted.devices[*device].files.push_back({entry.kind, path, std::string(entry.table)});
      known = true;
      break;
    }
    if (known) continue;
    if (const auto numbers = sliced_numbers(name)) {
      for (const SlicedName& entry : kSliced) {
        if (!name.starts_with(entry.prefix) ||
            name.find(entry.part, entry.prefix.size()) == std::string::npos) {
          continue;
        }
        slices.emplace_back(numbers->first, numbers->second,
                            KnownFile{entry.kind, path, std::string(entry.table)});
        known = true;
        break;
      }
    }
    if (!known) sorted.unknown.push_back(path);
  }
  std::ranges::stable_sort(slices, {}, [](const auto& slice) {
    return std::pair(std::get<0>(slice), std::get<1>(slice));
  });
  for (auto& [device, number, file] : slices) sorted.devices[device].files.push_back(file);
  std::erase_if(sorted.devices, [](const auto& entry) { return !entry.second.any(); });
  return sorted;
}

ProfilerFolder list_profiler_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code kind_error;
    const std::string name = at->path().filename().string();
    if (at->is_regular_file(kind_error) && !is_own_store(name)) names.push_back(name);
  }
  std::ranges::sort(names);
  return sort_profiler_files(folder, names);
}

}  // namespace stepscope::mindinsight
