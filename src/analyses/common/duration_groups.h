// Lengths by group, for exact quantiles: every length is kept once, 8 bytes each, next to those of
// its group.
//
//   DurationGroups groups(counts);            // how many lengths each group will get
//   groups.add(group, dur_ns);                // once for each of them
//   DurationSpread spread = groups.spread(group, group + 1);
#ifndef STEPSCOPE_ANALYSES_COMMON_DURATION_GROUPS_H_
#define STEPSCOPE_ANALYSES_COMMON_DURATION_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope {

// Quantiles are by nearest rank: the smallest length that at least that share of all reach or stay
// below. All zero when there are no lengths.
struct DurationSpread {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  double mean_ns = 0;
  double stddev_ns = 0;  // of the sample (n - 1)
  int64_t median_ns = 0;
  int64_t p90_ns = 0;
  int64_t p99_ns = 0;
};

// Reorders the lengths. O(n).
DurationSpread spread_of(std::span<int64_t> durations);

class DurationGroups {
 public:
  explicit DurationGroups(const std::vector<int64_t>& counts);

  void add(size_t group, int64_t dur_ns) { durations_[next_[group]++] = dur_ns; }
  // Of the groups [first, last) together. Reorders inside that range. O(n).
  DurationSpread spread(size_t first, size_t last) {
    return spread_of({durations_.data() + starts_[first], starts_[last] - starts_[first]});
  }

 private:
  std::vector<size_t> starts_;  // of each group, and the end
  std::vector<size_t> next_;
  std::vector<int64_t> durations_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_DURATION_GROUPS_H_
