// The files of ASCEND_PROFILER_OUTPUT, from a store made by hand.
#include "deliverables/profiler_output.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "tests/support/chrome_format.h"
#include "tests/support/csv_rows.h"
#include "tests/support/file_text.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::file_text;
using testing::read_csv;
using Csv = testing::CsvRows;

TEST(ProfilerOutput, OfASmallStore) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 1));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  const std::string out = folder.path("out");
  // Named by an earlier call's marker: removed. Of somebody else: kept.
  std::filesystem::create_directories(out);
  std::ofstream(out + "/" + std::string(kOutputMarker))
      << R"({"files": ["old.csv", "../outside", 7]})";
  std::ofstream(out + "/old.csv") << "a";
  std::ofstream(out + "/notes.txt") << "mine";
  std::ofstream(folder.path("outside")) << "b";
  const auto written = write_profiler_output(run, run.ranks()[0], out, {});
  ASSERT_TRUE(written.ok()) << written.error().message();
  EXPECT_TRUE(std::filesystem::exists(out + "/notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(folder.path("outside")));
  EXPECT_FALSE(std::filesystem::exists(out + "/old.csv"));

  const json events = json_tree(file_text(out + "/trace_view.json"));
  ASSERT_TRUE(events.is_array());
  const auto errors = testing::ChromeFormat::errors(events, true);
  ASSERT_EQ(errors.size(), 1u) << write_json(
      json(errors));  // the length that the recording has wrong
  EXPECT_NE(errors[0].find("\"broken\""), std::string::npos) << errors[0];
  bool step = false;
  bool computing = false;
  for (const json& event : events) {
    if (event["ph"] != "X") continue;
    EXPECT_TRUE(event["ts"].is_string());
    step |= event["name"] == "ProfilerStep#7" && event["ts"] == "1700000000000000.000" &&
            event["dur"] == "10.000";
    computing |= event["name"] == "Computing" && event["dur"] == "3.200";
  }
  EXPECT_TRUE(step);
  EXPECT_TRUE(computing);

  const Csv kernels = read_csv(out + "/kernel_details.csv");
  ASSERT_EQ(kernels.rows.size(), 2u);
  EXPECT_EQ(kernels.rows[0].at("Name"), "gemm_kernel");
  EXPECT_EQ(kernels.rows[0].at("Duration(us)"), "1.500");
  EXPECT_EQ(kernels.rows[0].at("Accelerator Core"), "CUDA");
  EXPECT_EQ(kernels.rows[0].at("Stream ID"), "7");
  EXPECT_EQ(kernels.rows[0].at("Block Dim"), "1");
  EXPECT_EQ(kernels.rows[0].at("Step ID"), "7");
  const Csv api = read_csv(out + "/api_statistic.csv");
  ASSERT_EQ(api.rows.size(), 1u);
  EXPECT_EQ(api.rows[0].at("API Name"), "cudaLaunchKernel");
  EXPECT_EQ(api.rows[0].at("Count"), "2");
  EXPECT_EQ(api.rows[0].at("Variance"), "0");
  const Csv memory = read_csv(out + "/operator_memory.csv");
  ASSERT_EQ(memory.rows.size(), 1u);
  EXPECT_EQ(memory.rows[0].at("Size(KB)"), "0.5");
  EXPECT_EQ(memory.rows[0].at("Duration(us)"), "3.100");
  EXPECT_EQ(memory.rows[0].at("Device Type"), "CUDA:0");

  bool says_why = false;
  for (const OmittedFile& file : written->omitted)
    says_why |= file.name == "l2_cache.csv" && file.why == "record with l2_cache";
  EXPECT_TRUE(says_why);
}

TEST(ProfilerOutput, PrettyIndentsTheTimeline) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 1));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  const auto timeline = [&](const char* name, bool pretty) {
    ProfilerOutputOptions options;
    options.pretty = pretty;
    EXPECT_TRUE(write_profiler_output(run, run.ranks()[0], folder.path(name), options).ok());
    return file_text(folder.path(name) + "/trace_view.json");
  };
  const std::string plain = timeline("plain", false);
  const std::string pretty = timeline("pretty", true);
  EXPECT_EQ(plain.find("\n    {\n        \"ph\": "), std::string::npos);
  EXPECT_NE(pretty.find("\n    {\n        \"ph\": "), std::string::npos);
  EXPECT_EQ(json_tree(pretty), json_tree(plain));
}

TEST(ProfilerOutput, ChosenStepsAndCancelling) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 1));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  ProfilerOutputOptions options;
  options.steps = {8};
  const auto none = write_profiler_output(run, run.ranks()[0], folder.path("none"), options);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(std::find(none->files.begin(), none->files.end(), "kernel_details.csv"),
            none->files.end());
  EXPECT_EQ(file_text(folder.path("none") + "/trace_view.json").find("gemm_kernel"),
            std::string::npos);
  Progress progress;
  progress.cancel();
  options.progress = &progress;
  const auto stopped = write_profiler_output(run, run.ranks()[0], folder.path("stopped"), options);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path("stopped")));
}

