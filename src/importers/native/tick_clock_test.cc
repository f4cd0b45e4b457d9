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

TEST(TickClock, CalendarTimesLandOnTheSteadyAxis) {
  constexpr int64_t kSecond = 1'000'000'000;
  TickClock clock;
  const int64_t base = 1'000 * kSecond;
  clock.add({0, 0, base});
  clock.add({1 * kSecond, 1 * kSecond, base + 1 * kSecond});
  clock.add({2 * kSecond, 2 * kSecond, base + 2 * kSecond + 400'000});  // slewed
  clock.add({3 * kSecond, 3 * kSecond, base + 8 * kSecond});            // set forward by 5 s
  clock.add({4 * kSecond, 4 * kSecond, base + 9 * kSecond});
  ASSERT_TRUE(clock.finish());
  EXPECT_EQ(clock.from_realtime(base + kSecond / 2), base + kSecond / 2);
  EXPECT_EQ(clock.from_realtime(base - 7), base - 7) << "before the first reading";
  EXPECT_NEAR(static_cast<double>(clock.from_realtime(base + 1'500'200'000) - base), 1.5e9, 2e3);
  EXPECT_EQ(clock.from_realtime(base + 2 * kSecond + 400'000), base + 2 * kSecond);
  EXPECT_EQ(clock.from_realtime(base + 2'600'400'000), base + 2'600'000'000) << "not yet set";
  EXPECT_EQ(clock.from_realtime(base + 7'700'000'000), base + 2'700'000'000) << "already set";
  EXPECT_EQ(clock.from_realtime(base + 9'500'000'000), base + 4'500'000'000) << "behind the last";
}

TEST(TickClock, ACalendarThatIsSetBack) {
  constexpr int64_t kSecond = 1'000'000'000;
  TickClock clock;
  const int64_t base = 1'000 * kSecond;
  clock.add({0, 0, base});
  clock.add({1 * kSecond, 1 * kSecond, base + 1 * kSecond});
  clock.add({2 * kSecond, 2 * kSecond, base - 8 * kSecond});
  clock.add({3 * kSecond, 3 * kSecond, base - 7 * kSecond});
  ASSERT_TRUE(clock.finish());
  EXPECT_EQ(clock.from_realtime(base + kSecond / 2), base + kSecond / 2);
  EXPECT_EQ(clock.from_realtime(base - 7'500'000'000), base + 2'500'000'000);
  EXPECT_EQ(clock.from_realtime(base - 6 * kSecond), base + 4 * kSecond) << "behind the last";
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
