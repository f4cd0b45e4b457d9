#include "analyses/step_trace/step_trace.h"

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::kTrainingStart;
using testing::TrainingRank;

// Three equal steps of PyTorch on the host: data, forward, backward on its own thread, optimizer.
void fill_host_steps(TrainingRank& rank, int64_t steps) {
  const TrackId thread = rank.thread("main");
  const TrackId autograd = rank.thread("autograd");
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t at = 1000 * i;
    rank.step(thread, i + 1, at, at + 990);
    rank.mark(thread, "enumerate(DataLoader)#_SingleProcess.__next__", at + 10, at + 100);
    rank.op(thread, "aten::stack", at + 20, at + 90);
    rank.mark(thread, "Optimizer.zero_grad#SGD.zero_grad", at + 110, at + 140);
    rank.op(thread, "aten::zero_", at + 115, at + 130);
    rank.op(thread, "aten::linear", at + 200, at + 300);
    rank.op(thread, "aten::mse_loss", at + 300, at + 350);
    rank.op(autograd, "autograd::engine::evaluate_function: MseLossBackward0", at + 400, at + 500);
    rank.op(autograd, "torch::autograd::AccumulateGrad", at + 500, at + 600 + 10 * i);
    rank.mark(thread, "Optimizer.step#SGD.step", at + 700, at + 800);
    rank.op(thread, "aten::add_", at + 710, at + 790);
  }
}

TEST(StepTrace, FindsThePassesOfPyTorchOnTheHost) {
  TrainingRank rank;
  fill_host_steps(rank, 3);
  RunAnalyses run(rank.finish(), {});
  const auto& rows = run.step_trace();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].start_ns, kTrainingStart);
  EXPECT_EQ(rows[0].iteration_interval_ns, 200);
  EXPECT_EQ(rows[0].fp_ns, 200);
  EXPECT_EQ(rows[0].bp_ns, 200);
  EXPECT_EQ(rows[0].tail_ns, 390);
  EXPECT_EQ(rows[0].fp_start, "aten::linear");
  EXPECT_EQ(rows[0].bp_end, "torch::autograd::AccumulateGrad");
  EXPECT_EQ(rows[0].points, "host");
  // The interval of later steps reaches back to the step before.
  EXPECT_EQ(rows[1].start_ns, kTrainingStart + 990);
  EXPECT_EQ(rows[1].iteration_interval_ns, 210);
  EXPECT_EQ(rows[1].fp_and_bp_ns, 410);
  EXPECT_EQ(rows[1].dur_ns, 1000);
  // The average leaves the first out.
  EXPECT_EQ(rows[3].step, kNull);
  EXPECT_EQ(rows[3].steps, 2);
  EXPECT_EQ(rows[3].fp_and_bp_ns, 415);
  EXPECT_EQ(rows[3].tail_ns, 375);
  for (const StepTraceRow& row : rows)
    EXPECT_EQ(row.iteration_interval_ns + row.fp_and_bp_ns + row.tail_ns, row.dur_ns);
}

TEST(StepTrace, TakesTheOperatorsThatTheUserNames) {
  TrainingRank rank;
  fill_host_steps(rank, 2);
  AnalysisOptions options;
  options.fp_start = "aten::mse_loss";
  options.bp_end = "aten::add_";
  RunAnalyses run(rank.finish(), options);
  const auto& rows = run.step_trace();
  EXPECT_EQ(rows[0].iteration_interval_ns, 300);
  EXPECT_EQ(rows[0].fp_and_bp_ns, 490);
  EXPECT_EQ(rows[0].bp_end, "aten::add_");
}

TEST(StepTrace, SaysWhenTheNamedOperatorIsNotThere) {
  TrainingRank rank;
  fill_host_steps(rank, 2);
  AnalysisOptions options;
  options.fp_start = "no_such_operator";
  RunAnalyses run(rank.finish(), options);
  EXPECT_EQ(run.step_trace()[0].fp_and_bp_ns, kNull);
  EXPECT_EQ(run.step_trace().size(), 2u);  // no average
  ASSERT_EQ(run.reasons("step_trace").size(), 1u);
  EXPECT_NE(run.reasons("step_trace")[0].why.find("no_such_operator"), std::string::npos);
}

TEST(StepTrace, IsTheDevicesWhereLaunchesAreKnown) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId autograd = rank.thread("autograd");
  const TrackId stream = rank.stream(0, 7);
  const TrackId collectives = rank.stream(0, 20);
  rank.step(thread, 1, 0, 500);
  rank.op(thread, "aten::linear", 100, 140);
  rank.launch(thread, 110, 120, stream, {"gemm", 150, 300});
  rank.op(autograd, "AddmmBackward0", 200, 260);
  rank.launch(autograd, 210, 220, stream, {"gemm", 310, 600});
  rank.launch(autograd, 230, 240, collectives,
              {"ncclAllReduce", 320, 700, WorkClass::kCommunication});
  rank.op(thread, "aten::add_", 300, 340);
  rank.launch(thread, 310, 320, stream, {"add", 700, 760});
  RunAnalyses run(rank.finish(), {});
  const StepTraceRow& row = run.step_trace()[0];
  EXPECT_EQ(row.points, "device");
  EXPECT_EQ(row.dur_ns, 760);
  EXPECT_EQ(row.iteration_interval_ns, 150);
  EXPECT_EQ(row.fp_ns, 160);
  EXPECT_EQ(row.bp_ns, 290);
  EXPECT_EQ(row.tail_ns, 160);
  const auto& reduces = run.step_reduces();
  ASSERT_EQ(reduces.size(), 2u);  // the step's and the average
  EXPECT_EQ(reduces[0].stream, 20);
  EXPECT_EQ(reduces[0].offset_ns, 320);
  EXPECT_EQ(reduces[0].dur_ns, 380);
  EXPECT_EQ(reduces[1].step, kNull);
}

