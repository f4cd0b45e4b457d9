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

// Collects intervals and merges them whenever they have doubled, so that memory follows what is
// left after merging: kernels of a busy stream touch each other.
class Merging {
 public:
  void add(int64_t start_ns, int64_t end_ns) {
    // In order and touching the last one is the usual case.
    if (!intervals_.empty() && start_ns >= intervals_.back().start_ns &&
        start_ns <= intervals_.back().end_ns) {
      intervals_.back().end_ns = std::max(intervals_.back().end_ns, end_ns);
      return;
    }
    if (intervals_.size() == merge_at_) {
      intervals_ = merge_intervals(std::move(intervals_));
      merge_at_ = std::max<size_t>(kMergeAt, 2 * intervals_.size());
    }
    intervals_.push_back({start_ns, end_ns});
  }
  void add(const Merging& other) {
    for (const Interval& interval : other.intervals_) add(interval.start_ns, interval.end_ns);
  }
  std::vector<Interval> take() { return merge_intervals(std::move(intervals_)); }

 private:
  static constexpr size_t kMergeAt = 65536;
  std::vector<Interval> intervals_;
  size_t merge_at_ = kMergeAt;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_MERGING_H_
