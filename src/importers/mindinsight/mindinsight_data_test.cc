// Numbers of shared/data/mindinsight/EXPECTED.md that concern importing: counts, times and tables
// as they are in the files. What MindInsight computes from them (averages, percentages, advice,
// sorted and filtered views) belongs to the analyses; PROF_* folders to the Ascend importers.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "importers/mindinsight/mindinsight_importer.h"
#include "json/json_tree.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::find_candidates;
using testing::ImportedRank;

constexpr double kHalfDigit = 0.0000501;  // EXPECTED.md rounds ms to four decimals

class MindinsightData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::shared_data_at("mindinsight");
    if (root_.empty()) GTEST_SKIP() << testing::kNoSharedData;
    resource_ = root_ + "/tests/utils/resource";
  }

  std::unique_ptr<ImportedRank> import(const std::string& folder, int64_t device) {
    for (const Candidate& candidate : find_candidates(importer_, folder)) {
      if (candidate.path == folder && candidate.rank == device) {
        return std::make_unique<ImportedRank>(importer_, candidate);
      }
    }
    ADD_FAILURE() << "no device " << device << " in " << folder;
    return nullptr;
  }

  static double step_ms(const ImportedRank& rank, size_t index) {
    return static_cast<double>(rank.integers(Table::kSteps, "dur").at(index)) / 1e6;
  }

  // Lengths of the phases of step `number`, in ms.
  static std::map<std::string, double> phases(const ImportedRank& rank, int64_t number) {
    std::map<std::string, double> found;
    const auto steps = rank.integers(Table::kSlices, "step");
    const auto cats = rank.texts(Table::kSlices, "cat");
    const auto names = rank.texts(Table::kSlices, "name");
    const auto dur = rank.integers(Table::kSlices, "dur");
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i] == number && cats[i] == "step_trace") {
        found[names[i]] = static_cast<double>(dur[i]) / 1e6;
      }
    }
    return found;
  }

  MindinsightImporter importer_;
  std::string root_;
  std::string resource_;
};

TEST_F(MindinsightData, EveryFolderIsFound) {
  std::set<std::string> units;
  for (const Candidate& candidate : find_candidates(importer_, root_)) {
    units.insert(std::filesystem::relative(candidate.unit, root_).string() + " " +
                 std::to_string(candidate.rank));
  }
  const std::string res = "tests/utils/resource/";
  const std::string ms = "mindspore/tests/ut/data/profiler_data/";
  const std::set<std::string> expected = {
      res + "JOB1 0",
      res + "JOB4/data 0",
      res + "JOB_AICPU/data 0",
      res + "JOB_AICPU/expect 0",
      res + "parallel_strategy#device0 0",
      res + "parallel_strategy#device1 1",
      res + "profiler#device0 0",
      res + "profiler#device1 1",
      res + "profiler#device10 10",
      res + "run_1/normal_run/profiler 1",
      res + "run_3/normal_run/profiler 1",
      ms + "JOB_AICPU/data_txt 0",
      ms + "JOB_AICPU/expect_txt 0",
      ms + "profiler 6",
      "tests/ut/profiler/analyser/resource#device0 0",
      "tests/ut/profiler/analyser/resource#device2 2",
  };
  EXPECT_EQ(units, expected);
}

TEST_F(MindinsightData, StepsOfRun1) {
  const auto rank = import(resource_ + "/run_1/normal_run/profiler", 1);
  ASSERT_TRUE(rank && rank->ok());
  EXPECT_EQ(rank->rows(Table::kSteps), 322u);
  EXPECT_NEAR(step_ms(*rank, 0), 284.2712, kHalfDigit);
  EXPECT_NEAR(step_ms(*rank, 1), 205.6836, kHalfDigit);
  auto first = phases(*rank, 1);
  EXPECT_FALSE(first.contains("iteration_interval"));
  EXPECT_NEAR(first["fp_and_bp"], 193.7811, kHalfDigit);
  EXPECT_NEAR(first["tail"], 90.49, kHalfDigit);
  auto second = phases(*rank, 2);
  EXPECT_NEAR(second["iteration_interval"], 0.2108, kHalfDigit);
  EXPECT_NEAR(second["fp_and_bp"], 117.9976, kHalfDigit);
  EXPECT_NEAR(second["tail"], 87.4752, 0.0001);
  EXPECT_EQ(rank->source_texts("step_trace_point_info", "fp_start").at(0), "Default/Cast-op6");
  EXPECT_EQ(rank->source_texts("step_trace_point_info", "bp_end").at(0), "Default/TransData-op7");
  // The row of averages is kept in the table and is no step.
  EXPECT_EQ(rank->source_rows("step_trace_raw"), 323u);
  const std::map<std::string, int64_t> averages = {
      {"start_point", 47120523118}, {"end_point", 47141061211}, {"total", 20538093},
      {"fp_point", 47120543502},    {"bp_point", 47132348897},  {"iteration_interval", 20384},
      {"fp_and_bp", 11805395},      {"tail", 8712314}};
  for (const auto& [column, value] : averages) {
    EXPECT_EQ(rank->source_integers("step_trace_raw", column).back(), value) << column;
  }
}

