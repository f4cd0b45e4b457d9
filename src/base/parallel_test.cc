// parallel_for does every piece once, on no more threads than asked for.
#include "base/parallel.h"

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(ParallelFor, EveryIndexOnce) {
  for (const unsigned threads : {0u, 1u, 2u, 5u, 64u}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{1000}}) {
      std::vector<std::atomic<int>> done(count);
      parallel_for(count, threads, [&](size_t index) { ++done[index]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST(ParallelFor, StaysWithinItsThreadsAndUsesTheCaller) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(200, 3, [&](size_t) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 3u);
  seen.clear();
  parallel_for(5, 1, [&](size_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
}

TEST(AvailableCpus, IsAtLeastOne) { EXPECT_GE(available_cpus(), 1u); }

}  // namespace
}  // namespace stepscope
