#include "analyses/critical_path/what_if.h"

#include <cmath>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::TrainingRank;

// Steps 1 to 3, each of 1000 on the host and a device that is behind: gemm and relu, of which the
// gemm of step n takes n times 20'000.
std::shared_ptr<const StoreReader> three_steps(TrainingRank& rank) {
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  int64_t start = 0;
  for (int64_t step = 1; step <= 3; ++step) {
    const int64_t gemm_end = start + 150 + step * 20'000;
    rank.step(thread, step, start, start + 1'000);
    rank.launch(thread, start + 110, start + 120, stream,
                {"cutlass_Gemm_tn", start + 150, gemm_end});
    rank.launch(thread, start + 130, start + 140, stream, {"relu", gemm_end, gemm_end + 5'000});
    start = gemm_end + 6'000;
  }
  return rank.finish();
}

TEST(WhatIf, IsATextOfANameAndAFactor) {
  const auto gemm = parse_what_if(" gemm * 0.5");
  ASSERT_TRUE(gemm.ok());
  EXPECT_EQ(gemm->kernel, "gemm");
  EXPECT_EQ(gemm->factor, 0.5);
  const auto star = parse_what_if("void f(int*)*2");
  ASSERT_TRUE(star.ok());
  EXPECT_EQ(star->kernel, "void f(int*)");
  const auto kind = parse_what_if("communication*0");
  ASSERT_TRUE(kind.ok());
  EXPECT_TRUE(kind->kernel.empty());
  EXPECT_EQ(kind->kind, PathKind::kCommunication);
  for (const char* wrong : {"", "gemm", "*0.5", "gemm*", "gemm*x", "gemm*0.5x", "gemm*-1",
                            "gemm*nan", "gemm*inf", "gemm*1e9"})
    EXPECT_FALSE(parse_what_if(wrong).ok()) << wrong;
  EXPECT_FALSE(make_what_if("gemm", std::nan("")).ok());
}

TEST(WhatIf, OfAnyStepByAPartOfTheName) {
  TrainingRank rank;
  RunAnalyses run(three_steps(rank), {});
  const auto rows = run.what_if(*make_what_if("gemm", 0.5), {{}, 3});
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  ASSERT_EQ(rows->size(), 1u);
  const WhatIfRow& row = rows->front();
  EXPECT_EQ(row.step, 3);
  EXPECT_EQ(row.events, 1);
  EXPECT_EQ(row.events_ns, 60'000);
  EXPECT_EQ(row.before_ns, run.steps()[2].work_dur_ns);
  EXPECT_EQ(row.gain_ns, 30'000);
  EXPECT_EQ(row.after_ns, row.before_ns - 30'000);
  // Without a step: the one of middle length; longer is a negative gain.
  const auto longer = run.what_if(*make_what_if("kernel", 2), {});
  ASSERT_TRUE(longer.ok());
  EXPECT_EQ(longer->at(0).step, run.critical_path().at(0).step);
  EXPECT_EQ(longer->at(0).events, 2);
  EXPECT_EQ(longer->at(0).gain_ns, -longer->at(0).events_ns);
}

TEST(WhatIf, OfAKindOfKernelsTakesThoseThatAreNotCalledSo) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.step(thread, 1, 0, 1'000);
  rank.launch(thread, 110, 120, stream, {"nvjet_tst_128x256", 150, 20'150});
  rank.launch(thread, 130, 140, stream, {"relu", 20'150, 30'150});
  rank.launch(thread, 150, 160, stream, {"ampere_sgemm_tn", 30'150, 40'150});
  RunAnalyses run(rank.finish(), {});
  for (const char* word : {"gemm", "GEMM"}) {
    const auto rows = run.what_if(*make_what_if(word, 0.5), {});
    ASSERT_TRUE(rows.ok()) << rows.error().message();
    EXPECT_EQ(rows->front().events, 2);
    EXPECT_EQ(rows->front().events_ns, 30'000);
    EXPECT_EQ(rows->front().gain_ns, 15'000);
  }
  // A part of the word for a kind is no kind.
  EXPECT_EQ(run.what_if(*make_what_if("gem", 0.5), {})->front().events, 1);
}

TEST(WhatIf, SaysWhatIsNotThere) {
  TrainingRank rank;
  RunAnalyses run(three_steps(rank), {});
  const auto change = *make_what_if("gemm", 0.5);
  EXPECT_EQ(run.what_if(*make_what_if("softmax", 0.5), {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(run.what_if(change, {{}, 77}).error().what, "no such step");
  EXPECT_EQ(run.what_if(change, {5, {}}).error().what, "no such rank");
  testing::MadeRun empty;
  EXPECT_FALSE(empty.analyses().what_if(change, {}).ok());
}

TEST(CriticalPathOf, AStepIsThatStep) {
  TrainingRank rank;
  RunAnalyses run(three_steps(rank), {});
  for (const StepRow& step : run.steps()) {
    const auto rows = run.critical_path_of({0, step.step});
    ASSERT_TRUE(rows.ok());
    ASSERT_EQ(rows->size(), 1u);
    EXPECT_EQ(rows->front().step, step.step);
    EXPECT_EQ(rows->front().dur_ns, step.work_dur_ns);
    const auto segments = run.critical_path_segments_of({0, step.step});
    ASSERT_TRUE(segments.ok());
    int64_t sum_ns = 0;
    for (const PathSegment& segment : *segments) sum_ns += segment.dur_ns;
    EXPECT_EQ(sum_ns, step.work_dur_ns);
  }
  // Without a step it is the table.
  EXPECT_EQ(run.critical_path_of({})->at(0).step, run.critical_path().at(0).step);
}

}  // namespace
}  // namespace stepscope
