// Communication of the real recordings; see EXPECTED.md and EXPECTED_msprof_analyze.md beside them.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

class RealCommunication : public ::testing::Test {
 protected:
  // False when the data is not here; the test then skips.
  bool open(const std::string& inside) {
    if (testing::shared_data().empty()) return false;
    run_ = std::make_unique<testing::ImportedRun>(testing::shared_data() + "/" + inside);
    EXPECT_TRUE(run_->ok()) << run_->error();
    // The analyses do not own the reader; the run does.
    store_ = std::shared_ptr<const StoreReader>(&run_->store(), [](const StoreReader*) {});
    analyses_ = std::make_unique<RunAnalyses>(store_, AnalysisOptions{});
    return run_->ok();
  }
  const Communication& result() { return analyses_->communication(); }
  const CommunicationOperatorRow& operation(int64_t rank, int64_t sequence) {
    for (const CommunicationOperatorRow& row : result().operators) {
      if (row.rank == rank && row.sequence == sequence) return row;
    }
    ADD_FAILURE() << "rank " << rank << " has no operation " << sequence;
    return result().operators.at(0);
  }
  // The longest sum of waits of a plane of an operator for a peer.
  int64_t waiting(int64_t rank, int64_t sequence, int64_t peer) {
    int64_t wait_ns = 0;
    for (const PeerWaitRow& row : result().peer_waits) {
      if (row.rank == rank && row.sequence == sequence && row.peer == peer)
        wait_ns = std::max(wait_ns, row.wait_ns);
    }
    return wait_ns;
  }

  std::unique_ptr<testing::ImportedRun> run_;
  std::shared_ptr<const StoreReader> store_;
  std::unique_ptr<RunAnalyses> analyses_;
};

// The trace gives fractions of nanoseconds and the store does not: a nanosecond for each task.
constexpr int64_t kRounding = 16;

TEST_F(RealCommunication, AscendTextOperatorsEqualTheToolsFile) {
  if (!open("ascend/msinsight/text/level1")) GTEST_SKIP() << "needs ../shared/data";
  ASSERT_EQ(result().operators.size(), 8u);
  const int64_t elapse[] = {79089520, 2281106, 2402388, 22218864};
  const int64_t transit[] = {239185, 1228585, 2059781, 155803};
  const int64_t wait[] = {5646633, 72401, 188424, 33161};
  const int64_t synchronization[] = {5615692, 20, 0, 0};
  const double bandwidth[] = {15.7676e9, 12.9217e9, 17.3778e9, 14.3343e9};
  int64_t bytes = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const CommunicationOperatorRow& row = operation(0, i);
    EXPECT_EQ(row.elapse_ns, elapse[i]);
    EXPECT_NEAR(row.transit_ns, transit[i], kRounding);
    EXPECT_NEAR(row.wait_ns, wait[i], kRounding);
    EXPECT_NEAR(row.synchronization_ns, synchronization[i], kRounding);
    EXPECT_EQ(row.transit_ns + row.wait_ns + row.idle_ns, row.elapse_ns);
    EXPECT_LE(row.moving_ns + row.blocked_ns, row.elapse_ns);
    EXPECT_NEAR(row.transfer_bandwidth, bandwidth[i], 1e6);
    EXPECT_EQ(row.group_size, 8);
    EXPECT_EQ(row.kind, "all_reduce");
    EXPECT_EQ(row.step, 50);
    bytes += row.transfer_bytes;
  }
  EXPECT_EQ(bytes, 427596096);
  // What the tool calls idle (73.2 ms) is waiting: 79.09 ms of which next to nothing moves data.
  EXPECT_GT(operation(0, 0).blocked_ns, 77'000'000);
}

TEST_F(RealCommunication, AscendTextNamesThePeerThatWasNotRecorded) {
  if (!open("ascend/msinsight/text/level1")) GTEST_SKIP() << "needs ../shared/data";
  EXPECT_NEAR(waiting(0, 0, 5), 78'770'000, 1000);
  EXPECT_NEAR(waiting(0, 0, 1), 5'616'000, 1000);
  EXPECT_NEAR(waiting(0, 3, 5), 21'985'000, 1000);
  EXPECT_NEAR(waiting(1, 0, 5), 73'169'000, 1000);
  EXPECT_NEAR(waiting(1, 3, 5), 22'007'000, 1000);
  EXPECT_EQ(operation(0, 0).late_peer, 5);
  EXPECT_EQ(operation(1, 3).late_peer, 5);
  EXPECT_EQ(operation(0, 2).late_peer, kNull);
  ASSERT_FALSE(result().late_ranks.empty());
  const LateRankRow& late = result().late_ranks[0];
  EXPECT_EQ(late.rank, 5);
  EXPECT_FALSE(late.recorded);
  EXPECT_EQ(late.evidence, "notify_wait");
  EXPECT_EQ(late.waiting_ranks, 2);
  EXPECT_TRUE(late.late);
  EXPECT_EQ(std::count_if(result().late_ranks.begin(), result().late_ranks.end(),
                          [](const LateRankRow& row) { return row.late; }),
            1);
}

