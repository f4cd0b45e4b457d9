// The files of a MindInsight-era profiler folder, told by name, and the device each belongs to.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_FOLDER_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_FOLDER_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/minddata.h"
#include "store/schema.h"

namespace stepscope::mindinsight {

enum class FileKind : uint8_t {
  kTable,             // a CSV that is kept as it is
  kDocument,          // a JSON file that is kept as it is
  kStepTrace,         // step_trace_raw_N_detail_time.csv
  kGpuStepTrace,      // step_trace_profiling_N.txt
  kOperatorInfo,      // framework_raw_N.csv
  kAiCpu,             // aicpu_intermediate_N.csv
  kClusterTable,      // ascend_cluster_analyse_MODE_STAGES_RANKS_RANK.csv
  kTimelineData,      // output_timeline_data_N.txt
  kTimelineDisplay,   // *timeline_display_N.json
  kFirstCycle,        // min_cycle_counter_N.txt
  kComputeTimes,      // output_op_compute_time_N.txt
  kAiCpuText,         // output_data_preprocess_aicpu_N.txt
  kDequeue,           // minddata_aicpu_N.txt: times in us
  kDequeueGpu,        // minddata_getnext_profiling_N.txt: times in ns
  kCpuOperators,      // cpu_op_execute_timestamp_N.txt
  kGpuOperators,      // gpu_op_execute_timestamp_N.txt
  kGpuActivities,     // activity_execute_timestamp_N.txt
  kProfilerInfo,      // profiler_info_N.json
  kParallelStrategy,  // parallel_strategy_N.json
  kJobStepTrace,      // training_trace.*.N.slice_n: raw, binary
  kJobTsTrack,        // ts_track.data.N.slice_n: raw, binary
  kJobTaskTrack,      // hwts.*.N.slice_n: raw, binary
  kJobTasks,          // Framework.*task_desc_info.N.slice_n: raw text
  kJobGraph,          // Framework.*graph_desc_info.N.slice_n: raw text
  kJobPoints,         // Framework.*point.N.slice_n: raw text
  kJobAiCpu,          // DATA_PREPROCESS.dev.AICPU.N.slice_n: raw text or binary
  kJobDequeue,        // DATA_PREPROCESS.dev.AICPUMI.N.slice_n: raw text
  kJobCounters,       // aicore.data.N.slice_n: raw, binary
  kFrameworkHashes,   // Framework.hash_dic.N.slice_n: text
  kFrameworkTasks,    // Framework.task_desc_info.N.slice_n: raw, binary
  kFrameworkSteps,    // Framework.step_info.N.slice_n: raw, binary
  kFrameworkTensors,  // Framework.tensor_data_info.N.slice_n: raw, binary
  kMemoryUsage,       // memory_usage_N.pb
  kNotUnderstood,     // raw, of a form that nobody has described
  kIgnored,           // known; derived from others or not needed
};

struct KnownFile {
  FileKind kind = FileKind::kIgnored;
  std::string path;
  std::string table;  // name of the source table, or what the file is
};

struct DeviceFiles {
  std::vector<KnownFile> files;  // in order of name, slices in order of number
  MinddataFiles minddata;

  std::vector<const KnownFile*> of(FileKind kind) const;
  // Any file that can give a record or a table.
  bool any() const;
};

struct ProfilerFolder {
  std::map<int64_t, DeviceFiles> devices;  // by the number in the names
  // Without a number (step_trace_point_info.json): for every device.
  std::vector<KnownFile> shared;
  std::vector<std::string> unknown;

  const DeviceFiles* files_for(int64_t device) const;
};

ProfilerFolder sort_profiler_files(const std::string& folder,
                                   const std::vector<std::string>& names);
ProfilerFolder list_profiler_folder(const std::string& folder);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_FOLDER_FILES_H_
