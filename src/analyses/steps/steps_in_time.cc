#include "analyses/steps/steps_in_time.h"

#include <algorithm>

namespace stepscope {

StepsInTime::StepsInTime(std::span<const StepRow> steps) {
  steps_.reserve(steps.size());
  for (const StepRow& step : steps)
    steps_.push_back({step.step, step.start_ns, step.end_ns(), step.complete});
  // An inferred one ends where the next begins, the last with its last operator: too early.
  if (!steps.empty() && steps.back().source == "inferred") steps_.back().complete = false;
}

size_t StepsInTime::at(int64_t ts_ns) const {
  auto after = std::upper_bound(
      steps_.begin(), steps_.end(), ts_ns,
      [](int64_t moment_ns, const StepTime& step) { return moment_ns < step.start_ns; });
  if (after == steps_.begin()) return kNone;
  --after;
  return ts_ns < after->end_ns ? static_cast<size_t>(after - steps_.begin()) : kNone;
}

int64_t StepsInTime::number_at(int64_t ts_ns) const {
  const size_t position = at(ts_ns);
  return position == kNone ? kNull : steps_[position].step;
}

bool StepsInTime::spans(int64_t ts_ns) const {
  return !steps_.empty() && ts_ns >= steps_.front().start_ns && ts_ns <= steps_.back().end_ns;
}

}  // namespace stepscope
