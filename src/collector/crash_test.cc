// A process that is killed at any moment leaves a file that reads back up to its last second.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <new>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "collector/clock.h"
#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

constexpr auto kPoll = std::chrono::microseconds(200);

// What the child did and when, in memory that outlives it.
struct Diary {
  static constexpr size_t kSteps = 16384;
  std::atomic<int64_t> last;
  std::atomic<int64_t> began_ns[kSteps];  // by step
};

// Records a step every millisecond until it is killed.
[[noreturn]] void train(const std::string& folder, Diary& diary) {
  if (stepscope_start(folder.c_str(), nullptr) != 0) ::_exit(1);
  for (int64_t step = 1;; ++step) {
    stepscope_step(step);
    diary.began_ns[static_cast<size_t>(step) % Diary::kSteps] = monotonic_ns();
    diary.last = step;
    for (int i = 0; i < 50; ++i) STEPSCOPE_SCOPE("operator");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The second that may be missing, and one in which a busy machine lets the writer wait.
constexpr int64_t kMostMissingNs = 2'000'000'000;

// The last step that has to be there.
int64_t promised_step(const Diary& diary, int64_t end_ns) {
  int64_t step = diary.last;
  while (step > 0 &&
         diary.began_ns[static_cast<size_t>(step) % Diary::kSteps] > end_ns - kMostMissingNs)
    --step;
  return step;
}

TEST(Crash, KilledAnywhereEverythingButTheLastSecondIsThere) {
  void* const shared =
      ::mmap(nullptr, sizeof(Diary), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Diary& diary = *new (shared) Diary();
  std::mt19937 random(1);
  int64_t promised = 0;
  for (int round = 0; round < 100; ++round) {
    const testing::TemporaryFolder folder;
    diary.last = 0;
    const pid_t child = ::fork();
    if (child == 0) train(folder.path(), diary);
    // From when there is a file: most rounds end within the first chunks, where everything happens
    // for the first time.
    const std::string path = folder.path("stepscope.raw");
    while (!std::filesystem::exists(path)) std::this_thread::sleep_for(kPoll);
    const auto alive = std::chrono::milliseconds(random() % (round % 20 == 19 ? 1500 : 150) +
                                                 (round % 20 == 19 ? 2200 : 0));
    std::this_thread::sleep_for(alive);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const int64_t end_ns = monotonic_ns();
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;

    const testing::ReadBack run = testing::read_back(path);
    EXPECT_FALSE(run.ended);
    EXPECT_EQ(run.damaged_chunks, 0);
    int64_t last_step = 0;
    for (const auto& value : run.values) {
      if (value.kind != STEPSCOPE_STEP) continue;
      EXPECT_EQ(value.value1, ++last_step);
    }
    EXPECT_GE(last_step, promised_step(diary, end_ns)) << "round " << round;
    promised += promised_step(diary, end_ns);
  }
  EXPECT_GT(promised, 0) << "no round was long enough to promise anything";
  ::munmap(shared, sizeof(Diary));
}

}  // namespace
}  // namespace stepscope
