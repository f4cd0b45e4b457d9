// Interval sets against a bitmap of single nanoseconds.
#include "base/intervals.h"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr int64_t kRange = 64;
using Bitmap = std::array<bool, kRange>;

Bitmap paint(const std::vector<Interval>& intervals) {
  Bitmap bits{};
  for (const Interval& interval : intervals) {
    for (int64_t ns = interval.start_ns; ns < interval.end_ns; ++ns)
      bits[static_cast<size_t>(ns)] = true;
  }
  return bits;
}

// Sorted, disjoint, non-empty; `apart`: and with a gap between neighbours.
void expect_tidy(const std::vector<Interval>& intervals, bool apart) {
  for (size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_LT(intervals[i].start_ns, intervals[i].end_ns);
    if (i == 0) continue;
    EXPECT_LE(intervals[i - 1].end_ns + (apart ? 1 : 0), intervals[i].start_ns);
  }
}

TEST(Intervals, MergeJoinsTouchingAndDropsEmptyAndReversed) {
  EXPECT_EQ(merge_intervals({{5, 9}, {1, 3}, {3, 4}, {7, 7}, {12, 10}}),
            (std::vector<Interval>{{1, 4}, {5, 9}}));
  EXPECT_TRUE(merge_intervals({}).empty());
}

TEST(Intervals, AgreeWithABitmap) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Interval> raw[2];
    for (auto& list : raw) {
      for (size_t i = random() % 8; i > 0; --i) {
        const auto start = static_cast<int64_t>(random() % kRange);
        list.push_back(
            {start, std::min<int64_t>(kRange, start + static_cast<int64_t>(random() % 20))});
      }
    }
    const auto a = merge_intervals(raw[0]);
    const auto b = merge_intervals(raw[1]);
    const Bitmap in_a = paint(raw[0]);
    const Bitmap in_b = paint(raw[1]);
    expect_tidy(a, true);
    ASSERT_EQ(paint(a), in_a);
    ASSERT_EQ(total_length_ns(a), std::count(in_a.begin(), in_a.end(), true));
    Bitmap both{};
    Bitmap only_a{};
    for (size_t i = 0; i < kRange; ++i) {
      both[i] = in_a[i] && in_b[i];
      only_a[i] = in_a[i] && !in_b[i];
    }
    const auto common = intersect_intervals(a, b);
    const auto rest = subtract_intervals(a, b);
    expect_tidy(common, false);
    expect_tidy(rest, false);
    ASSERT_EQ(paint(common), both);
    ASSERT_EQ(paint(rest), only_a);
    ASSERT_EQ(total_length_ns(common) + total_length_ns(rest), total_length_ns(a));
  }
}

TEST(Intervals, ClipKeepsWhatLiesInside) {
  const std::vector<Interval> merged = {{0, 10}, {20, 30}, {40, 50}};
  EXPECT_EQ(clip_intervals(merged, 5, 45), (std::vector<Interval>{{5, 10}, {20, 30}, {40, 45}}));
  EXPECT_EQ(clip_intervals(merged, 10, 20), std::vector<Interval>{});
  EXPECT_EQ(clip_intervals(merged, 22, 25), (std::vector<Interval>{{22, 25}}));
  EXPECT_EQ(clip_intervals({}, 0, 100), std::vector<Interval>{});
}

TEST(Intervals, UniteGivesWhatMergingBothGives) {
  const std::vector<Interval> a = {{0, 10}, {20, 30}, {50, 60}};
  const std::vector<Interval> b = {{5, 20}, {31, 32}, {40, 70}, {80, 90}};
  EXPECT_EQ(unite_intervals(a, b), (std::vector<Interval>{{0, 30}, {31, 32}, {40, 70}, {80, 90}}));
  EXPECT_EQ(unite_intervals(b, a), unite_intervals(a, b));
  EXPECT_EQ(unite_intervals(a, {}), a);
  EXPECT_EQ(unite_intervals({}, a), a);
}

}  // namespace
}  // namespace stepscope
