// The runs that an entry of the served folder is, or holds.
#ifndef STEPSCOPE_SERVER_FIND_RUNS_H_
#define STEPSCOPE_SERVER_FIND_RUNS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

struct FoundRun {
  std::string path;
  uint64_t bytes = 0;
  std::vector<std::string> more_paths = {};  // of other ranks of the same window
  std::string window = {};                   // of dynamic profiling: start5_stop7
};

// One that no importer knows is none. A folder with the ranks of a job is one run, one with several
// jobs is gone into; windows of dynamic profiling are one run each, with the ranks they have.
std::vector<FoundRun> find_runs(const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_FIND_RUNS_H_
