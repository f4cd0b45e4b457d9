#include "analyses/step_times/step_times.h"

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "analyses/step_times/written_step_times.h"
#include "tests/support/imported_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::kTrainingStart;
using testing::TrainingRank;

// Everything of a step is in exactly one of these.
int64_t parts_of(const StepTimeRow& row) {
  return row.preparing_ns + row.computing_ns + row.communication_not_overlapped_ns +
         row.memory_not_overlapped_ns + row.free_ns + row.tail_ns;
}

void fill_two_steps(TrainingRank& rank) {
  const TrackId thread = rank.thread("main");
  const TrackId compute = rank.stream(0, 7);
  const TrackId collectives = rank.stream(0, 20);
  rank.step(thread, 1, 0, 1000);
  rank.kernel(compute, {"copy", 50, 80, WorkClass::kMemory, "MEMCPY"});
  rank.kernel(compute, {"gemm", 100, 300});
  rank.kernel(collectives, {"allreduce", 250, 400, WorkClass::kCommunication});
  rank.kernel(compute, {"copy", 380, 430, WorkClass::kMemory, "MEMCPY"});
  rank.kernel(compute, {"gemm", 600, 1100});  // ends in the next step
  rank.step(thread, 2, 1000, 2000);
  rank.kernel(collectives, {"hcom_receive__1", 1500, 1600, WorkClass::kCommunication});
}

TEST(StepTimes, AreCutAtTheStepAndAddUp) {
  TrainingRank rank;
  fill_two_steps(rank);
  RunAnalyses run(rank.finish(), {});
  const auto& rows = run.step_times();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].step, 1);
  EXPECT_EQ(rows[0].preparing_ns, 100);
  EXPECT_EQ(rows[0].computing_ns, 600);
  EXPECT_EQ(rows[0].communication_ns, 150);
  EXPECT_EQ(rows[0].communication_not_overlapped_ns, 100);
  EXPECT_EQ(rows[0].overlapped_ns, 50);
  EXPECT_EQ(rows[0].memory_not_overlapped_ns, 30);  // 400..430; the first copy prepares
  EXPECT_EQ(rows[0].free_ns, 170);
  EXPECT_EQ(rows[0].tail_ns, 0);
  EXPECT_EQ(rows[0].stage_ns, 900);
  EXPECT_EQ(rows[1].preparing_ns, 0);
  EXPECT_EQ(rows[1].computing_ns, 100);
  EXPECT_EQ(rows[1].bubble_ns, 100);
  EXPECT_EQ(rows[1].stage_ns, 500);
  EXPECT_EQ(rows[1].tail_ns, 400);
  for (const StepTimeRow& row : rows) EXPECT_EQ(parts_of(row), row.dur_ns);
}

// NCCL's kernels have one name for all that is made of sends and receives.
TEST(StepTimes, OnlyWhatReceivesIsABubble) {
  constexpr std::string_view kName = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 20);
  rank.step(thread, 1, 0, 1000);
  const auto launch = [&](std::string_view call, int64_t at) {
    rank.mark(thread, call, at, at + 20);
    rank.launch(thread, at + 5, at + 10, stream,
                {kName, at + 10, at + 60, WorkClass::kCommunication});
  };
  launch("nccl:all_to_all", 100);
  launch("nccl:recv 0<-1", 200);
  launch("nccl:send 0->1", 300);
  launch("nccl:coalesced", 400);
  rank.kernel(stream, {kName, 500, 570, WorkClass::kCommunication});
  RunAnalyses run(rank.finish(), {});
  ASSERT_EQ(run.step_times().size(), 1u);
  EXPECT_EQ(run.step_times()[0].communication_ns, 270);
  EXPECT_EQ(run.step_times()[0].bubble_ns, 170);  // recv, and the two of which nothing is known
  EXPECT_EQ(run.step_times()[0].stage_ns, 290);
  const auto& operators = run.communication().operators;
  ASSERT_EQ(operators.size(), 5u);
  const std::string_view expected[] = {"all_to_all", "receive", "send", "send_receive",
                                       "send_receive"};
  for (size_t i = 0; i < operators.size(); ++i) EXPECT_EQ(operators[i].kind, expected[i]);
}

