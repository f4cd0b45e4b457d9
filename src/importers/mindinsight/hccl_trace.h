// hccl_info/OPERATION/iterK.trace: the transfers of one collective operation in one iteration, as
// Chrome events, one small file each.
//
// Read event by event with exact times. The Chrome importer is not used here: it would make lanes
// and a source of arguments for each of thousands of files.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_HCCL_TRACE_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_HCCL_TRACE_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "importers/mindinsight/step_trace.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

// The folders directly in `folder` that hold such files: hccl_info and hccl_info_N.
std::vector<std::string> find_hccl_folders(const std::string& folder);
// Whether a file lies in such a folder of `folder`, at any depth.
bool is_in_hccl_folder(std::string_view path, std::string_view folder);

struct HcclScope {
  int64_t device = 0;
  const std::set<int64_t>& devices;  // that have files in the profiler folder
  const std::vector<StepTraceRow>& steps;
};

// Adds transfers as communications of level "task", on a lane for each thread of the file. They
// belong to the step trace's reduce event around them; where there is none, to an operation as long
// as its transfers, which is added. Files of other devices are left to those. Returns the number of
// transfers.
int64_t read_hccl_traces(const std::string& profiler_folder, const HcclScope& scope,
                         RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_HCCL_TRACE_H_
