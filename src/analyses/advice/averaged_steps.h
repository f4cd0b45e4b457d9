// Whether a moment is in one of the steps that means are made of.
#ifndef STEPSCOPE_ANALYSES_ADVICE_AVERAGED_STEPS_H_
#define STEPSCOPE_ANALYSES_ADVICE_AVERAGED_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyses/steps/step_row.h"
#include "base/intervals.h"

namespace stepscope {

// Moments come nearly in order; ranges do not overlap.
class AveragedSteps {
 public:
  // With the device work that they launched, or by their marks on the host.
  enum class By : uint8_t { kWork, kMark };

  AveragedSteps(std::span<const StepRow> steps, By by) {
    for (const StepRow& step : steps) {
      if (!step.averaged) continue;
      ++count_;
      ranges_.push_back(by == By::kWork ? Interval{step.work_start_ns, step.work_end_ns()}
                                        : Interval{step.start_ns, step.end_ns()});
    }
    ranges_ = merge_intervals(std::move(ranges_));
  }

  int64_t count() const { return count_; }
  bool hold(int64_t ns) {
    if (at_ < ranges_.size() && ns >= ranges_[at_].start_ns && ns < ranges_[at_].end_ns)
      return true;
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), ns,
                         [](int64_t at, const Interval& range) { return at < range.start_ns; });
    if (after == ranges_.begin()) return false;
    at_ = static_cast<size_t>(after - ranges_.begin()) - 1;
    return ns < ranges_[at_].end_ns;
  }

 private:
  std::vector<Interval> ranges_;
  int64_t count_ = 0;
  size_t at_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_AVERAGED_STEPS_H_