// One version of NCCL gave all collectives the kernel SendRecv: those of this trace are
// all-reduces, all-gathers and all-to-alls by the calls that launched them.
TEST(StepTimes, OfARealTraceHaveNoBubbleWithoutAPipeline) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() +
                                      "/kineto/hta/trace_filter/sampled_rank-0.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  int64_t communication_ns = 0;
  for (const StepTimeRow& row : run.step_times()) {
    communication_ns += row.communication_ns;
    EXPECT_EQ(row.bubble_ns, 0);
  }
  EXPECT_GT(communication_ns, 0);
}

TEST(StepTimes, AsOthersWriteThem) {
  TrainingRank rank;
  fill_two_steps(rank);
  RunAnalyses run(rank.finish(), {});
  const OverlapLanes& lanes = run.overlap_lanes()[0][0];
  const auto torch =
      written_step_times(run.store(), 0, lanes, run.steps(), StepTimesWriter::kTorchNpu);
  ASSERT_EQ(torch.size(), 2u);
  EXPECT_EQ(torch[0].computing_ns, 700);  // not cut
  EXPECT_EQ(torch[0].free_ns, 200);       // 400..600, copies are free time
  EXPECT_EQ(torch[0].stage_ns, 1000);
  EXPECT_EQ(torch[0].preparing_ns, 100);
  EXPECT_EQ(torch[1].computing_ns, 0);
  EXPECT_EQ(torch[1].free_ns, 400);
  EXPECT_EQ(torch[1].bubble_ns, 100);
  EXPECT_EQ(torch[1].stage_ns, 400);
  EXPECT_EQ(torch[1].communication_not_overlapped_and_exclude_receive_ns, 0);
  const auto mindspore =
      written_step_times(run.store(), 0, lanes, run.steps(), StepTimesWriter::kMindSpore);
  EXPECT_EQ(mindspore[0].stage_ns, 150);  // of collectives only
  EXPECT_EQ(mindspore[1].bubble_ns, 100);
  EXPECT_EQ(mindspore[1].stage_ns, 0);
  const auto whole = written_step_times(run.store(), 0, lanes, {}, StepTimesWriter::kMindSpore);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].step, 0);
  EXPECT_EQ(whole[0].computing_ns, 700);
  EXPECT_EQ(
      written_step_times(run.store(), 0, lanes, {}, StepTimesWriter::kTorchNpu)[0].preparing_ns,
      kNull);
}

TEST(StepTimes, OfAStepWithoutWorkAreFree) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  rank.step(thread, 1, 0, 100);
  rank.step(thread, 2, 100, 200);
  rank.kernel(rank.stream(0, 7), {"gemm", 120, 130});
  RunAnalyses run(rank.finish(), {});
  ASSERT_EQ(run.step_times().size(), 2u);
  EXPECT_EQ(run.step_times()[0].free_ns, 100);
  EXPECT_EQ(parts_of(run.step_times()[0]), 100);
}

TEST(StepTimes, WithoutStepsOneRowForEverything) {
  TrainingRank rank;
  rank.kernel(rank.stream(3, 7), {"gemm", 120, 130});
  RunAnalyses run(rank.finish(), {});
  ASSERT_EQ(run.step_times().size(), 1u);
  EXPECT_EQ(run.step_times()[0].step, kNull);
  EXPECT_EQ(run.step_times()[0].device, 3);
  EXPECT_EQ(run.step_times()[0].dur_ns, 10);
}

TEST(StepTimes, OnTheHostWaitingInACollectiveIsCommunication) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  rank.step(thread, 1, 0, 100);
  rank.op(thread, "matmul", 10, 40);
  rank.op(thread, "c10d::allreduce", 50, 90);
  rank.collective(thread, "gloo:all_reduce", "host", 55, 85);
  RunAnalyses run(rank.finish(), {});
  ASSERT_EQ(run.step_times().size(), 1u);
  const StepTimeRow& row = run.step_times()[0];
  EXPECT_EQ(row.device, kHostDevice);
  EXPECT_EQ(row.computing_ns, 40);
  EXPECT_EQ(row.communication_not_overlapped_ns, 30);
  EXPECT_EQ(row.overlapped_ns, 0);
  EXPECT_EQ(parts_of(row), row.dur_ns);
}

TEST(StepTimes, ReasonWhenThereIsNothing) {
  TrainingRank rank;
  rank.thread("main");
  RunAnalyses run(rank.finish(), {});
  EXPECT_TRUE(run.step_times().empty());
  EXPECT_EQ(run.reasons("step_times").size(), 1u);
}