TEST_F(MindinsightData, ExecutionsOfRun1) {
  const auto rank = import(resource_ + "/run_1/normal_run/profiler", 1);
  ASSERT_TRUE(rank && rank->ok());
  // 2817 executions on 11 streams and 322 x 11 collectives: 6359 events, each once.
  EXPECT_EQ(rank->rows(Table::kKernels), 2817u);
  EXPECT_EQ(rank->rows(Table::kCommunications), 3542u);
  EXPECT_EQ(rank->rows_of_role("timeline_display"), 6359);
  const auto streams = rank->integers(Table::kKernels, "stream");
  EXPECT_EQ(std::set(streams.begin(), streams.end()).size(), 11u);
  const auto names = rank->texts(Table::kKernels, "name");
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), 199u);
  // On the device's clock, which step_trace_raw shares: the timeline's 0 is the first cycle.
  EXPECT_EQ(std::ranges::min(rank->integers(Table::kKernels, "ts")), 43806841592 * 10);
  EXPECT_EQ(std::ranges::min(rank->integers(Table::kCommunications, "ts")), 43806979896 * 10);
  EXPECT_EQ(rank->source_integers("timeline_summary", "num_of_streams").at(0), 11);
  EXPECT_EQ(rank->source_integers("timeline_summary", "num_of_ops").at(0), 199);
  EXPECT_EQ(rank->source_integers("timeline_summary", "op_exe_times").at(0), 2817);
  EXPECT_DOUBLE_EQ(rank->source_reals("timeline_summary", "total_time").at(0), 1771382.849999995);
  // Averages per operator: 199 rows and their sum.
  EXPECT_EQ(rank->source_rows("op_compute_time"), 200u);
  EXPECT_EQ(rank->source_texts("op_compute_time", "op_name").back(), "total op");
  EXPECT_DOUBLE_EQ(rank->source_reals("op_compute_time", "compute_time_ms").back(),
                   126.43631757142849);
}

// The same executions from output_timeline_data alone: exact, and equal to the timeline's.
TEST_F(MindinsightData, TimelineDataAgreesWithTheTimeline) {
  const std::string source = resource_ + "/run_1/normal_run/profiler/";
  testing::TemporaryFolder folder;
  std::filesystem::copy_file(source + "output_timeline_data_1.txt",
                             folder.path() + "/output_timeline_data_1.txt");
  std::filesystem::copy_file(source + "framework_raw_1.csv",
                             folder.path() + "/framework_raw_1.csv");
  const auto text = import(folder.path(), 1);
  const auto timeline = import(source.substr(0, source.size() - 1), 1);
  ASSERT_TRUE(text && text->ok() && timeline && timeline->ok());
  ASSERT_EQ(text->rows(Table::kKernels), 2817u);
  using Execution = std::tuple<int64_t, int64_t, int64_t>;
  const auto executions = [](const ImportedRank& rank) {
    std::multiset<Execution> all;
    const auto ts = rank.integers(Table::kKernels, "ts");
    const auto dur = rank.integers(Table::kKernels, "dur");
    const auto stream = rank.integers(Table::kKernels, "stream");
    for (size_t i = 0; i < ts.size(); ++i) all.emplace(ts[i], dur[i], stream[i]);
    return all;
  };
  EXPECT_EQ(executions(*text), executions(*timeline));
}