TEST(OpStatistic, OfTheOperatorsOfChosenSteps) {
  const testing::TemporaryFolder folder;
  testing::MadeRun run;
  const TrackId thread = testing::host_track(run.rank, "main");
  const auto add = [&](std::string_view name, int64_t ts_ns, int64_t dur_ns) {
    SliceRecord slice = testing::slice_of(run.rank, name, ts_ns, dur_ns, SliceKind::kOp);
    slice.detail = run.rank.add_op({});
    run.rank.add_slice(thread, slice);
  };
  for (const int64_t step : {1, 2, 3}) {
    testing::add_step(run.rank, step, step * 100'000, 90'000);
    add("linear", step * 100'000 + 1000, step * 10'000);  // with matmul in it
    add("matmul", step * 100'000 + 2000, step * 1000);
  }
  const auto statistic = [&](const char* name, std::vector<int64_t> steps) {
    ProfilerOutputOptions options;
    options.steps = std::move(steps);
    const std::string out = folder.path(name);
    EXPECT_TRUE(write_profiler_output(run.analyses(), run.analyses().ranks()[0], out, options));
    std::vector<std::string> lines;
    for (const auto& row : read_csv(out + "/op_statistic.csv").rows) {
      lines.push_back(row.at("OP Type") + " " + row.at("Count") + " " + row.at("Total Time(us)") +
                      " " + row.at("Max Time(us)"));
    }
    return lines;
  };
  EXPECT_EQ(statistic("some", {2, 3}),
            (std::vector<std::string>{"linear 2 45.000 30.000", "matmul 2 5.000 3.000"}));
  EXPECT_EQ(statistic("all", {1, 2, 3}), statistic("whole", {}));
}

TEST(OperatorDetails, ShapesOfOurOwnRecordings) {
  const testing::TemporaryFolder folder;
  testing::MadeRun run;
  run.rank.info.source_format = "native";
  const TrackId thread = testing::host_track(run.rank, "main");
  const auto add = [&](std::string_view name, std::string_view shapes, int64_t ts_ns) {
    SliceRecord slice = testing::slice_of(run.rank, name, ts_ns, 10, SliceKind::kOp);
    OpDetail detail;
    if (!shapes.empty()) detail.input_shapes = run.rank.strings.intern(shapes);
    slice.detail = run.rank.add_op(detail);
    run.rank.add_slice(thread, slice);
  };
  add("aten::addmm", "[[2, 3], [], [4]]", 1000);
  add("aten::cat", "[[[2, 3], [5]], []]", 2000);
  add("aten::empty", "", 3000);
  add("MatMul", "32,3;3", 4000);
  add("broken", "[[2, 3", 5000);
  ASSERT_TRUE(
      write_profiler_output(run.analyses(), run.analyses().ranks()[0], folder.path("out"), {}));
  const Csv details = read_csv(folder.path("out") + "/operator_details.csv");
  EXPECT_EQ(details.header, (std::vector<std::string>{"Name", "Input Shapes"}));
  const std::vector<std::pair<std::string, std::string>> expected = {{"aten::addmm", "2,3;;4"},
                                                                     {"aten::cat", "2,3;5;"},
                                                                     {"MatMul", "32,3;3"},
                                                                     {"broken", "[[2, 3"}};
  ASSERT_EQ(details.rows.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(details.rows[i].at("Name"), expected[i].first);
    EXPECT_EQ(details.rows[i].at("Input Shapes"), expected[i].second);
  }
}

// A file that breaks each of the rules, so that the check is known to see them.
TEST(ChromeFormat, NamesWhatIsBroken) {
  const json broken = json_tree(R"([
    {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
    {"ph": "X", "name": "overlaps", "pid": 1, "tid": 1, "ts": 5, "dur": 10},
    {"ph": "X", "name": "negative", "pid": 1, "tid": 2, "ts": 5, "dur": -1},
    {"ph": "X", "name": "no place", "ts": 5, "dur": 1},
    {"ph": "X", "name": "no time", "pid": 1, "tid": 2, "ts": "soon", "dur": 1},
    {"ph": "E", "name": "no begin", "pid": 1, "tid": 2, "ts": 5},
    {"ph": "f", "bp": "e", "name": "no start", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": 5},
    {"ph": "s", "name": "no slice", "cat": "c", "id": 2, "pid": 1, "tid": 9, "ts": 5},
    {"ph": "s", "name": "late", "cat": "c", "id": 3, "pid": 1, "tid": 1, "ts": 6},
    {"ph": "f", "bp": "e", "name": "early", "cat": "c", "id": 3, "pid": 1, "tid": 1, "ts": 5},
    {"ph": "C", "name": "text", "pid": 1, "tid": 1, "ts": 5, "args": {"value": "3"}},
    {"ph": "M", "name": "thread_title", "pid": 1, "tid": 1, "args": {"name": "x"}},
    {"ph": "q", "name": "phase", "pid": 1, "tid": 1, "ts": 5, "id": 1, "cat": "c"}])");
  const auto errors = testing::ChromeFormat::errors(broken);
  for (const char* name : {"overlaps", "negative", "no place", "no time", "no begin", "no start",
                           "no slice", "early", "text", "thread_title", "phase"}) {
    const bool found = std::ranges::any_of(errors, [&](const std::string& error) {
      return error.find("\"" + std::string(name) + "\"") != std::string::npos;
    });
    EXPECT_TRUE(found) << name;
  }
  EXPECT_EQ(errors.size(), 11u) << write_json(json(errors));
}

}  // namespace
}  // namespace stepscope
