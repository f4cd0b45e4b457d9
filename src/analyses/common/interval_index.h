// A merged list of intervals that answers "how much of [start, end) does it cover" by two binary
// searches: steps are many and lists are long.
#ifndef STEPSCOPE_ANALYSES_COMMON_INTERVAL_INDEX_H_
#define STEPSCOPE_ANALYSES_COMMON_INTERVAL_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/intervals.h"

namespace stepscope {

class IntervalIndex {
 public:
  IntervalIndex() = default;
  // `merged` as merge_intervals() returns it. The first form refers to the list, which must outlive
  // the index; the second keeps it.
  explicit IntervalIndex(const std::vector<Interval>& merged) : intervals_(merged) { count(); }
  explicit IntervalIndex(std::vector<Interval>&& merged)
      : own_(std::move(merged)), intervals_(own_) {
    count();
  }
  IntervalIndex(IntervalIndex&&) = default;  // moving a vector keeps its elements in place
  IntervalIndex& operator=(IntervalIndex&&) = default;

  std::span<const Interval> intervals() const { return intervals_; }
  int64_t total_ns() const { return total_ns_; }
  int64_t length_in(int64_t start_ns, int64_t end_ns) const;
  // First and last covered moment of [start, end); false when nothing of it is covered.
  bool bounds_in(int64_t start_ns, int64_t end_ns, Interval& bounds) const;

 private:
  void count();
  // Covered time before `ns`.
  int64_t length_before(int64_t ns) const;
  // Number of the first interval that ends after `ns`.
  size_t first_ending_after(int64_t ns) const;

  std::vector<Interval> own_;
  std::span<const Interval> intervals_;
  std::vector<int64_t> before_;  // covered time before every 64th interval
  int64_t total_ns_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_INTERVAL_INDEX_H_
