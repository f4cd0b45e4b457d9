#include "analyses/communication/communication.h"

#include <cmath>

#include <gtest/gtest.h>

#include "analyses/communication/plane_tasks.h"
#include "analyses/communication/process_groups.h"
#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::made_store;
using testing::numbered;
using testing::slice_of;

// Adds communication to a rank made by hand.
struct Maker {
  RankBuilder& rank;

  void operation(TrackId track, std::string_view name, int64_t ts_ns, int64_t dur_ns,
                 const CommunicationDetail& detail, std::string_view group = "7") const {
    testing::add_operation(rank, track, name, ts_ns, dur_ns, detail, group);
  }
  void task(TrackId track, std::string_view what, std::string_view whole, int64_t ts_ns,
            int64_t dur_ns, int64_t peer, int64_t bytes) const {
    CommunicationDetail detail;
    detail.level = rank.strings.intern("task");
    detail.op = rank.strings.intern(what);
    detail.group = rank.strings.intern("7");
    detail.of_name = rank.strings.intern(whole);
    detail.src_rank = 0;
    detail.dst_rank = peer;
    if (what == "Notify_Wait") {
      detail.wait_ns = dur_ns;
    } else {
      detail.transit_ns = dur_ns;
      detail.bytes = bytes;
      detail.transport = rank.strings.intern("SDMA");
      detail.link = rank.strings.intern("HCCS");
    }
    SliceRecord slice = slice_of(rank, what, ts_ns, dur_ns, SliceKind::kCommunication);
    slice.detail = rank.add_communication(detail);
    rank.add_slice(track, slice);
  }
};

TrackId plane(RankBuilder& rank, int number) {
  TrackInfo track;
  track.kind = TrackKind::kCommunication;
  track.thread = rank.strings.intern("Plane " + std::to_string(number));
  track.tid = track.thread;
  return rank.add_track(track);
}

TEST(CollectiveKinds, AreReadFromAllSpellings) {
  EXPECT_EQ(collective_kind("hcom_allReduce__586_0_1"), CollectiveKind::kAllReduce);
  EXPECT_EQ(collective_kind("hcom_reduceScatter_"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(collective_kind("ncclDevKernel_ReduceScatter_Sum_bf16"),
            CollectiveKind::kReduceScatter);
  EXPECT_EQ(collective_kind("_allgather_base"), CollectiveKind::kAllGather);
  EXPECT_EQ(collective_kind("ncclKernel_SendRecv"), CollectiveKind::kSendReceive);
  EXPECT_EQ(collective_kind("hcom_receive__1_2_3"), CollectiveKind::kReceive);
  EXPECT_EQ(collective_kind("MatMul"), CollectiveKind::kOther);
}

TEST(CollectiveKinds, BusBandwidthOfNccl) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kAllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kBroadcast, 4), 1);
  EXPECT_EQ(operation_bytes(CollectiveKind::kAllGather, 100, 4, false), 400);
  EXPECT_EQ(operation_bytes(CollectiveKind::kReduceScatter, 100, 4, true), 400);
  EXPECT_EQ(operation_bytes(CollectiveKind::kReduceScatter, 100, 4, false), 100);
  EXPECT_EQ(operation_bytes(CollectiveKind::kAllGather, 100, kNull, false), kNull);
}

TEST(ProcessGroupMembers, OfBothSources) {
  const ProcessGroups ascend(
      R"({"parallel_group_info": {"group_name_5": {"global_ranks": [2, 6]}, "odd": 3}})");
  EXPECT_EQ(ascend.global_rank("5862276114690318097", 1), 6);
  EXPECT_EQ(ascend.global_rank("5862276114690318097", 2), 2);
  EXPECT_EQ(ascend.global_rank("unknown", 3), 3);
  const ProcessGroups kineto(R"({"pg_config": [{"pg_name": "1", "ranks": [0, 4]}, 7]})");
  EXPECT_EQ(kineto.members("1").size(), 2u);
  EXPECT_TRUE(ProcessGroups("no json").members("1").empty());
  EXPECT_TRUE(ProcessGroups("").members("1").empty());
}

