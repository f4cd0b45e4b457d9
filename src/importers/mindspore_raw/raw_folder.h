// What MindSpore's raw files are called, where they lie, and which rank each belongs to.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RAW_FOLDER_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RAW_FOLDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/minddata.h"
#include "store/schema.h"

namespace stepscope::mindspore_raw {

// Paths of one rank's files in one folder; empty where there is none.
struct RankFiles {
  std::string op_timestamps;                   // cpu_op_execute_timestamp_R.txt
  std::string op_inputs;                       // cpu_framework_R.txt
  std::string op_details;                      // cpu_op_detail_info_R.csv
  std::string op_types;                        // cpu_op_type_info_R.csv
  std::string memory;                          // cpu_ms_memory_record_R.txt
  std::string op_range;                        // mindspore.op_range, op_range_R (binary, Ascend)
  std::string memory_usage;                    // mindspore.memory_usage (binary, Ascend)
  std::string record_shapes;                   // mindspore.record_shapes (binary, Ascend)
  std::string python_stack;                    // mindspore.py_stack (binary, Ascend)
  std::string parallel_strategy;               // parallel_strategy_R.json
  std::vector<std::string> runtime_details;    // RuntimeProfilerDetail<ns>.csv, in time order
  std::vector<std::string> runtime_summaries;  // RuntimeProfilerSummary<ns>.csv
  std::vector<std::string> ignored;            // known, but a poorer form of another file
  MinddataFiles minddata;

  bool has_cpu_operators() const { return !op_timestamps.empty(); }
  bool has_binary() const {
    return !op_range.empty() || !memory_usage.empty() || !record_shapes.empty();
  }
  bool any() const;
  uint64_t bytes() const;
};

struct RawFolder {
  // By the rank number in the names; files without one are under kNull, unless only one rank is
  // there.
  std::map<int64_t, RankFiles> ranks;
  std::vector<std::string> unknown;  // files of none of the kinds

  bool any() const { return !ranks.empty(); }
  // The files to read for a candidate of rank `rank`.
  const RankFiles* files_for(int64_t rank) const;
};

// Sorts the file names of a folder.
RawFolder sort_files(const std::string& folder, const std::vector<std::string>& names);
// Same, listing the folder; empty when it cannot be read.
RawFolder list_raw_folder(const std::string& folder);

// "<host>_<pid>_<17 digits>_ascend_ms": what the name of a recording window's folder tells.
struct WindowName {
  std::string host;
  int64_t pid = kNull;
  int64_t start_ns = kNull;  // UTC, to the millisecond
};
std::optional<WindowName> parse_window_name(std::string_view folder_name);

}  // namespace stepscope::mindspore_raw

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_RAW_FOLDER_H_
