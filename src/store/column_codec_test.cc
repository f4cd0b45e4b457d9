// Blocks of a column: everything that goes in comes out, one by one and all at once.
#include "store/column_codec.h"

#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "store/schema.h"

namespace stepscope {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMinValue =
    std::numeric_limits<int64_t>::min() + 1;  // the smallest that is not NULL

unsigned round_trip(const std::vector<int64_t>& values) {
  std::string data = "something before";
  const size_t before = data.size();
  const BlockEntry entry = encode_block(values, data);
  EXPECT_EQ(data.size() - before, entry.width() * values.size());
  if (entry.width() > 0) {
    EXPECT_EQ(entry.offset(), before);
  }
  data.append(kBlockTailBytes, '\xAA');
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data()) + entry.offset();
  std::vector<int64_t> decoded(values.size());
  decode_block(entry, bytes, values.size(), decoded.data());
  EXPECT_EQ(decoded, values);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(decode_value(entry, bytes, i), values[i]);
  return entry.width();
}

TEST(ColumnCodec, EveryWidthWithAndWithoutNull) {
  for (unsigned width = 1; width <= 8; ++width) {
    const uint64_t range = width == 8 ? ~0ull >> 1 : (1ull << (8 * width)) - 1;
    const auto top = static_cast<int64_t>(range);
    EXPECT_EQ(round_trip({0, top, top / 2, 1, top}), width);
    EXPECT_EQ(round_trip({-5, top - 5, 0}), width);
    EXPECT_EQ(round_trip({kNull, 0, top - 1, kNull, 7 % top}), width);
  }
}

TEST(ColumnCodec, ConstantBlocksHaveNoData) {
  EXPECT_EQ(round_trip({42, 42, 42}), 0u);
  EXPECT_EQ(round_trip({kNull, kNull}), 0u);
  EXPECT_EQ(round_trip({kMax}), 0u);
  EXPECT_EQ(round_trip({42, kNull, 42}), 1u);
}

TEST(ColumnCodec, WholeRange) {
  EXPECT_EQ(round_trip({kMinValue, kMax}), 8u);
  EXPECT_EQ(round_trip({kMinValue, kMax, kNull, 0, -1}), 8u);
  EXPECT_EQ(round_trip({kMinValue, kNull}), 1u);
  EXPECT_EQ(round_trip({kMax, kNull}), 1u);
}

TEST(ColumnCodec, RandomBlocks) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<int64_t> values(1 + random() % kBlockRows);
    const auto shift = random() % 64;
    const auto origin = static_cast<int64_t>(random() >> 1);
    for (int64_t& value : values) {
      value = random() % 10 == 0 && round % 2 == 0
                  ? kNull
                  : static_cast<int64_t>(static_cast<uint64_t>(origin) + (random() >> shift));
      if (value == kNull && round % 2 != 0) value = 0;
    }
    round_trip(values);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace stepscope
