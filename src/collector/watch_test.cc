// Watching through record.h: what happens leaves a run with the seconds before, and nothing else
// does.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/recording_test.h"
#include "collector/watching_test.h"
#include "stepscope/record.h"
#include "tests/support/child_process.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::becomes_true;
using testing::contains;
using testing::count_named;
using testing::read_run;
using testing::ReadBack;
using testing::runs_in;
using testing::sleep_ms;
using testing::steps_of;
using testing::watch_rules;
namespace fs = std::filesystem;

int64_t captures() {
  const std::string json = stepscope_captures();
  int64_t count = 0;
  for (size_t at = 0; (at = json.find("\"folder\"", at)) != std::string::npos; ++at) ++count;
  return count;
}

bool all_are_complete(int64_t number) {
  return captures() == number && !contains(stepscope_captures(), "\"complete\":0");
}

bool capture_is_complete() { return contains(stepscope_captures(), "\"complete\":1"); }

class Watching : public ::testing::Test {
 protected:
  void watch(const stepscope_watch_options& chosen, stepscope_options options = {}) {
    options.size = sizeof options;
    ASSERT_EQ(stepscope_watch(output().c_str(), &chosen, &options), 0) << stepscope_last_error();
  }
  void step(int ms = 5) {
    stepscope_step(++step_);
    STEPSCOPE_SCOPE("work");
    sleep_ms(ms);
  }
  std::string output() const { return folder_.path("runs"); }
  std::vector<std::string> runs() const { return runs_in(output()); }
  void TearDown() override { stepscope_stop(); }

  testing::TemporaryFolder folder_;
  int64_t step_ = 0;
};

TEST_F(Watching, WithoutATriggerNothingIsWritten) {
  auto chosen = watch_rules();
  chosen.slow_factor = 100;
  chosen.no_progress_ms = 60'000;
  watch(chosen);
  for (int i = 0; i < 100; ++i) step(1);
  const std::string end = stepscope_stop();
  EXPECT_FALSE(fs::exists(output()));
  EXPECT_TRUE(contains(end, "\"captures\":[]")) << end;
  EXPECT_FALSE(contains(end, "\"writer_cpu_seconds\":0,")) << end;
  EXPECT_FALSE(contains(end, "\"writer_cpu_seconds\":0.0,")) << end;
}

TEST_F(Watching, ASlowStepIsCapturedWithWhatCameBeforeAndBehindIt) {
  auto chosen = watch_rules();
  chosen.slow_factor = 50;  // a second: no machine is that slow by itself
  chosen.slow_steps = 1;
  chosen.capture_steps = 3;
  chosen.keep_ms = 60'000;
  watch(chosen);
  stepscope_metadata("model", "\"small\"");
  for (int i = 0; i < 30; ++i) step(20);
  step(3000);  // step 31
  for (int i = 0; i < 10; ++i) step(20);
  ASSERT_TRUE(becomes_true(capture_is_complete));
  for (int i = 0; i < 10; ++i) step(20);
  const std::string end = stepscope_stop();
  ASSERT_EQ(runs().size(), 1u) << end;
  EXPECT_TRUE(contains(end, runs()[0]));
  const ReadBack run = read_run(runs()[0]);
  EXPECT_TRUE(run.ended);
  const std::string& trigger = run.notes.at("trigger");
  EXPECT_TRUE(contains(trigger, "\"kind\":\"slow_step\"")) << trigger;
  EXPECT_TRUE(contains(trigger, "\"step\":31")) << trigger;
  EXPECT_TRUE(contains(trigger, "\"median_s\":0.")) << trigger;
  EXPECT_EQ(run.notes.at("model"), "\"small\"");
  const auto steps = steps_of(run);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front(), 1) << "what came before is kept";
  EXPECT_GE(steps.back(), 34);
  EXPECT_LT(steps.back(), 51) << "it ended";
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_EQ(steps[i], steps[i - 1] + 1);
  EXPECT_EQ(count_named(run, "trigger: slow_step"), 1);
  EXPECT_GE(count_named(run, "work"), 33);
  EXPECT_EQ(run.statistic("not_recorded"), 0);
  EXPECT_EQ(run.statistic("events"), static_cast<int64_t>(run.ranges.size() + run.values.size()));
}

