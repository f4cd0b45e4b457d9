#include "analyses/cpu/cpu.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "tests/support/imported_run.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;
using testing::MadeRun;
using testing::shared_data;

// A counter with a value every second from second 1 on; NaN leaves one out.
void add_counter(RankBuilder& rank, std::string_view process, std::string_view name,
                 const std::vector<double>& values) {
  TrackInfo info;
  info.process = rank.strings.intern(process);
  info.thread = rank.strings.intern(name);
  info.kind = TrackKind::kCounter;
  const TrackId track = rank.add_track(info);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]))
      rank.counters.push_back({static_cast<int64_t>(i + 1) * 1'000'000'000, values[i], track});
  }
}

const CpuRow& row_of(const std::vector<CpuRow>& rows, std::string_view scope,
                     std::string_view name = "") {
  for (const CpuRow& row : rows) {
    if (row.scope == scope && row.name == name) return row;
  }
  static const CpuRow kNone;
  ADD_FAILURE() << "no row " << scope << " " << name;
  return kNone;
}

TEST(Cpu, NativeSamplesOfMachineProcessThreadsAndWorkers) {
  MadeRun run;
  add_counter(run.rank, "python", "machine cpu user %", {10, 30});
  add_counter(run.rank, "python", "machine cpu system %", {5, 15});
  add_counter(run.rank, "python", "machine cpu idle %", {80, 40});
  add_counter(run.rank, "python", "machine cpu iowait %", {1, 3});
  add_counter(run.rank, "python", "machine runnable processes", {2, 4});
  add_counter(run.rank, "python", "machine processors", {8, 8});
  add_counter(run.rank, "python", "machine context switches/s", {500, 700});
  add_counter(run.rank, "python", "process cpu %", {120, 180});
  add_counter(run.rank, "python", "thread cpu % 17 python main", {90, 110});
  add_counter(run.rank, "python", "worker cpu % 21 loader", {std::nan(""), 50});
  add_counter(run.rank, "python", "worker resident bytes 21 loader", {1e9, 2e9});
  const auto& rows = run.analyses().cpu();
  ASSERT_EQ(rows.size(), 4u);
  const CpuRow& machine = row_of(rows, "machine");
  EXPECT_EQ(machine.samples, 2);
  EXPECT_DOUBLE_EQ(machine.user, 0.2);
  EXPECT_DOUBLE_EQ(machine.system, 0.1);
  EXPECT_DOUBLE_EQ(machine.idle, 0.6);
  EXPECT_DOUBLE_EQ(machine.io_wait, 0.02);
  EXPECT_NEAR(machine.busy, 0.38, 1e-12);
  EXPECT_DOUBLE_EQ(machine.runnable, 3);
  EXPECT_DOUBLE_EQ(machine.context_switches, 700) << "the first rate has no interval";
  EXPECT_EQ(machine.interval_ns, 1'000'000'000);
  EXPECT_EQ(machine.verdict, "raise_threads");
  EXPECT_EQ(machine.processors, 8);
  EXPECT_NEAR(machine.others, 0.38 - 1.5 / 8, 1e-12);
  EXPECT_DOUBLE_EQ(row_of(rows, "process").busy, 1.5);
  EXPECT_TRUE(std::isnan(row_of(rows, "process").user)) << "not told apart";
  EXPECT_DOUBLE_EQ(row_of(rows, "thread", "python main").most_busy, 1.1);
  EXPECT_EQ(row_of(rows, "thread", "python main").id, 17);
  EXPECT_EQ(row_of(rows, "worker", "loader").samples, 1);
}

TEST(Cpu, StepsOfARange) {
  MadeRun run;
  add_counter(run.rank, "python", "process cpu %", {100, 200, 300, 400});
  for (int64_t i = 0; i < 2; ++i) {
    StepRecord step;
    step.step = 5 + i;
    step.ts_ns = (2 + i) * 1'000'000'000;
    step.dur_ns = 500'000'000;
    run.rank.steps.push_back(step);
  }
  RunAnalyses& analyses = run.analyses();
  EXPECT_EQ(analyses.cpu().at(0).samples, 4);
  EXPECT_EQ(analyses.cpu()[0].first_step, kNull) << "before the first step";
  EXPECT_EQ(analyses.cpu()[0].last_step, 6) << "behind the last one, as MindInsight has it";
  EXPECT_DOUBLE_EQ(analyses.cpu_in({5, 5}).at(0).busy, 2);
  EXPECT_DOUBLE_EQ(analyses.cpu_in({6, 6}).at(0).busy, 3.5);
  EXPECT_TRUE(analyses.cpu_in({7, 9}).empty());
}

TEST(Cpu, SamplesBetweenMarkedStepsHaveTheirNumbersAlsoBesideBatches) {
  MadeRun run;
  add_counter(run.rank, "python", "process cpu %", {100, 200, 300});  // at seconds 1, 2, 3
  for (int64_t step = 1; step <= 3; ++step) {
    testing::add_step(run.rank, 50 + step, step * 1'000'000'000 - 100, 1000);
    QueueRecord batch;
    batch.stage = run.rank.strings.intern("dataset_iterator");
    batch.batch = step;
    batch.ts_ns = step * 1'000'000'000 - 200;
    run.rank.queues.push_back(batch);
  }
  std::vector<int64_t> steps;
  for (const CpuSampleRow& row : run.analyses().cpu_samples()) steps.push_back(row.sample.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{51, 52, 53}));
}

TEST(Cpu, VerdictsOnTheMachine) {
  struct Case {
    double user, system, idle, runnable, process;
    std::string_view verdict;
  };
  for (const Case& one : {Case{10, 60, 30, 9, 100, "lower_threads"},
                          Case{85, 5, 10, 1, 380, "busy"}, Case{70, 5, 25, 1, 20, "others"},
                          Case{10, 5, 85, 1, 40, "raise_threads"}, Case{50, 5, 45, 1, 200, ""}}) {
    MadeRun run;
    SourceTable about{"minddata_cpu", "", {{"cpu_processor_num", Type::kInt64, {4}}}};
    run.rank.source_tables.push_back(std::move(about));
    // The first sample of minddata's series means nothing.
    add_counter(run.rank, "minddata", "device user_utilization", {0, one.user});
    add_counter(run.rank, "minddata", "device sys_utilization", {0, one.system});
    add_counter(run.rank, "minddata", "device idle_utilization", {0, one.idle});
    add_counter(run.rank, "minddata", "device runnable_process", {0, one.runnable});
    add_counter(run.rank, "minddata", "process user_utilization", {std::nan(""), one.process});
    add_counter(run.rank, "minddata", "process sys_utilization", {std::nan(""), 0});
    const CpuRow machine = row_of(run.analyses().cpu(), "machine");
    EXPECT_EQ(machine.samples, 1);
    EXPECT_EQ(machine.processors, 4);
    EXPECT_EQ(machine.verdict, one.verdict) << one.user << " " << one.system;
    EXPECT_EQ(machine.advice.empty(), one.verdict.empty());
  }
}

TEST(Cpu, ThreadsOfDataOperators) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  SourceTable tree{"minddata_pipeline",
                   "",
                   {{"op_id", Type::kInt64, {0, 1, 2}},
                    {"op_type",
                     Type::kText,
                     {rank.strings.intern("BatchOp"), rank.strings.intern("MapOp"),
                      rank.strings.intern("GeneratorOp")}},
                    {"num_workers", Type::kInt64, {1, 2, 4}}}};
  rank.source_tables.push_back(std::move(tree));
  add_counter(rank, "minddata", "op 0 user_utilization", {0, 10});
  add_counter(rank, "minddata", "op 0 sys_utilization", {0, 0});
  add_counter(rank, "minddata", "op 1 user_utilization", {0, 150});
  add_counter(rank, "minddata", "op 1 sys_utilization", {0, 20});
  add_counter(rank, "minddata", "op 2 user_utilization", {0, 20});
  add_counter(rank, "minddata", "op 2 sys_utilization", {0, 0});
  add_counter(rank, "minddata", "op -1 user_utilization", {0, 99});
  const auto& rows = run.analyses().cpu();
  EXPECT_EQ(rows.size(), 3u) << "operator -1 is none";
  EXPECT_EQ(row_of(rows, "operator", "BatchOp_0").verdict, "") << "a single idle thread is right";
  EXPECT_DOUBLE_EQ(row_of(rows, "operator", "MapOp_1").per_worker, 0.85);
  EXPECT_EQ(row_of(rows, "operator", "MapOp_1").verdict, "raise_threads");
  EXPECT_EQ(row_of(rows, "operator", "GeneratorOp_2").verdict, "lower_threads");
}

