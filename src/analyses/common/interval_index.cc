#include "analyses/common/interval_index.h"

#include <algorithm>

namespace stepscope {

namespace {
constexpr size_t kCountedTogether = 64;
}

void IntervalIndex::count() {
  for (size_t i = 0; i < intervals_.size(); ++i) {
    if (i % kCountedTogether == 0) before_.push_back(total_ns_);
    total_ns_ += intervals_[i].end_ns - intervals_[i].start_ns;
  }
}

size_t IntervalIndex::first_ending_after(int64_t ns) const {
  const auto found =
      std::upper_bound(intervals_.begin(), intervals_.end(), ns,
                       [](int64_t at, const Interval& interval) { return at < interval.end_ns; });
  return static_cast<size_t>(found - intervals_.begin());
}

int64_t IntervalIndex::length_before(int64_t ns) const {
  const size_t at = first_ending_after(ns);
  if (at == intervals_.size()) return total_ns_;
  int64_t length_ns = before_[at / kCountedTogether];
  for (size_t i = at / kCountedTogether * kCountedTogether; i < at; ++i)
    length_ns += intervals_[i].end_ns - intervals_[i].start_ns;
  // Callers ask for "since ever" too: a difference is only made where it fits.
  const int64_t start_ns = intervals_[at].start_ns;
  return ns > start_ns ? length_ns + (ns - start_ns) : length_ns;
}

int64_t IntervalIndex::length_in(int64_t start_ns, int64_t end_ns) const {
  return end_ns > start_ns ? length_before(end_ns) - length_before(start_ns) : 0;
}

bool IntervalIndex::bounds_in(int64_t start_ns, int64_t end_ns, Interval& bounds) const {
  const size_t first = first_ending_after(start_ns);
  if (first == intervals_.size() || intervals_[first].start_ns >= end_ns) return false;
  // The last interval that starts before the end.
  const auto after =
      std::lower_bound(intervals_.begin(), intervals_.end(), end_ns,
                       [](const Interval& interval, int64_t ns) { return interval.start_ns < ns; });
  bounds.start_ns = std::max(intervals_[first].start_ns, start_ns);
  bounds.end_ns = std::min((after - 1)->end_ns, end_ns);
  return true;
}

}  // namespace stepscope