TEST_F(Watching, ASecondCaptureHasNamesAndThreadsThatWereToldLongAgo) {
  auto chosen = watch_rules();
  chosen.keep_ms = 1;  // what is a second old is gone
  chosen.capture_ms = 300;
  watch(chosen);
  for (int i = 0; i < 20; ++i) step(5);
  ASSERT_EQ(stepscope_trigger("asked", "the first"), 0);
  ASSERT_TRUE(becomes_true(capture_is_complete));
  for (int i = 0; i < 150; ++i) step(10);
  ASSERT_EQ(stepscope_trigger("asked", "the second"), 0);
  ASSERT_TRUE(becomes_true([] { return captures() == 2; }));
  for (int i = 0; i < 20; ++i) step(5);
  stepscope_stop();
  ASSERT_EQ(runs().size(), 2u);
  const ReadBack second = read_run(runs()[1]);
  EXPECT_TRUE(contains(second.notes.at("trigger"), "the second"));
  EXPECT_TRUE(second.notes.contains("recording"));
  const auto steps = steps_of(second);
  ASSERT_FALSE(steps.empty());
  EXPECT_GT(steps.front(), 25) << "the first steps are forgotten";
  EXPECT_GT(count_named(second, "work"), 0);
  EXPECT_EQ(second.damaged_chunks, 0);
  EXPECT_TRUE(second.ended);
}

TEST_F(Watching, NoMoreCapturesThanAllowed) {
  auto chosen = watch_rules();
  chosen.most_captures = 2;
  chosen.within_s = 3600;
  chosen.capture_ms = 50;
  watch(chosen);
  for (int64_t i = 1; i <= 2; ++i) {
    ASSERT_EQ(stepscope_trigger("asked", "again and again"), 0);
    ASSERT_TRUE(becomes_true([&] { return all_are_complete(i); }));
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(stepscope_trigger("asked", "once too often"), 0);
    sleep_ms(300);
  }
  const std::string end = stepscope_stop();
  EXPECT_EQ(runs().size(), 2u) << end;
}

TEST_F(Watching, ATriggerDuringACaptureIsOneMoreCauseOfIt) {
  auto chosen = watch_rules();
  chosen.capture_ms = 10'000;
  watch(chosen);
  step();
  stepscope_trigger("asked", "first");
  ASSERT_TRUE(becomes_true([] { return captures() == 1; }));
  stepscope_trigger("allocation_failure", "2 GiB were not to be had");
  stepscope_stop();
  ASSERT_EQ(runs().size(), 1u);
  const ReadBack run = read_run(runs()[0]);
  EXPECT_EQ(count_named(run, "trigger: asked"), 1);
  EXPECT_EQ(count_named(run, "trigger: allocation_failure"), 1);
}

TEST_F(Watching, WhatIsToldAtTheLastMomentIsCaptured) {
  watch(watch_rules());
  step();
  stepscope_trigger("allocation_failure", "and then the program ended");
  stepscope_stop();
  ASSERT_EQ(runs().size(), 1u);
  const ReadBack run = read_run(runs()[0]);
  EXPECT_EQ(steps_of(run), (std::vector<int64_t>{1}));
  EXPECT_TRUE(run.ended);
}

TEST_F(Watching, AStallIsCapturedWithTheStepsBeforeIt) {
  auto chosen = watch_rules();
  chosen.keep_ms = 200;  // less than the stall takes to be one
  chosen.no_progress_ms = 1500;
  chosen.capture_ms = 100;
  watch(chosen);
  for (int i = 0; i < 20; ++i) step(5);
  ASSERT_TRUE(becomes_true(capture_is_complete));  // nobody steps
  EXPECT_EQ(captures(), 1) << "a stall is one";
  stepscope_stop();
  const ReadBack run = read_run(runs().at(0));
  const std::string& trigger = run.notes.at("trigger");
  EXPECT_TRUE(contains(trigger, "\"kind\":\"no_progress\"")) << trigger;
  EXPECT_TRUE(contains(trigger, "\"step\":20")) << trigger;
  ASSERT_FALSE(steps_of(run).empty());
  EXPECT_EQ(steps_of(run).back(), 20);
}

TEST_F(Watching, MemoryStaysWithinWhatIsKept) {
  auto chosen = watch_rules();
  chosen.keep_mb = 1;
  chosen.slow_factor = 1000;
  stepscope_options options{};
  options.ring_kb = 1024;
  watch(chosen, options);
  const uint32_t name = stepscope_name("r", 1);
  uint64_t random = 1;
  const auto burst = [&] {
    for (int i = 0; i < 20'000; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      stepscope_put(stepscope_ticks(), random >> 40, STEPSCOPE_USER | STEPSCOPE_VALUES, name,
                    random, random >> 7);
    }
    sleep_ms(20);
  };
  for (int i = 0; i < 50; ++i) burst();
  const int64_t before = testing::resident_bytes();
  for (int i = 0; i < 100; ++i) burst();
  if (!testing::kSanitized) {
    EXPECT_LT(testing::resident_bytes() - before, 8 << 20);
  }
  stepscope_trigger("asked", "how much is there");
  stepscope_stop();
  EXPECT_LT(fs::file_size(runs().at(0) + "/FRAMEWORK/stepscope.raw"), 4u << 20);
}