TEST(Cpu, SamplesThatAreNoNumbersAreLeftOut) {
  MadeRun run;
  add_counter(run.rank, "python", "process cpu %", {50, 1.0 / 0.0, -1.0 / 0.0, 70});
  EXPECT_EQ(run.analyses().cpu().at(0).samples, 2);
  EXPECT_DOUBLE_EQ(run.analyses().cpu()[0].busy, 0.6);
  EXPECT_EQ(run.analyses().cpu_samples().size(), 2u);
}

TEST(Cpu, ARunWithoutSamplesSaysWhatToRecord) {
  MadeRun run;
  EXPECT_TRUE(run.analyses().cpu().empty());
  EXPECT_EQ(run.analyses().reasons("cpu").size(), 1u);
}

TEST(CpuOfMindinsight, FlatSet) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/mindinsight/tests/utils/resource/profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto& rows = run.cpu();
  const CpuRow& machine = row_of(rows, "machine");
  EXPECT_EQ(machine.processors, 100);
  EXPECT_EQ(machine.samples, 2);
  EXPECT_EQ(machine.first_step, 1);
  EXPECT_EQ(machine.last_step, 1);
  // Samples are [10, 20, 30], of which the first means nothing. MindInsight drops its time but cuts
  // the last value instead, and says 15.
  EXPECT_DOUBLE_EQ(machine.user, 0.25);
  EXPECT_DOUBLE_EQ(machine.system, 0.25);
  EXPECT_DOUBLE_EQ(machine.io_wait, 0.1);
  EXPECT_DOUBLE_EQ(machine.idle, 0.1);
  EXPECT_DOUBLE_EQ(machine.runnable, 25);
  EXPECT_DOUBLE_EQ(machine.context_switches, 25);
  EXPECT_EQ(machine.verdict, "others") << "the process uses half of one of a hundred processors";
  EXPECT_DOUBLE_EQ(row_of(rows, "process").user, 0.25);
  const CpuRow& op = row_of(rows, "operator", "MapOp_1");
  EXPECT_EQ(op.workers, 8);
  EXPECT_DOUBLE_EQ(op.user, 0.25);
  EXPECT_EQ(run.cpu_in({1, 1}).size(), rows.size());
  EXPECT_TRUE(run.cpu_in({2, 2}).empty());
}

