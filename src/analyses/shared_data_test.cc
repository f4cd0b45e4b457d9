// Numbers of the shared data (EXPECTED.md beside it, the replies of MindInsight) that belong to no
// single analysis, and the advice on real runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/advice/facts.h"
#include "analyses/common/names.h"
#include "analyses/common/source_rows.h"
#include "analyses/run_analyses.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;
using testing::shared_data;

constexpr double kRoundedMs = 0.00011;  // four decimals, subtracted from each other

double ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }
int64_t ns_of(const json& us) { return std::llround(us.get<double>() * 1000); }

const std::string kResource = "/mindinsight/tests/utils/resource/";

json reply_of(const std::string& file, const std::string& endpoint, const json& type) {
  const json replies =
      read_json_file(shared_data() + "/mindinsight/reference_responses/" + file).value();
  for (const json& one : replies) {
    if (one["endpoint"].get<std::string>().ends_with(endpoint) && one["args"]["type"] == type)
      return one["response"];
  }
  ADD_FAILURE() << "no " << endpoint << " in " << file;
  return {};
}

// What a table of the input has in the first row of a column.
json source_json(const StoreReader& store, std::string_view table, std::string_view column) {
  for (size_t rank = 0; rank < store.rank_count(); ++rank) {
    const SourceRows rows(store, rank, table);
    if (rows.rows() > 0) return json_tree(rows.text(0, column));
  }
  return {};
}

// Each step's intervals of MindInsight's page, and the lines of the streams in its graph.
TEST(MindInsightReplies, StepTraceOfDevice10) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::vector<StepTraceRow> rows;
  for (const StepTraceRow& row : run.step_trace()) {
    if (row.rank == 10) rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 41u);
  const std::pair<const char*, int64_t StepTraceRow::*> columns[] = {
      {"iteration_interval", &StepTraceRow::iteration_interval_ns},
      {"fp_and_bp", &StepTraceRow::fp_and_bp_ns},
      {"tail", &StepTraceRow::tail_ns}};
  for (const auto& [name, member] : columns) {
    const json reply = reply_of("profiler_dev10.json", "target-time-info", name);
    ASSERT_EQ(reply["info"][name].size(), 40u);
    for (size_t i = 0; i < 40; ++i)
      EXPECT_NEAR(ms(rows[i].*member), reply["info"][name][i].get<double>(), kRoundedMs) << name;
    EXPECT_NEAR(ms(rows[40].*member), reply["summary"][name].get<double>(), kRoundedMs) << name;
  }
  for (const int64_t step : {1, 2}) {
    const json reply = reply_of("profiler_dev10.json", "training-trace/graph", step);
    EXPECT_NEAR(ms(rows[static_cast<size_t>(step) - 1].dur_ns),
                reply["training_trace_graph"][0][0]["duration"].get<double>(), kRoundedMs);
    std::map<std::string, json> wanted;
    for (size_t line = 2; line < reply["training_trace_graph"].size(); ++line) {
      for (const json& piece : reply["training_trace_graph"][line]) {
        if (!piece["name"].get<std::string>().empty()) wanted[piece["name"]] = piece;
      }
    }
    EXPECT_EQ(wanted.size(), 4u);
    size_t found = 0;
    for (const StepReduceRow& row : run.step_reduces()) {
      if (row.rank != 10 || row.step != step) continue;
      const std::string name =
          "stream_" + std::to_string(row.stream) + "_parallel_" + std::to_string(row.index);
      ASSERT_TRUE(wanted.contains(name)) << name;
      EXPECT_NEAR(ms(row.offset_ns), wanted[name]["start"].get<double>(), kRoundedMs) << name;
      EXPECT_NEAR(ms(row.dur_ns), wanted[name]["duration"].get<double>(), kRoundedMs) << name;
      ++found;
    }
    EXPECT_EQ(found, wanted.size());
  }
  for (const StepReduceRow& row : run.step_reduces()) {
    if (row.rank != 10 || row.step == kNull) continue;
    EXPECT_LE(row.step, 20) << "the rest has none";
  }
}

