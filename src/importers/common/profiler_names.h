// Which folders MindInsight's analysers read: told by the names that only they know.
#ifndef STEPSCOPE_IMPORTERS_COMMON_PROFILER_NAMES_H_
#define STEPSCOPE_IMPORTERS_COMMON_PROFILER_NAMES_H_

#include <string>
#include <vector>

namespace stepscope {

// Whether a folder with these files is a profiler folder of MindInsight's time (intermediate files
// of its analysis, or the raw files of the Ascend profiler of that time), and not just raw files
// that MindSpore still writes today under the same names (pipeline_profiling_R.json,
// cpu_op_execute_timestamp_R.txt ...).
bool is_mindinsight_folder(const std::vector<std::string>& file_names);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_PROFILER_NAMES_H_
