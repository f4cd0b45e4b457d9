// The NPU source on a stand-in for CANN, which keeps a log of its calls and of broken rules.
#include "collector/sources/ascend/ascend_source.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/child_process.h"
#include "tests/support/fake_ascendcl/fake_cann.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::ascend {
namespace {

using testing::ReadBack;
using testing::TemporaryFolder;

class AscendSourceTest : public ::testing::Test {
 protected:
  ~AscendSourceTest() override {
    for (const std::string& line : cann_.calls())
      EXPECT_FALSE(line.starts_with("VIOLATION")) << line;
  }

  static stepscope_options level(uint32_t number) {
    stepscope_options options{};
    options.size = sizeof options;
    options.min_free_mb = 1;
    options.npu_level = number;
    return options;
  }
  void start(const stepscope_options& options) {
    run_ = folder_.path("run" + std::to_string(++runs_));
    std::filesystem::create_directories(run_ + "/FRAMEWORK");
    ASSERT_EQ(stepscope_start((run_ + "/FRAMEWORK").c_str(), &options), 0)
        << stepscope_last_error();
  }
  ReadBack stop() {
    statistics_ = stepscope_stop();
    return testing::read_back(run_ + "/FRAMEWORK/stepscope.raw");
  }
  // Calls since the last time that this was called.
  std::vector<std::string> calls() {
    const auto lines = cann_.calls();
    std::vector<std::string> fresh(lines.begin() + static_cast<std::ptrdiff_t>(seen_), lines.end());
    seen_ = lines.size();
    return fresh;
  }
  std::vector<std::string> prof_folders() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("PROF_")) names.push_back(name);
    }
    return names;
  }

  testing::FakeCann cann_;
  TemporaryFolder folder_;
  std::string run_;
  std::string statistics_;
  size_t seen_ = 0;
  int runs_ = 0;
};

TEST_F(AscendSourceTest, CallsComeInCannsOrderAndTheFolderIsInTheRun) {
  stepscope_options options = level(3);
  options.npu_metrics = 2;
  options.npu_device = 1;
  options.npu_data = STEPSCOPE_NPU_HBM_DDR | STEPSCOPE_NPU_IO | STEPSCOPE_NPU_PCIE |
                     STEPSCOPE_NPU_HOST_CPU | STEPSCOPE_NPU_HOST_OSRT;
  start(options);
  EXPECT_STREQ(stepscope_problems(), "[]");
  const ReadBack run = stop();
  const std::vector<std::string> expected = {
      "aclrtGetDevice",
      "aclInit",
      "aclrtSetDevice 1",
      "aclprofInit " + std::filesystem::canonical(run_).string(),
      "aclprofSetConfig 3 100",
      "aclprofSetConfig 5 100",
      "aclprofSetConfig 6 50",
      "aclprofCreateConfig device=1 metrics=1 types=0x27",
      "aclprofSetConfig 8 cpu,osrt",
      "aclprofStart",
      "aclprofStop",
      "aclprofDestroyConfig",
      "aclprofFinalize"};
  EXPECT_EQ(calls(), expected);
  ASSERT_EQ(prof_folders().size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(run_ + "/" + prof_folders()[0] + "/device_1/data"));
  EXPECT_FALSE(run.notes.contains("source_left_out"));
  EXPECT_FALSE(run.notes.contains("not_honoured"));
  EXPECT_NE(run.notes.at("npu").find(prof_folders()[0]), std::string::npos);
  EXPECT_NE(run.notes.at("npu").find("\"level\":\"Level1\""), std::string::npos);
  EXPECT_NE(statistics_.find("\"problems\":[]"), std::string::npos) << statistics_;
}