// The reply's averages are 0, which is the file's row without steps to average; the one step is
// right.
TEST(MindInsightReplies, StepTraceOfRun3) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "run_3");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  ASSERT_EQ(run.step_trace().size(), 2u);
  const StepTraceRow& row = run.step_trace()[0];
  const json phases = reply_of("run_3.json", "training-trace/graph", 1)["training_trace_graph"];
  EXPECT_EQ(row.step, 1);
  EXPECT_NEAR(ms(row.dur_ns), phases[0][0]["duration"].get<double>(), kRoundedMs);
  EXPECT_NEAR(ms(row.iteration_interval_ns), phases[1][0]["duration"].get<double>(), kRoundedMs);
  EXPECT_NEAR(ms(row.fp_and_bp_ns), phases[1][1]["duration"].get<double>(), kRoundedMs);
  EXPECT_NEAR(ms(row.tail_ns), phases[1][2]["duration"].get<double>(), kRoundedMs);
  EXPECT_TRUE(run.findings().empty()) << "the helper has its two general lines only";
}

// The average graph has a line for the step, one for its phases, and one for each of 11 streams.
TEST(MindInsightReplies, StreamsOfRun1) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "run_1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::vector<int64_t> streams;
  for (const StepReduceRow& row : run.step_reduces()) {
    if (row.step == kNull) streams.push_back(row.stream);
  }
  EXPECT_EQ(streams, (std::vector<int64_t>{520, 522, 524, 526, 528, 530, 532, 534, 536, 538, 540}));
}

// All ten iterations: totals and pieces of the lanes, and the parts of a step.
TEST(MindInsightReplies, OverlapOfProfRank0) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource +
                             "profiler/PROF_000001_20230818142704322_COJGGGCANRMICFBC");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const json expected =
      read_json_file(shared_data() + "/mindinsight/reference_responses/prof_rank0_overlap.json")
          .value()["iterations"];
  ASSERT_EQ(expected.size(), 10u);
  ASSERT_EQ(run.step_times().size(), 10u);
  ASSERT_EQ(run.step_trace().size(), 11u);
  std::map<std::string, int64_t> totals;
  for_each_row<2>(run.store(), Table::kTotalsByName, 0, {"name", "total"}, [&](const auto& row) {
    totals[std::string(run.store().string(row[0]))] += row[1];
  });
  const OverlapLanes& lanes = run.overlap_lanes().at(0).at(0);
  const std::vector<Interval> computing(lanes.computing.intervals().begin(),
                                        lanes.computing.intervals().end());
  const std::vector<Interval> communication(lanes.communication.intervals().begin(),
                                            lanes.communication.intervals().end());
  const std::vector<Interval> free = free_intervals(lanes);
  for (size_t i = 0; i < 10; ++i) {
    SCOPED_TRACE(i + 1);
    const json& wanted = expected[i];
    const StepTimeRow& times = run.step_times()[i];
    EXPECT_EQ(times.dur_ns, ns_of(wanted["iteration_time"]["dur"]));
    EXPECT_EQ(times.communication_ns, ns_of(wanted["overlap"]["Communication"]["total"]));
    const auto pieces = [&](const std::vector<Interval>& lane) {
      return clip_intervals(lane, times.start_ns, times.start_ns + times.dur_ns).size();
    };
    EXPECT_EQ(pieces(computing), wanted["overlap"]["Computing"]["segments"].get<size_t>());
    EXPECT_EQ(pieces(communication), wanted["overlap"]["Communication"]["segments"].get<size_t>());
    // Theirs begin with the first task of the iteration and end with its last.
    EXPECT_GE(pieces(free), wanted["overlap"]["Free"]["segments"].get<size_t>());
    const StepTraceRow& trace = run.step_trace()[i];
    EXPECT_EQ(trace.fp_and_bp_ns, ns_of(wanted["fp_bp"]["dur"]));
    EXPECT_EQ(trace.tail_ns, ns_of(wanted["iteration_refresh"]["dur"]));
    int64_t reduce_ns = 0;
    for (const StepReduceRow& row : run.step_reduces()) {
      if (row.step == trace.step) reduce_ns += row.dur_ns;
    }
    EXPECT_EQ(reduce_ns, ns_of(wanted["communication_kernels"][0]["dur"]));
    // The bar of the step trace is longer than its kernel, and a slice of its own.
    EXPECT_EQ(totals["Reduce_" + std::to_string(i + 1) + "_0"], ns_of(wanted["reduce"]["dur"]));
  }
}

