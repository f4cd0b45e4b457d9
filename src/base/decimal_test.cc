// Decimal text to integers: exact, rounded half away from zero, bounded.
#include "base/decimal.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(Decimal, MicrosecondsKeepEveryNanosecond) {
  EXPECT_EQ(parse_us_as_ns("1.5"), 1500);
  EXPECT_EQ(parse_us_as_ns("1712195495502094.501"), 1712195495502094501);
  EXPECT_EQ(parse_us_as_ns("0"), 0);
  EXPECT_EQ(parse_us_as_ns("-0.001"), -1);
  EXPECT_EQ(parse_ms_as_ns("2.000001"), 2000001);
}

TEST(Decimal, RoundsHalfAwayFromZero) {
  EXPECT_EQ(parse_integer("0.5"), 1);
  EXPECT_EQ(parse_integer("-0.5"), -1);
  EXPECT_EQ(parse_integer("0.49999999999999999999"), 0);
  EXPECT_EQ(parse_integer("0.05"), 0);
  EXPECT_EQ(parse_integer("2.5"), 3);
  EXPECT_EQ(parse_us_as_ns("1.0005"), 1001);
  EXPECT_EQ(parse_us_as_ns("1.00049"), 1000);
}

TEST(Decimal, Exponents) {
  EXPECT_EQ(parse_integer("1.5e3"), 1500);
  EXPECT_EQ(parse_integer("15E-1"), 2);
  EXPECT_EQ(parse_integer("1e+2"), 100);
  EXPECT_EQ(parse_integer("0e999999999999"), 0);
  EXPECT_EQ(parse_integer("1e-999999999999"), 0);
  EXPECT_EQ(parse_integer("1e999999999999"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("1.6e15"), 1600000000000000000);
  EXPECT_EQ(parse_integer("1e"), std::nullopt);
  EXPECT_EQ(parse_integer("e5"), std::nullopt);
}

TEST(Decimal, WholeRangeAndNothingBeyond) {
  EXPECT_EQ(parse_integer("9223372036854775807"), kMax);
  EXPECT_EQ(parse_integer("-9223372036854775808"), kMin);
  EXPECT_EQ(parse_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_integer("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(parse_integer("9223372036854775807.4"), kMax);
  EXPECT_EQ(parse_integer("9223372036854775807.5"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("9223372036854775.807"), kMax);
  EXPECT_EQ(parse_us_as_ns("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(parse_integer("10159970886766084423"), std::nullopt);
  EXPECT_EQ(parse_integer(std::string(1000, '9')), std::nullopt);
  EXPECT_EQ(parse_integer("0." + std::string(1000, '9')), 1);
}

TEST(Decimal, BlanksAndTabsAroundAreAllowedAndNothingElse) {
  EXPECT_EQ(parse_integer(" 12\t"), 12);
  EXPECT_EQ(parse_integer("12\r\n"), 12);
  EXPECT_EQ(parse_integer("+7"), 7);
  EXPECT_EQ(parse_integer(".5"), 1);
  EXPECT_EQ(parse_integer("5."), 5);
  for (const char* bad : {"", " ", "-", ".", "1 2", "0x10", "nan", "inf", "N/A", "1.2.3", "--1",
                          "1-", "12a", "\"12\""}) {
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
  }
}

TEST(Decimal, TimesAFactor) {
  EXPECT_EQ(parse_times("1187.9814453125", 1048576), 1245688832);
  EXPECT_EQ(parse_times("0.5", 1), 1);
  EXPECT_EQ(parse_times("-1.5", 1024), -1536);
  EXPECT_EQ(parse_times("9223372036854775807", 2), std::nullopt);
  EXPECT_EQ(parse_times("1", -1), std::nullopt);
}

TEST(Decimal, AgreesWithIntegersOnRandomThousandths) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto ns = static_cast<int64_t>(random() >> (random() % 60 + 1));
    std::string fraction = std::to_string(ns % 1000);
    fraction.insert(0, 3 - fraction.size(), '0');
    const std::string text = std::to_string(ns / 1000) + "." + fraction;
    ASSERT_EQ(parse_us_as_ns(text), ns) << text;
    ASSERT_EQ(parse_us_as_ns("-" + text), -ns) << text;
  }
}

}  // namespace
}  // namespace stepscope
