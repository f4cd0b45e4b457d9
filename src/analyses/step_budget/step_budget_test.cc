#include "analyses/step_budget/step_budget.h"

#include <gtest/gtest.h>

#include "store/store_writer.h"
#include "tests/support/rank_making.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

StepRow step_of(int64_t number, int64_t start_ns, int64_t end_ns) {
  StepRow step;
  step.step = number;
  step.start_ns = step.work_start_ns = start_ns;
  step.dur_ns = step.work_dur_ns = end_ns - start_ns;
  return step;
}

int64_t sum_of_causes(const StepBudgetRow& row) {
  return row.queued_ns + row.input_ns + row.sync_ns + row.gc_ns + row.host_ns + row.other_ns;
}

TEST(StepBudget, EveryPieceHasOneCause) {
  DeviceIntervals device;
  device.device = 0;
  device.compute = {{100, 180}, {300, 400}};
  device.communication = {{150, 200}, {500, 590}};
  device.memory = {{580, 600}};
  HostActivity host;
  host.input = {{0, 60}};
  host.sync = {{150, 205}};  // holds 200, where the device runs dry
  host.gc = {{420, 440}};
  host.any = {{0, 90}, {120, 460}};  // nothing from 460 to 500
  const std::vector<StepRow> steps = {step_of(7, 0, 600)};
  const auto rows = step_budget({0, 3, 0}, device, {}, host, steps);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rank, 3);
  EXPECT_EQ(rows[0].step, 7);
  EXPECT_EQ(rows[0].compute_ns, 180);
  EXPECT_EQ(rows[0].exposed_communication_ns, 20 + 90);
  EXPECT_EQ(rows[0].exposed_copy_ns, 10);
  EXPECT_EQ(rows[0].idle_ns, 300);  // 0..100, 200..300, 400..500
  EXPECT_EQ(rows[0].input_ns, 60);
  EXPECT_EQ(rows[0].sync_ns, 100);  // the whole piece: its cause is the drained queue
  EXPECT_EQ(rows[0].gc_ns, 20);
  EXPECT_EQ(rows[0].host_ns, 30 + 40);
  EXPECT_EQ(rows[0].other_ns, 10 + 40);
  EXPECT_EQ(sum_of_causes(rows[0]), rows[0].idle_ns);
  EXPECT_EQ(rows[0].compute_ns + rows[0].exposed_communication_ns + rows[0].exposed_copy_ns +
                rows[0].idle_ns,
            rows[0].step_ns);
  EXPECT_EQ(rows[0].longest_idle_ns, 100);
  EXPECT_EQ(rows[0].longest_idle_at_ns, 0);
}

// Whatever the host does: the work behind these gaps was in the queue when they began.
TEST(StepBudget, AGapBeforeWorkThatWasLaunchedIsNotTheHosts) {
  DeviceIntervals device;
  device.compute = {{0, 100}, {200, 300}, {400, 500}, {600, 700}};
  HostActivity host;
  host.any = {{0, 250}};
  host.input = {{300, 400}};
  host.sync = {{500, 550}};
  const std::vector<StepRow> steps = {step_of(1, 0, 650), step_of(2, 650, 700)};
  const auto rows = step_budget({}, device, {{100, 200}, {300, 400}, {500, 600}}, host, steps);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].idle_ns, 300);
  EXPECT_EQ(rows[0].queued_ns, 300);
  EXPECT_EQ(sum_of_causes(rows[0]), 300);
  EXPECT_EQ(rows[0].input_wait_ns, 100);  // of the host, whatever the device did
  const auto unknown = step_budget({}, device, {}, host, steps);
  EXPECT_EQ(unknown[0].queued_ns, 0);
  EXPECT_EQ(unknown[0].host_ns, 100);
  EXPECT_EQ(unknown[0].input_ns, 100);
  EXPECT_EQ(unknown[0].sync_ns, 100);
}