// data/mindinsight/EXPECTED.md, section 5: the numbers behind the helper's sentences.
TEST(MindInsightReplies, NumbersOfTheHelper) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto verdict = std::ranges::find(run.pipeline().verdicts, 0, &PipelineRow::rank);
  ASSERT_NE(verdict, run.pipeline().verdicts.end());
  EXPECT_EQ(verdict->host_empty, 1);  // minddata_device_queue [1, 1, 0, 1]
  EXPECT_EQ(verdict->host_batches, 1);
  EXPECT_EQ(verdict->host_full, 0);
  EXPECT_DOUBLE_EQ(run.facts().empty_queue_share, 1);  // empty_rate 100
  bool has_machine = false;
  for (const CpuRow& row : run.cpu()) {
    if (row.scope != "machine") continue;
    has_machine = true;
    EXPECT_NEAR(1 - row.idle, 0.9, 1e-9);  // minddata_cpu_utilization 90
  }
  EXPECT_TRUE(has_machine);
  const auto stage = std::ranges::find(run.findings(), "input_stage", &FindingRow::rule);
  ASSERT_NE(stage, run.findings().end());
  EXPECT_NE(stage->title.find("TFReader_"), std::string::npos);
}

// The table of the input is kept as it is: what the page of dynamic shapes shows.
TEST(MindInsightReplies, DynamicShapesOfTheGpu) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  const json types = source_json(imported.store(), "dynamic_shape_info", "operator_type");
  ASSERT_EQ(types.size(), 9u);
  const double add[] = {75.616, 48.64, 36.032, 18.272, 39.584, 25.984, 71.36, 25.312, 20.608};
  const double next[] = {153.52, 80.224, 50.752, 72.768, 59.936, 81.344, 67.232, 52.064};
  const json kernels = source_json(imported.store(), "dynamic_shape_info", "kernel");
  const double kernel[] = {3.904, 3.232, 3.04, 3.04, 3.072, 3.072, 3.232, 3.04, 3.072};
  for (size_t step = 0; step < 9; ++step) {
    const std::string number = std::to_string(step + 1);
    EXPECT_DOUBLE_EQ(types[number]["Add"][2].get<double>(), add[step]);
    EXPECT_DOUBLE_EQ(kernels[number][0]["dur"].get<double>(), kernel[step]);
    if (step == 8) continue;  // has none
    EXPECT_DOUBLE_EQ(types[number]["GetNext"][2].get<double>(), next[step]);
  }
}

// data/ascend/EXPECTED.md: vector kernels that only change types or layouts, and the others.
TEST(AscendExpected, VectorKernelsWithAndWithoutTransformation) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const std::set<std::string_view> matrix_or_copy = {
      "Conv2D",  "Conv2DBackpropFilter", "Conv2DBackpropInput", "ReduceSum",
      "aclnnMm", "aclnnAddmm",           "aclnnInplaceCopy",    "aclnnDropoutGenMaskV2"};
  const int64_t transform_ns[] = {477'370, 473'527};
  const int64_t other_ns[] = {3'668'164, 3'659'423};
  for (const int64_t rank : {0, 1}) {
    int64_t counts[2] = {};
    int64_t sums_ns[2] = {};
    for (const KernelVariantRow& row : run.kernels().variants) {
      if (row.rank != rank || !row.op || matrix_or_copy.contains(*row.op)) continue;
      if (row.name == "MEMCPY_ASYNC" || row.name.find("hcom") != std::string_view::npos) continue;
      const bool transforms =
          contains_ignoring_case(row.name, "trans") || contains_ignoring_case(row.name, "cast");
      counts[transforms] += row.count;
      sums_ns[transforms] += row.total_ns;
    }
    EXPECT_EQ(counts[1], 25);
    EXPECT_EQ(counts[0], 69);
    EXPECT_NEAR(sums_ns[1], transform_ns[rank], 20);  // the csv has rounded rows
    EXPECT_NEAR(sums_ns[0], other_ns[rank], 20);
  }
}

