// A process that is killed at any moment leaves a file that reads back up to its last second.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

constexpr auto kPoll = std::chrono::microseconds(200);

// Records a step every millisecond until it is killed.
[[noreturn]] void train(const std::string& folder) {
  if (stepscope_start(folder.c_str(), nullptr) != 0) ::_exit(1);
  for (int64_t step = 1;; ++step) {
    stepscope_step(step);
    for (int i = 0; i < 50; ++i) STEPSCOPE_SCOPE("operator");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Crash, KilledAnywhereEverythingButTheLastSecondIsThere) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const testing::TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) train(folder.path());
    // From when there is a file: most rounds end within the first chunks, where everything happens
    // for the first time.
    const std::string path = folder.path("stepscope.raw");
    while (!std::filesystem::exists(path)) std::this_thread::sleep_for(kPoll);
    const auto alive = std::chrono::milliseconds(random() % (round % 20 == 19 ? 2500 : 150));
    std::this_thread::sleep_for(alive);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;

    const testing::ReadBack run = testing::read_back(path);
    EXPECT_FALSE(run.ended);
    EXPECT_EQ(run.damaged_chunks, 0);
    int64_t last_step = 0;
    for (const auto& value : run.values) {
      if (value.kind != STEPSCOPE_STEP) continue;
      EXPECT_EQ(value.value1, ++last_step);
    }
    // A step takes a millisecond and a little; a loaded machine makes them fewer, never more.
    if (alive.count() > 1500) {
      EXPECT_GT(last_step, 0) << alive.count();
    }
  }
}

}  // namespace
}  // namespace stepscope
