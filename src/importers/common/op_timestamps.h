// cpu_op_execute_timestamp_R.txt and gpu_op_execute_timestamp_R.txt: every operator execution that
// MindSpore's own profiler saw, one line per operator name:
//   name;HostCpuOps;start,dur,tid start,dur,tid ...
// Start is CLOCK_REALTIME ns; the duration is decimal milliseconds (CPU) or microseconds (GPU) with
// six significant digits, read exactly. The thread id is optional and always 0 so far.
#ifndef STEPSCOPE_IMPORTERS_COMMON_OP_TIMESTAMPS_H_
#define STEPSCOPE_IMPORTERS_COMMON_OP_TIMESTAMPS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rank_builder.h"

namespace stepscope {

struct OpExecution {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  StringId name = kEmptyString;
  StringId kind = kEmptyString;  // HostCpuOps, GpuOps
  int64_t thread = 0;
};

// In order of their start. Lines and entries that cannot be read are counted. `unit_digits`: 6 for
// milliseconds, 3 for microseconds.
Result<std::vector<OpExecution>> read_op_timestamps(const std::string& path, int unit_digits,
                                                    RankBuilder& rank);

// "Default/net/c1-Conv2d/Conv2D-op0": last component "Conv2D-op0", type "Conv2D", module
// "Default/net/c1-Conv2d".
std::string_view op_short_name(std::string_view full_name);
std::string_view op_type_of(std::string_view full_name);
std::string_view op_module_of(std::string_view full_name);

// The collective an operator type stands for ("AllReduce"), "" for computation.
std::string_view collective_of(std::string_view op_type);

// One track per thread under `process`, one operator slice per execution; input_shapes has one id
// per execution or is empty.
void add_op_slices(const std::vector<OpExecution>& executions,
                   const std::vector<StringId>& input_shapes, std::string_view process,
                   RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_OP_TIMESTAMPS_H_