struct AscendStep {
  const char* set;
  int64_t tolerance_ns;  // text files carry rounded decimals; databases are exact
  int64_t rank;
  int64_t computing, exposed, overlapped, communication, free, stage, preparing;
};

// data/ascend/EXPECTED.md: values of the recordings' own step_trace_time.csv and StepTraceTime.
TEST(StepTimes, EqualThoseThatAscendRecorded) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const AscendStep expected[] = {
      {"db/level1", 0, 0, 8903431, 98071947, 4036153, 102108100, 25258144, 132233522, 18055693},
      {"db/level1", 0, 1, 8915634, 94556050, 4034140, 98590190, 25840499, 129312183, 17512827},
      {"text/level1", 250, 0, 8873756, 101963203, 4028675, 105991878, 25744050, 136581000,
       17902500},
      {"text/level1", 250, 1, 8878295, 96359047, 4016239, 100375286, 26675274, 131912500, 20433250},
      {"text/level0", 250, 0, 8827473, 81515607, 4001282, 85516889, 25908102, 116251250, 19358000},
      {"text/level0", 250, 1, 8813173, 64616114, 3989596, 68605710, 27172943, 100602250, 18920000},
  };
  for (const AscendStep& step : expected) {
    SCOPED_TRACE(std::string(step.set) + " rank " + std::to_string(step.rank));
    const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/" + step.set);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    const auto& rows = run.step_times();
    ASSERT_EQ(rows.size(), 2u);
    const StepTimeRow& row = rows[static_cast<size_t>(step.rank)];
    EXPECT_EQ(row.step, 50);
    EXPECT_NEAR(row.computing_ns, step.computing, step.tolerance_ns);
    EXPECT_NEAR(row.communication_not_overlapped_ns, step.exposed, step.tolerance_ns);
    EXPECT_NEAR(row.overlapped_ns, step.overlapped, step.tolerance_ns);
    EXPECT_NEAR(row.communication_ns, step.communication, step.tolerance_ns);
    EXPECT_NEAR(row.free_ns + row.memory_not_overlapped_ns, step.free, step.tolerance_ns);
    EXPECT_NEAR(row.stage_ns, step.stage, step.tolerance_ns);
    EXPECT_NEAR(row.preparing_ns, step.preparing, step.tolerance_ns);
    EXPECT_EQ(parts_of(row), row.dur_ns);
    const auto position = static_cast<size_t>(step.rank);
    const auto written = written_step_times(run.store(), position, run.overlap_lanes()[position][0],
                                            run.steps(position), StepTimesWriter::kTorchNpu);
    ASSERT_EQ(written.size(), 1u);
    EXPECT_NEAR(written[0].computing_ns, step.computing, step.tolerance_ns);
    EXPECT_NEAR(written[0].free_ns, step.free, step.tolerance_ns);
    EXPECT_NEAR(written[0].stage_ns, step.stage, step.tolerance_ns);
    EXPECT_NEAR(written[0].preparing_ns, step.preparing, step.tolerance_ns);
  }
}

// data/mindinsight/EXPECTED.md section 7.
TEST(StepTimes, EqualTheOverlapLanesOfOldAscendTimelines) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() +
                                      "/mindinsight/tests/utils/resource/profiler/"
                                      "PROF_000001_20230818142704322_COJGGGCANRMICFBC");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const int64_t expected[10][3] = {{5914580, 41534300, 113630}, {5928100, 9303050, 114640},
                                   {5946600, 9213810, 120800},  {5930850, 9306280, 114650},
                                   {5942250, 11380940, 124110}, {5939220, 9450120, 119000},
                                   {5945490, 9334070, 122920},  {5928430, 10391340, 117930},
                                   {5947280, 9019540, 117510},  {5942800, 10238590, 126070}};
  const auto& rows = run.step_times();
  ASSERT_EQ(rows.size(), 10u);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].computing_ns, expected[i][0]);
    EXPECT_EQ(rows[i].communication_not_overlapped_ns, expected[i][1]);
    EXPECT_EQ(rows[i].free_ns + rows[i].memory_not_overlapped_ns, expected[i][2]);
  }
}

}  // namespace
}  // namespace stepscope