TEST(StepBudget, APieceOfAMillisecondIsAStall) {
  DeviceIntervals device;
  device.compute = {{1'000, 2'000}, {1'002'000, 1'003'000}, {4'003'000, 4'004'000}};
  HostActivity host;
  host.any = {{0, 1'500'000}, {2'000'000, 5'000'000}};
  const auto rows = step_budget({}, device, {}, host, std::vector{step_of(1, 0, 4'004'000)});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].host_ns, 1'000 + 1'000'000 + 2'500'000);
  EXPECT_EQ(rows[0].host_stall_ns, 1'000'000 + 2'500'000);
  EXPECT_EQ(rows[0].longest_stall_ns, 2'500'000);
  EXPECT_EQ(rows[0].longest_stall_at_ns, 1'003'000);
  EXPECT_EQ(rows[0].other_ns, 500'000);
  device.compute[1].start_ns -= 1;
  EXPECT_EQ(
      step_budget({}, device, {}, host, std::vector{step_of(1, 0, 4'004'000)})[0].host_stall_ns,
      2'500'000);
}

TEST(StepBudget, AStepWithoutDeviceWorkIsIdleAsAWhole) {
  DeviceIntervals device;
  device.compute = {{5000, 6000}};
  std::vector<StepRow> steps = {step_of(1, 0, 1000), step_of(2, 5000, 6000),
                                step_of(3, 6000, 7000)};
  steps[2].complete = false;
  const auto rows = step_budget({}, device, {}, {}, steps);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].idle_ns, 1000);
  EXPECT_EQ(rows[0].other_ns, 1000);
  EXPECT_EQ(rows[1].idle_ns, 0);
  EXPECT_EQ(rows[1].longest_idle_at_ns, kNull);
}

TEST(StepBudget, KnowsWaitsByName) {
  EXPECT_TRUE(is_input_wait("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"));
  EXPECT_TRUE(is_input_wait("Default/GetNext-op3"));
  EXPECT_FALSE(is_input_wait("aten::mm"));
  EXPECT_TRUE(is_device_wait("cudaStreamSynchronize"));
  EXPECT_TRUE(is_device_wait("AscendCL@aclrtSynchronizeStreamWithTimeout"));
  EXPECT_TRUE(is_device_wait("aten::item"));
  EXPECT_FALSE(is_device_wait("cudaLaunchKernel"));
}

TEST(HostActivity, LeavesStepMarksAndDevicesOut) {
  RankBuilder rank;
  const TrackId thread = testing::host_track(rank, "main");
  const TrackId stream = testing::device_track(rank, 0, 7);
  rank.add_slice(thread, testing::slice_of(rank, "ProfilerStep#1", 0, 1000));
  rank.add_slice(thread, testing::slice_of(rank, "aten::item", 20, 30));  // of the host's memory
  rank.add_slice(thread, testing::slice_of(rank, "cudaDeviceSynchronize", 100, 50));
  rank.add_slice(thread, testing::slice_of(rank, "Garbage Collection", 300, 10));
  rank.add_slice(stream, testing::slice_of(rank, "kernel", 500, 100));
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, 1);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->add_rank(0, rank, 1).ok());
  ASSERT_TRUE((*writer)->finish("{}").ok());
  auto store = StoreReader::open(path);
  ASSERT_TRUE(store.ok());
  const HostActivity host = host_activity(**store, 0);
  EXPECT_EQ(host.sync, (std::vector<Interval>{{100, 150}}));
  EXPECT_EQ(host.gc, (std::vector<Interval>{{300, 310}}));
  EXPECT_TRUE(host.input.empty());
}

// Without calls of the runtime every item may be one of the device.
TEST(HostActivity, ItemsAreWaitsWhereNoCallTellsThemApart) {
  RankBuilder rank;
  rank.add_slice(testing::host_track(rank, "main"), testing::slice_of(rank, "aten::item", 20, 30));
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, 1);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE((*writer)->add_rank(0, rank, 1).ok());
  ASSERT_TRUE((*writer)->finish("{}").ok());
  auto store = StoreReader::open(path);
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(host_activity(**store, 0).sync, (std::vector<Interval>{{20, 50}}));
}

}  // namespace
}  // namespace stepscope
