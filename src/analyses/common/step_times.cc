#include "analyses/common/step_times.h"

#include <algorithm>

#include "analyses/common/rank_rows.h"

namespace stepscope {

StepTimes::StepTimes(const StoreReader& store, size_t rank) {
  for_each_row<4>(store, Table::kSteps, rank, {"step", "ts", "dur", "complete"},
                  [&](const auto& row) {
                    const auto [step, ts_ns, dur_ns, complete] = row;
                    if (ts_ns == kNull || dur_ns == kNull || dur_ns < 0) return;
                    steps_.push_back({step, ts_ns, ts_ns + dur_ns, complete != 0});
                  });
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const StepTime& a, const StepTime& b) { return a.start_ns < b.start_ns; });
}

size_t StepTimes::at(int64_t ts_ns) const {
  auto after = std::upper_bound(
      steps_.begin(), steps_.end(), ts_ns,
      [](int64_t moment_ns, const StepTime& step) { return moment_ns < step.start_ns; });
  if (after == steps_.begin()) return kNone;
  --after;
  return ts_ns < after->end_ns ? static_cast<size_t>(after - steps_.begin()) : kNone;
}

int64_t StepTimes::number_at(int64_t ts_ns) const {
  const size_t position = at(ts_ns);
  return position == kNone ? kNull : steps_[position].step;
}

bool StepTimes::spans(int64_t ts_ns) const {
  return !steps_.empty() && ts_ns >= steps_.front().start_ns && ts_ns <= steps_.back().end_ns;
}

}  // namespace stepscope
