// Stages, queues and worker processes through record.h, read back from the file.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/pipeline_stages.h"
#include "collector/recording_test.h"
#include "collector/worker_rings.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::read_back;
using testing::ReadBack;
using testing::ReadRange;

class Pipeline : public ::testing::Test {
 protected:
  void start() {
    folder_ = std::make_unique<testing::TemporaryFolder>();
    ASSERT_EQ(stepscope_start(folder_->path().c_str(), nullptr), 0) << stepscope_last_error();
  }
  ReadBack stop() {
    statistics_ = stepscope_stop();
    return read_back(folder_->path("stepscope.raw"));
  }
  void TearDown() override { stepscope_stop(); }

  // Runs `work` in a worker process that has joined, and returns its process id.
  template <typename Work>
  static pid_t worker(const std::string& address, Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (stepscope_join(address.c_str()) != 0) ::_exit(2);
      work();
      ::_exit(0);
    }
    return child;
  }
  static void expect_success(pid_t child) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  std::unique_ptr<testing::TemporaryFolder> folder_;
  std::string statistics_;
};

uint32_t stage_of(const std::string& name) {
  return stepscope_stage(name.data(), name.size(), nullptr);
}

TEST_F(Pipeline, QueueRecordsCarrySizeNumberAndWait) {
  const uint32_t stage = stage_of("decode");
  stepscope_queue_size(stage, 1);  // nothing records yet
  stepscope_queue_get(stepscope_now(), stage, 1, 1);
  start();
  stepscope_queue_size(stage, 7);
  const uint64_t begin = stepscope_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  stepscope_queue_get(begin, stage, 3, 41);
  stepscope_queue_put(begin, stage, UINT64_MAX, -1);
  const ReadBack run = stop();
  ASSERT_EQ(run.values.size(), 3u);
  EXPECT_EQ(run.values[0].kind, STEPSCOPE_QUEUE_SIZE);
  EXPECT_EQ(run.values[0].name, "decode");
  EXPECT_EQ(run.values[0].value1, 7);
  EXPECT_EQ(run.values[0].value2, 0);
  EXPECT_EQ(run.values[1].kind, STEPSCOPE_QUEUE_GET);
  EXPECT_EQ(run.values[1].value1, 3);
  EXPECT_EQ(run.values[1].value2, 42);
  EXPECT_GT(run.values[1].duration, 0);
  EXPECT_EQ(run.values[2].kind, STEPSCOPE_QUEUE_PUT);
  EXPECT_EQ(run.values[2].value1, -1);
}

TEST_F(Pipeline, AWorkerProcessRecordsIntoItsParentsFile) {
  const uint32_t stage = stage_of("decode");
  const std::string address = stepscope_worker_address();
  start();
  const pid_t child = worker(address, [&] {
    for (int item = 0; item < 100; ++item) {
      const uint64_t begin = stepscope_now();
      stepscope_end_range(begin, STEPSCOPE_PIPELINE, stage);
    }
    stepscope_queue_put(stepscope_now(), stage, 5, 0);
    // What needs a recording of the process's own stays out.
    stepscope_mark(stage);
    const Scope not_recorded(stage);
  });
  expect_success(child);
  const ReadBack run = stop();
  EXPECT_EQ(run.ranges.size(), 100u);
  for (const ReadRange& range : run.ranges) {
    EXPECT_EQ(range.thread, child);
    EXPECT_EQ(range.kind, STEPSCOPE_PIPELINE);
    EXPECT_EQ(range.name, "decode");
  }
  ASSERT_EQ(run.values.size(), 1u);
  EXPECT_EQ(run.values[0].value1, 5);
  EXPECT_EQ(run.statistic("events"), 101);
  EXPECT_EQ(run.statistic("not_recorded"), 0);
}

TEST_F(Pipeline, AWorkerIsRecordedWhileItsParentRecordsAndAtNoOtherTime) {
  const std::string address = stepscope_worker_address();
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = worker(address, [&] {
    char turn = 0;
    while (::read(to_child[0], &turn, 1) == 1 && turn != 'e') {
      stepscope_end_range(stepscope_now(), STEPSCOPE_PIPELINE, 0);
      (void)!::write(to_parent[1], &turn, 1);
    }
  });
  const auto turn = [&](char which) {
    (void)!::write(to_child[1], &which, 1);
    if (which != 'e') (void)!::read(to_parent[0], &which, 1);
  };
  turn('x');  // before
  start();
  turn('x');
  turn('x');
  EXPECT_EQ(stop().ranges.size(), 2u);
  turn('x');  // between two
  start();
  turn('x');
  EXPECT_EQ(stop().ranges.size(), 1u);
  turn('e');
  expect_success(child);
}

TEST_F(Pipeline, RecordsWithoutRoomAreCounted) {
  const std::string address = stepscope_worker_address();
  start();
  constexpr int64_t kRecords = 200'000;  // faster than anybody empties the ring
  const pid_t child = worker(address, [&] {
    for (int64_t i = 0; i < kRecords; ++i)
      stepscope_end_range(stepscope_now(), STEPSCOPE_PIPELINE, 0);
  });
  expect_success(child);
  const ReadBack run = stop();
  EXPECT_EQ(run.statistic("events") + run.statistic("not_recorded"), kRecords);
  EXPECT_GT(run.statistic("not_recorded"), 0);
  EXPECT_EQ(static_cast<int64_t>(run.ranges.size()), run.statistic("events"));
}

