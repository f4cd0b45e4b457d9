#include "analyses/overlap/idle.h"

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::TrainingRank;

TEST(Idle, GapsHaveTheClassOfTheWorkThatEndsThem) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.launch(thread, 0, 10, stream, {"a", 1'000, 2'000});
  rank.launch(thread, 20, 30, stream, {"b", 2'500, 3'000});      // waited 500 for the device
  rank.launch(thread, 40, 50, stream, {"c", 103'000, 104'000});  // 100 us: something else
  rank.launch(thread, 104'700, 104'800, stream, {"d", 105'000, 106'000});  // launched too late
  rank.kernel(stream, {"e", 105'500, 107'000});                            // overlaps: no gap
  rank.kernel(stream, {"f", 107'010, 107'020});                            // launch unknown
  RunAnalyses run(rank.finish(), {});
  const auto& rows = run.idle();
  ASSERT_EQ(rows.size(), 2u);
  for (const IdleRow& row : rows) {  // one stream: the device is idle when it is
    EXPECT_EQ(row.gaps, 4);
    EXPECT_EQ(row.host_wait_ns, 1'000);
    EXPECT_EQ(row.launch_ns, 300);
    EXPECT_EQ(row.kernel_wait_ns, 510);
    EXPECT_EQ(row.other_ns, 100'000);
    EXPECT_EQ(row.idle_ns, 101'510);
    EXPECT_EQ(row.longest_ns, 100'000);
  }
  EXPECT_EQ(rows[0].lane, "device");
  EXPECT_EQ(rows[0].exposed_communication_ns, 0);
  EXPECT_EQ(rows[1].stream, 7);
  EXPECT_EQ(rows[1].exposed_communication_ns, kNull);
  // In the queue when the gap began; of the last gap nobody knows.
  const auto gap = [](int64_t start_ns, int64_t end_ns) {
    return Interval{testing::kTrainingStart + start_ns, testing::kTrainingStart + end_ns};
  };
  EXPECT_EQ(launched_gaps(run.store(), run.ranks()[0], run.overlap_lanes()[0]),
            (std::vector<std::vector<Interval>>{{gap(2'000, 2'500), gap(3'000, 103'000)}}));
}

TEST(Idle, ADeviceIsIdleWhenAllItsStreamsAre) {
  TrainingRank rank;
  const TrackId one = rank.stream(0, 7);
  const TrackId two = rank.stream(0, 20);
  rank.kernel(one, {"a", 0, 100});
  rank.kernel(two, {"nccl", 90, 300, WorkClass::kCommunication});
  rank.kernel(one, {"b", 350, 400});
  RunAnalyses run(rank.finish(), {});
  const auto& rows = run.idle();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].idle_ns, 50);
  EXPECT_EQ(rows[0].exposed_communication_ns, 200);
  EXPECT_EQ(rows[1].idle_ns, 250);
  EXPECT_EQ(rows[2].idle_ns, 0);
  EXPECT_EQ(run.device_time()[0].idle_ns, rows[0].idle_ns);
  EXPECT_EQ(
      free_intervals(run.overlap_lanes()[0][0]),
      (std::vector<Interval>{{testing::kTrainingStart + 300, testing::kTrainingStart + 350}}));
  // Computing, Communication, Communication(Not Overlapped), Overlapped, Memory, Free.
  const int64_t totals[] = {150, 210, 200, 10, 0, 50};
  const auto& lanes = run.overlap();
  ASSERT_EQ(lanes.size(), 6u);
  for (size_t i = 0; i < lanes.size(); ++i)
    EXPECT_EQ(lanes[i].total_ns, totals[i]) << lanes[i].lane;
  EXPECT_EQ(lanes[0].intervals, 2);
  EXPECT_EQ(lanes[0].longest_ns, 100);
}

TEST(Idle, ReasonWithoutADevice) {
  TrainingRank rank;
  rank.op(rank.thread("main"), "aten::mm", 0, 10);
  RunAnalyses run(rank.finish(), {});
  EXPECT_TRUE(run.idle().empty());
  EXPECT_EQ(run.reasons("idle").size(), 1u);
}

struct StreamIdle {
  const char* file;
  int64_t device;
  int64_t stream;
  int64_t host_wait_ns, kernel_wait_ns, other_ns;
};

// gpu_tools.md section 8 (exact) and, on a whole-microsecond trace whose steps and launches are all
// there, HTA's own answer.
TEST(Idle, ClassesOfRealTraces) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const StreamIdle expected[] = {
      {"hta/ns_resolution_trace", 0, 7, 1347125, 6227613, 0},
      {"hta/critical_path/cuda_event_sync", 0, 7, 212000, 0, 0},
  };
  for (const StreamIdle& stream : expected) {
    SCOPED_TRACE(stream.file);
    const testing::ImportedRun imported(testing::shared_data() + "/kineto/" + stream.file);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    bool seen = false;
    for (const IdleRow& row : run.idle()) {
      EXPECT_EQ(row.host_wait_ns + row.kernel_wait_ns + row.other_ns, row.idle_ns);
      if (row.device != stream.device || row.stream != stream.stream) continue;
      seen = true;
      EXPECT_EQ(row.host_wait_ns, stream.host_wait_ns);
      EXPECT_EQ(row.kernel_wait_ns, stream.kernel_wait_ns);
      EXPECT_EQ(row.other_ns, stream.other_ns);
    }
    EXPECT_TRUE(seen);
  }
}

}  // namespace
}  // namespace stepscope