TEST_F(MindinsightData, OperatorTablesOfRun1) {
  const auto rank = import(resource_ + "/run_1/normal_run/profiler", 1);
  ASSERT_TRUE(rank && rank->ok());
  const auto types = rank->source_texts("aicore_type", "kernel_type");
  const auto total = rank->source_reals("aicore_type", "total_time");
  const auto count = rank->source_integers("aicore_type", "execution_frequency");
  EXPECT_EQ(types.size(), 24u);
  const auto row = [&](std::string_view type) {
    return static_cast<size_t>(std::ranges::find(types, type) - types.begin());
  };
  ASSERT_LT(row("MatMul"), types.size());
  EXPECT_NEAR(total[row("MatMul")] * 1000, 2807.82, 0.005);
  EXPECT_EQ(count[row("MatMul")], 25);
  EXPECT_NEAR(total[row("Cast")] * 1000, 104.32, 0.005);
  EXPECT_EQ(count[row("Cast")], 27);
  EXPECT_NEAR(total[row("StreamSend")] * 1000, 0.03, 0.005);
  const auto names = rank->source_texts("aicore_detail", "full_kernel_name");
  const auto times = rank->source_reals("aicore_detail", "execution_time");
  const auto slowest = static_cast<size_t>(std::ranges::max_element(times) - times.begin());
  EXPECT_TRUE(names[slowest].ends_with("MatMul-op58"));
  EXPECT_NEAR(times[slowest] * 1000, 542.577, 0.0005);
  const auto add = std::ranges::find(names, "Default/AssignAdd-op203");
  ASSERT_NE(add, names.end());
  EXPECT_NEAR(times[static_cast<size_t>(add - names.begin())] * 1000, 1.79, 0.0005);
}

TEST_F(MindinsightData, FlatDevice0) {
  const auto rank = import(resource_ + "/profiler", 0);
  ASSERT_TRUE(rank && rank->ok());
  EXPECT_EQ(rank->rows(Table::kSteps), 20u);
  EXPECT_NEAR(step_ms(*rank, 0), 40.0305, kHalfDigit);
  auto first = phases(*rank, 1);
  EXPECT_NEAR(first["fp_and_bp"], 17.0294, kHalfDigit);
  EXPECT_NEAR(first["tail"], 23.001, kHalfDigit);
  const double intervals[] = {90.3781, 90.3057, 90.3296, 90.3233};
  for (int64_t step = 2; step <= 5; ++step) {
    EXPECT_NEAR(phases(*rank, step)["iteration_interval"], intervals[step - 2], kHalfDigit);
  }
  EXPECT_EQ(rank->source_integers("step_trace_raw", "total").back(), 13045611);
  EXPECT_EQ(rank->source_integers("step_trace_raw", "iteration_interval").back(), 9035360);
  EXPECT_EQ(rank->source_integers("step_trace_raw", "fp_and_bp").back(), 1709449);
  EXPECT_EQ(rank->source_integers("step_trace_raw", "tail").back(), 2300802);
  // Four reduce events in each of 20 steps.
  EXPECT_EQ(rank->rows(Table::kCommunications), 80u);

  // Host queue: one batch, empty, 4 ms to push, 0 to get.
  const auto stages = rank->texts(Table::kQueues, "stage");
  const auto at = static_cast<size_t>(std::ranges::find(stages, "device_queue") - stages.begin());
  ASSERT_LT(at, stages.size());
  EXPECT_EQ(std::ranges::count(stages, "device_queue"), 1);
  EXPECT_EQ(rank->integers(Table::kQueues, "size")[at], 0);
  EXPECT_EQ(rank->integers(Table::kQueues, "capacity")[at], 64);
  EXPECT_EQ(rank->integers(Table::kQueues, "push")[at], 4'000'000);
  EXPECT_EQ(rank->integers(Table::kQueues, "fetch")[at], 0);

  // CPU utilisation: three samples of every series.
  EXPECT_EQ(rank->source_integers("minddata_cpu", "cpu_processor_num").at(0), 100);
  EXPECT_EQ(rank->source_integers("minddata_cpu", "sampling_interval_ms").at(0), 100);
  const auto tracks = rank->texts(Table::kTracks, "thread");
  const auto owner = rank->integers(Table::kCounters, "track");
  const auto values = rank->reals(Table::kCounters, "value");
  std::map<std::string, std::vector<double>> series;
  for (size_t i = 0; i < owner.size(); ++i) {
    series[tracks[static_cast<size_t>(owner[i])]].push_back(values[i]);
  }
  EXPECT_EQ(series["device user_utilization"], (std::vector<double>{10, 20, 30}));
  EXPECT_EQ(series["device idle_utilization"], (std::vector<double>{10, 10, 10}));
  EXPECT_EQ(series["process sys_utilization"], (std::vector<double>{10, 20, 30}));

  EXPECT_EQ(rank->rows_of_role("ascend_timeline_display"), 3);
  EXPECT_EQ(rank->source_integers("timeline_summary", "num_of_ops").at(0), 213);
  EXPECT_EQ(rank->source_integers("timeline_summary", "op_exe_times").at(0), 112);
  EXPECT_DOUBLE_EQ(rank->source_reals("timeline_summary", "total_time").at(0), 23147.013999999992);
  EXPECT_DOUBLE_EQ(rank->source_reals("gpu_timeline_summary", "total_time").at(0),
                   3875.638703999999);
  EXPECT_DOUBLE_EQ(rank->source_reals("flops_summary", "FLOPs").at(0), 8167.743);
  EXPECT_DOUBLE_EQ(rank->source_reals("flops_summary", "FLOPS").at(0), 9868.936);
  EXPECT_DOUBLE_EQ(rank->source_reals("flops_summary", "FLOPS_Utilization").at(0), 3.765);
  EXPECT_EQ(rank->source_integers("flops_scope", "max_scope_num").at(0), 7);
  const json scope = json_tree(rank->source_texts("flops_scope", "data").at(0));
  EXPECT_EQ(scope["nodes"].size(), 33u);
  EXPECT_EQ(scope["links"].size(), 34u);
  EXPECT_EQ(rank->source_rows("framework_raw"), 4u);
  // Dynamic shapes are kept whole: nine steps.
  const json shapes = json_tree(rank->source_texts("dynamic_shape_info", "operator").at(0));
  EXPECT_EQ(shapes.size(), 9u);
  EXPECT_DOUBLE_EQ(shapes["1"][2]["dur"], 75.616);
}

