#include "analyses/quality/quality.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

std::map<std::string, QualityRow> rows_of(RunAnalyses& run) {
  std::map<std::string, QualityRow> rows;
  for (const QualityRow& row : run.quality()) rows[std::string(row.code)] = row;
  return rows;
}

TEST(Quality, StepsThatTheAnalysisFindsIncompleteAreCounted) {
  testing::TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  for (int64_t step = 0; step < 5; ++step) {
    rank.step(thread, step, step * 1000, step * 1000 + 1000, /*complete=*/step != 0);
    // The last two steps launch work that the recording does not have.
    if (step < 3)
      rank.launch(thread, step * 1000 + 10, step * 1000 + 20, stream,
                  {"gemm", step * 1000 + 30, step * 1000 + 900});
  }
  RunAnalyses run(rank.finish(), {});
  const auto rows = rows_of(run);
  ASSERT_TRUE(rows.contains("incomplete_steps"));
  EXPECT_EQ(rows.at("incomplete_steps").count, 2) << "the first is cut by the input's own word";
  EXPECT_EQ(rows.at("incomplete_steps").example, "step 3, step 4");
  EXPECT_EQ(rows.at("incomplete_steps").severity, "note");
  EXPECT_FALSE(rows.contains("profiler_overhead"));
}

// Twelve rounds, one of the middle without its second half.
TEST(Quality, InferredStepsAreNotSaidToLackDeviceWorkAlone) {
  testing::TrainingRank rank;
  const TrackId thread = rank.thread("main");
  for (int64_t step = 0; step < 12; ++step) {
    rank.op(thread, "enumerate(DataLoader)#Iter.__next__", step * 1000, step * 1000 + 10);
    for (int64_t i = 1; i < (step == 6 ? 4 : 9); ++i)
      rank.op(thread, "aten::op" + std::to_string(i), step * 1000 + 100 * i,
              step * 1000 + 100 * i + 50);
  }
  RunAnalyses run(rank.finish(), {});
  ASSERT_FALSE(run.steps().empty());
  ASSERT_EQ(run.steps().front().source, "inferred");
  const auto rows = rows_of(run);
  ASSERT_TRUE(rows.contains("incomplete_steps"));
  EXPECT_NE(rows.at("incomplete_steps").meaning.find("unlike the others"), std::string::npos);
}

TEST(Quality, WhatRecordingCostIsToldWhereItIsKnown) {
  const auto overhead = [](const char* with) {
    testing::MadeRun run;
    run.rank.info.versions_json =
        std::string(R"({"metadata":{"step_times":{"with_recording":{"median_seconds":)") + with +
        R"(,"steps":5},"without_recording":{"median_seconds":0.1,"steps":20}}}})";
    return rows_of(run.analyses()).at("profiler_overhead");
  };
  EXPECT_EQ(overhead("0.12").severity, "suspect");
  EXPECT_NE(overhead("0.12").example.find("20 % more"), std::string::npos);
  EXPECT_EQ(overhead("0.101").severity, "note");
  EXPECT_NE(overhead("0.099").example.find("1.0 % less"), std::string::npos);
}

TEST(Quality, TheImportersRowsAreThere) {
  testing::MadeRun run;
  run.rank.quality.add(QualityCode::kWindowCut, "step 7", 2);
  const auto rows = rows_of(run.analyses());
  ASSERT_TRUE(rows.contains("window_cut"));
  EXPECT_EQ(rows.at("window_cut").count, 2);
  EXPECT_EQ(rows.at("window_cut").example, "step 7");
  EXPECT_FALSE(rows.at("window_cut").meaning.empty());
}

TEST(Quality, NothingIsAReason) {
  testing::MadeRun run;
  testing::add_step(run.rank, 1, 0, 100);
  EXPECT_TRUE(run.analyses().quality().empty());
  EXPECT_EQ(run.analyses().reasons("quality").size(), 1u);
}

}  // namespace
}  // namespace stepscope
