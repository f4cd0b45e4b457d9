#include "collector/sources/cupti/activity_buffers.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope::cupti {
namespace {

constexpr size_t kBytes = 64 << 10;

TEST(ActivityBuffers, AreReadInTheOrderOfCompletionAndComeBack) {
  ActivityBuffers buffers;
  buffers.prepare(kBytes, 2, 4);
  const auto first = buffers.take();
  const auto second = buffers.take();
  ASSERT_EQ(first.size(), kBytes);
  ASSERT_EQ(second.size(), kBytes);
  buffers.complete(second.data(), 100);
  buffers.complete(first.data(), 100);
  EXPECT_TRUE(buffers.any_filled());
  const auto oldest = buffers.next();
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->records.data(), second.data());
  EXPECT_EQ(oldest->records.size(), 100u);
  buffers.recycle(*oldest);
  EXPECT_EQ(buffers.next()->records.data(), first.data());
  EXPECT_EQ(buffers.take().data(), second.data());
}

TEST(ActivityBuffers, RefusesBeyondItsLimitAndCounts) {
  ActivityBuffers buffers;
  buffers.prepare(kBytes, 1, 2);
  EXPECT_FALSE(buffers.take().empty());
  buffers.keep_ready();
  EXPECT_FALSE(buffers.take().empty());
  buffers.keep_ready();
  EXPECT_TRUE(buffers.take().empty());
  EXPECT_EQ(buffers.refused(), 1u);
  EXPECT_EQ(buffers.count(), 2u);
}

TEST(ActivityBuffers, ForgetsWhatAnEarlierRecordingLeft) {
  ActivityBuffers buffers;
  buffers.prepare(kBytes, 1, 1);
  const auto taken = buffers.take();
  taken[0] = 7;
  buffers.complete(taken.data(), kBytes);
  buffers.prepare(kBytes, 1, 1);
  EXPECT_FALSE(buffers.any_filled());
  const auto again = buffers.take();
  ASSERT_EQ(again.size(), kBytes);
  EXPECT_EQ(again[0], 0);
  buffers.complete(nullptr, 5);  // no buffer of ours
  EXPECT_FALSE(buffers.any_filled());
  buffers.give_memory_back();
  EXPECT_EQ(buffers.count(), 1u) << "CUPTI has it still";
  buffers.complete(again.data(), 0);
  buffers.give_memory_back();
  EXPECT_EQ(buffers.count(), 0u);
}

TEST(ActivityBuffers, BearsWhatAThreadWritesWhenTheRecordingIsOver) {
  ActivityBuffers buffers;
  buffers.prepare(kBytes, 1, 1);
  const auto taken = buffers.take();
  buffers.complete(taken.data(), 0);
  buffers.give_memory_back();
  EXPECT_EQ(buffers.count(), 0u);
  taken[100] = 9;
  buffers.prepare(kBytes, 1, 1);
  const auto again = buffers.take();
  ASSERT_EQ(again.data(), taken.data());
  EXPECT_EQ(again[100], 0);
  buffers.complete(again.data(), 0);
  buffers.prepare(2 * kBytes, 1, 1);
  EXPECT_EQ(buffers.take().size(), 2 * kBytes);
}

TEST(ActivityBuffers, ThreadsNeverShareOne) {
  ActivityBuffers buffers;
  buffers.prepare(kBytes, 8, 8);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> completed = 0;
  std::vector<std::thread> threads;
  for (uint8_t mark = 1; mark <= 4; ++mark) {
    threads.emplace_back([&, mark] {
      while (!stop) {
        const auto taken = buffers.take();
        if (taken.empty()) {
          std::this_thread::yield();
          continue;
        }
        std::fill(taken.begin(), taken.end(), mark);
        buffers.complete(taken.data(), taken.size());
        ++completed;
      }
    });
  }
  int64_t read = 0;
  bool pure = true;
  while (read < 500) {
    const auto filled = buffers.next();
    if (!filled) {
      std::this_thread::yield();
      continue;
    }
    const uint8_t mark = filled->records[0];
    pure &= std::ranges::all_of(filled->records, [&](uint8_t byte) { return byte == mark; });
    buffers.recycle(*filled);
    ++read;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  while (const auto filled = buffers.next()) {
    buffers.recycle(*filled);
    ++read;
  }
  EXPECT_TRUE(pure);
  EXPECT_EQ(read, completed);
}

}  // namespace
}  // namespace stepscope::cupti
