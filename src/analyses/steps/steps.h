// The steps of a rank: as marked or given by the input, else inferred; with the device work that
// each launched.
#ifndef STEPSCOPE_ANALYSES_STEPS_STEPS_H_
#define STEPSCOPE_ANALYSES_STEPS_STEPS_H_

#include <span>
#include <string>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

struct RankSteps {
  std::vector<StepRow> rows;  // by start
  std::string why;            // what is missing or was inferred; empty when there is nothing to say
};

// A step that is marked more than once at the same time is one, as long as the longest mark.
//
// A step with device work ends with that work: it starts at its mark or where the work of the step
// before ends, whichever is later. The first one starts after work that was launched before it. At
// the end of a recording steps that launched nothing, while others did, are not complete.
// Costs one pass over the kernels, and over the operators when nothing is marked.
RankSteps rank_steps(const StoreReader& store, const RankId& rank);

// What of the program's loop no step has: the steps that averages are made of, and the time before
// each of them. Only as much as is worth telling, else nothing: 2 % of the time.
struct TimeBetweenSteps {
  int64_t count = 0;  // of steps
  int64_t between_ns = 0;
  int64_t steps_ns = 0;

  double mean_ns() const { return static_cast<double>(between_ns) / static_cast<double>(count); }
  double share() const {
    return static_cast<double>(between_ns) /
           (static_cast<double>(between_ns) + static_cast<double>(steps_ns));
  }
};
TimeBetweenSteps time_between_steps(std::span<const StepRow> steps);

// The steps that averages are made of: complete ones, without the first where there are others (it
// is slower: allocation, compilation, caches).
std::vector<size_t> steps_to_average(std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_STEPS_H_
