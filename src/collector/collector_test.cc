// Recording through record.h, read back from the file.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/process.h"
#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::read_back;
using testing::ReadBack;

uint32_t name_of(const std::string& text) { return stepscope_name(text.data(), text.size()); }

class Collector : public ::testing::Test {
 protected:
  void start(stepscope_options options = {}) {
    options.size = sizeof options;
    folder_ = std::make_unique<testing::TemporaryFolder>();
    ASSERT_EQ(stepscope_start(folder_->path().c_str(), &options), 0) << stepscope_last_error();
  }
  ReadBack stop() {
    statistics_ = stepscope_stop();
    return read_back(folder_->path("stepscope.raw"));
  }
  // Of threads that ended. The first flush is answered just before.
  static void give_rings_back() {
    for (int flushes = 0; flushes < 2; ++flushes)
      EXPECT_EQ(stepscope_flush(), 0) << stepscope_last_error();
  }
  void TearDown() override { stepscope_stop(); }

  std::unique_ptr<testing::TemporaryFolder> folder_;
  std::string statistics_;
};

TEST_F(Collector, RangesComeBackWithNamesNestingAndOrder) {
  start();
  {
    STEPSCOPE_SCOPE("outer");
    STEPSCOPE_SCOPE("inner");
  }
  const ReadBack run = stop();
  ASSERT_EQ(run.ranges.size(), 2u);
  const auto& inner = run.ranges[0];  // ends first
  const auto& outer = run.ranges[1];
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(outer.name, "outer");
  EXPECT_LE(outer.start, inner.start);
  EXPECT_GE(outer.start + outer.duration, inner.start + inner.duration);
  EXPECT_EQ(outer.thread, ::gettid());
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.notes.at("recording").find("\"rank\":0") == std::string::npos, false);
}

TEST_F(Collector, MarksCountersFlowsAndStepsCarryTheirValues) {
  start();
  stepscope_step(41);
  stepscope_mark(name_of("here"));
  stepscope_counter(name_of("loss"), -0.125);
  stepscope_flow(STEPSCOPE_FLOW_START, name_of("arrow"), UINT64_MAX);
  stepscope_flow(STEPSCOPE_FLOW_END, name_of("arrow"), UINT64_MAX);
  stepscope_step(42);
  stepscope_end_step();
  stepscope_metadata("model", "{\"layers\":12}");
  stepscope_metadata("broken", "{");
  const ReadBack run = stop();
  std::vector<int64_t> steps;
  double loss = 0;
  int arrows = 0;
  for (const auto& value : run.values) {
    if (value.kind == STEPSCOPE_STEP) steps.push_back(value.value1);
    if (value.kind == STEPSCOPE_COUNTER) std::memcpy(&loss, &value.value1, sizeof loss);
    if (value.name == "arrow") arrows += value.value1 == -1;
  }
  EXPECT_EQ(steps, (std::vector<int64_t>{41, 42}));
  EXPECT_EQ(loss, -0.125);
  EXPECT_EQ(arrows, 2);
  EXPECT_EQ(run.ranges.size(), 2u) << "the mark and the end of the step";
  EXPECT_EQ(run.notes.at("model"), "{\"layers\":12}");
  EXPECT_FALSE(run.notes.contains("broken"));
}

TEST_F(Collector, LongRangesKeepTheirWholeLength) {
  start();
  const uint64_t start_ticks = stepscope_ticks();
  const uint64_t long_ticks = uint64_t{1} << 40;
  stepscope_put(start_ticks, long_ticks, STEPSCOPE_USER, name_of("long"), 0, 0);
  stepscope_put(start_ticks, long_ticks, STEPSCOPE_OPERATOR | STEPSCOPE_VALUES, name_of("both"), 1,
                2);
  stepscope_put(start_ticks, UINT32_MAX - 1, STEPSCOPE_USER, name_of("longest short"), 0, 0);
  const ReadBack run = stop();
  ASSERT_EQ(run.ranges.size(), 2u);
  EXPECT_EQ(run.ranges[0].duration, static_cast<int64_t>(long_ticks));
  EXPECT_EQ(run.ranges[1].duration, UINT32_MAX - 1);
  ASSERT_EQ(run.values.size(), 1u);
  EXPECT_EQ(run.values[0].duration, static_cast<int64_t>(long_ticks));
  EXPECT_EQ(run.values[0].value2, 2);
}

