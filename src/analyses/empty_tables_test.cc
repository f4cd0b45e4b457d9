// No result table is silently empty, whatever the recording lacks.
#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::MadeRun;

void expect_rows_or_reasons(RunAnalyses& run) {
  for (const ResultTable& described : RunAnalyses::descriptions()) {
    const auto table = run.table(described.name());
    ASSERT_TRUE(table.ok()) << described.name();
    EXPECT_TRUE(table->rows() > 0 || !run.reasons(described.name()).empty()) << described.name();
  }
}

TEST(EmptyTables, OfARankWithoutAnything) {
  MadeRun run;
  expect_rows_or_reasons(run.analyses());
}

TEST(EmptyTables, OfStepsWithoutWork) {
  MadeRun run;
  testing::add_step(run.rank, 1, 0, 100);
  expect_rows_or_reasons(run.analyses());
}

TEST(EmptyTables, OfWorkWithoutSteps) {
  MadeRun run;
  const TrackId stream = testing::device_track(run.rank, 0, 7);
  run.rank.add_slice(stream, testing::slice_of(run.rank, "gemm", 10, 20, SliceKind::kKernel));
  expect_rows_or_reasons(run.analyses());
}

TEST(EmptyTables, OfCommunicationAlone) {
  MadeRun run;
  const TrackId stream = testing::device_track(run.rank, 0, 7);
  testing::add_operation(run.rank, stream, "allReduce", 10, 20, {});
  expect_rows_or_reasons(run.analyses());
}

TEST(EmptyTables, OfCutStepsAlone) {
  MadeRun run;
  StepRecord step;
  step.step = 1;
  step.ts_ns = 0;
  step.dur_ns = 100;
  step.source = run.rank.strings.intern("marked");
  step.complete = false;
  run.rank.steps.push_back(step);
  const TrackId thread = testing::host_track(run.rank, "main");
  run.rank.add_slice(thread, testing::slice_of(run.rank, "aten::mm", 10, 20, SliceKind::kOp));
  expect_rows_or_reasons(run.analyses());
}

TEST(EmptyTables, OfZeroLengthEverything) {
  MadeRun run;
  testing::add_step(run.rank, 1, 50, 0);
  const TrackId thread = testing::host_track(run.rank, "main");
  const TrackId stream = testing::device_track(run.rank, 0, 7);
  run.rank.add_slice(thread, testing::slice_of(run.rank, "aten::mm", 50, 0, SliceKind::kOp));
  run.rank.add_slice(stream, testing::slice_of(run.rank, "gemm", 50, 0, SliceKind::kKernel));
  expect_rows_or_reasons(run.analyses());
}

// Each of two ranks communicates, with nobody that is recorded.
TEST(EmptyTables, OfHalvesOfCollectives) {
  const testing::TemporaryFolder folder;
  const auto half = [](int64_t number) {
    return [=](RankBuilder& rank) {
      const TrackId stream = testing::device_track(rank, 0, 7);
      testing::add_step(rank, 1, 0, 100);
      testing::add_operation(rank, stream, "allReduce", 10, 20, testing::numbered(number, 1, 4));
    };
  };
  RunAnalyses run(testing::made_store(folder, half(1), half(2)), {});
  expect_rows_or_reasons(run);
}

TEST(EmptyTables, LinksThatGroupsOfTwoMeasureAreNotSaidToBeMissing) {
  const testing::TemporaryFolder folder;
  const auto rank_of = [](RankBuilder& rank) {
    const TrackId stream = testing::device_track(rank, 0, 7);
    testing::add_step(rank, 1, 0, 100);
    testing::add_operation(rank, stream, "allReduce", 10, 20, testing::numbered(1, 4 << 20, 2));
  };
  RunAnalyses run(testing::made_store(folder, rank_of, rank_of), {});
  expect_rows_or_reasons(run);
  ASSERT_FALSE(run.communication().matrix.empty());
  for (const Reason& reason : run.reasons("communication_matrix"))
    EXPECT_EQ(reason.why.find("not measured"), std::string::npos) << reason.why;
  EXPECT_TRUE(run.reasons("communication_operators").empty());
}

}  // namespace
}  // namespace stepscope
