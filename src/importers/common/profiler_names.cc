#include "importers/common/profiler_names.h"

#include <algorithm>
#include <string_view>

namespace stepscope {
namespace {

// Written only for or by MindInsight's analysers, or by the Ascend profiler of their time.
constexpr std::string_view kStrong[] = {
    "step_trace_raw_",
    "step_trace_profiling_",
    "aicore_intermediate_",
    "aicpu_intermediate_",
    "framework_raw_",
    "pynative_op_intermediate_",
    "flops_",
    "output_timeline_data_",
    "output_op_compute_time_",
    "output_data_preprocess_aicpu_",
    "output_format_data_hwts_",
    "ascend_timeline_",
    "gpu_timeline_",
    "cpu_timeline_",
    "timeline_display_",
    "ascend_cluster_analyse_",
    "gpu_cluster_analyse_",
    "hccl_raw_",
    "gpu_op_detail_info_",
    "gpu_op_type_info_",
    "gpu_activity_data_",
    "gpu_op_execute_timestamp_",
    "activity_execute_timestamp_",
    "minddata_aicpu_",
    "minddata_getnext_profiling_",
    "dynamic_shape_info_",
    "memory_usage_",
    "training_trace.",
    "ts_track.data",
    "hwts.",
    "aicore.data.",
    "Framework.",
    "DATA_PREPROCESS.",
};
// Also among the files of today's recordings, so they count only when nothing of those is there.
constexpr std::string_view kWeak[] = {"parallel_strategy_", "minddata_pipeline_raw_",
                                      "minddata_pipeline_summary_"};
constexpr std::string_view kToday[] = {"trace_view.json", "kernel_details.csv", "mindspore.",
                                       "cpu_op_execute_timestamp_", "op_range_"};

template <size_t N>
bool any_starts_with(const std::vector<std::string>& names, const std::string_view (&prefixes)[N]) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return std::ranges::any_of(prefixes,
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
  });
}

}  // namespace

bool is_mindinsight_folder(const std::vector<std::string>& file_names) {
  if (any_starts_with(file_names, kStrong)) return true;
  return any_starts_with(file_names, kWeak) && !any_starts_with(file_names, kToday);
}

}  // namespace stepscope