TEST(StepTrace, WithoutBackwardIsInference) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  rank.step(thread, 1, 0, 100);
  rank.op(thread, "aten::linear", 20, 60);
  RunAnalyses run(rank.finish(), {});
  const StepTraceRow& row = run.step_trace()[0];
  EXPECT_EQ(row.iteration_interval_ns, 20);
  EXPECT_EQ(row.fp_ns, 80);
  EXPECT_EQ(row.tail_ns, kNull);
  EXPECT_EQ(run.reasons("step_trace").size(), 1u);
}

TEST(StepTrace, BackwardEndsBeforeTheLastCollectiveWhereNothingSaysBackward) {
  TrainingRank rank;
  const TrackId stream = rank.stream(0, 2);
  const TrackId thread = rank.thread("main");
  rank.step(thread, 1, 0, 100);
  rank.kernel(stream, {"Default/Cast-op1", 10, 20});
  rank.kernel(stream, {"Default/Mul-op2", 30, 50});
  rank.kernel(rank.stream(0, 3), {"allreduce", 52, 70, WorkClass::kCommunication});
  rank.kernel(stream, {"Default/Assign-op3", 72, 80});
  RunAnalyses run(rank.finish(), {});
  const StepTraceRow& row = run.step_trace()[0];
  EXPECT_EQ(row.fp_start, "Default/Cast-op1");
  EXPECT_EQ(row.bp_end, "Default/Mul-op2");
  EXPECT_EQ(row.iteration_interval_ns, 10);
  EXPECT_EQ(row.fp_and_bp_ns, 40);
  EXPECT_EQ(row.tail_ns, 50);
}

struct Expected {
  size_t row;
  double total_ms, interval_ms, fp_and_bp_ms, tail_ms;
};

void expect_rows(const std::vector<StepTraceRow>& rows, const std::vector<Expected>& expected) {
  for (const Expected& step : expected) {
    ASSERT_LT(step.row, rows.size());
    const StepTraceRow& row = rows[step.row];
    SCOPED_TRACE("row " + std::to_string(step.row));
    EXPECT_NEAR(static_cast<double>(row.dur_ns) / 1e6, step.total_ms, 0.00006);
    EXPECT_NEAR(static_cast<double>(row.iteration_interval_ns) / 1e6, step.interval_ms, 0.00006);
    EXPECT_NEAR(static_cast<double>(row.fp_and_bp_ns) / 1e6, step.fp_and_bp_ms, 0.00006);
    EXPECT_NEAR(static_cast<double>(row.tail_ns) / 1e6, step.tail_ms, 0.00006);
  }
}

// data/mindinsight/EXPECTED.md section 1.
TEST(StepTrace, EqualsMindInsight) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/mindinsight/tests/utils/resource/";
  {
    const testing::ImportedRun imported(folder + "run_1");
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    const auto& rows = run.step_trace();
    ASSERT_EQ(rows.size(), 323u);
    expect_rows(rows, {{0, 284.2712, 0.0, 193.7811, 90.49},
                       {1, 205.6836, 0.2108, 117.9976, 87.4752},
                       {322, 205.3809, 0.2038, 118.0540, 87.1231}});
    EXPECT_EQ(rows[0].fp_start, "Default/Cast-op6");
    EXPECT_EQ(rows[0].bp_end, "Default/TransData-op7");
    EXPECT_EQ(rows[322].step, kNull);
    const auto& last = run.step_reduces().back();
    EXPECT_EQ(last.step, kNull);
    EXPECT_EQ(last.stream, 540);
    EXPECT_NEAR(static_cast<double>(last.offset_ns) / 1e6, 118.3705, 0.0001);
    EXPECT_NEAR(static_cast<double>(last.dur_ns) / 1e6, 49.281, 0.0001);
  }
  {
    const testing::ImportedRun imported(folder + "profiler");
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    std::vector<StepTraceRow> device_0;
    std::vector<StepTraceRow> device_10;
    for (const StepTraceRow& row : run.step_trace()) {
      if (row.rank == 0 && row.window == 0) device_0.push_back(row);
      if (row.rank == 10) device_10.push_back(row);
    }
    ASSERT_EQ(device_0.size(), 21u);
    expect_rows(device_0,
                {{0, 40.0305, 0.0, 17.0294, 23.0010}, {20, 130.4561, 90.3536, 17.0945, 23.0080}});
    EXPECT_NEAR(static_cast<double>(device_0[4].iteration_interval_ns) / 1e6, 90.3233, 0.0001);
    ASSERT_EQ(device_10.size(), 41u);
    expect_rows(device_10, {{40, 130.4972, 90.3735, 17.1141, 23.0096}});
  }
}

}  // namespace
}  // namespace stepscope
