// What `stepscope record` finds when the program has ended: runs, and what their raw files say.
#ifndef STEPSCOPE_CLI_RECORDED_RUN_H_
#define STEPSCOPE_CLI_RECORDED_RUN_H_

#include <cstdint>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace stepscope {

struct RecordedRun {
  std::string path;
  uint64_t bytes = 0;
  nlohmann::json recording;    // how it began: rank, host, bounds
  nlohmann::json end;          // its figures; null where the program was killed
  std::string device;          // name of the first one; empty: none was recorded
  std::string device_kind;     // GPU or NPU
  std::string without_device;  // why there is none
  bool has_profiler = false;   // one of the program joined it
};

// The folders of runs in a folder.
std::set<std::string> runs_in(const std::string& output);

// Reads all notes of a run's raw file, so its cost is that of reading the file once.
Result<RecordedRun> read_recorded_run(const std::string& path);

// "12,345 events in 3.2 s, 1.2 MB, 0.4 % of a core to write them, NVIDIA H200", or why there is no
// device in it.
std::string describe(const RecordedRun& run);

// Writes profiler_info_<rank>.json, as profilers of a program do; where one has, nothing.
Status write_profiler_info(const RecordedRun& run);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_RECORDED_RUN_H_
