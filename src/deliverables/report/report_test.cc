#include "deliverables/report/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/sample_store.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = StoreReader::open(testing::write_sample_store(folder_, 2));
    ASSERT_TRUE(store.ok());
    run_ = std::make_unique<RunAnalyses>(*store, AnalysisOptions());
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<RunAnalyses> run_;
};

TEST_F(ReportTest, PartsAddUpToTheStep) {
  const Report report = make_report(*run_, "sample");
  ASSERT_GT(report.steps, 0);
  double sum = 0;
  for (const ReportPart& part : report.parts) sum += part.ns;
  EXPECT_NEAR(sum, report.step_ns, 0.5);
}

TEST_F(ReportTest, TextNamesTheRunAndItsKernels) {
  const std::string text = report_text(make_report(*run_, "sample"), 0, false);
  EXPECT_TRUE(text.starts_with("sample\n2 ranks"));
  EXPECT_NE(text.find("gemm_kernel"), std::string::npos);
  EXPECT_NE(text.find("What holds it up"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

// What the report says of a verdict that many ranks share, and of a run without steps.
TEST(Report, RanksOfOneVerdictAreOneLine) {
  const testing::TemporaryFolder folder;
  const auto rank_of = [](int64_t wait_ns) {
    return [=](RankBuilder& rank) {
      const TrackId thread = testing::host_track(rank, "python");
      for (int64_t step = 0; step < 3; ++step) {
        testing::add_step(rank, step, step * 1000, 1000);
        rank.add_slice(thread,
                       testing::slice_of(rank, "enumerate(DataLoader)#_BaseDataLoaderIter.__next__",
                                         step * 1000, wait_ns, SliceKind::kOp));
      }
    };
  };
  RunAnalyses run(testing::made_store(folder, rank_of(10), rank_of(500), rank_of(20), rank_of(10),
                                      rank_of(10), rank_of(10)),
                  {});
  const Report report = make_report(run, "run");
  ASSERT_EQ(report.data.size(), 2u);
  EXPECT_EQ(report.data[0],
            "ranks 0, 2, 3, 4, 5: data preparation keeps up, waits 1.0 % to 2.0 % of a step");
  EXPECT_EQ(report.data[1],
            "rank 1: held up in process by _BaseDataLoaderIter, waits 50 % of a step");
  EXPECT_EQ(report.mean_of, "mean of 12 steps of 6 ranks");
}

// A plain loop, whose steps and parts the program named itself.
TEST(Report, RangesOfTheProgramWhereNothingElseWasRecorded) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder,
                                      [](RankBuilder& rank) {
                                        const TrackId thread = testing::host_track(rank, "python");
                                        const auto add = [&](const char* name, int64_t ts_ns,
                                                             int64_t dur_ns) {
                                          SliceRecord slice = testing::slice_of(
                                              rank, name, ts_ns, dur_ns, SliceKind::kAnnotation);
                                          slice.cat = rank.strings.intern("user_annotation");
                                          rank.add_slice(thread, slice);
                                        };
                                        for (int64_t step = 0; step < 2; ++step) {
                                          testing::add_step(rank, step, step * 1000, 1000);
                                          add("ProfilerStep#1", step * 1000, 1000);
                                          add("forward", step * 1000, 500);
                                          add("sleep", step * 1000 + 100, 300);
                                        }
                                      }),
                  {});
  const Report report = make_report(run, "run");
  EXPECT_EQ(report.lines_title, "Ranges with most time of their own, whole run");
  ASSERT_EQ(report.lines.size(), 2u);
  EXPECT_EQ(report.lines[0].name, "sleep");
  EXPECT_EQ(report.lines[0].ns, 600);
  EXPECT_EQ(report.lines[0].share, 0.6);
  EXPECT_EQ(report.lines[1].name, "forward");
  EXPECT_EQ(report.lines[1].ns, 400);
  EXPECT_EQ(report.lines[1].count, 2);
  const auto ranges = json_tree(report_json(run, "run"))["ranges"];
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0]["name"], "forward");
  EXPECT_EQ(ranges[0]["total_ns"], 1000);
  EXPECT_EQ(ranges[0]["self_ns"], 400);
}

