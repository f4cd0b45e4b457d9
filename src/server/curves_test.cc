#include "server/curves.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Curve, KeepsEveryPeakWhateverThePixels) {
  Curve curve;
  for (int64_t i = 0; i < 10'000; ++i) curve.add(i, i == 7'777 ? 500 : static_cast<double>(i % 3));
  curve.finish();
  EXPECT_EQ(curve.samples(), 10'000u);
  EXPECT_EQ(curve.high(), 500);
  for (const uint32_t pixels : {1u, 7u, 100u, 10'000u}) {
    std::vector<CurveItem> items;
    curve.query({0, 10'000, pixels}, items);
    EXPECT_LE(items.size(), pixels + 2u);
    double high = 0;
    for (const CurveItem& item : items) high = std::max(high, item.high);
    EXPECT_EQ(high, 500) << pixels;
    EXPECT_EQ(items.back().last, 0) << pixels;  // 9,999 % 3
  }
}

TEST(Curve, AViewportBeginsWithTheValueThatHolds) {
  Curve curve;
  curve.add(10, 1);
  curve.add(20, 5);
  curve.add(90, 5);  // the same again
  curve.finish();
  std::vector<CurveItem> items;
  curve.query({50, 60, 100}, items);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].ts_ns, 20);
  EXPECT_EQ(items[0].last, 5);
  items.clear();
  curve.query({0, 100, 100}, items);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[2].ts_ns, 90);  // it was seen until here
}

TEST(Curve, IgnoresWhatIsNoNumber) {
  Curve curve;
  curve.add(1, std::nan(""));
  curve.add(2, INFINITY);
  curve.finish();
  EXPECT_EQ(curve.samples(), 0u);
  std::vector<CurveItem> items;
  curve.query({0, 100, 10}, items);
  EXPECT_TRUE(items.empty());
}

}  // namespace
}  // namespace stepscope