TEST_F(AscendSourceTest, TheDeviceOfTheThreadThatStartsIsTaken) {
  // A thread of its own: what it chooses is for the thread's life.
  std::thread([this] {
    void* const handle = ::dlopen(std::getenv("STEPSCOPE_ASCENDCL"), RTLD_NOW);
    reinterpret_cast<int (*)(const char*)>(::dlsym(handle, "aclInit"))(nullptr);
    reinterpret_cast<int (*)(int32_t)>(::dlsym(handle, "aclrtSetDevice"))(1);
    calls();
    start(level(2));
    stop();
  }).join();
  const auto made = calls();
  ASSERT_GE(made.size(), 4u);
  EXPECT_EQ(made[1], "aclInit");
  EXPECT_TRUE(made[2].starts_with("aclprofInit")) << made[2];
  EXPECT_EQ(made[3], "aclprofCreateConfig device=1 metrics=255 types=0x801");
}

TEST_F(AscendSourceTest, EveryOptionBecomesItsFlag) {
  const struct {
    uint32_t level;
    uint32_t metrics;  // CANN's number plus 1
    uint32_t data;
    const char* config;
    std::vector<std::string> settings;
  } kTable[] = {
      {1, 0, 0, "metrics=255 types=0x0", {}},
      {1, 0, STEPSCOPE_NPU_MSTX, "metrics=255 types=0x80", {}},
      {2, 0, 0, "metrics=255 types=0x801", {}},
      {3, 0, 0, "metrics=255 types=0x27", {}},
      {4, 0, 0, "metrics=255 types=0x12f", {}},
      {99, 0, 0, "metrics=255 types=0x12f", {}},  // the highest that there is
      {2, 1, 0, "metrics=0 types=0x805", {}},
      {3, 2, 0, "metrics=1 types=0x27", {}},
      {4, 9, 0, "metrics=8 types=0x12f", {}},
      {2, 0, STEPSCOPE_NPU_L2_CACHE, "metrics=255 types=0x811", {}},
      {2, 0, STEPSCOPE_NPU_MEMORY, "metrics=255 types=0x1801", {"3 100"}},
      {2, 0, STEPSCOPE_NPU_HBM_DDR, "metrics=255 types=0x801", {"3 100"}},
      {2, 0, STEPSCOPE_NPU_PCIE, "metrics=255 types=0x801", {"6 50"}},
      {2, 0, STEPSCOPE_NPU_INTERCONNECTION, "metrics=255 types=0x801", {"6 50"}},
      {2, 0, STEPSCOPE_NPU_IO, "metrics=255 types=0x801", {"5 100"}},
      {2, 0, STEPSCOPE_NPU_HOST_CPU, "metrics=255 types=0x801", {"8 cpu"}},
      {2, 0, STEPSCOPE_NPU_HOST_MEMORY, "metrics=255 types=0x801", {"8 mem"}},
      {2, 0, STEPSCOPE_NPU_HOST_DISK, "metrics=255 types=0x801", {"8 disk"}},
      {2, 0, STEPSCOPE_NPU_HOST_NETWORK, "metrics=255 types=0x801", {"8 network"}},
      {2, 0, STEPSCOPE_NPU_HOST_OSRT, "metrics=255 types=0x801", {"8 osrt"}},
      {2, 0, STEPSCOPE_NPU_MEMORY | STEPSCOPE_NPU_HBM_DDR, "metrics=255 types=0x1801", {"3 100"}},
      {4,
       7,
       0x1f7f,
       "metrics=6 types=0x11bf",
       {"3 100", "5 100", "6 50", "8 cpu,mem,disk,network,osrt"}},
  };
  for (const auto& row : kTable) {
    stepscope_options options = level(row.level);
    options.npu_metrics = row.metrics;
    options.npu_data = row.data;
    start(options);
    stop();
    std::string config;
    std::vector<std::string> settings;
    for (const std::string& call : calls()) {
      if (call.starts_with("aclprofCreateConfig")) config = call.substr(call.find("metrics"));
      if (call.starts_with("aclprofSetConfig")) settings.push_back(call.substr(17));
    }
    EXPECT_EQ(config, row.config) << row.level << " " << row.metrics << " " << row.data;
    EXPECT_EQ(settings, row.settings) << row.level << " " << row.metrics << " " << row.data;
  }
}