// Steps of two devices, in two windows.
TEST(Report, AStepOfTwoDevicesIsOne) {
  const testing::TemporaryFolder folder;
  const auto window = [](int64_t number) {
    return [=](RankBuilder& rank) {
      rank.info.rank = 0;
      rank.info.window = number;
      const TrackId streams[] = {testing::device_track(rank, 0, 7),
                                 testing::device_track(rank, 1, 7)};
      for (int64_t step = 0; step < 4; ++step) {
        testing::add_step(rank, step, step * 1000, 1000);
        for (const TrackId stream : streams)
          rank.add_slice(stream,
                         testing::slice_of(rank, "gemm", step * 1000, 900, SliceKind::kKernel));
      }
    };
  };
  {
    RunAnalyses run(testing::made_store(folder, window(0)), {});
    const Report report = make_report(run, "run");
    EXPECT_EQ(report.steps, 3);
    EXPECT_EQ(report.mean_of, "mean of 3 steps on 2 devices");
    EXPECT_EQ(report.step_ns, 1000);
  }
  RunAnalyses run(testing::made_store(folder, window(0), window(1)), {});
  const Report report = make_report(run, "run");
  EXPECT_EQ(report.mean_of, "mean of 6 steps of 2 windows on 2 devices");
  EXPECT_EQ(report.head.back(), "8 steps");
}

// Marks of 100 every 1000; the host waits for data in between.
TEST(Report, TellsWhatNoStepHas) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(
      testing::made_store(
          folder,
          [](RankBuilder& rank) {
            const TrackId thread = testing::host_track(rank, "python");
            const TrackId stream = testing::device_track(rank, 0, 7);
            for (int64_t step = 0; step < 4; ++step) {
              const int64_t at = step * 1000;
              testing::add_step(rank, step, at, 100);
              rank.add_slice(stream, testing::slice_of(rank, "gemm", at, 100, SliceKind::kKernel));
              rank.add_slice(thread, testing::slice_of(rank, "enumerate(DataLoader)#Iter.__next__",
                                                       at + 100, 720, SliceKind::kOp));
            }
          }),
      {});
  const Report report = make_report(run, "run");
  EXPECT_EQ(report.step_ns, 100);
  EXPECT_EQ(report.between_steps,
            "900 ns between two steps belong to none of them: an iteration takes 1.00 µs. Most of "
            "them: idle: waiting for data, 80 %.");
  EXPECT_NE(report_text(report, 160, false).find(report.between_steps), std::string::npos);
  EXPECT_NE(report_markdown(report).find(report.between_steps), std::string::npos);
  EXPECT_NE(report_html(report).find(report.between_steps), std::string::npos);
  EXPECT_NE(report_json(run, "run").find("between_steps"), std::string::npos);
  EXPECT_EQ(make_report(run, "run").quality.size(), 1u);
}

TEST(Report, SaysWhyItKnowsNoSteps) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder,
                                      [](RankBuilder& rank) {
                                        const TrackId stream = testing::device_track(rank, 0, 7);
                                        rank.add_slice(stream,
                                                       testing::slice_of(rank, "gemm", 10, 20,
                                                                         SliceKind::kKernel));
                                      }),
                  {});
  const Report report = make_report(run, "run");
  EXPECT_EQ(report.steps, 0);
  EXPECT_NE(report.no_steps.find("mark steps"), std::string::npos) << report.no_steps;
  EXPECT_NE(report_text(report, 0, false).find("How long a step takes is not known"),
            std::string::npos);
  // What is not known has no empty figure beside it.
  EXPECT_EQ(report_html(report).find("<table></table>"), std::string::npos);
  EXPECT_EQ(report_html(report).find("class=\"stack\""), std::string::npos);
  EXPECT_NE(report_markdown(report).find(report.no_steps), std::string::npos);
  EXPECT_NE(report_html(report).find("mark steps"), std::string::npos);
}

