#include "base/intervals.h"

#include <algorithm>

namespace stepscope {

std::vector<Interval> merge_intervals(std::vector<Interval> intervals) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), earlier))
    std::sort(intervals.begin(), intervals.end(), earlier);
  size_t count = 0;  // in place: the merged ones are never ahead of the next
  for (const Interval next : intervals) {
    if (next.end_ns <= next.start_ns) continue;
    if (count > 0 && next.start_ns <= intervals[count - 1].end_ns) {
      intervals[count - 1].end_ns = std::max(intervals[count - 1].end_ns, next.end_ns);
    } else {
      intervals[count++] = next;
    }
  }
  intervals.resize(count);
  return intervals;
}

std::vector<Interval> unite_intervals(const std::vector<Interval>& a,
                                      const std::vector<Interval>& b) {
  if (a.empty()) return b;
  std::vector<Interval> united;
  united.reserve(a.size() + b.size());
  const auto add = [&](const Interval& next) {
    if (!united.empty() && next.start_ns <= united.back().end_ns) {
      united.back().end_ns = std::max(united.back().end_ns, next.end_ns);
    } else {
      united.push_back(next);
    }
  };
  size_t j = 0;
  for (const Interval& interval : a) {
    for (; j < b.size() && b[j].start_ns < interval.start_ns; ++j) add(b[j]);
    add(interval);
  }
  for (; j < b.size(); ++j) add(b[j]);
  return united;
}

int64_t total_length_ns(const std::vector<Interval>& merged) {
  int64_t total = 0;
  for (const Interval& interval : merged) total += interval.end_ns - interval.start_ns;
  return total;
}

std::vector<Interval> intersect_intervals(const std::vector<Interval>& a,
                                          const std::vector<Interval>& b) {
  std::vector<Interval> common;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t start = std::max(a[i].start_ns, b[j].start_ns);
    const int64_t end = std::min(a[i].end_ns, b[j].end_ns);
    if (start < end) common.push_back({start, end});
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

std::vector<Interval> clip_intervals(const std::vector<Interval>& merged, int64_t from_ns,
                                     int64_t to_ns) {
  std::vector<Interval> inside;
  auto at = std::partition_point(merged.begin(), merged.end(),
                                 [&](const Interval& i) { return i.end_ns <= from_ns; });
  for (; at != merged.end() && at->start_ns < to_ns; ++at)
    inside.push_back({std::max(at->start_ns, from_ns), std::min(at->end_ns, to_ns)});
  return inside;
}

std::vector<Interval> subtract_intervals(const std::vector<Interval>& a,
                                         const std::vector<Interval>& b) {
  std::vector<Interval> rest;
  size_t j = 0;
  for (const Interval& whole : a) {
    int64_t from = whole.start_ns;
    while (j < b.size() && b[j].end_ns <= from) ++j;
    for (size_t k = j; k < b.size() && b[k].start_ns < whole.end_ns; ++k) {
      if (b[k].start_ns > from) rest.push_back({from, b[k].start_ns});
      from = std::max(from, b[k].end_ns);
    }
    if (from < whole.end_ns) rest.push_back({from, whole.end_ns});
  }
  return rest;
}

}  // namespace stepscope
