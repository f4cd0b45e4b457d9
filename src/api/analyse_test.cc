#include "api/analyse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/run.h"
#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOperators =
    "Default/net/c1-Conv2d/Conv2D-op12;HostCpuOps;1000,0.5,0 2000000,0.25,0 \n"
    "Default/net/MatMul-op1;HostCpuOps;1000000,0.75,0 \n";

// Runs of two ranks, as MindSpore leaves them on a CPU.
class AnalyseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string rank : {"0", "1"}) {
      const std::string run = "job/rank_" + rank + "/host_1_20260101000000000_ascend_ms";
      runs_.push_back(folder_.path(run));
      folder_.write(run + "/FRAMEWORK/cpu_op_execute_timestamp_" + rank + ".txt", kOperators);
    }
  }
  static std::string output(const std::string& run) { return run + "/ASCEND_PROFILER_OUTPUT"; }

  testing::TemporaryFolder folder_;
  std::vector<std::string> runs_;
  Progress progress_;
};

TEST_F(AnalyseTest, WritesIntoEachRunAndTheStoreStaysFresh) {
  size_t told = 0;
  size_t all = 0;
  const auto ranks = analyse_runs({folder_.path("job")}, {}, progress_,
                                  [&](const AnalysedRank&, const AnalyseProgress& progress) {
                                    EXPECT_EQ(progress.done, ++told);
                                    all = progress.all;
                                  });
  ASSERT_TRUE(ranks.ok()) << ranks.error().message();
  ASSERT_EQ(ranks->size(), 2u);
  EXPECT_EQ(told, 2u);
  EXPECT_EQ(all, 2u);
  for (const AnalysedRank& rank : *ranks) {
    EXPECT_EQ(rank.error, "");
    EXPECT_NE(std::find(rank.files.begin(), rank.files.end(), "trace_view.json"), rank.files.end());
    EXPECT_FALSE(rank.omitted.empty());
  }
  for (const std::string& run : runs_) {
    EXPECT_TRUE(fs::exists(output(run) + "/trace_view.json"));
    EXPECT_TRUE(fs::exists(output(run) + "/op_statistic.csv"));
  }
  // What was written is no input: the store of before still holds, and raw data are read.
  auto again = Run::open({folder_.path("job")}, {}, progress_);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE((*again)->imported());
  const auto second = analyse_runs({folder_.path("job")}, {}, progress_);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)[0].files, (*ranks)[0].files);
  // Without the raw data the files are all there is, and are read.
  fs::remove_all(runs_[0] + "/FRAMEWORK");
  auto files = Run::open({runs_[0]}, {}, progress_);
  ASSERT_TRUE(files.ok()) << files.error().message();
  EXPECT_TRUE((*files)->imported());
  const auto refused = analyse_runs({runs_[0]}, {}, progress_);
  ASSERT_TRUE(refused.ok());
  EXPECT_NE((*refused)[0].error.find("read from files in it"), std::string::npos)
      << (*refused)[0].error;
}

TEST_F(AnalyseTest, IntoAFolder) {
  AnalyseOptions options;
  options.output = folder_.path("out");
  const auto ranks = analyse_runs({folder_.path("job")}, options, progress_);
  ASSERT_TRUE(ranks.ok());
  EXPECT_TRUE(fs::exists(folder_.path("out/rank0/ASCEND_PROFILER_OUTPUT/trace_view.json")));
  EXPECT_TRUE(fs::exists(folder_.path("out/rank1/ASCEND_PROFILER_OUTPUT/trace_view.json")));
  EXPECT_FALSE(fs::exists(output(runs_[0])));
}