TEST(CpuOfMindspore, PlantedPipelines) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  for (const std::string name : {"d_dataset_generator", "d_dataset_map", "d_dataset_consumer"}) {
    const std::string folder = shared_data() + "/mindspore_cpu/";
    const json expected = read_json_file(folder + "expected.json").value()[name]["cpu_file"];
    const ImportedRun imported(folder + name);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    const auto& rows = run.cpu();
    const int64_t samples = expected["time_stamps"];
    const CpuRow& machine = row_of(rows, "machine");
    EXPECT_EQ(machine.processors, expected["processors"]);
    EXPECT_EQ(machine.samples, samples - 1);
    EXPECT_EQ(row_of(rows, "process").samples, samples - 1);
    EXPECT_EQ(row_of(rows, "operator", "MapOp_1").samples, samples - 1);
    EXPECT_EQ(row_of(rows, "operator", "MapOp_1").workers, 2);
    EXPECT_NEAR(static_cast<double>(machine.interval_ns) / 1e6,
                expected["mean_interval_ms"].get<double>(), 1.5);
    // The machine was hardly ever idle: user and system time, where the file has them, are nearly
    // all of it (intervals within one tick of the kernel's clock read 0).
    EXPECT_LT(machine.idle, 0.01) << name;
    EXPECT_GT(machine.user + machine.system, 0.85) << name;
    EXPECT_GT(machine.runnable, 2);
  }
}

}  // namespace
}  // namespace stepscope