// A loop of plain Python: steps are marked, and nothing is recorded inside of them.
TEST(Report, StepsThatHoldNothingHaveTheirMarkedLength) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(testing::made_store(folder,
                                      [](RankBuilder& rank) {
                                        for (int64_t step = 0; step < 3; ++step)
                                          testing::add_step(rank, step, step * 1000, 1000);
                                        // Outside of them.
                                        rank.add_slice(testing::host_track(rank, "python"),
                                                       testing::slice_of(rank, "aten::empty", 5000,
                                                                         4, SliceKind::kOp));
                                      }),
                  {});
  const Report report = make_report(run, "run");
  EXPECT_EQ(report.steps, 2) << "the first is left out";
  EXPECT_EQ(report.step_ns, 1000);
  ASSERT_EQ(report.parts.size(), 1u);
  EXPECT_EQ(report.parts[0].name, "nothing recorded");
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.no_findings, "the steps hold no operators and no device work to judge");
}

TEST(Report, TellsWhichStepsItCouldNotUse) {
  const testing::TemporaryFolder folder;
  RunAnalyses run(
      testing::made_store(folder,
                          [](RankBuilder& rank) {
                            testing::add_step(rank, 1, 0, 100);
                            rank.quality.add(QualityCode::kWindowCut, "step 0", 1);
                            rank.quality.add(QualityCode::kZeroDuration, "", 5);
                            rank.info.versions_json =
                                R"({"metadata":{"step_times":{"with_recording":)"
                                R"({"median_seconds":0.104,"steps":5},)"
                                R"("without_recording":{"median_seconds":0.1,"steps":9}}}})";
                          }),
      {});
  const Report report = make_report(run, "run");
  ASSERT_EQ(report.quality.size(), 2u) << "other notes are not told";
  EXPECT_EQ(report.quality[0],
            "note: profiler_overhead: recorded steps take 4.0 % more time than those beside the "
            "recording");
  EXPECT_TRUE(report.quality[1].starts_with("note: window_cut, once: "));
  EXPECT_TRUE(report.quality[1].ends_with(", as step 0")) << report.quality[1];
}

// A title that needs two lines, and where to look.
TEST(Report, FindingsAreAlignedAndSayWhereToLook) {
  Report report;
  FindingRow finding;
  finding.title = "The device waits in long gaps; in the longest the host is in some_long_function";
  finding.remedy = "Look there.";
  report.findings = {finding};
  report.places = {"rank 1, step 50, 12.0 ms after the run began, for 3.00 ms"};
  const std::string text = report_text(report, 60, false);
  EXPECT_NE(
      text.find("\n  1. The device waits in long gaps; in the longest the host\n     is in some"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("\n     see: rank 1, step 50, 12.0 ms after the run began, for\n     3.00 ms"),
      std::string::npos)
      << text;
  EXPECT_NE(report_markdown(report).find("Look there.  \n   See rank 1"), std::string::npos);
  EXPECT_NE(report_html(report).find("See rank 1, step 50"), std::string::npos);
}

TEST_F(ReportTest, MarkdownHasTables) {
  const std::string text = report_markdown(make_report(*run_, "sample"));
  EXPECT_TRUE(text.starts_with("# sample\n"));
  EXPECT_NE(text.find("| part | time | share |"), std::string::npos);
}

TEST_F(ReportTest, HtmlNeedsNothingElseAndEscapes) {
  Report report = make_report(*run_, "<script>alert(1)</script>");
  const std::string page = report_html(report);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_EQ(page.find("https://"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;"), std::string::npos);
}

TEST_F(ReportTest, JsonHasEveryKeyThatIsPromised) {
  const auto json = json_tree(report_json(*run_, "sample"));
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["version"], 1);
  for (const char* key :
       {"steps", "device_time", "step_trace", "operators", "kernels", "communication", "memory",
        "pipeline", "cpu", "flops", "findings", "quality", "reasons"})
    EXPECT_TRUE(json.contains(key) && json[key].is_array()) << key;
  ASSERT_EQ(json["device_time"].size(), 2u);
  for (const char* key : {"span_ns", "busy_ns", "idle_ns", "compute_ns", "communication_ns",
                          "memory_ns", "overlap_ns"})
    EXPECT_TRUE(json["device_time"][0].contains(key)) << key;
  EXPECT_EQ(json["device_time"][0]["span_ns"], 3200);
}

}  // namespace
}  // namespace stepscope
