// The runs that an entry of the served folder is, or holds.
#ifndef STEPSCOPE_SERVER_FIND_RUNS_H_
#define STEPSCOPE_SERVER_FIND_RUNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

struct FoundRun {
  std::string path;
  uint64_t bytes = 0;
  std::vector<std::string> more_paths = {};  // of other ranks
  std::string name = {};  // of several paths: start5_stop7 of dynamic profiling, rank*.json
};

// Entries of a folder that may be the ranks of one job by their names: these differ in numbers, or
// in what profilers put in front (host, process, time). Each in order of name.
std::vector<std::vector<std::string>> siblings(std::vector<std::string> paths);

// Such entries as one run: the ranks of a window of dynamic profiling, or entries that say which
// rank each is, no two the same. nullopt: they are not.
std::optional<FoundRun> find_ranks(const std::vector<std::string>& paths);

// An entry by itself; one that no importer knows is none. A folder with the ranks of a job is one
// run, one with several jobs is gone into.
std::vector<FoundRun> find_runs(const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_FIND_RUNS_H_