TEST_F(AnalyseTest, OtherInputsNeedAFolder) {
  const std::string trace = folder_.write(
      "trace.json",
      R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm",
          "pid": 1, "tid": 1, "ts": 10, "dur": 5}]})");
  const auto nowhere = analyse_runs({trace}, {}, progress_);
  ASSERT_TRUE(nowhere.ok());
  EXPECT_NE((*nowhere)[0].error.find("-o"), std::string::npos);
  AnalyseOptions options;
  options.output = folder_.path("out");
  const auto written = analyse_runs({trace}, options, progress_);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ((*written)[0].error, "");
  EXPECT_TRUE(fs::exists(folder_.path("out/ASCEND_PROFILER_OUTPUT/trace_view.json")));
  EXPECT_FALSE(analyse_runs({folder_.path("nothing")}, {}, progress_).ok());
}

TEST_F(AnalyseTest, StepsByTheirNumbersOrCountedFromTheFirst) {
  std::string events;
  for (const int step : {10, 11, 12}) {
    const std::string at = std::to_string(step * 100);
    events += R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#)" + std::to_string(step) +
              R"(","pid":1,"tid":1,"ts":)" + at + R"(,"dur":90},)";
    events += R"({"ph":"X","cat":"cpu_op","name":"op_of_)" + std::to_string(step) +
              R"(","pid":1,"tid":1,"ts":)" + at + R"(,"dur":5},)";
  }
  events.pop_back();
  const std::string trace =
      folder_.write("steps.json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  AnalyseOptions options;
  options.output = folder_.path("out");
  const auto written_for = [&](std::vector<int64_t> steps, bool from_first) {
    fs::remove_all(options.output);
    options.steps = std::move(steps);
    options.steps_from_first = from_first;
    const auto ranks = analyse_runs({trace}, options, progress_);
    EXPECT_TRUE(ranks.ok());
    if (!(*ranks)[0].error.empty()) return (*ranks)[0].error;
    std::ifstream file(folder_.path("out/ASCEND_PROFILER_OUTPUT/trace_view.json"));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    std::string found;
    for (const std::string step : {"10", "11", "12"}) {
      if (text.find("op_of_" + step) != std::string::npos) found += step + " ";
    }
    return found;
  };
  EXPECT_EQ(written_for({11}, false), "11 ");
  EXPECT_EQ(written_for({2, 3}, true), "11 12 ");
  EXPECT_NE(written_for({2}, false).find("10 to 12"), std::string::npos);
  EXPECT_NE(written_for({11}, true).find("1 stands for the first"), std::string::npos);
  EXPECT_FALSE(fs::exists(options.output)) << "nothing is written for no step";
}

TEST_F(AnalyseTest, CancelledLeavesNothing) {
  auto opened = Run::open({folder_.path("job")}, {}, progress_);
  ASSERT_TRUE(opened.ok());
  progress_.cancel();
  const auto ranks = analyse_runs({folder_.path("job")}, {}, progress_);
  ASSERT_FALSE(ranks.ok());
  EXPECT_EQ(ranks.error().code, ErrorCode::kCancelled);
  EXPECT_FALSE(fs::exists(output(runs_[0]) + "/trace_view.json"));
}

TEST_F(AnalyseTest, SimplifyRemovesProductsOfCannOnly) {
  const std::string prof = "job/rank_0/host_1_20260101000000000_ascend_ms/PROF_000001_2026_ABC/";
  folder_.write(prof + "mindstudio_profiler_log/a.log", "x");
  folder_.write(prof + "host/sqlite/a.db", "x");
  folder_.write(prof + "device_0/data/all_file.complete", "x");
  folder_.write(prof + "device_0/data/raw.slice_0", "x");
  AnalyseOptions options;
  options.simplify = true;
  const auto ranks = analyse_runs({runs_[0]}, options, progress_);
  ASSERT_TRUE(ranks.ok()) << ranks.error().message();
  EXPECT_FALSE(fs::exists(folder_.path(prof + "mindstudio_profiler_log")));
  EXPECT_FALSE(fs::exists(folder_.path(prof + "host/sqlite")));
  EXPECT_FALSE(fs::exists(folder_.path(prof + "device_0/data/all_file.complete")));
  EXPECT_TRUE(fs::exists(folder_.path(prof + "device_0/data/raw.slice_0")));
}

}  // namespace
}  // namespace stepscope