TEST_F(MindinsightData, FlatDevice1) {
  const auto rank = import(resource_ + "/profiler", 1);
  ASSERT_TRUE(rank && rank->ok());
  EXPECT_EQ(rank->source_texts("aicore_type", "kernel_type"),
            (std::vector<std::string>{"AtomicAddrClean", "Cast", "TransData", "Conv2D", "MatMul"}));
  EXPECT_EQ(rank->source_reals("aicore_type", "total_time"),
            (std::vector<double>{0.007283, 0.053395, 0.1218, 0.063656, 1.085}));
  EXPECT_EQ(rank->source_integers("aicore_type", "execution_frequency"),
            (std::vector<int64_t>{6, 13, 5, 2, 9}));
  EXPECT_EQ(rank->source_rows("aicore_detail"), 10u);
  // The header of this file says full_kernel_time: kept as it is.
  EXPECT_EQ(rank->source_texts("aicore_detail", "full_kernel_time").size(), 10u);
  EXPECT_EQ(rank->source_rows("flops"), 10u);
}

TEST_F(MindinsightData, FlatDevice10AndRun3) {
  const auto flat = import(resource_ + "/profiler", 10);
  ASSERT_TRUE(flat && flat->ok());
  EXPECT_EQ(flat->rows(Table::kSteps), 40u);
  EXPECT_EQ(flat->rows(Table::kCommunications), 80u);  // the last 20 steps have no reduce events
  const auto names = flat->texts(Table::kCommunications, "name");
  const auto ts = flat->integers(Table::kCommunications, "ts");
  const auto dur = flat->integers(Table::kCommunications, "dur");
  const int64_t start = flat->integers(Table::kSteps, "ts").at(0);
  const std::map<std::string, std::pair<double, double>> first = {
      {"stream_10_parallel_0", {0.1879, 0.1686}},
      {"stream_10_parallel_1", {10.1835, 2.9979}},
      {"stream_10_parallel_2", {22.2882, 1.9878}},
      {"stream_11_parallel_0", {0.1858, 0.2193}}};
  const auto in_step = flat->integers(Table::kCommunications, "step");
  int checked = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (in_step[i] != 1) continue;
    ++checked;
    EXPECT_NEAR(static_cast<double>(ts[i] - start) / 1e6, first.at(names[i]).first, 0.0001);
    EXPECT_NEAR(static_cast<double>(dur[i]) / 1e6, first.at(names[i]).second, 0.0001);
  }
  EXPECT_EQ(checked, 4);

  const auto run_3 = import(resource_ + "/run_3/normal_run/profiler", 1);
  ASSERT_TRUE(run_3 && run_3->ok());
  EXPECT_EQ(run_3->rows(Table::kSteps), 1u);
  EXPECT_NEAR(step_ms(*run_3, 0), 23.7091, kHalfDigit);
  EXPECT_NEAR(phases(*run_3, 1)["fp_and_bp"], 23.6681, kHalfDigit);
  EXPECT_NEAR(phases(*run_3, 1)["tail"], 0.041, kHalfDigit);
  EXPECT_EQ(run_3->source_reals("cluster_analyse", "computation"), std::vector<double>{651.9051});
  EXPECT_EQ(run_3->source_reals("cluster_analyse", "communication_alone_time"),
            std::vector<double>{1293.1231});
  EXPECT_EQ(run_3->integers(Table::kRanks, "world_size").at(0), 2);
  EXPECT_EQ(json_tree(run_3->texts(Table::kRanks, "parallel").at(0))["mode"], "model-parallel");
}