// data/ascend/EXPECTED_msprof_analyze.md: tasks of the collectives.
TEST(AscendExpected, TasksOfCollectives) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::map<std::pair<int64_t, std::string>, std::pair<int64_t, int64_t>> sums;
  for (const RankId& rank : run.ranks()) {
    for_each_row<3>(run.store(), Table::kTotalsByName, rank.position, {"name", "count", "total"},
                    [&](const auto& row) {
                      auto& [count, total_ns] =
                          sums[{rank.rank, std::string(run.store().string(row[0]))}];
                      count += row[1];
                      total_ns += row[2];
                    });
  }
  struct Task {
    const char* name;
    int64_t count;
    double us[2];
  };
  for (const Task& task : {Task{"Notify_Wait", 112, {112540.688531, 96519.408469}},
                           Task{"Reduce_Inline", 36, {15634.352375, 15779.015281}},
                           Task{"Memcpy", 36, {11827.156375, 11947.758844}}}) {
    for (const int64_t rank : {0, 1}) {
      const auto& [count, total_ns] = sums[{rank, task.name}];
      EXPECT_EQ(count, task.count) << task.name;
      EXPECT_NEAR(static_cast<double>(total_ns), task.us[rank] * 1000, 10) << task.name;
    }
  }
}

// The recipe cluster_time_summary counts the copies of the whole recording, and what the stage has
// beside work and these copies as free.
TEST(AscendExpected, ClusterTimeSummary) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/ascend/msinsight/db/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const int64_t memory_ns[] = {866'699, 786'396};
  const int64_t exposed_memory_ns[] = {841'618, 762'215};
  const int64_t free_ns[] = {24'416'526, 25'078'284};
  const int64_t step_ns[] = {151'888'750, 148'265'420};
  ASSERT_EQ(run.device_time().size(), 2u);
  for (const size_t rank : {0u, 1u}) {
    EXPECT_EQ(run.device_time()[rank].memory_ns, memory_ns[rank]);
    const OverlapLanes& lanes = run.overlap_lanes()[rank].at(0);
    EXPECT_EQ(lanes.memory_not_overlapped.total_ns(), exposed_memory_ns[rank]);
    const StepTimeRow& times = run.step_times()[rank];
    EXPECT_EQ(times.dur_ns, step_ns[rank]);
    EXPECT_EQ(times.stage_ns - times.computing_ns - times.communication_not_overlapped_ns -
                  lanes.memory_not_overlapped.total_ns(),
              free_ns[rank]);
  }
}

// data/kineto/EXPECTED.md: the plugin's rules "DataLoader 33.4 %" and "AMP 68 %" (its share of
// operators; ours is of computing time).
TEST(KinetoExpected, RulesOfTheTensorBoardPlugin) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() +
                             "/kineto/kineto_tb/samples/resnet50_num_workers_0/"
                             "worker0.1623143089861.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  ASSERT_EQ(run.findings().size(), 2u);
  EXPECT_EQ(run.findings()[0].rule, "slow_input");
  // Ours is what the device lost, without the first step and gaps before work that was launched.
  EXPECT_NEAR(run.findings()[0].gain_share, 0.334, 0.015);
  EXPECT_NE(run.findings()[0].start_ns, kNull);
  EXPECT_EQ(run.findings()[1].rule, "no_tensor_cores");
  EXPECT_GT(run.facts().ranks[0].tensor_core_eligible, 0.5);
  int64_t step_ns = 0;
  int64_t loader_ns = 0;
  for (const StepCategoryRow& row : run.step_categories()) {
    step_ns += row.total_ns;
    loader_ns += row.data_loader_ns;
  }
  ASSERT_GT(step_ns, 0);
  EXPECT_NEAR(static_cast<double>(loader_ns) / static_cast<double>(step_ns), 0.3337, 0.0001);
}

