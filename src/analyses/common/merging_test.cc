#include "analyses/common/merging.h"

#include <random>

#include <gtest/gtest.h>

#include "analyses/common/interval_index.h"

namespace stepscope {
namespace {

// Lanes in order, lanes out of order, and single intervals all over: the same as sorting them all.
TEST(Merging, GivesWhatSortingGives) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Merging merging;
    std::vector<Interval> all;
    const int lanes = 1 + static_cast<int>(random() % 6);
    for (int lane = 0; lane < lanes; ++lane) {
      const bool in_order = random() % 3 != 0;
      int64_t at_ns = static_cast<int64_t>(random() % 100);
      const int count = static_cast<int>(random() % 200);
      for (int i = 0; i < count; ++i) {
        at_ns = in_order ? at_ns + static_cast<int64_t>(random() % 20)
                         : static_cast<int64_t>(random() % 2000);
        const Interval interval{at_ns, at_ns + static_cast<int64_t>(random() % 15)};
        all.push_back(interval);
        merging.add(interval.start_ns, interval.end_ns);
      }
    }
    Merging joined;
    joined.add(5, 6);
    joined.add(merging);
    EXPECT_EQ(merging.take(), merge_intervals(all));
    all.push_back({5, 6});
    EXPECT_EQ(joined.take(), merge_intervals(all));
  }
}

TEST(IntervalIndex, AnswersLikeCuttingEveryInterval) {
  std::mt19937 random(11);
  std::vector<Interval> intervals;
  for (int i = 0; i < 500; ++i) {
    const auto start_ns = static_cast<int64_t>(random() % 20'000);
    intervals.push_back({start_ns, start_ns + static_cast<int64_t>(random() % 30)});
  }
  const std::vector<Interval> merged = merge_intervals(intervals);
  ASSERT_GT(merged.size(), 150u);
  const IntervalIndex index(merged);
  EXPECT_EQ(index.total_ns(), total_length_ns(merged));
  for (int i = 0; i < 500; ++i) {
    const auto start_ns = static_cast<int64_t>(random() % 21'000) - 500;
    const auto end_ns = start_ns + static_cast<int64_t>(random() % 3'000);
    const auto cut = intersect_intervals(merged, {{start_ns, end_ns}});
    EXPECT_EQ(index.length_in(start_ns, end_ns), total_length_ns(cut));
    Interval bounds;
    ASSERT_EQ(index.bounds_in(start_ns, end_ns, bounds), !cut.empty());
    if (cut.empty()) continue;
    EXPECT_EQ(bounds.start_ns, cut.front().start_ns);
    EXPECT_EQ(bounds.end_ns, cut.back().end_ns);
  }
  EXPECT_EQ(IntervalIndex().length_in(0, 100), 0);
}

}  // namespace
}  // namespace stepscope