TEST_F(Pipeline, RingsOfEndedWorkersAreUsedAgain) {
  const std::string address = stepscope_worker_address();
  start();
  for (size_t i = 0; i < 2 * kMostWorkerRings; ++i) {
    const pid_t child =
        worker(address, [] { stepscope_end_range(stepscope_now(), STEPSCOPE_PIPELINE, 0); });
    int status = -1;
    ::waitpid(child, &status, 0);
    // Where none is free yet, the writer has to come by first.
    if (status != 0) {
      EXPECT_EQ(stepscope_flush(), 0) << stepscope_last_error();
    }
  }
  const ReadBack run = stop();
  EXPECT_GE(run.ranges.size(), 2 * kMostWorkerRings - 3);
}

TEST_F(Pipeline, AWorkerThatIsKilledKeepsItsRecords) {
  const std::string address = stepscope_worker_address();
  start();
  const pid_t child = worker(address, [] {
    stepscope_end_range(stepscope_now(), STEPSCOPE_PIPELINE, 0);
    ::raise(SIGKILL);
  });
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(stop().ranges.size(), 1u);
}

TEST_F(Pipeline, NonsenseIsNotJoined) {
  EXPECT_NE(stepscope_join("/nonexistent"), 0);
  EXPECT_NE(stepscope_join("/proc/self/exe"), 0);
  start();
  EXPECT_NE(stepscope_join(stepscope_worker_address()), 0) << "it records itself";
  STEPSCOPE_SCOPE("still here");
}

TEST_F(Pipeline, AWorkerMayRecordItselfInstead) {
  const std::string address = stepscope_worker_address();
  const testing::TemporaryFolder own;
  start();
  const pid_t child = worker(address, [&] {
    if (stepscope_start(own.path().c_str(), nullptr) != 0) ::_exit(3);
    {
      STEPSCOPE_SCOPE("own");
    }
    stepscope_stop();
  });
  expect_success(child);
  EXPECT_TRUE(stop().ranges.empty());
  const ReadBack theirs = read_back(own.path("stepscope.raw"));
  ASSERT_EQ(theirs.ranges.size(), 1u);
  EXPECT_EQ(theirs.ranges[0].name, "own");
}

TEST(PipelineStages, AreBoundedAndSayWhatChanged) {
  PipelineStages stages;
  uint64_t version = 0;
  EXPECT_TRUE(stages.changed_since(version).empty());
  for (uint32_t name = 1; name <= PipelineStages::kMostStages + 10; ++name)
    stages.put(name, 0, 1, 2, name - 1);
  EXPECT_EQ(stages.turned_away(), 10);
  EXPECT_EQ(stages.changed_since(version).size(), PipelineStages::kMostStages);
  EXPECT_TRUE(stages.changed_since(version).empty());
  for (int64_t task = 1; task <= 1000; ++task) stages.add_task(1, task);
  stages.add_input(1, 7);
  stages.add_input(1, 7);
  stages.end(2);
  EXPECT_EQ(stages.changed_since(version).size(), PipelineStages::kMostStages);
  stages.put(2000, 0, 0, 0, 0);  // takes the place of the one that ended
  EXPECT_EQ(stages.turned_away(), 10);
  stages.end(2000);
  stages.forget_ended();
  version = 0;
  const auto now = stages.changed_since(version);
  ASSERT_EQ(now.size(), PipelineStages::kMostStages - 1);
  EXPECT_EQ(now[0].tasks.size(), PipelineStages::kMostTasks);
  EXPECT_EQ(now[0].tasks.back(), 1000);
  EXPECT_EQ(now[0].inputs, std::vector<uint32_t>{7});
}

TEST(PipelineStages, AKnownTaskTakesNobodysPlace) {
  constexpr auto kLast = static_cast<int64_t>(PipelineStages::kMostTasks);
  PipelineStages stages;
  stages.put(1, 0, 0, 0, 0);
  for (int64_t task = 1; task <= kLast; ++task) stages.add_task(1, task);
  uint64_t version = 0;
  const std::vector<int64_t> before = stages.changed_since(version).at(0).tasks;
  EXPECT_EQ(before.size(), PipelineStages::kMostTasks);
  stages.add_task(1, kLast);
  EXPECT_TRUE(stages.changed_since(version).empty());
  version = 0;
  EXPECT_EQ(stages.changed_since(version).at(0).tasks, before);
  stages.add_task(1, kLast + 1);  // an unknown one takes the oldest's
  const std::vector<int64_t> after = stages.changed_since(version).at(0).tasks;
  EXPECT_EQ(after.size(), PipelineStages::kMostTasks);
  EXPECT_EQ(after.front(), 2);
  EXPECT_EQ(after.back(), kLast + 1);
}

}  // namespace
}  // namespace stepscope
