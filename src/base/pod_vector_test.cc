// PodVector keeps its elements while it grows from malloc's blocks into mapped ones.
#include "base/pod_vector.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

struct Odd {  // 12 bytes: not a divisor of a page
  uint32_t a, b, c;
};

TEST(PodVector, KeepsElementsAcrossTheMappedThreshold) {
  PodVector<Odd> odd;
  constexpr uint32_t kCount = 200'000;  // 2.4 MB, mapped from 256 KiB on
  for (uint32_t i = 0; i < kCount; ++i) {
    odd.push_back({i, ~i, i * 3});
    if (i % 997 == 0) {
      const uint32_t at = i / 2;
      ASSERT_EQ(odd[at].a, at);
      ASSERT_EQ(odd[at].b, ~at);
    }
  }
  ASSERT_EQ(odd.size(), kCount);
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(odd[i].c, i * 3) << i;
}

TEST(PodVector, PushingItsOwnElementIsSafeWhenItMoves) {
  PodVector<uint64_t> numbers;
  numbers.push_back(42);
  while (numbers.size() < 100'000) numbers.push_back(numbers[0]);
  for (const uint64_t number : numbers) ASSERT_EQ(number, 42u);
}

TEST(PodVector, AppendResizeSwapAndRelease) {
  std::vector<char> piece(70'000);
  for (size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<char>(i);
  PodVector<char> text;
  text.append(nullptr, 0);
  for (int i = 0; i < 5; ++i) text.append(piece.data(), piece.size());
  ASSERT_EQ(text.size(), 350'000u);
  text.resize_uninitialised(900'000);
  for (size_t i = 0; i < 350'000; ++i) ASSERT_EQ(text[i], piece[i % piece.size()]);
  PodVector<char> other;
  other.push_back('x');
  text.swap(other);
  EXPECT_EQ(text.size(), 1u);
  EXPECT_EQ(text[0], 'x');
  EXPECT_EQ(other.size(), 900'000u);
  EXPECT_EQ(other[69'999], piece[69'999]);
  PodVector<char> moved = std::move(other);
  EXPECT_EQ(moved.size(), 900'000u);
  moved.release();
  EXPECT_TRUE(moved.empty());
  EXPECT_EQ(moved.data(), nullptr);
}

}  // namespace
}  // namespace stepscope
