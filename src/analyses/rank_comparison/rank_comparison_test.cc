#include "analyses/rank_comparison/rank_comparison.h"

#include <gtest/gtest.h>

#include "analyses/advice/facts.h"
#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

// Four steps of 1000, of which the first is in no mean: the rank computes for `compute_ns`, then it
// communicates up to the end. Before the steps it computes for `before_ns`.
auto rank_of(int64_t compute_ns, int64_t before_ns = 0) {
  return [=](RankBuilder& rank) {
    const TrackId stream = testing::device_track(rank, 0, 7);
    if (before_ns > 0)
      rank.add_slice(stream, testing::slice_of(rank, "gemm", 0, before_ns, SliceKind::kKernel));
    for (int64_t step = 1; step <= 4; ++step) {
      const int64_t at_ns = 100'000 + step * 1000;
      testing::add_step(rank, step, at_ns, 1000);
      rank.add_slice(stream,
                     testing::slice_of(rank, "gemm", at_ns, compute_ns, SliceKind::kKernel));
      testing::add_operation(rank, stream, "allReduce", at_ns + compute_ns, 1000 - compute_ns, {});
    }
  };
}

TEST(RankComparison, ARankThatNeedsMoreOfAStepByItselfIsSlow) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder, rank_of(700), rank_of(760), rank_of(702)), {});
  const auto& rows = run.rank_comparison();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].own_ns, 700);
  EXPECT_EQ(rows[1].own_ns, 760);
  EXPECT_EQ(rows[1].step_ns, 1000);
  EXPECT_TRUE(rows[1].slow);  // by 5.8 % of the step; its computation is 5.5 % above the mean
  EXPECT_EQ(rows[1].why, "longer without communication");
  EXPECT_FALSE(rows[0].slow || rows[2].slow);
  EXPECT_EQ(run.facts().slow_rank, 1);
  EXPECT_EQ(run.facts().slow_rank_own_ns, 760);
  EXPECT_EQ(run.facts().other_ranks_own_ns, 702);
}

TEST(RankComparison, AlikeRanksAreNot) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder, rank_of(700), rank_of(740)), {});
  EXPECT_FALSE(slow_rank(run.rank_comparison()));
  EXPECT_FALSE(run.rank_comparison()[1].slow);
}

// A recording that began earlier has more computation, and not more of it in a step.
TEST(RankComparison, WhatIsBeforeTheStepsDoesNotMakeARankSlow) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder, rank_of(700, 50'000), rank_of(700)), {});
  const auto& rows = run.rank_comparison();
  EXPECT_EQ(rows[0].compute_ns, 50'000 + 4 * 700);
  EXPECT_EQ(rows[0].compute_over_mean, 0);
  EXPECT_FALSE(rows[0].slow);
}

}  // namespace
}  // namespace stepscope