TEST_F(AscendSourceTest, AFailedCoreCallLeavesTheSourceOutAndNothingBehind) {
  const struct {
    const char* call;
    std::vector<std::string> undone;  // what must come behind it
  } kTable[] = {{"aclInit", {}},
                {"aclrtSetDevice", {}},
                {"aclprofInit", {}},
                {"aclprofCreateConfig", {"aclprofFinalize"}},
                {"aclprofStart", {"aclprofDestroyConfig", "aclprofFinalize"}}};
  for (const auto& row : kTable) {
    cann_.tell("fail " + std::string(row.call) + "=500000");
    start(level(2));
    const std::string said = stepscope_problems();
    EXPECT_NE(said.find("npu: cannot record the NPU"), std::string::npos) << said;
    EXPECT_NE(said.find(row.call), std::string::npos) << said;
    const ReadBack run = stop();
    EXPECT_NE(run.notes.at("source_left_out").find(row.call), std::string::npos);
    EXPECT_NE(statistics_.find(row.call), std::string::npos) << statistics_;
    const auto made = calls();
    std::vector<std::string> behind;
    for (size_t i = made.size(); i > 0 && !made[i - 1].starts_with(row.call); --i)
      behind.insert(behind.begin(), made[i - 1]);
    EXPECT_EQ(behind, row.undone) << row.call;
  }
  cann_.tell("");
  start(level(2));
  EXPECT_STREQ(stepscope_problems(), "[]");
  stop();
  EXPECT_EQ(prof_folders().size(), 1u);
}

TEST_F(AscendSourceTest, ADeviceThatIsNotThereIsSaid) {
  stepscope_options options = level(2);
  options.npu_device = 7;
  start(options);
  const ReadBack run = stop();
  EXPECT_NE(run.notes.at("source_left_out").find("there is no such device"), std::string::npos)
      << run.notes.at("source_left_out");
}

TEST_F(AscendSourceTest, SettingsAndCountersThatCannRefusesAreLeftOutAlone) {
  cann_.tell("fail aclprofSetConfig=200007\nmetrics highest=7\n");
  stepscope_options options = level(3);
  options.npu_metrics = 9;
  options.npu_data = STEPSCOPE_NPU_IO;
  start(options);
  const ReadBack run = stop();
  EXPECT_NE(statistics_.find("sys_io is not recorded: CANN code 200007, E10001: told to fail\""),
            std::string::npos)
      << statistics_;
  EXPECT_EQ(statistics_.find("and more of it"), std::string::npos) << "only its first line";
  EXPECT_NE(statistics_.find("aic_metrics is not recorded"), std::string::npos) << statistics_;
  EXPECT_TRUE(run.notes.contains("not_honoured"));
  EXPECT_FALSE(run.notes.contains("source_left_out"));
  EXPECT_EQ(prof_folders().size(), 1u);
  EXPECT_EQ(calls().at(6), "aclprofCreateConfig device=0 metrics=255 types=0x23");
}

TEST_F(AscendSourceTest, AFailedStopIsSaidAndStillCleansUp) {
  cann_.tell("fail aclprofStop=507018");
  start(level(2));
  const ReadBack run = stop();
  EXPECT_NE(statistics_.find("aclprofStop: CANN code 507018"), std::string::npos) << statistics_;
  EXPECT_NE(statistics_.find("CANN left no PROF_ folder"), std::string::npos) << statistics_;
  EXPECT_TRUE(run.notes.contains("not_honoured"));
  EXPECT_EQ(calls().back(), "aclprofFinalize");
  EXPECT_TRUE(run.ended);
}

TEST_F(AscendSourceTest, MetadataDoNotWaitForAStopInProgress) {
  start(level(2));
  calls();
  cann_.tell("wait aclprofStop=2000");
  std::atomic<bool> stopped = false;
  std::thread stopping([&] {
    stepscope_stop();
    stopped = true;
  });
  while (calls() != std::vector<std::string>{"aclprofStop"}) ::usleep(1000);
  stepscope_metadata("late", "\"but in time\"");
  EXPECT_STREQ(stepscope_problems(), "[]");
  EXPECT_FALSE(stopped);
  stopping.join();
  const ReadBack run = testing::read_back(run_ + "/FRAMEWORK/stepscope.raw");
  EXPECT_EQ(run.notes.at("late"), "\"but in time\"");
}

