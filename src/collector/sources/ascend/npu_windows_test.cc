// Windows of the NPU inside of a recording that the environment started, on a stand-in for CANN.
#include "collector/sources/ascend/npu_windows.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/process.h"
#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/child_process.h"
#include "tests/support/fake_ascendcl/fake_cann.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::ascend {
namespace {

class NpuWindowsTest : public ::testing::Test {
 protected:
  NpuWindowsTest() {
    ::setenv("STEPSCOPE_OUTPUT", folder_.path("runs").c_str(), 1);
    options_.size = sizeof options_;
    options_.npu_level = 2;
  }
  ~NpuWindowsTest() override {
    Process::instance().stop();
    ::unsetenv("STEPSCOPE_OUTPUT");
    EXPECT_EQ(calls("VIOLATION"), 0);
  }
  void start() {
    ASSERT_EQ(stepscope_start_from_environment(0), 1) << stepscope_last_error();
    raw_ = stepscope_outer_folder();
  }
  int64_t calls(const std::string& name) const {
    return std::ranges::count_if(cann_.calls(),
                                 [&](const std::string& line) { return line.starts_with(name); });
  }
  static int64_t count_notes(const std::string& raw, const std::string& name) {
    auto reader = ChunkReader::open(raw + "/stepscope.raw");
    if (!reader) return -1;
    RawChunk chunk;
    int64_t found = 0;
    while (true) {
      auto more = reader->next(chunk);
      if (!more || !*more) return found;
      for (const RawNote& note : chunk.notes) found += note.name == name ? 1 : 0;
    }
  }
  int64_t prof_folders() const {
    const auto run = std::filesystem::path(raw_).parent_path();
    return std::count_if(
        std::filesystem::directory_iterator(run), std::filesystem::directory_iterator(),
        [](const auto& entry) { return entry.path().filename().string().starts_with("PROF_"); });
  }

  testing::FakeCann cann_;
  testing::TemporaryFolder folder_;
  stepscope_options options_{};
  std::string raw_;
};

TEST_F(NpuWindowsTest, EachHasItsFolderInTheRun) {
  start();
  EXPECT_EQ(calls("aclprof"), 0) << "nothing before the first window";
  for (int window = 1; window <= 3; ++window) {
    ASSERT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
    EXPECT_EQ(calls("aclprofStart"), window);
    EXPECT_EQ(calls("aclprofStop"), window - 1);
    stepscope_end_npu();
    EXPECT_EQ(calls("aclprofStop"), window);
    EXPECT_EQ(prof_folders(), window);
  }
  stepscope_end_npu();  // once is enough
  EXPECT_EQ(calls("aclprofStop"), 3);
  EXPECT_STREQ(stepscope_problems(), "[]");
}

TEST_F(NpuWindowsTest, TheEndOfTheRecordingEndsAWindow) {
  start();
  ASSERT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
  EXPECT_EQ(stepscope_begin_npu(&options_), -1) << "there is one already";
  EXPECT_NE(std::string(stepscope_last_error()).find("being recorded already"), std::string::npos);
  Process::instance().stop();
  EXPECT_EQ(calls("aclprofFinalize"), 1);
  start();  // and the next recording can have it
  EXPECT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
}

// CANN is still starting when the recording ends.
TEST_F(NpuWindowsTest, AWindowThatBeginsBesideTheEndIsNotLeftRunning) {
  start();
  cann_.tell("wait aclprofInit=300");
  int begun = 1;
  std::thread beginning([&] { begun = stepscope_begin_npu(&options_); });
  while (calls("aclprofInit") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Process::instance().stop();
  beginning.join();
  cann_.tell("");
  EXPECT_EQ(calls("aclprofStart"), calls("aclprofStop"));
  EXPECT_EQ(calls("aclprofInit"), calls("aclprofFinalize"));
  // The next recording can have it, and nothing of the last one is in it.
  start();
  EXPECT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
  stepscope_end_npu();
  const std::string raw = raw_;
  Process::instance().stop();
  EXPECT_EQ(count_notes(raw, "npu"), 1);
}

// The program ends its window, which takes a while, and another thread the recording.
TEST_F(NpuWindowsTest, AWindowThatEndsBesideTheEndIsInItsRecording) {
  start();
  ASSERT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
  cann_.tell("wait aclprofStop=300");
  std::thread ending([] { stepscope_end_npu(); });
  while (calls("aclprofStop") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Process::instance().stop();
  ending.join();
  cann_.tell("");
  EXPECT_EQ(count_notes(raw_, "npu"), 1);
}

// For ThreadSanitizer: all of it at once.
TEST_F(NpuWindowsTest, ThreadsMayBeginAndEndWhileRecordingsComeAndGo) {
  std::atomic<bool> done = false;
  std::thread windows([&] {
    while (!done) {
      if (stepscope_begin_npu(&options_) == 0) stepscope_end_npu();
    }
  });
  for (int i = 0; i < 20; ++i) {
    start();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Process::instance().stop();
  }
  done = true;
  windows.join();
  EXPECT_EQ(calls("aclprofStart"), calls("aclprofStop"));
  EXPECT_EQ(calls("aclprofInit"), calls("aclprofFinalize"));
}

TEST_F(NpuWindowsTest, ItNeedsARecordingFromOutside) {
  EXPECT_EQ(stepscope_begin_npu(&options_), -1);
  stepscope_end_npu();
  EXPECT_EQ(calls("aclprof"), 0);
}

TEST_F(NpuWindowsTest, AFailureIsSaidAndLeavesNothing) {
  start();
  cann_.tell("fail aclprofStart=507899");
  EXPECT_EQ(stepscope_begin_npu(&options_), -1);
  EXPECT_NE(std::string(stepscope_last_error()).find("507899"), std::string::npos);
  cann_.tell("");
  EXPECT_EQ(calls("aclprofFinalize"), 1);
  EXPECT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
}

TEST_F(NpuWindowsTest, AForkedChildLeavesItsParentsAlone) {
  start();
  ASSERT_EQ(stepscope_begin_npu(&options_), 0) << stepscope_last_error();
  const auto child = testing::run_in_child([] {
    stepscope_end_npu();
    Process::instance().stop();
    return std::string("done");
  });
  EXPECT_EQ(child.text, "done");
  EXPECT_EQ(calls("aclprofStop"), 0);
  stepscope_end_npu();
  EXPECT_EQ(calls("aclprofStop"), 1);
}

}  // namespace
}  // namespace stepscope::ascend
