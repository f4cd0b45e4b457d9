// The steps of a rank: as marked or given by the input, else inferred; with the device work that
// each launched.
#ifndef STEPSCOPE_ANALYSES_STEPS_STEPS_H_
#define STEPSCOPE_ANALYSES_STEPS_STEPS_H_

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

// A step with device work ends with that work: it starts at its mark or where the work of the step
// before ends, whichever is later. The first one starts after work that was launched before it. At
// the end of a recording steps that launched nothing, while others did, are not complete.
// Costs one pass over the kernels, and over the operators when nothing is marked.
RankSteps rank_steps(const StoreReader& store, const RankId& rank);

// The steps that averages are made of: complete ones, without the first where there are others (it
// is slower: allocation, compilation, caches).
std::vector<size_t> steps_to_average(std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_STEPS_H_
