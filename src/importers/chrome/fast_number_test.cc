// The short way to read numbers agrees with the exact one, always.
#include "importers/chrome/fast_number.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(FastNumber, AgreesWithTheExactReader) {
  std::mt19937_64 random(53);
  const std::string_view letters = "0123456789.-e 9";
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (size_t length = random() % 24; length > 0; --length)
      text += letters[random() % (round % 3 == 0 ? letters.size() : 11)];
    ASSERT_EQ(fast_us_as_ns(text), parse_us_as_ns(text)) << text;
    ASSERT_EQ(fast_integer(text), parse_integer(text)) << text;
  }
}

TEST(FastNumber, Limits) {
  for (const std::string text :
       {"999999999999999.999", "9999999999999999.999", "9223372036854775808",
        "9223372036854775.807", "999999999999999999", "9999999999999999999", "18446744073709551616",
        "0.0001", ""}) {
    EXPECT_EQ(fast_us_as_ns(text), parse_us_as_ns(text)) << text;
    EXPECT_EQ(fast_integer(text), parse_integer(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
