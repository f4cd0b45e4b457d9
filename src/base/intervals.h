// Sets of half-open time intervals [start, end) in nanoseconds: union, length, intersection. All
// exact.
#ifndef STEPSCOPE_BASE_INTERVALS_H_
#define STEPSCOPE_BASE_INTERVALS_H_

#include <cstdint>
#include <vector>

namespace stepscope {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  bool operator==(const Interval&) const = default;
};

// Sorted, disjoint, non-touching intervals that cover the same time. Empty and reversed intervals
// are dropped. O(n) when they are sorted by start, O(n log n) otherwise.
std::vector<Interval> merge_intervals(std::vector<Interval> intervals);

// The operands of these are merged interval lists; they cost O(n).
std::vector<Interval> unite_intervals(const std::vector<Interval>& a,
                                      const std::vector<Interval>& b);
int64_t total_length_ns(const std::vector<Interval>& merged);
std::vector<Interval> intersect_intervals(const std::vector<Interval>& a,
                                          const std::vector<Interval>& b);
// What of it lies in [from, to). O(log n) and the size of the result.
std::vector<Interval> clip_intervals(const std::vector<Interval>& merged, int64_t from_ns,
                                     int64_t to_ns);
// a without b
std::vector<Interval> subtract_intervals(const std::vector<Interval>& a,
                                         const std::vector<Interval>& b);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_INTERVALS_H_
