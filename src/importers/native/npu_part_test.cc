// A run whose host we recorded and whose NPU CANN did: one rank, read from both.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/own_files.h"
#include "importers/discover.h"
#include "stepscope/record.h"
#include "tests/support/imported_run.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRun;

constexpr const char* kProf = "run/PROF_000001_20240102030405006_ABCDEF";
constexpr const char* kTimeline = R"([
{"name":"process_name","ph":"M","pid":7,"tid":0,"args":{"name":"Ascend Hardware"}},
{"name":"thread_name","ph":"M","pid":7,"tid":2,"args":{"name":"Stream 2"}},
{"name":"MatMul_1","ph":"X","pid":7,"tid":2,"ts":"1704164645000000.000","dur":10.5,
 "args":{"Task Type":"AI_CORE","Stream Id":2,"Task Id":1}}])";
constexpr const char* kSummary =
    "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
    "0,1,2,MatMul_1,MatMul,AI_CORE,1704164645000000.000\t,10.5\n";

class NpuPartTest : public ::testing::Test {
 protected:
  NpuPartTest() {
    std::filesystem::create_directories(folder_.path("run/FRAMEWORK"));
    std::filesystem::create_directories(folder_.path("run/ASCEND_PROFILER_OUTPUT"));
    folder_.write("run/profiler_info_3.json", R"({"ms_profiler_info":{"rank_id":"3"}})");
    folder_.write(std::string(kProf) + "/host/info.json", "{}");
    stepscope_options options{};
    options.size = sizeof options;
    options.rank = 3;
    EXPECT_EQ(stepscope_start(folder_.path("run/FRAMEWORK").c_str(), &options), 0);
    for (int step = 5; step < 8; ++step) {
      stepscope_step(step);
      STEPSCOPE_SCOPE("forward");
    }
    stepscope_end_step();
    stepscope_stop();
  }
  void export_it() const {
    const std::string output = std::string(kProf) + "/mindstudio_profiler_output/";
    folder_.write(output + "msprof_20240102030405.json", kTimeline);
    folder_.write(output + "op_summary_20240102030405.csv", kSummary);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(NpuPartTest, RawDataAreNamedWithTheCommandThatReadsThem) {
  const ImportedRun run(folder_.path("run"));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.column("ranks", "rank"), std::vector<int64_t>{3});
  EXPECT_EQ(run.quality("not_understood"), 1);
  const auto examples = run.texts("quality", "example");
  EXPECT_TRUE(std::any_of(examples.begin(), examples.end(), [this](const std::string& example) {
    return example.ends_with("run: msprof --export=on --output=" + folder_.path(kProf));
  }));
}

TEST_F(NpuPartTest, HostAndDeviceAreOneRank) {
  export_it();
  for (const std::string& named : {folder_.path("run"), folder_.path()}) {
    const ImportedRun run(named);
    ASSERT_TRUE(run.ok()) << run.error();
    EXPECT_EQ(run.column("ranks", "rank"), std::vector<int64_t>{3});
    EXPECT_EQ(run.texts("ranks", "device_kind"), std::vector<std::string>{"Ascend NPU"});
    EXPECT_EQ(run.texts("ranks", "source_format"), std::vector<std::string>{"native"});
    EXPECT_EQ(run.texts("kernels", "name"), std::vector<std::string>{"MatMul_1"});
    EXPECT_EQ(run.column("kernels", "dur"), std::vector<int64_t>{10'500});
    EXPECT_EQ(run.column("steps", "step"), (std::vector<int64_t>{5, 6, 7}));
    const auto names = run.texts("slices", "name");
    EXPECT_EQ(std::count(names.begin(), names.end(), "forward"), 3);
    EXPECT_EQ(run.quality("not_understood"), 0);
    EXPECT_EQ(run.quality("other_forms"), 0);
  }
}

TEST_F(NpuPartTest, ACProgramsFolderIsReadTheSameWay) {
  export_it();
  std::filesystem::rename(folder_.path("run/FRAMEWORK/stepscope.raw"),
                          folder_.path("run/stepscope.raw"));
  std::filesystem::remove(folder_.path("run/profiler_info_3.json"));
  const ImportedRun run(folder_.path("run"));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.column("ranks", "rank"), std::vector<int64_t>{3});
  EXPECT_EQ(run.column("kernels", "dur"), std::vector<int64_t>{10'500});
  EXPECT_EQ(run.column("steps", "step"), (std::vector<int64_t>{5, 6, 7}));
}

TEST_F(NpuPartTest, EitherCanBeReadAlone) {
  export_it();
  const ImportedRun host(folder_.path("run"), 1, "native");
  ASSERT_TRUE(host.ok()) << host.error();
  EXPECT_TRUE(host.column("kernels", "dur").empty());
  for (const ImportedRun& device :
       {ImportedRun(folder_.path("run"), 1, "ascend_text"), ImportedRun(folder_.path(kProf))}) {
    ASSERT_TRUE(device.ok()) << device.error();
    EXPECT_EQ(device.column("ranks", "rank"), std::vector<int64_t>{3});
    EXPECT_EQ(device.column("kernels", "dur"), std::vector<int64_t>{10'500});
    EXPECT_TRUE(device.column("steps", "step").empty());
  }
}

TEST_F(NpuPartTest, APartThatCannotBeReadDoesNotTakeTheHostWithIt) {
  const std::string output = std::string(kProf) + "/mindstudio_profiler_output/";
  folder_.write(output + "msprof_20240102030405.json", "[{\"name\":");
  const ImportedRun run(folder_.path("run"));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.column("steps", "step"), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_GT(run.quality("truncated_input") + run.quality("unreadable_file"), 0);
}

TEST_F(NpuPartTest, WhatWasMadeOfTheRunIsNoOtherFormOfIt) {
  export_it();
  const std::string output = "run/ASCEND_PROFILER_OUTPUT/";
  folder_.write(output + "trace_view.json", kTimeline);
  EXPECT_EQ(ImportedRun(folder_.path("run")).quality("other_forms"), 1);
  folder_.write(output + std::string(kOutputMarker), "{}");
  EXPECT_EQ(ImportedRun(folder_.path("run")).quality("other_forms"), 0);
}

// A program that is recorded from outside has one for each window of its own profiler.
TEST_F(NpuPartTest, ASecondFolderIsAWindowOfItsOwn) {
  export_it();
  folder_.write(
      "run/PROF_000002_20240102030406006_GHIJKL/mindstudio_profiler_output/"
      "msprof_20240102030406.json",
      kTimeline);
  const ImportedRun run(folder_.path("run"));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.column("ranks", "rank"), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(run.texts("ranks", "source_format"),
            (std::vector<std::string>{"native", "ascend_text"}));
  EXPECT_EQ(run.column("kernels", "dur"), (std::vector<int64_t>{10'500, 10'500}));
  EXPECT_EQ(run.column("steps", "step"), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(run.quality("other_forms"), 0);
}

}  // namespace
}  // namespace stepscope
