// A file that the user names on the command line, although it is a part of a recording.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/discover.h"
#include "importers/import_run.h"
#include "tests/support/imported_run.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRun;
using testing::TemporaryFolder;

constexpr const char* kTrace =
    R"([{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","name":"MatMul_1","pid":7,"tid":2,"ts":"100.5","dur":3.0,"args":{"Task Type":"AI_CORE","Stream Id":2,"Task Id":9}}
])";
constexpr const char* kKernels =
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
    "1,MatMul_1,MatMulV2,AI_CORE,100.5\t,3.0,0,20\n";

class NamedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write(in_output("trace_view.json"), kTrace);
    folder_.write(in_output("kernel_details.csv"), kKernels);
    folder_.write("host_1_20260101000000000_ascend_pt/profiler_info_3.json", "{\"rank_id\": 3}");
    folder_.write("host_2_20260101000000000_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
                  kTrace);
  }
  static std::string in_output(const std::string& name) {
    return "host_1_20260101000000000_ascend_pt/ASCEND_PROFILER_OUTPUT/" + name;
  }
  TemporaryFolder folder_;
};

TEST_F(NamedFile, StandsForItsRecording) {
  const std::string recording = folder_.path("host_1_20260101000000000_ascend_pt");
  for (const std::string& name : {in_output("trace_view.json"), in_output("kernel_details.csv"),
                                  std::string("host_1_20260101000000000_ascend_pt/"
                                              "profiler_info_3.json")}) {
    std::vector<std::string> notes;
    const auto sources = discover({folder_.path(name)}, "", &notes);
    ASSERT_TRUE(sources.ok()) << sources.error().message();
    ASSERT_EQ(sources->size(), 1u) << name;  // and not the other rank beside it
    EXPECT_EQ(sources->front().chosen.path, recording);
    EXPECT_EQ(sources->front().chosen.rank, 3);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("2 other files of its recording"), std::string::npos) << notes[0];
  }
  ImportedRun run(folder_.path(in_output("trace_view.json")));
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.texts("kernels", "op_type"), std::vector<std::string>{"MatMulV2"});
  EXPECT_EQ(run.column("sources", "bytes").size(), 3u);
}

TEST_F(NamedFile, AskedForInAnotherFormIsReadAlone) {
  const auto sources = discover({folder_.path(in_output("trace_view.json"))}, "kineto");
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  EXPECT_EQ(sources->front().chosen.path, folder_.path(in_output("trace_view.json")));
}

TEST_F(NamedFile, TogetherWithItsFolderIsOneRank) {
  const auto sources = discover({folder_.path(in_output("trace_view.json")),
                                 folder_.path("host_1_20260101000000000_ascend_pt")},
                                "");
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_TRUE(sources->front().others.empty());
}

TEST_F(NamedFile, AChangeBesideItMakesTheStoreStale) {
  const std::string path = folder_.path(in_output("trace_view.json"));
  const auto before = stamp_paths({path});
  folder_.write(in_output("kernel_details.csv"), std::string(kKernels) + "\n");
  const auto after = stamp_paths({path});
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE(*before, *after);
}

TEST_F(NamedFile, OneOfSeveralTimelinesStandsForItself) {
  folder_.write("PROF_1/mindstudio_profiler_output/msprof_slice_0_20260101000000.json", kTrace);
  folder_.write("PROF_1/mindstudio_profiler_output/msprof_slice_1_20260101000000.json", kTrace);
  const std::string path =
      folder_.path("PROF_1/mindstudio_profiler_output/msprof_slice_1_20260101000000.json");
  std::vector<std::string> notes;
  const auto sources = discover({path}, "", &notes);
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  EXPECT_EQ(sources->front().chosen.path, path);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("was read without the 1 other files"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find(folder_.path("PROF_1")), std::string::npos) << notes[0];
}

TEST_F(NamedFile, InAnOrdinaryFolderStandsAlone) {
  folder_.write("downloads/trace_view.json", kTrace);
  folder_.write("downloads/holiday.csv", "a,b\n1,2\n");
  std::vector<std::string> notes;
  const auto sources = discover({folder_.path("downloads/trace_view.json")}, "", &notes);
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  EXPECT_EQ(sources->front().chosen.path, folder_.path("downloads/trace_view.json"));
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace stepscope