TEST_F(Collector, NothingIsRecordedWhileOff) {
  {
    STEPSCOPE_SCOPE("before");
  }
  start();
  stop();
  {
    STEPSCOPE_SCOPE("after");
  }
  start();
  const ReadBack run = stop();
  EXPECT_TRUE(run.ranges.empty());
}

TEST_F(Collector, ThreadsThatEndAreKeptAndTheirRingsReused) {
  stepscope_options options{};
  options.max_host_mb = 8;  // six rings of 1 MiB
  options.ring_kb = 1024;
  start(options);
  constexpr int kThreads = 12;
  constexpr int kRanges = 100;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      for (int range = 0; range < kRanges; ++range) STEPSCOPE_SCOPE("work");
    }).join();
    if (i % 4 == 3) give_rings_back();
  }
  const ReadBack run = stop();
  std::set<int64_t> threads;
  for (const auto& range : run.ranges) threads.insert(range.thread);
  EXPECT_EQ(run.ranges.size(), size_t{kThreads * kRanges}) << statistics_;
  EXPECT_EQ(threads.size(), size_t{kThreads});
}

// Two threads as fast as they can: what is not kept is counted, to the last one.
TEST_F(Collector, EveryEventIsEitherKeptOrCounted) {
  stepscope_options options{};
  options.ring_kb = 64;
  start(options);
  constexpr int kEach = 300'000;
  const auto work = [] {
    for (int i = 0; i < kEach; ++i) STEPSCOPE_SCOPE("fast");
  };
  std::thread other(work);
  work();
  other.join();
  const ReadBack run = stop();
  EXPECT_EQ(run.statistic("events") + run.statistic("not_recorded"), 2 * kEach) << statistics_;
  EXPECT_EQ(static_cast<int64_t>(run.ranges.size()), run.statistic("events"));
}

// What a thread lost is still known when the thread, and its ring, are gone.
TEST_F(Collector, LossesOfThreadsThatEndedAreCounted) {
  stepscope_options options{};
  options.ring_kb = 4;
  start(options);
  constexpr int kEach = 200'000;
  std::thread([] {
    for (int i = 0; i < kEach; ++i) STEPSCOPE_SCOPE("lost");
  }).join();
  give_rings_back();
  const ReadBack run = stop();
  EXPECT_GT(run.statistic("not_recorded"), 0) << "the ring has 256 places";
  EXPECT_EQ(run.statistic("events") + run.statistic("not_recorded"), kEach) << statistics_;
}

// The clock of another processor may be ahead of the writer's.
TEST_F(Collector, ATimeThatIsStillToComeIsKept) {
  start();
  const uint64_t soon = stepscope_ticks() + (uint64_t{1} << 30);
  stepscope_put(soon, 5, STEPSCOPE_OPERATOR | STEPSCOPE_VALUES, name_of("ahead"), 1, 2);
  const ReadBack run = stop();
  ASSERT_EQ(run.values.size(), 1u);
  EXPECT_EQ(run.values[0].start, static_cast<int64_t>(soon));
}

TEST_F(Collector, AFlagWithoutItsSlotDoesNotHoldTheWriterUp) {
  start();
  stepscope_put(stepscope_ticks(), 5, STEPSCOPE_USER | STEPSCOPE_LONG, name_of("wrong"), 0, 0);
  const ReadBack run = stop();
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.statistic("events"), 1);
}

TEST_F(Collector, AtTheDiskBudgetRecordingEndsAndTheProgramGoesOn) {
  stepscope_options options{};
  options.max_disk_mb = 1;
  start(options);
  // Names that do not compress fill the megabyte.
  int64_t recorded = 0;
  uint64_t noise = 1;
  for (int i = 0; i < 400'000; ++i, ++recorded) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    stepscope_put(stepscope_ticks(), noise >> 40, STEPSCOPE_USER | STEPSCOPE_VALUES, 0, noise,
                  noise * 31);
  }
  const ReadBack run = stop();
  EXPECT_TRUE(run.ended);
  EXPECT_NE(statistics_.find("disk budget of 1 MiB"), std::string::npos) << statistics_;
  EXPECT_GT(run.statistic("not_recorded"), 0);
  EXPECT_GT(run.values.size(), 0u);
}

