#include "importers/native/tick_clock.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(TickClock, FollowsTheSteadyClockFromTheFirstReadingOn) {
  TickClock clock;
  clock.add({3000, 2'000, 1'000'002'500});  // the calendar was set by 500 ns in between
  clock.add({1000, 1'000, 1'000'001'000});
  clock.add({5000, 2'500, 1'000'003'000});  // the ticks slow down to four a nanosecond
  ASSERT_TRUE(clock.finish());
  EXPECT_EQ(clock.ns(1000), 1'000'001'000);
  EXPECT_EQ(clock.ns(2000), 1'000'001'500);
  EXPECT_EQ(clock.ns(3000), 1'000'002'000);
  EXPECT_EQ(clock.ns(4000), 1'000'002'250);
  EXPECT_EQ(clock.ns(0), 1'000'000'500) << "before the first reading";
  EXPECT_EQ(clock.ns(9000), 1'000'003'500) << "behind the last";
  EXPECT_EQ(clock.duration_ns(2000, 2000), 750);
  EXPECT_EQ(clock.correction_ns(), 500);
}

TEST(TickClock, LeavesOutReadingsThatContradictTheOthers) {
  TickClock clock;
  clock.add({1000, 1'000, 0});
  clock.add({2000, 900, 0});
  clock.add({3000, 3'000, 0});
  clock.add({-5, 0, 0});
  ASSERT_TRUE(clock.finish());
  EXPECT_EQ(clock.contradictions(), 2);
  EXPECT_EQ(clock.ns(2000), 1'000);
}

TEST(TickClock, OneReadingIsNotEnough) {
  TickClock clock;
  clock.add({1000, 1'000, 0});
  EXPECT_FALSE(clock.finish());
}

TEST(TickClock, NoTimeOverflows) {
  TickClock clock;
  clock.add({0, 0, 0});
  clock.add({1, 1'000'000'000, 0});
  ASSERT_TRUE(clock.finish());
  EXPECT_GT(clock.ns(std::numeric_limits<int64_t>::max()), int64_t{1} << 61);
  EXPECT_LT(clock.ns(std::numeric_limits<int64_t>::min()), -(int64_t{1} << 61));
}

}  // namespace
}  // namespace stepscope
