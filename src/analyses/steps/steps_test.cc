#include "analyses/steps/steps.h"

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::kTrainingStart;
using testing::TrainingRank;

TEST(Steps, WorkEndsAStepAndBeginsTheNext) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  // Work that was launched before the first step; work of step 1 that ends in step 2.
  rank.launch(thread, 10, 20, stream, {"earlier", 50, 130});
  rank.step(thread, 1, 100, 200);
  rank.launch(thread, 110, 115, stream, {"first", 140, 260});
  rank.step(thread, 2, 205, 300);
  rank.launch(thread, 210, 215, stream, {"second", 260, 280});
  rank.step(thread, 3, 300, 400);
  RunAnalyses run(rank.finish(), {});
  const auto steps = run.steps(0);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].work_start_ns, kTrainingStart + 130);
  EXPECT_EQ(steps[0].work_end_ns(), kTrainingStart + 260);
  EXPECT_EQ(steps[0].gap_ns, kNull);
  EXPECT_EQ(steps[1].gap_ns, 5);
  EXPECT_EQ(steps[1].work_start_ns, kTrainingStart + 260);
  EXPECT_EQ(steps[1].work_end_ns(), kTrainingStart + 300);
  EXPECT_EQ(steps[1].device_events, 1);
  EXPECT_TRUE(steps[1].complete);
  EXPECT_FALSE(steps[2].complete);  // the others launched work
  EXPECT_EQ(steps[2].source, "marked");
  EXPECT_TRUE(run.reasons("steps").empty());
  EXPECT_EQ(steps_to_average(steps), std::vector<size_t>{1});
  EXPECT_FALSE(steps[0].averaged);
  EXPECT_TRUE(steps[1].averaged);
  EXPECT_FALSE(steps[2].averaged);
}

TEST(Steps, MarkedTwiceAreOneStep) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId other = rank.thread("other");
  rank.step(thread, 1, 0, 30);
  rank.step(thread, 2, 30, 60);
  rank.step(other, 2, 30, 60);
  rank.step(other, 3, 60, 85);
  rank.step(thread, 3, 61, 90);
  rank.step(thread, 3, 90, 120);  // behind the others: a loop that began to count anew
  RunAnalyses run(rank.finish(), {});
  const auto steps = run.steps(0);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[1].work_dur_ns, 30);
  EXPECT_EQ(steps[1].gap_ns, 0);
  EXPECT_EQ(steps[2].dur_ns, 29);
  EXPECT_EQ(steps[3].dur_ns, 30);
  ASSERT_EQ(run.quality().size(), 1u);
  EXPECT_EQ(run.quality()[0].code, "repeated_marks");
  EXPECT_EQ(run.quality()[0].severity, "suspect");
  EXPECT_EQ(run.quality()[0].count, 2);
  EXPECT_EQ(run.quality()[0].example, "step 2, step 3");
}

// Marks of 10 every 50, and work that ends 5 after them.
TEST(Steps, TimeThatNoStepHasIsKnown) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  for (const int64_t step : {1, 2, 3, 7}) {
    const int64_t at = 50 * step;
    rank.step(thread, step, at, at + 10);
    rank.launch(thread, at, at + 1, stream, {"gemm", at + 1, at + 15});
  }
  RunAnalyses run(rank.finish(), {});
  const auto steps = run.steps(0);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].between_ns, kNull);
  EXPECT_EQ(steps[1].between_ns, 35);
  EXPECT_EQ(steps[3].between_ns, kNull) << "steps 4 to 6 are not recorded";
  const TimeBetweenSteps between = time_between_steps(steps);
  EXPECT_EQ(between.count, 2);
  EXPECT_EQ(between.mean_ns(), 35);
  EXPECT_EQ(between.share(), 0.7);
  ASSERT_EQ(run.quality().size(), 1u);
  EXPECT_EQ(run.quality()[0].code, "between_steps");
  EXPECT_EQ(run.quality()[0].example, "35 ns between two steps on average, 70 % of the time");
}