// The raw records give the same steps as the table that was made from them.
TEST_F(MindinsightData, RawStepTraceAgrees) {
  const auto raw = import(resource_ + "/JOB1", 0);
  const auto csv = import(resource_ + "/profiler", 0);
  ASSERT_TRUE(raw && raw->ok() && csv && csv->ok());
  EXPECT_EQ(raw->rows_of_role("training_trace"), 240);
  EXPECT_EQ(raw->integers(Table::kSteps, "ts"), csv->integers(Table::kSteps, "ts"));
  EXPECT_EQ(raw->integers(Table::kSteps, "dur"), csv->integers(Table::kSteps, "dur"));
  for (int64_t step = 1; step <= 20; ++step) EXPECT_EQ(phases(*raw, step), phases(*csv, step));
  EXPECT_EQ(raw->rows(Table::kCommunications), 80u);
  EXPECT_EQ(raw->integers(Table::kCommunications, "ts"),
            csv->integers(Table::kCommunications, "ts"));
  EXPECT_EQ(raw->texts(Table::kCommunications, "name"), csv->texts(Table::kCommunications, "name"));
}

TEST_F(MindinsightData, DataPipelineTables) {
  for (const auto& [folder, device] :
       {std::pair("/profiler", 0), std::pair("/run_1/normal_run/profiler", 1)}) {
    const auto rank = import(resource_ + folder, device);
    ASSERT_TRUE(rank && rank->ok());
    EXPECT_EQ(rank->source_texts("minddata_pipeline_raw", "op_type"),
              (std::vector<std::string>{"Batch", "Shuffle", "TFReader", "TFReader"}));
    EXPECT_EQ(rank->source_integers("minddata_pipeline_raw", "num_workers"),
              (std::vector<int64_t>{4, 1, 4, 4}));
    EXPECT_EQ(rank->source_integers("minddata_pipeline_raw", "parent_id"),
              (std::vector<int64_t>{kNull, 0, 1, 1}));
    EXPECT_EQ(rank->source_reals("minddata_pipeline_raw", "output_queue_average_size")[1], 20.0);
  }
  // Without the raw file the sizes in the table are the queue samples.
  const auto rank = import(root_ + "/tests/ut/profiler/analyser/resource", 0);
  ASSERT_TRUE(rank && rank->ok());
  EXPECT_GT(rank->rows(Table::kQueues), 0u);
  EXPECT_GT(rank->quality("clock_coarse"), 0);
}

TEST_F(MindinsightData, GpuTimelineAlone) {
  testing::TemporaryFolder folder;
  std::filesystem::copy_file(resource_ + "/profiler/gpu_timeline_display_0.json",
                             folder.path() + "/gpu_timeline_display_0.json");
  const auto rank = import(folder.path(), 0);
  ASSERT_TRUE(rank && rank->ok());
  EXPECT_EQ(rank->rows(Table::kSlices), 2u);
  // Exact, although the number needs more digits than a double has.
  EXPECT_EQ(rank->integers(Table::kOps, "ts").at(0), 1600695893269618200);
  EXPECT_EQ(rank->rows(Table::kKernels), 1u);
  EXPECT_EQ(rank->texts(Table::kRanks, "device_kind").at(0), "NVIDIA GPU");
}