TEST_F(Watching, RingsKeepTheirPartOfTheMemory) {
  auto chosen = watch_rules();
  chosen.keep_mb = 4096;
  stepscope_options options{};
  options.max_host_mb = 16;
  options.ring_kb = 1024;
  watch(chosen, options);
  for (int i = 0; i < 3; ++i) std::thread([] { STEPSCOPE_SCOPE("of a thread"); }).join();
  step();
  stepscope_trigger("asked", "is everybody there");
  stepscope_stop();
  EXPECT_EQ(count_named(read_run(runs().at(0)), "of a thread"), 3);
}

TEST_F(Watching, OnlyTheCaptureWhoseThreadsFoundNoRingSaysSo) {
  auto chosen = watch_rules();
  chosen.keep_ms = 1;
  chosen.capture_ms = 100;
  stepscope_options options{};
  options.max_host_mb = 8;  // one ring
  watch(chosen, options);
  step();
  for (int64_t number = 1; number <= 3; ++number) {
    if (number != 2) std::thread([] { STEPSCOPE_SCOPE("without a ring"); }).join();
    ASSERT_EQ(stepscope_trigger("asked", "who is there"), 0);
    ASSERT_TRUE(becomes_true([&] { return all_are_complete(number); }));
    for (int i = 0; i < 150; ++i) step(10);  // what is a second old is gone
  }
  EXPECT_TRUE(contains(stepscope_stop(), "threads recorded nothing"));
  std::vector<bool> said;
  for (const std::string& run : runs())
    said.push_back(contains(read_run(run).notes.at("end"), "threads recorded nothing"));
  EXPECT_EQ(said, (std::vector<bool>{true, false, true}));
}

TEST_F(Watching, AFolderThatCannotBeMadeDoesNoHarm) {
  std::FILE* const file = std::fopen(output().c_str(), "w");  // a file where the folder should be
  std::fclose(file);
  auto chosen = watch_rules();
  watch(chosen);
  step();
  stepscope_trigger("asked", "but there is no place");
  sleep_ms(200);
  step();
  EXPECT_TRUE(contains(stepscope_stop(), "\"captures\":[]"));
}

TEST_F(Watching, ACaptureWhoseDiskFailsIsNotComplete) {
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{64 << 10, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  auto chosen = watch_rules();
  watch(chosen);
  step();
  stepscope_trigger("asked", "for more than the disk takes");
  ASSERT_TRUE(becomes_true([] { return captures() == 1; }));
  uint64_t noise = 1;
  for (int i = 0; i < 50'000; ++i) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    stepscope_queue_get(stepscope_ticks(), 0, noise, static_cast<int64_t>(noise));
  }
  EXPECT_TRUE(becomes_true([] { return contains(stepscope_captures(), "File too large"); }));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  const std::string said = stepscope_stop();
  EXPECT_TRUE(contains(said, "\"complete\":0")) << said;
  EXPECT_FALSE(contains(said, "\"not_recorded\":0}]")) << said;
}

TEST_F(Watching, StacksAreAskedForAtAStall) {
  auto chosen = watch_rules();
  chosen.no_progress_ms = 300;
  chosen.capture_ms = 100;
  // A program whose lock is not to be had: the first call waits until it is given up.
  chosen.stacks = [](int file, const int* given_up) {
    if (given_up != nullptr) {
      while (__atomic_load_n(given_up, __ATOMIC_ACQUIRE) == 0) sleep_ms(5);
      return -1;
    }
    return ::write(file, "stacks", 6) == 6 ? 0 : -1;
  };
  watch(chosen);
  step();
  ASSERT_TRUE(becomes_true(capture_is_complete));
  stepscope_stop();
  EXPECT_EQ(fs::file_size(runs().at(0) + "/logs/python_stacks.txt"), 6u);
  EXPECT_TRUE(read_run(runs().at(0)).notes.contains("python_stacks"));
}

}  // namespace
}  // namespace stepscope
