#include "analyses/common/duration_groups.h"

#include <algorithm>
#include <cmath>

#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

// Index of the quantile num/den of n sorted lengths.
size_t nearest_rank(size_t n, size_t num, size_t den) { return (n * num + den - 1) / den - 1; }

}  // namespace

DurationGroups::DurationGroups(const std::vector<int64_t>& counts) {
  starts_.reserve(counts.size() + 1);
  size_t start = 0;
  for (const int64_t count : counts) {
    starts_.push_back(start);
    start += static_cast<size_t>(count);
  }
  next_ = starts_;
  starts_.push_back(start);
  durations_.resize(start);
}

DurationSpread spread_of(std::span<int64_t> all) {
  DurationSpread result;
  if (all.empty()) return result;
  result.count = static_cast<int64_t>(all.size());
  result.min_ns = all[0];
  result.max_ns = all[0];
  for (const int64_t dur : all) {
    add_saturated(result.total_ns, dur);
    result.min_ns = std::min(result.min_ns, dur);
    result.max_ns = std::max(result.max_ns, dur);
  }
  result.mean_ns = static_cast<double>(result.total_ns) / static_cast<double>(all.size());
  if (all.size() > 1) {
    double squares = 0;
    for (const int64_t dur : all) {
      const double off = static_cast<double>(dur) - result.mean_ns;
      squares += off * off;
    }
    result.stddev_ns = std::sqrt(squares / static_cast<double>(all.size() - 1));
  }
  // From the largest down, so that each selection leaves less to look at.
  auto end = all.end();
  const auto select = [&](size_t num, size_t den) {
    const auto at = all.begin() + static_cast<ptrdiff_t>(nearest_rank(all.size(), num, den));
    if (at < end) std::nth_element(all.begin(), at, end);
    end = at + 1;
    return *at;
  };
  result.p99_ns = select(99, 100);
  result.p90_ns = select(90, 100);
  result.median_ns = select(50, 100);
  return result;
}

}  // namespace stepscope