TEST_F(Collector, AFullDiskIsSaidAtTheStart) {
  stepscope_options options{};
  options.size = sizeof options;
  options.min_free_mb = UINT32_MAX;
  const testing::TemporaryFolder folder;
  EXPECT_EQ(stepscope_start(folder.path().c_str(), &options), -1);
  EXPECT_NE(std::string(stepscope_last_error()).find("to stay free"), std::string::npos);
  EXPECT_EQ(stepscope_recording, 0u);
}

TEST_F(Collector, ASecondRecordingIsRefused) {
  start();
  const testing::TemporaryFolder other;
  EXPECT_EQ(stepscope_start(other.path().c_str(), nullptr), -1);
  EXPECT_NE(std::string(stepscope_last_error()).find("recording already"), std::string::npos);
  {
    STEPSCOPE_SCOPE("still");
  }
  EXPECT_EQ(stop().ranges.size(), 1u);
}

TEST_F(Collector, WhatWasPreparedIsUsedOrGivenBack) {
  const auto resident_kb = [] {
    std::ifstream file("/proc/self/statm");
    int64_t all = 0;
    int64_t resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE) / 1024;
  };
  stepscope_unprepare();
  const int64_t before = resident_kb();
  stepscope_prepare(nullptr);
  EXPECT_GT(resident_kb(), before + 8 * 1024) << "rings for some threads are there";
  stepscope_unprepare();
  EXPECT_LT(resident_kb(), before + 4 * 1024);
  stepscope_prepare(nullptr);
  start();
  {
    STEPSCOPE_SCOPE("prepared");
  }
  stepscope_prepare(nullptr);
  stepscope_unprepare();  // neither touches what records
  const ReadBack run = stop();
  ASSERT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.ranges[0].name, "prepared");
}

TEST_F(Collector, AFlushLeavesAFileThatHoldsEverything) {
  EXPECT_NE(stepscope_flush(), 0) << "nothing records";
  start();
  EXPECT_STREQ(stepscope_outer_folder(), "") << "the program's own recording";
  for (size_t round = 1; round <= 3; ++round) {
    {
      STEPSCOPE_SCOPE("before");
    }
    ASSERT_EQ(stepscope_flush(), 0) << stepscope_last_error();
    const ReadBack run = read_back(folder_->path("stepscope.raw"));
    EXPECT_EQ(run.ranges.size(), round);
    EXPECT_FALSE(run.ended);
  }
  stop();
}

TEST_F(Collector, WhatTheEnvironmentStartsTellsItsFolder) {
  const testing::TemporaryFolder folder;
  ::setenv("STEPSCOPE_OUTPUT", folder.path("runs").c_str(), 1);
  ASSERT_EQ(stepscope_start_from_environment(0), 1) << stepscope_last_error();
  const std::string raw = stepscope_outer_folder();
  EXPECT_TRUE(raw.starts_with(folder.path("runs/")) && raw.ends_with("/FRAMEWORK")) << raw;
  // A program that starts and stops recordings of its own joins.
  const testing::TemporaryFolder own;
  EXPECT_EQ(stepscope_start(own.path().c_str(), nullptr), 0) << stepscope_last_error();
  {
    STEPSCOPE_SCOPE("of the program");
  }
  EXPECT_STREQ(stepscope_stop(), R"({"joined":1})");
  EXPECT_TRUE(std::filesystem::is_empty(own.path()));
  Process::instance().stop();
  ::unsetenv("STEPSCOPE_OUTPUT");  // not beside the recording's threads
  EXPECT_STREQ(stepscope_outer_folder(), "");
  const ReadBack run = read_back(raw + "/stepscope.raw");
  EXPECT_TRUE(run.ended);
  ASSERT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.ranges[0].name, "of the program");
}

