// Binary raw files of MindSpore 1.6 and later on Ascend: what the framework says about the tasks it
// gave to the device (Framework.TYPE.N.slice_S), and the hardware counters of AI Core tasks
// (aicore.data.N.slice_S). They hold no times on the device's clock, so they become source tables;
// names and shapes also describe the kernels of other files.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_FRAMEWORK_FILES_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_FRAMEWORK_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "importers/mindinsight/job_files.h"
#include "importers/mindinsight/operator_files.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

struct FrameworkPaths {
  std::vector<std::string> hashes;   // hash_dic: text, names by hash
  std::vector<std::string> tasks;    // task_desc_info: operator, stream and task
  std::vector<std::string> steps;    // step_info: which task marks what
  std::vector<std::string> tensors;  // tensor_data_info: shapes of a task's inputs and outputs
};

// Fills `names` and `infos`. Returns the number of records.
int64_t read_framework_files(const FrameworkPaths& paths, TaskNames& names, OperatorInfos& infos,
                             RankBuilder& rank);

// Eight counters a task; which event each one counts depends on the profiler's aic_metrics setting,
// which is not in the file. Returns the number of records.
int64_t keep_aicore_counters(const std::string& path, const TaskNames& names, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_FRAMEWORK_FILES_H_