TEST_F(AscendSourceTest, StoppingWithoutAStartAndTwiceCallsNothing) {
  AscendOptions options;
  options.folder = folder_.path();
  AscendSource source(options);
  source.stop();
  EXPECT_TRUE(calls().empty());
  ASSERT_TRUE(source.start().ok());
  source.stop();
  calls();
  source.stop();
  EXPECT_TRUE(calls().empty());
}

TEST_F(AscendSourceTest, TwoAtATimeAreRefused) {
  AscendOptions options;
  options.folder = folder_.path();
  AscendSource first(options);
  ASSERT_TRUE(first.start().ok());
  AscendSource second(options);
  const Status refused = second.start();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("being recorded already"), std::string::npos);
  second.stop();
  first.stop();
  EXPECT_TRUE(second.start().ok());
}

TEST_F(AscendSourceTest, AHundredWindowsLeaveAHundredFolders) {
  start(level(2));
  stop();
  const int64_t before = testing::resident_bytes();
  for (int round = 0; round < 100; ++round) {
    start(level(2));
    ASSERT_STREQ(stepscope_problems(), "[]");
    stop();
    ASSERT_EQ(prof_folders().size(), 1u);
  }
  if (!testing::kSanitized) {
    EXPECT_LT(testing::resident_bytes() - before, 8 << 20);
  }
  EXPECT_EQ(calls().size(), 101u * 9);
}

TEST_F(AscendSourceTest, AForkedChildDoesNotTouchCann) {
  start(level(2));
  calls();
  // Not a whole recording: ThreadSanitizer cannot follow threads that such a child starts.
  const auto child = testing::run_in_child([this]() -> std::string {
    stepscope_stop();
    AscendOptions options;
    options.folder = folder_.path();
    AscendSource source(options);
    const Status refused = source.start();
    return refused.ok() ? "" : refused.error().message();
  });
  EXPECT_TRUE(child.exited_well);
  EXPECT_NE(child.text.find("forked child"), std::string::npos) << child.text;
  EXPECT_TRUE(calls().empty());
  stop();
  EXPECT_EQ(prof_folders().size(), 1u);
}

TEST_F(AscendSourceTest, ACannThatHangsIsLeftToItself) {
  AscendOptions patient;
  patient.folder = folder_.path();
  patient.wait_at_start_ms = 60'000;
  patient.wait_at_stop_ms = 60'000;
  AscendOptions hasty = patient;
  hasty.wait_at_start_ms = 50;
  const auto until_free = [&] {
    for (int tries = 0; tries < 3000; ++tries) {
      AscendSource again(patient);
      if (again.start().ok()) return true;
      ::usleep(20'000);
    }
    return false;
  };
  cann_.tell("wait aclprofStart=1000");
  {
    AscendSource source(hasty);
    const Status late = source.start();
    ASSERT_FALSE(late.ok());
    EXPECT_NE(late.error().message().find("had not started"), std::string::npos);
    source.stop();
  }
  cann_.tell("");
  EXPECT_TRUE(until_free()) << "the start that succeeded late was not undone";

  hasty = patient;
  hasty.wait_at_stop_ms = 50;
  AscendSource source(hasty);
  ASSERT_TRUE(source.start().ok());
  cann_.tell("wait aclprofStop=1000");
  source.stop();
  ChunkBuilder chunk;
  NameTable names;
  LastingRows lasting(chunk);
  SourceOutput output{chunk, names, lasting};
  source.collect(output);
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_NE(output.problems[0].find("had not written its data"), std::string::npos);
  cann_.tell("");
  EXPECT_TRUE(until_free());
}

}  // namespace
}  // namespace stepscope::ascend