TEST_F(Collector, TheEnvironmentChoosesBounds) {
  const testing::TemporaryFolder folder;
  const std::pair<const char*, std::string> asked[] = {
      {"STEPSCOPE_OUTPUT", folder.path()}, {"STEPSCOPE_SYSTEM_INTERVAL_MS", "10"},
      {"STEPSCOPE_MAX_HOST_MB", "32"},     {"STEPSCOPE_MAX_DISK_GB", "0.5"},
      {"STEPSCOPE_MIN_FREE_GB", "0.25"},
  };
  for (const auto& [name, value] : asked) ::setenv(name, value.c_str(), 1);
  ASSERT_EQ(stepscope_start_from_environment(0), 1) << stepscope_last_error();
  const std::string raw = stepscope_outer_folder();
  Process::instance().stop();
  const ReadBack run = read_back(raw + "/stepscope.raw");
  const std::string& began = run.notes.at("recording");
  EXPECT_NE(began.find(R"("max_host_mb":32,"max_disk_mb":512,"min_free_mb":256)"),
            std::string::npos)
      << began;
  for (const char* const wrong : {"0", "-1", "much", "1e300", "nan", "60001", ""}) {
    ::setenv("STEPSCOPE_SYSTEM_INTERVAL_MS", wrong, 1);
    const int outcome = stepscope_start_from_environment(0);
    if (*wrong == '\0') {
      EXPECT_EQ(outcome, 1) << "as if it were not set";
      Process::instance().stop();
      continue;
    }
    EXPECT_EQ(outcome, -1) << wrong;
    EXPECT_NE(std::string(stepscope_last_error()).find("STEPSCOPE_SYSTEM_INTERVAL_MS"),
              std::string::npos);
  }
  for (const auto& [name, value] : asked) ::unsetenv(name);
}

TEST_F(Collector, NothingFallsOverNull) {
  EXPECT_EQ(stepscope_start(nullptr, nullptr), -1);
  EXPECT_EQ(stepscope_watch(nullptr, nullptr, nullptr), -1);
  EXPECT_EQ(stepscope_trigger(nullptr, nullptr), -1);
  start();
  stepscope_metadata(nullptr, nullptr);
  stepscope_metadata("key", nullptr);
  stepscope_metadata(nullptr, "1");
  EXPECT_TRUE(stop().ended);
}

TEST_F(Collector, AThousandRecordingsLeaveNothingBehind) {
  const auto open_files = [] {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      ++count;
    return count;
  };
  stepscope_options options{};
  options.ring_kb = 64;
  start(options);
  stop();
  const size_t files_before = open_files();
  const int64_t memory_before = testing::resident_bytes();
  for (int i = 0; i < 1000; ++i) {
    start(options);
    {
      STEPSCOPE_SCOPE("once");
    }
    ASSERT_EQ(stop().ranges.size(), 1u) << i;
  }
  EXPECT_EQ(open_files(), files_before);
  if (!testing::kSanitized) {
    EXPECT_LT(testing::resident_bytes() - memory_before, 8 << 20);
  }
}

// Data-loader workers: the child records nothing, disturbs nothing, and may record for itself.
// A signal that one of our threads took would not wake the program's thread that waits for it.
TEST_F(Collector, OurThreadsTakeNoSignals) {
  stepscope_options options{};
  options.system_interval_ms = 10;
  start(options);
  // By the names that they give themselves.
  const auto ours = [] {
    std::vector<std::filesystem::path> found;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm") >> std::ws, name);
      if (name.starts_with("stepscope")) found.push_back(task.path());
    }
    return found;
  };
  for (int tries = 0; tries < 600 && ours().size() < 2; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(ours().size(), 2u);
  for (const auto& task : ours()) {
    std::ifstream status(task / "status");
    std::string line;
    while (std::getline(status, line) && !line.starts_with("SigBlk:")) continue;
    ASSERT_TRUE(status) << task;
    const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
    EXPECT_TRUE(blocked >> (SIGINT - 1) & 1) << task;
    EXPECT_TRUE(blocked >> (SIGTERM - 1) & 1) << task;
  }
  stop();
}

TEST_F(Collector, AForkedChildIsOnItsOwn) {
  start();
  {
    STEPSCOPE_SCOPE("parent");
  }
  const testing::TemporaryFolder childs;
  const pid_t child = ::fork();
  if (child == 0) {
    if (stepscope_recording != 0) ::_exit(1);
    {
      STEPSCOPE_SCOPE("child");
    }
    if (stepscope_start(childs.path().c_str(), nullptr) != 0) ::_exit(2);
    {
      STEPSCOPE_SCOPE("child of its own");
    }
    stepscope_stop();
    ::_exit(read_back(childs.path("stepscope.raw")).ranges.size() == 1 ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0) << status;
  const ReadBack run = stop();
  ASSERT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.ranges[0].name, "parent");
}

}  // namespace
}  // namespace stepscope
