// No result table is silently empty, whatever the recording lacks, and none has numbers that are
// none. Every table of results is asked for in each of the cases.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/made_job.h"
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
    for (size_t row = 0; row < table->rows(); ++row) {
      for (size_t column = 0; column < table->columns().size(); ++column) {
        const Value value = table->value(row, column);
        if (const auto* number = std::get_if<double>(&value)) {
          EXPECT_TRUE(std::isfinite(*number))
              << described.name() << "." << table->columns()[column].name << " of row " << row;
        }
      }
    }
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

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

void add_counter(RankBuilder& rank, std::string_view name, std::initializer_list<double> values) {
  TrackInfo info;
  info.process = rank.strings.intern("python");
  info.thread = rank.strings.intern(name);
  info.kind = TrackKind::kCounter;
  const TrackId track = rank.add_track(info);
  int64_t ts_ns = 1'000'000'000;
  for (const double value : values) rank.counters.push_back({ts_ns += 100'000'000, value, track});
}

// A training with all that can be recorded of it.
void fill_whole(RankBuilder& rank) {
  testing::RankPlan plan;
  plan.also_in_step = [](const testing::StepMaker& step) {
    step.kernel("Memcpy HtoD (Pageable -> Device)", 10, 12, "MEMCPY", WorkClass::kMemory);
    step.task("allReduce", 94, 95, 1);
    step.task("allReduce", 95, 96, 1, "SDMA", 1 << 20);
  };
  testing::fill_rank(rank, plan, 2);
  add_counter(rank, "machine cpu user %", {20, 30});
  add_counter(rank, "machine cpu idle %", {80, 70});
  QueueRecord batch;
  batch.stage = rank.strings.intern("DataLoader_0");
  batch.batch = 1;
  batch.ts_ns = 1'000'000'000;
  batch.size = batch.capacity = 4;
  batch.fetch_ns = 1000;
  rank.queues.push_back(batch);
}

TEST(EmptyTables, OfNumbersThatAreNone) {
  MadeRun run;
  fill_whole(run.rank);
  for (const char* name : {"machine cpu system %", "process cpu %", "machine processors",
                           "GPU utilisation %", "anything"})
    add_counter(run.rank, name, {kNan, kInfinite, -kInfinite, kNan});
  const TrackId stream = testing::device_track(run.rank, 1, 7);
  for (const char* counters :
       {R"({"aic_cube_fops":NaN,"aiv_vec_fops":"N/A","mac_ratio":NaN})",
        R"json({"aic_cube_fops":1e999,"cube_utilization(%)":1e999})json", "not JSON", ""}) {
    KernelDetail detail;
    detail.type = run.rank.strings.intern("AI_CORE");
    detail.counters = run.rank.strings.intern(counters);
    detail.grid = run.rank.strings.intern("[99999999999999999999, -1]");
    detail.input_shapes = run.rank.strings.intern("[[-1, 9223372036854775807], [0]]");
    SliceRecord slice =
        testing::slice_of(run.rank, "MatMul", 1'000'000'000, 500, SliceKind::kKernel);
    slice.detail = run.rank.add_kernel(detail);
    run.rank.add_slice(stream, slice);
  }
  CommunicationDetail transfer = testing::numbered(99, 1 << 20, 2);
  transfer.bandwidth = kNan;
  testing::add_operation(run.rank, stream, "allReduce", 1'000'000'000, 0, transfer);
  expect_rows_or_reasons(run.analyses());
}

// Each kind of record left out in turn.
TEST(EmptyTables, OfEachTableThatIsMissing) {
  const auto turn_into_other = [](SliceKind kind) {
    return [=](RankBuilder& rank) {
      for (TrackId track = 0; track < rank.track_count(); ++track) {
        for (SliceRecord& slice : rank.slices(track)) {
          if (slice.kind == kind) slice.kind = SliceKind::kOther;
        }
      }
    };
  };
  const std::map<std::string, std::function<void(RankBuilder&)>> without = {
      {"nothing", [](RankBuilder&) {}},
      {"kernels", turn_into_other(SliceKind::kKernel)},
      {"operators", turn_into_other(SliceKind::kOp)},
      {"tasks of communication", turn_into_other(SliceKind::kCommunication)},
      {"slices",
       [](RankBuilder& rank) {
         for (TrackId track = 0; track < rank.track_count(); ++track) rank.slices(track).clear();
       }},
      {"steps", [](RankBuilder& rank) { rank.steps.clear(); }},
      {"counters", [](RankBuilder& rank) { rank.counters.clear(); }},
      {"memory", [](RankBuilder& rank) { rank.memory.clear(); }},
      {"queues", [](RankBuilder& rank) { rank.queues.clear(); }},
      {"what is known of the run", [](RankBuilder& rank) { rank.info = {}; }},
  };
  for (const auto& [name, leave_out] : without) {
    SCOPED_TRACE(name);
    MadeRun run;
    fill_whole(run.rank);
    leave_out(run.rank);
    expect_rows_or_reasons(run.analyses());
  }
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