TEST_F(MindinsightData, RawAiCpuRecords) {
  for (const std::string& folder :
       {resource_ + "/JOB_AICPU/data",
        root_ + "/mindspore/tests/ut/data/profiler_data/JOB_AICPU/data_txt"}) {
    const auto rank = import(folder, 0);
    ASSERT_TRUE(rank && rank->ok());
    EXPECT_EQ(rank->source_texts("aicpu_raw", "node_type_name"),
              (std::vector<std::string>{"InitData", "GetNext", "TruncatedNormal"}));
    EXPECT_EQ(rank->source_integers("aicpu_raw", "total_time_us"),
              (std::vector<int64_t>{1567, 989, 1566}));  // 4.122 ms together
    EXPECT_EQ(rank->source_integers("aicpu_raw", "dispatch_time_us"),
              (std::vector<int64_t>{100, 87, 105}));
    EXPECT_EQ(rank->source_integers("aicpu_raw", "execution_time_us"),
              (std::vector<int64_t>{129, 48, 129}));
    EXPECT_EQ(rank->integers(Table::kKernels, "dur"),
              (std::vector<int64_t>{129'000, 48'000, 129'000}));
    EXPECT_EQ(rank->quality("unparsable_event"), 0);
  }
  // The printed tables made from them say the same.
  const auto printed =
      import(root_ + "/mindspore/tests/ut/data/profiler_data/JOB_AICPU/expect_txt", 0);
  ASSERT_TRUE(printed && printed->ok());
  EXPECT_EQ(printed->source_reals("aicpu_text", "total_time_ms"),
            (std::vector<double>{1.567, 0.989, 1.566}));
  EXPECT_EQ(printed->source_reals("aicpu_text", "execution_time_ms"),
            (std::vector<double>{0.129, 0.048, 0.129}));
}

TEST_F(MindinsightData, RawFrameworkText) {
  const auto job_1 = import(resource_ + "/JOB1", 0);
  ASSERT_TRUE(job_1 && job_1->ok());
  EXPECT_EQ(job_1->source_rows("task_desc_info"), 4u);
  EXPECT_EQ(job_1->source_rows("graph_desc_info"), 4u);
  EXPECT_EQ(job_1->source_integers("task_desc_info", "task_id").at(0), 51517);
  // Op 4 of the pipeline has no queue and hangs outside the tree of op 0.
  EXPECT_EQ(job_1->source_rows("minddata_pipeline"), 5u);
  const auto job_4 = import(resource_ + "/JOB4/data", 0);
  ASSERT_TRUE(job_4 && job_4->ok());
  EXPECT_EQ(job_4->source_integers("task_desc_info", "task_id"),
            (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(job_4->source_integers("points", "tag"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(job_4->source_texts("points", "op_name"),
            (std::vector<std::string>{"Default/Cast-op6", "Default/TransData-op7"}));
}

TEST_F(MindinsightData, ParallelStrategyAndHccl) {
  const auto rank = import(resource_ + "/parallel_strategy", 0);
  ASSERT_TRUE(rank && rank->ok());
  const json parallel = json_tree(rank->texts(Table::kRanks, "parallel").at(0));
  EXPECT_EQ(parallel["parallelType"], "auto_parallel");
  EXPECT_EQ(parallel["stageDevices"].size(), 1u);
  const json graph = json_tree(rank->source_texts("parallel_strategy", "graph").at(0));
  EXPECT_EQ(graph["node"][0]["opType"], "GetNext");
  EXPECT_EQ(rank->integers(Table::kRanks, "world_size").at(0), 2);
  EXPECT_EQ(rank->integers(Table::kRanks, "rank_inferred").at(0), 0);
  EXPECT_TRUE(import(resource_ + "/parallel_strategy", 1)->ok());

  const auto hccl = import(root_ + "/mindspore/tests/ut/data/profiler_data/profiler", 6);
  ASSERT_TRUE(hccl && hccl->ok());
  const auto cost = hccl->source_reals("hccl_raw", "communication_cost");
  ASSERT_EQ(cost.size(), 3u);
  EXPECT_DOUBLE_EQ(cost[0], 4.51637);
  EXPECT_DOUBLE_EQ(cost[1], 4.519260000000001);
  EXPECT_DOUBLE_EQ(cost[2], 4.517815000000001);
  EXPECT_GT(hccl->rows(Table::kSteps), 0u);
}

}  // namespace
}  // namespace stepscope