TEST_F(RealCommunication, AscendTextLinksAndSums) {
  if (!open("ascend/msinsight/text/level1")) GTEST_SKIP() << "needs ../shared/data";
  const auto link = [&](int64_t src, int64_t dst) {
    for (const CommunicationMatrixRow& row : result().matrix) {
      if (row.src_rank == src && row.dst_rank == dst) return row;
    }
    ADD_FAILURE() << "no link " << src << "-" << dst;
    return CommunicationMatrixRow{};
  };
  EXPECT_EQ(link(0, 0).bytes, 61210656);
  EXPECT_NEAR(link(0, 0).bandwidth, 419.8179e9, 1e8);
  EXPECT_EQ(link(0, 1).bytes, 61210624);
  EXPECT_NEAR(link(0, 1).time_ns, 3883938, kRounding);
  EXPECT_EQ(link(0, 1).link, "HCCS");
  EXPECT_NEAR(link(0, 1).bandwidth, 15.7599e9, 1e6);
  EXPECT_NEAR(link(1, 0).bandwidth, 15.8557e9, 1e6);
  for (const CommunicationMatrixRow& row : result().matrix) EXPECT_FALSE(row.slow);
  ASSERT_EQ(result().groups.size(), 2u);
  ASSERT_EQ(result().steps.size(), 2u);
  EXPECT_EQ(result().steps[0].elapse_ns, 105991878);
  EXPECT_EQ(result().steps[1].elapse_ns, 100375286);
  EXPECT_NEAR(result().steps[0].transit_ns, 3683354, 4 * kRounding);
  EXPECT_NEAR(result().steps[0].wait_ns, 5940619, 4 * kRounding);
  EXPECT_NEAR(result().steps[0].synchronization_ns, 5615712, 4 * kRounding);
  EXPECT_NEAR(result().steps[1].wait_ns, 191384, 4 * kRounding);
  // Not 855.192192 MB: the other tool adds HCCS and the SDMA total that contains it.
  EXPECT_EQ(result().steps[0].transfer_bytes, 427596096);
  EXPECT_NEAR(result().steps[0].transfer_bandwidth, 15.6539e9, 1e6);
}

TEST_F(RealCommunication, AscendDatabase) {
  if (!open("ascend/msinsight/db/level1")) GTEST_SKIP() << "needs ../shared/data";
  EXPECT_NEAR(waiting(0, 0, 6), 88'423'527, 0);
  EXPECT_NEAR(waiting(0, 3, 6), 8'400'507, 0);
  EXPECT_NEAR(waiting(1, 0, 6), 84'906'556, 0);
  EXPECT_NEAR(waiting(1, 3, 6), 8'406'028, 0);
  ASSERT_FALSE(result().late_ranks.empty());
  EXPECT_EQ(result().late_ranks[0].rank, 6);
  EXPECT_TRUE(result().late_ranks[0].late);
  // cluster_time_summary: transmit = shortest over the ranks, wait = own - that.
  int64_t wait_ns[2] = {};
  int64_t transmit_ns = 0;
  int64_t total_ns = 0;
  for (const CommunicationOperatorRow& row : result().operators) {
    wait_ns[row.rank] += row.peer_wait_ns;
    total_ns += row.elapse_ns;
    if (row.rank == 0) transmit_ns += row.transmit_ns;
  }
  EXPECT_EQ(total_ns, 200698290);
  EXPECT_EQ(wait_ns[0], 3522991);
  EXPECT_EQ(wait_ns[1], 5081);
  EXPECT_EQ(transmit_ns, 98585109);
  ASSERT_EQ(result().collectives.size(), 4u);
  EXPECT_EQ(result().collectives[0].last_rank, 1);
  EXPECT_EQ(result().collectives[0].start_spread_ns, 3532626);
  EXPECT_EQ(result().collectives[0].end_spread_ns, 15476);
}

TEST_F(RealCommunication, MindSporeStragglerIsNamed) {
  if (!open("mindspore_cpu/h_data_parallel")) GTEST_SKIP() << "needs ../shared/data";
  ASSERT_EQ(result().operators.size(), 48u);
  ASSERT_EQ(result().collectives.size(), 24u);
  int64_t total_ns[2] = {};
  for (const CommunicationOperatorRow& row : result().operators) {
    total_ns[row.rank] += row.elapse_ns;
    EXPECT_EQ(row.matched_ranks, 2);
  }
  EXPECT_EQ(total_ns[0], 3160721062);
  EXPECT_EQ(total_ns[1], 45325144);
  ASSERT_FALSE(result().late_ranks.empty());
  EXPECT_EQ(result().late_ranks[0].rank, 1);
  EXPECT_TRUE(result().late_ranks[0].late);
  const auto& ranks = analyses_->rank_comparison();
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_FALSE(ranks[0].slow) << ranks[0].why;
  EXPECT_TRUE(ranks[1].slow);
  EXPECT_NE(ranks[1].why.find("late for communication"), std::string::npos);
  EXPECT_GT(ranks[1].caused_wait_ns, 3'000'000'000);
}

TEST_F(RealCommunication, NcclKernelsAreMatched) {
  if (!open("kineto/hta/trace_filter")) GTEST_SKIP() << "needs ../shared/data";
  EXPECT_EQ(result().operators.size(), 20u);
  int64_t total_ns[2] = {};
  for (const CommunicationOperatorRow& row : result().operators)
    total_ns[row.rank] += row.elapse_ns;
  EXPECT_EQ(total_ns[0], 396199000);
  EXPECT_EQ(total_ns[1], 379053000);
  EXPECT_FALSE(result().reasons.empty());
}

}  // namespace
}  // namespace stepscope
