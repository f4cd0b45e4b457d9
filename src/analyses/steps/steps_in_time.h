// The steps of a rank, marked or inferred, to find the one that a moment lies in.
#ifndef STEPSCOPE_ANALYSES_STEPS_STEPS_IN_TIME_H_
#define STEPSCOPE_ANALYSES_STEPS_STEPS_IN_TIME_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/steps/step_row.h"

namespace stepscope {

struct StepTime {
  int64_t step = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool complete = true;
};

class StepsInTime {
 public:
  StepsInTime() = default;
  explicit StepsInTime(std::span<const StepRow> steps);

  const std::vector<StepTime>& all() const { return steps_; }
  bool empty() const { return steps_.empty(); }
  // Position of the step that the moment lies in (its end does not), kNone when it lies in none.
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t at(int64_t ts_ns) const;
  // Number of that step, kNull when it lies in none.
  int64_t number_at(int64_t ts_ns) const;
  // Whether the moment lies between the first start and the last end.
  bool spans(int64_t ts_ns) const;

 private:
  std::vector<StepTime> steps_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEPS_STEPS_IN_TIME_H_
