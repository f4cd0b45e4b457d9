// The step of an event: the one the store gives it, or, where steps were inferred and the store
// has none, the one it starts in.
#ifndef STEPSCOPE_ANALYSES_STEPS_STEP_NUMBER_H_
#define STEPSCOPE_ANALYSES_STEPS_STEP_NUMBER_H_

#include <cstdint>
#include <span>

#include "analyses/steps/step_row.h"
#include "store/schema.h"

namespace stepscope {

class StepNumber {
 public:
  explicit StepNumber(std::span<const StepRow> steps)
      : steps_(steps),
        moments_(steps),
        inferred_(!steps.empty() && steps[0].source == "inferred") {}

  // kNull outside steps.
  int64_t of(int64_t stored_step, int64_t ts_ns) { return inferred_ ? at(ts_ns) : stored_step; }
  // The step that the moment lies in, whatever the store says.
  int64_t at(int64_t ts_ns) {
    const size_t found = moments_.find(ts_ns);
    return found == StepOfMoment::kNone ? kNull : steps_[found].step;
  }

 private:
  std::span<const StepRow> steps_;
  StepOfMoment moments_;
  bool inferred_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_STEP_NUMBER_H_