// What a report says first about the planted runs of MindSpore on a CPU.
TEST(PlantedRuns, TheFirstFinding) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::map<std::string, std::string> stages = {{"d_dataset_generator", "GeneratorOp_2"},
                                                     {"d_dataset_map", "MapOp_1"},
                                                     {"d_dataset_consumer", ""}};
  for (const auto& [name, stage] : stages) {
    SCOPED_TRACE(name);
    const ImportedRun imported(shared_data() + "/mindspore_cpu/" + name);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    if (stage.empty()) {
      EXPECT_TRUE(run.findings().empty()) << run.findings()[0].title;
      continue;
    }
    ASSERT_FALSE(run.findings().empty());
    const FindingRow& first = run.findings()[0];
    EXPECT_EQ(first.rule, "input_stage");
    EXPECT_TRUE(first.title.ends_with(stage)) << first.title;
    const json evidence = json_tree(first.evidence);
    EXPECT_LT(evidence["queue_share"].get<double>(), 0.05) << first.evidence;
    EXPECT_GT(evidence["empty_queue_share"].get<double>(), 0.5) << first.evidence;
  }
  const ImportedRun imported(shared_data() + "/mindspore_cpu/h_data_parallel");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  ASSERT_FALSE(run.findings().empty());
  const FindingRow& first = run.findings()[0];
  EXPECT_EQ(first.rule, "slow_rank");
  EXPECT_EQ(first.rank, 1);
  EXPECT_GT(first.gain_ns, 600'000'000) << "it sleeps 0.6 s";
  const json evidence = json_tree(first.evidence);
  EXPECT_EQ(evidence["rank"], 1);
  EXPECT_GT(evidence["own"].get<double>(), evidence["others"].get<double>() + 6e8);
  EXPECT_GT(first.end_ns - first.start_ns, 600'000'000) << "one of its steps";
}

// The device recorded when each step begins to compute: its budget says what the advice says.
TEST(MindInsightReplies, BudgetHasTheIntervalAsWaitingForData) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + kResource + "JOB1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::map<int64_t, int64_t> intervals;
  for (const StepTraceRow& row : run.step_trace()) {
    if (row.step != kNull) intervals[row.step] = row.iteration_interval_ns;
  }
  int64_t waits_ns = 0;
  for (const StepBudgetRow& row : run.step_budget()) {
    if (!row.averaged) continue;
    EXPECT_EQ(row.input_ns, intervals.at(row.step)) << row.step;
    waits_ns += row.input_ns;
  }
  EXPECT_GT(waits_ns, 0);
}

// Traces of the first versions have their marks among the operators.
TEST(OldTraces, MarksAreNoOperators) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/kineto/kineto_tb/unit/pure_cpu.json");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  EXPECT_EQ(run.steps().size(), 2u);
  ASSERT_FALSE(run.operators().operators.empty());
  for (const OperatorRow& row : run.operators().operators)
    EXPECT_FALSE(is_step_mark_name(row.name)) << row.name;
  for (const StepBudgetRow& row : run.step_budget()) EXPECT_LT(row.compute_ns, row.step_ns);
}

// The slices that a finding points to are where its numbers come from.
TEST(PlantedRuns, EvidenceOfGpt2) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/h200/gpt2.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  ASSERT_EQ(run.findings().size(), 2u);
  const FindingRow& first = run.findings()[0];
  EXPECT_EQ(first.rule, "launch_bound");
  const json evidence = json_tree(first.evidence);
  EXPECT_GT(evidence["kernels"].get<double>(), 1000);
  EXPECT_LT(evidence["mean_kernel"].get<double>(), 50'000);
  EXPECT_DOUBLE_EQ(evidence["idle"].get<double>(), static_cast<double>(first.gain_ns));
  for (const FindingRow& finding : run.findings()) {
    const auto step = std::ranges::find(run.steps(), finding.step, &StepRow::step);
    ASSERT_NE(step, run.steps().end()) << finding.rule;
    EXPECT_GE(finding.start_ns, step->work_start_ns) << finding.rule;
    EXPECT_LE(finding.end_ns, step->work_end_ns()) << finding.rule;
    EXPECT_LT(finding.start_ns, finding.end_ns) << finding.rule;
  }
}

}  // namespace
}  // namespace stepscope
