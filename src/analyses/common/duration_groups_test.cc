#include "analyses/common/duration_groups.h"

#include <limits>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(DurationGroups, QuantilesAreByNearestRank) {
  DurationGroups groups({10, 1, 0});
  for (const int64_t dur : {70, 10, 90, 30, 50, 100, 20, 60, 80, 40}) groups.add(0, dur);
  groups.add(1, 7);
  const DurationSpread ten = groups.spread(0, 1);
  EXPECT_EQ(ten.count, 10);
  EXPECT_EQ(ten.total_ns, 550);
  EXPECT_EQ(ten.min_ns, 10);
  EXPECT_EQ(ten.max_ns, 100);
  EXPECT_EQ(ten.mean_ns, 55);
  EXPECT_NEAR(ten.stddev_ns, 30.2765, 1e-4);
  EXPECT_EQ(ten.median_ns, 50);
  EXPECT_EQ(ten.p90_ns, 90);
  EXPECT_EQ(ten.p99_ns, 100);
  const DurationSpread one = groups.spread(1, 2);
  EXPECT_EQ(one.median_ns, 7);
  EXPECT_EQ(one.p99_ns, 7);
  EXPECT_EQ(one.stddev_ns, 0);
  EXPECT_EQ(groups.spread(2, 3).count, 0);
  const DurationSpread all = groups.spread(0, 3);
  EXPECT_EQ(all.count, 11);
  EXPECT_EQ(all.min_ns, 7);
  EXPECT_EQ(all.median_ns, 50);
}

TEST(DurationGroups, SumsStopAtTheEndOfTheRange) {
  DurationGroups groups({2});
  groups.add(0, std::numeric_limits<int64_t>::max() - 1);
  groups.add(0, 100);
  EXPECT_EQ(groups.spread(0, 1).total_ns, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace stepscope