TEST(CommunicationAnalysis, PlanesWaitsAndLateness) {
  const testing::TemporaryFolder folder;
  const auto store = made_store(folder, [](RankBuilder& rank) {
    const Maker make{rank};
    const TrackId whole = plane(rank, 100);
    make.operation(whole, "hcom_allReduce__1_0_1", 1000, 1000, numbered(0, 4000));
    const TrackId first = plane(rank, 0);
    const TrackId second = plane(rank, 1);
    make.task(first, "Notify_Wait", "hcom_allReduce__1_0_1", 1000, 100, 1, 0);
    make.task(first, "Memcpy", "hcom_allReduce__1_0_1", 1100, 200, 1, 2000);
    make.task(first, "Notify_Wait", "hcom_allReduce__1_0_1", 1300, 50, 1, 0);
    make.task(second, "Notify_Wait", "hcom_allReduce__1_0_1", 1000, 800, 3, 0);
    make.task(second, "Memcpy", "hcom_allReduce__1_0_1", 1800, 200, 3, 1000);
  });
  RunAnalyses run(store, {});
  const Communication& result = run.communication();
  ASSERT_EQ(result.operators.size(), 1u);
  const CommunicationOperatorRow& row = result.operators[0];
  EXPECT_EQ(row.transit_ns, 200);
  EXPECT_EQ(row.wait_ns, 150);
  EXPECT_EQ(row.synchronization_ns, 100);
  EXPECT_EQ(row.idle_ns, 650);
  EXPECT_EQ(row.moving_ns, 400);   // 1100..1300 and 1800..2000
  EXPECT_EQ(row.blocked_ns, 600);  // 1000..1100 and 1300..1800
  EXPECT_EQ(row.late_peer, 3);
  EXPECT_EQ(row.late_peer_wait_ns, 800);
  EXPECT_EQ(row.transfer_bytes, 3000);
  EXPECT_DOUBLE_EQ(row.transfer_bandwidth, 3000e9 / 400);
  EXPECT_EQ(row.group_size, 4);
  ASSERT_EQ(result.late_ranks.size(), 1u);
  EXPECT_EQ(result.late_ranks[0].rank, 3);
  EXPECT_TRUE(result.late_ranks[0].late);
  EXPECT_FALSE(result.late_ranks[0].recorded);
  // 10 bytes/ns against 5: mean 7.5, a third below.
  ASSERT_EQ(result.matrix.size(), 2u);
  EXPECT_FALSE(result.matrix[0].slow);
  EXPECT_TRUE(result.matrix[1].slow);
  EXPECT_NEAR(result.matrix[1].below_mean, 1.0 / 3, 1e-12);
  const auto reasons = run.reasons("communication_operators");
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].why.find("one rank only"), std::string::npos);
}

TEST(CommunicationAnalysis, MatchesByNumberAndNamesTheLastRank) {
  const testing::TemporaryFolder folder;
  const auto rank_of = [](int64_t late_ns) {
    return [late_ns](RankBuilder& rank) {
      const Maker make{rank};
      const TrackId stream = device_track(rank, 0, 7);
      make.operation(stream, "ncclDevKernel_AllReduce", 1000 + late_ns, 1000 - late_ns,
                     numbered(4, 1000, 3));
      // Recorded on this rank, in another order than on the others.
      make.operation(stream, "ncclDevKernel_AllReduce", 3000, 100 + late_ns, numbered(5, 1000, 3));
    };
  };
  const auto store = made_store(folder, rank_of(0), rank_of(700), rank_of(100));
  RunAnalyses run(store, {});
  const Communication& result = run.communication();
  ASSERT_EQ(result.collectives.size(), 2u);
  const CollectiveRow& first = result.collectives[0];
  EXPECT_EQ(first.sequence, 4);
  EXPECT_EQ(first.ranks, 3);
  EXPECT_EQ(first.first_rank, 0);
  EXPECT_EQ(first.last_rank, 1);
  EXPECT_EQ(first.start_spread_ns, 700);
  EXPECT_EQ(first.end_spread_ns, 0);
  EXPECT_EQ(first.transmit_ns, 300);
  EXPECT_EQ(first.wait_ns, 700 + 600);
  EXPECT_DOUBLE_EQ(first.algorithm_bandwidth, 1000e9 / 300);
  EXPECT_DOUBLE_EQ(first.bus_bandwidth, 1000e9 / 300 * 2 * 2 / 3);
  EXPECT_EQ(result.operators[0].peer_wait_ns, 700);
  EXPECT_EQ(result.operators[0].last_rank, 1);
  const auto& ranks = run.rank_comparison();
  EXPECT_TRUE(ranks[1].slow);
  EXPECT_FALSE(ranks[0].slow);
  EXPECT_FALSE(ranks[2].slow);
  EXPECT_EQ(ranks[1].caused_wait_ns, 1300);
}