// Marks of 100; the device needs 150 a step and falls behind. Every table has the same length of a
// step, that of the work, and the same mean.
TEST(Steps, HaveOneLengthInEveryTable) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  for (int64_t step = 1; step <= 4; ++step) {
    const int64_t at = 100 * step;
    rank.step(thread, step, at, at + 100);
    rank.op(thread, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, at + 5);
    OpDetail shapes;
    shapes.input_shapes = rank.builder().strings.intern("[[8, 8], [8, 8]]");
    SliceRecord product =
        testing::slice_of(rank.builder(), "aten::mm", kTrainingStart + at + 5, 15, SliceKind::kOp);
    product.detail = rank.builder().add_op(shapes);
    rank.builder().add_slice(thread, product);
    rank.launch(thread, at + 6, at + 10, stream, {"gemm", 150 * step, 150 * step + 150});
  }
  RunAnalyses run(rank.finish(), {});
  const auto steps = run.steps(0);
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].work_dur_ns, 200) << "from the mark to the end of the work";
  for (size_t i = 1; i < steps.size(); ++i) EXPECT_EQ(steps[i].work_dur_ns, 150);
  ASSERT_EQ(run.step_budget().size(), 4u);
  ASSERT_EQ(run.step_times().size(), 4u);
  ASSERT_EQ(run.pipeline().steps.size(), 4u);
  ASSERT_EQ(run.flops().steps.size(), 4u);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(run.step_budget()[i].step_ns, steps[i].work_dur_ns);
    EXPECT_EQ(run.step_budget()[i].averaged, i > 0);
    EXPECT_EQ(run.step_times()[i].dur_ns, steps[i].work_dur_ns);
    EXPECT_EQ(run.pipeline().steps[i].step_ns, steps[i].work_dur_ns);
    EXPECT_EQ(run.flops().steps[i].step_ns, steps[i].work_dur_ns);
  }
  EXPECT_EQ(run.critical_path().at(0).dur_ns, 150);
  EXPECT_EQ(run.pipeline().verdicts.at(0).step_ns, 450);
  EXPECT_EQ(run.rank_comparison().at(0).step_ns, 150);
  EXPECT_EQ(run.rank_comparison().at(0).steps, 4);
}

TEST(Steps, AreInferredWhereNothingIsMarked) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  for (int64_t step = 0; step < 3; ++step) {
    for (int64_t op = 0; op < 6; ++op) {
      const int64_t start = 1000 * step + 100 * op;
      rank.op(thread, "op" + std::to_string(op), start, start + 50);
      rank.op(thread, "inner", start + 10, start + 20);
    }
  }
  RunAnalyses run(rank.finish(), {});
  const auto& steps = run.steps();
  ASSERT_EQ(steps.size(), 3u);
  for (int64_t step = 0; step < 3; ++step) {
    EXPECT_EQ(steps[static_cast<size_t>(step)].step, step + 1);
    EXPECT_EQ(steps[static_cast<size_t>(step)].start_ns, kTrainingStart + 1000 * step);
    EXPECT_EQ(steps[static_cast<size_t>(step)].source, "inferred");
  }
  EXPECT_EQ(steps[2].end_ns(), kTrainingStart + 2550);
  ASSERT_EQ(run.reasons("steps").size(), 1u);
  EXPECT_NE(run.reasons("steps")[0].why.find("inferred"), std::string::npos);
}

TEST(Steps, AReasonWhereNothingRepeats) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  for (int64_t op = 0; op < 20; ++op)
    rank.op(thread, "op" + std::to_string(op), 100 * op, 100 * op + 50);
  RunAnalyses run(rank.finish(), {});
  EXPECT_TRUE(run.steps().empty());
  EXPECT_TRUE(run.steps(0).empty());
  ASSERT_EQ(run.reasons("steps").size(), 1u);
  EXPECT_NE(run.reasons("steps")[0].why.find("mark steps"), std::string::npos);
}

// Windows of MindSpore on the CPU mark no steps; truth.json of the recordings has the wall times.
TEST(Steps, InferredOnMindSporeAgreeWithTheProgram) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  struct Case {
    const char* folder;
    size_t ranks;
    std::vector<int64_t> operators_of_a_step;  // by rank or window
    std::vector<size_t> steps;
  };
  const Case cases[] = {{"a_pynative_lenet", 1, {107}, {4}},
                        {"b_graph_lenet", 1, {43}, {12}},
                        {"c_repeat_mlp", 3, {90, 90, 90}, {3, 3, 3}},
                        {"g_env", 1, {90}, {6}},
                        {"h_data_parallel", 2, {102, 102}, {4, 4}}};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.folder);
    const testing::ImportedRun imported(testing::shared_data() + "/mindspore_cpu/" + test.folder);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    ASSERT_EQ(run.ranks().size(), test.ranks);
    for (size_t rank = 0; rank < test.ranks; ++rank) {
      const auto steps = run.steps(rank);
      ASSERT_EQ(steps.size(), test.steps[rank]);
      std::vector<int64_t> operators(steps.size());
      StepOfMoment finder(steps);
      for_each_row<1>(run.store(), Table::kOps, rank, {"ts"}, [&](const auto& row) {
        const size_t step = finder.find(row[0]);
        ASSERT_NE(step, StepOfMoment::kNone);
        ++operators[step];
      });
      for (size_t step = 0; step < steps.size(); ++step) {
        EXPECT_EQ(operators[step], test.operators_of_a_step[rank]);
        EXPECT_TRUE(steps[step].complete);
      }
    }
  }
}

}  // namespace
}  // namespace stepscope
