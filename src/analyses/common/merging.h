// Merges intervals while they come.
#ifndef STEPSCOPE_ANALYSES_COMMON_MERGING_H_
#define STEPSCOPE_ANALYSES_COMMON_MERGING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/intervals.h"

namespace stepscope {

// Events come lane by lane, each in order: a run of them is merged as it comes, and runs are united
// in linear time. Runs that are too short for that are kept and sorted together. Memory follows
// what is left after merging: kernels of a busy stream touch each other.
class Merging {
 public:
  void add(int64_t start_ns, int64_t end_ns) {
    if (end_ns <= start_ns) return;
    if (!run_.empty()) {
      Interval& last = run_.back();
      if (start_ns < last.start_ns) {
        end_run();
      } else if (start_ns <= last.end_ns) {
        last.end_ns = std::max(last.end_ns, end_ns);
        return;
      }
    }
    run_.push_back({start_ns, end_ns});
  }
  void add(const Merging& other) {
    for (const auto* part : {&other.merged_, &other.loose_, &other.run_}) {
      for (const Interval& interval : *part) add(interval.start_ns, interval.end_ns);
    }
  }
  std::vector<Interval> take() {
    end_run();
    unite_loose();
    return std::move(merged_);
  }

 private:
  static constexpr size_t kLooseAtLeast = 65536;

  void end_run() {
    if (run_.size() >= merged_.size() / 8) {
      merged_ = merged_.empty() ? std::move(run_) : unite_intervals(merged_, run_);
    } else {
      loose_.insert(loose_.end(), run_.begin(), run_.end());
      if (loose_.size() > kLooseAtLeast + merged_.size()) unite_loose();
    }
    run_.clear();
  }
  void unite_loose() {
    if (loose_.empty()) return;
    merged_ = unite_intervals(merged_, merge_intervals(std::move(loose_)));
    loose_.clear();
  }

  std::vector<Interval> merged_;
  std::vector<Interval> run_;    // in order, merged, not yet in merged_
  std::vector<Interval> loose_;  // in no order
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_MERGING_H_
