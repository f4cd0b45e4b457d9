// Writes ASCEND_PROFILER_OUTPUT for runs: what MindSpore's profiler calls analyse and
// offline_analyse.
#ifndef STEPSCOPE_API_ANALYSE_H_
#define STEPSCOPE_API_ANALYSE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

struct AnalyseOptions {
  // "": into the folder of each rank's run, which must be one and may not be read from
  // ASCEND_PROFILER_OUTPUT itself. Else
  // OUTPUT/ASCEND_PROFILER_OUTPUT, or OUTPUT/rank<r>[_window<w>]/... when there are several ranks.
  std::string output;
  std::vector<int64_t> steps;  // empty: all
  // `steps` count from 1, the first step of each rank, as MindSpore's step_list does.
  bool steps_from_first = false;
  bool pretty = false;
  // Removes what CANN's own tools left in PROF_*/ and can make again. What the run is read from
  // stays.
  bool simplify = false;
  unsigned jobs = 0;  // ranks at once; 0 = all CPUs
};

struct AnalysedRank {
  int64_t rank = 0;
  int64_t window = 0;
  std::string folder;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, std::string>> omitted;  // name and why
  std::string error;                                         // "" when it went well
};

// How much is done, besides the bytes of Progress.
struct AnalyseProgress {
  size_t done = 0;  // ranks
  size_t all = 0;
};

// Every path is a run, or a folder of the runs of a job. `done` is called for each rank, from any
// thread but one at a time. Fails when a path cannot be read at all or the work was cancelled; a
// rank that fails is among the results, and the others are complete.
Result<std::vector<AnalysedRank>> analyse_runs(
    const std::vector<std::string>& paths, const AnalyseOptions& options, Progress& progress,
    const std::function<void(const AnalysedRank&, const AnalyseProgress&)>& done = {});

}  // namespace stepscope

#endif  // STEPSCOPE_API_ANALYSE_H_