TEST(CommunicationAnalysis, OperationsWithoutNumbersMatchByOrderOnlyWhereThatHolds) {
  const testing::TemporaryFolder folder;
  const auto rank_of = [](int count, int64_t shift_ns) {
    return [count, shift_ns](RankBuilder& rank) {
      const Maker make{rank};
      const TrackId stream = device_track(rank, 0, 7);
      for (int i = 0; i < count; ++i)
        make.operation(stream, "AllReduce", 1000 * i + shift_ns, 500, {}, "");
      make.operation(stream, "AllGather", 50'000 + shift_ns, 100, {}, "");
    };
  };
  const auto even = made_store(folder, rank_of(3, 0), rank_of(3, 50));
  RunAnalyses matched(even, {});
  EXPECT_EQ(matched.communication().collectives.size(), 4u);
  EXPECT_EQ(matched.communication().collectives[0].last_rank, 1);

  const testing::TemporaryFolder other;
  const auto odd = made_store(other, rank_of(3, 0), rank_of(2, 600));
  RunAnalyses unmatched(odd, {});
  EXPECT_TRUE(unmatched.communication().collectives.empty());
  std::string said;
  for (const Reason& reason : unmatched.reasons("communication_collectives")) said += reason.why;
  EXPECT_NE(said.find("5 operations have no numbers"), std::string::npos) << said;
  EXPECT_NE(said.find("2 operations with the same name and number do not overlap"),
            std::string::npos)
      << said;
}

TEST(CommunicationAnalysis, SomebodyIsAlwaysLast) {
  const testing::TemporaryFolder folder;
  const auto rank_of = [](int64_t late_ns) {
    return [late_ns](RankBuilder& rank) {
      const Maker make{rank};
      const TrackId stream = device_track(rank, 0, 7);
      make.operation(stream, "ncclDevKernel_AllReduce", 1000 + late_ns, 1000 - late_ns,
                     numbered(0, 1000, 2));
      // Computation that the lateness is nothing against.
      rank.add_slice(stream, slice_of(rank, "gemm", 5000, 100'000, SliceKind::kKernel));
    };
  };
  const auto store = made_store(folder, rank_of(0), rank_of(900));
  RunAnalyses run(store, {});
  ASSERT_EQ(run.communication().late_ranks.size(), 1u);
  const LateRankRow& late = run.communication().late_ranks[0];
  EXPECT_EQ(late.rank, 1);
  EXPECT_DOUBLE_EQ(late.share, 0.9);
  EXPECT_DOUBLE_EQ(late.of_time, 900.0 / 104'000);
  EXPECT_FALSE(late.late);
  EXPECT_FALSE(run.rank_comparison()[1].slow);
}

TEST(CommunicationAnalysis, AllTablesOfARunWithoutCommunication) {
  const testing::TemporaryFolder folder;
  const auto store = made_store(folder, [](RankBuilder& rank) { host_track(rank, "main"); });
  RunAnalyses run(store, {});
  for (const ResultTable& described : RunAnalyses::descriptions()) {
    const std::string_view name = described.name();
    const auto table = run.table(name);
    ASSERT_TRUE(table.ok());
    if (!name.starts_with("communication")) continue;
    EXPECT_EQ(table->rows(), 0u) << name;
    EXPECT_FALSE(run.reasons(name).empty()) << name;
  }
}

// NCCL has no transfers; a group of two ranks measures the link between them.
TEST(Communication, AGroupOfTwoIsALink) {
  const testing::TemporaryFolder folder;
  const auto rank_with = [](std::string_view group, int64_t late_ns, int64_t end_ns) {
    return [=](RankBuilder& rank) {
      const Maker maker{rank};
      const TrackId stream = device_track(rank, 0, 20);
      maker.operation(stream, "allGather__1", 1000 + late_ns, end_ns - 1000 - late_ns,
                      numbered(1, 4'000'000, 2), group);
      maker.operation(stream, "allGather__2", 9'000'000, 2'000'000, numbered(2, kNull, 2), group);
    };
  };
  const auto store =
      made_store(folder, rank_with("a", 0, 501'000), rank_with("a", 100'000, 501'000),
                 rank_with("b", 0, 2'001'000), rank_with("b", 0, 2'001'000));
  const Communication result = communication(*store, rank_ids(*store), 1);
  ASSERT_EQ(result.matrix.size(), 2u);
  const CommunicationMatrixRow& fast = result.matrix[0];
  EXPECT_EQ(fast.src_rank, 0);
  EXPECT_EQ(fast.dst_rank, 1);
  EXPECT_EQ(fast.packets, 1);  // the one whose size is known
  EXPECT_EQ(fast.time_ns, 400'000);
  EXPECT_FALSE(fast.slow);
  const CommunicationMatrixRow& slow = result.matrix[1];
  EXPECT_EQ(slow.src_rank, 2);
  EXPECT_EQ(slow.dst_rank, 3);
  EXPECT_EQ(slow.time_ns, 2'000'000);
  EXPECT_TRUE(slow.slow);
  EXPECT_NEAR(slow.below_mean, 2.0 / 3, 1e-9);
}

// Pairs of tensor parallel ranks (0-1, 2-3) beside pairs of data parallel ones (0-2, 1-3), which
// cross nodes; 2-3 exchange single numbers, too.
TEST(Communication, OnlyGroupsOfOneKindAndLargeMessagesAreCompared) {
  const testing::TemporaryFolder folder;
  const auto rank_in = [](std::string_view near, std::string_view far, bool small) {
    return [=](RankBuilder& rank) {
      const TrackId stream = device_track(rank, 0, 20);
      testing::add_operation(rank, stream, "allReduce__1", 0, 100'000, numbered(1, 4 << 20, 2),
                             near);
      testing::add_operation(rank, stream, "allReduce__2", 1'000'000, 1'000'000,
                             numbered(1, 4 << 20, 2), far);
      if (small)
        testing::add_operation(rank, stream, "allReduce__3", 3'000'000, 50'000, numbered(2, 8, 2),
                               near);
    };
  };
  const auto store = made_store(folder, rank_in("tp0", "dp0", false), rank_in("tp0", "dp1", false),
                                rank_in("tp1", "dp0", true), rank_in("tp1", "dp1", true));
  const Communication result = communication(*store, rank_ids(*store), 1);
  ASSERT_EQ(result.matrix.size(), 5u);
  for (const CommunicationMatrixRow& row : result.matrix) {
    EXPECT_FALSE(row.slow) << row.src_rank << " " << row.dst_rank << " " << row.transport;
    if (row.transport == "group of two") {
      EXPECT_EQ(row.packets, 1);
      EXPECT_DOUBLE_EQ(row.below_mean, 0);
    } else {
      EXPECT_EQ(row.transport, "group of two, below 1 MiB");
      EXPECT_EQ(row.bytes, 8);
      EXPECT_EQ(row.src_rank, 2);
      EXPECT_TRUE(std::isnan(row.mean_bandwidth));
    }
  }
}

// A task of the plane, from when to when, and how long it waits or moves data by itself.
PlaneTask task_of(RdmaPart rdma, int64_t from_ns, int64_t to_ns, int64_t bytes, bool waits,
                  int32_t plane = 0) {
  const int64_t dur_ns = to_ns - from_ns;
  return {0, plane, from_ns, dur_ns, waits ? dur_ns : kNull, waits ? kNull : dur_ns, bytes, 0,
          1, kNull, kNull,   rdma};
}

TEST(RdmaGroups, PayloadsAndWhatClosesThemAreOneTransfer) {
  using enum RdmaPart;
  const std::vector<PlaneTask> plane_tasks = {
      task_of(kUnknown, 0, 10, 0, true),  // before the transfer
      task_of(kPayload, 10, 12, 100, false), task_of(kPayload, 12, 15, 200, false),
      task_of(kOther, 15, 16, 4, false),     task_of(kUnknown, 16, 30, 0, true),
      task_of(kUnknown, 30, 31, 0, false),   task_of(kUnknown, 31, 40, 0, true),
      task_of(kUnknown, 40, 45, 0, true),      // behind it
      task_of(kPayload, 50, 52, 300, false)};  // nothing closes it
  std::vector<PlaneTask> tasks = plane_tasks;
  join_rdma_groups(tasks, "hcom_allReduce__1_0_1");
  EXPECT_EQ(tasks[1].transit_ns, 30);
  EXPECT_EQ(tasks[1].dur_ns, 30);
  EXPECT_EQ(tasks[1].bytes, 300);
  for (const size_t inside : {2, 3, 4, 5, 6, 8}) {
    EXPECT_EQ(tasks[inside].transit_ns, kNull) << inside;
    EXPECT_EQ(tasks[inside].wait_ns, kNull) << inside;
    EXPECT_EQ(tasks[inside].bytes, 0) << inside;
  }
  EXPECT_EQ(tasks[0].wait_ns, 10);
  EXPECT_EQ(tasks[7].wait_ns, 5);
  // Between two ranks the group is closed two tasks earlier.
  tasks = plane_tasks;
  join_rdma_groups(tasks, "hcom_batchSendRecv__1_0_1");
  EXPECT_EQ(tasks[1].transit_ns, 20);
  EXPECT_EQ(tasks[6].wait_ns, 9);
  // Tasks of another plane close nothing.
  tasks = {task_of(kPayload, 0, 5, 100, false), task_of(kUnknown, 5, 6, 0, true, 1),
           task_of(kUnknown, 6, 7, 0, true, 1)};
  join_rdma_groups(tasks, "hcom_send__1_0_1");
  EXPECT_EQ(tasks[0].transit_ns, kNull);
  EXPECT_EQ(tasks[2].wait_ns, 1);
  // Where the input does not tell payloads, each task counts for itself.
  tasks = {task_of(kUnknown, 0, 5, 100, false), task_of(kUnknown, 5, 6, 0, true)};
  join_rdma_groups(tasks, "hcom_send__1_0_1");
  EXPECT_EQ(tasks[0].transit_ns, 5);
  EXPECT_EQ(tasks[1].wait_ns, 1);
}

}  // namespace
}  // namespace stepscope
