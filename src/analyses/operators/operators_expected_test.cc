// Operators, kernels and launches against other tools' numbers (data/kineto/expected.json,
// data/ascend/EXPECTED.md, MindInsight's replies), where those are right.
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/operators/operator_files.h"
#include "analyses/run_analyses.h"
#include "base/file.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;

json read_json(const std::string& path) {
  auto text = read_file(path, uint64_t{64} << 20);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? json_tree(*text) : json();
}

// The run lives longer than what is made here.
RunAnalyses analyses_of(const ImportedRun& run) {
  return {std::shared_ptr<const StoreReader>(std::shared_ptr<void>(), &run.store()), {}};
}

double us(int64_t ns) { return static_cast<double>(ns) / 1000; }

// Traces with whole microseconds whose External ids the plugin can follow: it must be equal.
constexpr const char* kExactTraces[] = {
    "kineto_tb/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    "kineto_tb/samples/resnet50_num_workers_0/worker0.1623143566756.pt.trace.json.gz",
};

TEST(OperatorsExpected, TensorBoardPluginOperatorsAndKernels) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/kineto/";
  const json expected = read_json(folder + "expected.json");
  for (const char* file : kExactTraces) {
    SCOPED_TRACE(file);
    const ImportedRun run(folder + file);
    ASSERT_TRUE(run.ok()) << run.error();
    RunAnalyses analyses = analyses_of(run);
    const json& plugin = expected[file]["tb_plugin_0.4.3"];
    std::map<std::string_view, const OperatorRow*> operators;
    for (const OperatorRow& row : analyses.operators().operators) operators[row.name] = &row;
    for (const json& wanted : plugin["operators"]["rows"]) {
      const auto name = wanted[0].get<std::string>();
      ASSERT_TRUE(operators.contains(name)) << name;
      const OperatorRow& row = *operators[name];
      EXPECT_EQ(row.count, wanted[1].get<int64_t>()) << name;
      EXPECT_EQ(us(row.total_ns), wanted[2].get<double>()) << name;
      EXPECT_EQ(us(row.self_ns), wanted[3].get<double>()) << name;
      EXPECT_EQ(us(row.device_total_ns), wanted[4].get<double>()) << name;
      EXPECT_EQ(us(row.device_self_ns), wanted[5].get<double>()) << name;
    }
    std::map<std::string, const KernelTotalRow*> kernels;
    for (const KernelTotalRow& row : analyses.kernels().kernels)
      kernels.emplace(row.name.substr(0, 140), &row);
    for (const json& wanted : plugin["kernels"]["rows"]) {
      const auto name = wanted[0].get<std::string>();
      ASSERT_TRUE(kernels.contains(name)) << name;
      const KernelTotalRow& row = *kernels[name];
      EXPECT_EQ(row.count, wanted[1].get<int64_t>()) << name;
      EXPECT_EQ(us(row.total_ns), wanted[2].get<double>()) << name;
      EXPECT_NEAR(row.mean_ns / 1000, wanted[3].get<double>(), 1e-6) << name;
      EXPECT_EQ(us(row.max_ns), wanted[4].get<double>()) << name;
      EXPECT_EQ(us(row.min_ns), wanted[5].get<double>()) << name;
      EXPECT_NEAR(*row.blocks_per_sm, wanted[6].get<double>(), 1e-4) << name;
      EXPECT_NEAR(100 * *row.occupancy, wanted[7].get<double>(), 1e-4) << name;
      EXPECT_EQ(row.tensor_cores, wanted[8].get<bool>()) << name;
    }
    // By name, operator and configuration; ours has the copies and sets too.
    int64_t variants = 0;
    for (const KernelVariantRow& row : analyses.kernels().variants)
      variants += row.name.starts_with("Mem") ? 0 : 1;
    EXPECT_EQ(variants, plugin["kernels"]["distinct_name_op_grid_block_regs_smem"].get<int64_t>());
  }
}

TEST(OperatorsExpected, HolisticTraceAnalysisLaunches) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/kineto/";
  const json expected = read_json(folder + "expected.json");
  for (const std::string& file :
       {std::string(kExactTraces[0]),
        std::string("hta/df_index_resolver/df_index_resolver.json.gz"),
        std::string("hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz"),
        std::string("hta/critical_path/cuda_event_sync/event_sync_trace.json.gz")}) {
    SCOPED_TRACE(file);
    const ImportedRun run(folder + file);
    ASSERT_TRUE(run.ok()) << run.error();
    RunAnalyses analyses = analyses_of(run);
    LaunchRow sum;
    for (const LaunchRow& row : analyses.kernels().launches) {
      sum.launched += row.launched;
      sum.call_ns += row.call_ns;
      sum.task_ns += row.task_ns;
      sum.delay_ns += row.delay_ns;
      sum.max_delay_ns = std::max(sum.max_delay_ns, row.max_delay_ns);
      sum.short_tasks += row.short_tasks;
      sum.long_calls += row.long_calls;
      sum.long_delays += row.long_delays;
    }
    const json& stats =
        *expected[file]["hta_0.6.1"]["include_last"]["cuda_kernel_launch_stats"].begin();
    EXPECT_EQ(sum.launched, stats["pairs"].get<int64_t>());
    EXPECT_EQ(us(sum.call_ns), stats["cpu_duration_sum"].get<double>());
    EXPECT_EQ(us(sum.task_ns), stats["gpu_duration_sum"].get<double>());
    EXPECT_EQ(us(sum.delay_ns), stats["launch_delay_sum"].get<double>());
    EXPECT_EQ(us(sum.max_delay_ns), stats["launch_delay_max"].get<double>());
    EXPECT_EQ(sum.short_tasks, stats["short_kernels(cpu<=50us & gpu<cpu)"].get<int64_t>());
    EXPECT_EQ(sum.long_calls, stats["runtime_outliers(cpu>50us)"].get<int64_t>());
    EXPECT_EQ(sum.long_delays, stats["launch_delay_outliers(>100us)"].get<int64_t>());
  }
}

// Kernels of every trace: the independent sums, in exact nanoseconds.
TEST(OperatorsExpected, KernelSumsOfEveryTrace) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/kineto/";
  const json expected = read_json(folder + "expected.json");
  int compared = 0;
  for (const auto& [file, value] : expected.items()) {
    if (!value.is_object() || !value.contains("independent") ||
        !value["independent"].contains("top5_kernels"))
      continue;
    const json& top = value["independent"]["top5_kernels"];
    if (!top.is_array() || top.empty() || !top[0].is_object()) continue;
    SCOPED_TRACE(file);
    const ImportedRun run(folder + file);
    ASSERT_TRUE(run.ok()) << run.error();
    RunAnalyses analyses = analyses_of(run);
    for (const json& wanted : top) {
      const auto name = wanted["name"].get<std::string>();
      bool found = false;
      for (const KernelTotalRow& row : analyses.kernels().kernels) {
        found = found || (row.name.substr(0, name.size()) == name &&
                          row.count == wanted["calls"].get<int64_t>() &&
                          row.total_ns == std::llround(wanted["sum_us"].get<double>() * 1000));
      }
      EXPECT_TRUE(found) << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}

TEST(OperatorsExpected, AscendOperatorStatistic) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  std::map<std::string_view, std::pair<int64_t, int64_t>> cores;  // of rank 0: count, ns
  std::map<std::string_view, std::pair<int64_t, int64_t>> types;
  int64_t rows = 0;
  for (const OperatorTypeRow& row : analyses.operators().types) {
    if (row.rank != 0 || row.category == kHostOperators || row.category == "HCCL" ||
        row.category == "MEMCPY_ASYNC")
      continue;
    ++rows;
    cores[row.category].first += row.count;
    cores[row.category].second += row.total_ns;
    types[row.type].first += row.count;
    types[row.type].second += row.total_ns;
  }
  EXPECT_EQ(rows, 33) << "as op_statistic.csv";
  // EXPECTED.md, by core; its microseconds come from durations that the files round to 1 ns.
  EXPECT_EQ(cores["AI_CORE"].first, 23);
  EXPECT_NEAR(us(cores["AI_CORE"].second), 2805.855, 0.02);
  EXPECT_EQ(cores["AI_VECTOR_CORE"].first, 149);
  EXPECT_NEAR(us(cores["AI_VECTOR_CORE"].second), 5823.400, 0.02);
  EXPECT_EQ(cores["MIX_AIV"].first, 13);
  EXPECT_NEAR(us(cores["MIX_AIV"].second), 238.962, 0.02);
  EXPECT_EQ(cores["DSA_SQE"].first, 2);
  EXPECT_NEAR(us(types["ForeachAddList"].second), 1959.079, 0.02);
  EXPECT_EQ(types["TransData"].first, 57);
  EXPECT_NEAR(us(types["TransData"].second), 1423.202, 0.02);
  EXPECT_NEAR(us(types["MatMulV2"].second), 921.498, 0.02);
  EXPECT_NEAR(us(types["Conv2D"].second), 723.434, 0.02);
  // Host operators by self time.
  std::map<std::string_view, const OperatorRow*> host;
  for (const OperatorRow& row : analyses.operators().operators) {
    if (row.rank == 0 && row.category == kHostOperators) host[row.name] = &row;
  }
  ASSERT_TRUE(host.contains("aten::_local_scalar_dense"));
  EXPECT_EQ(host["aten::_local_scalar_dense"]->count, 27);
  EXPECT_NEAR(us(host["aten::_local_scalar_dense"]->self_ns), 92923.05, 0.1);
  EXPECT_NEAR(us(host["aten::copy_"]->self_ns), 7153.38, 0.1);
  for (const DeviceUseRow& row : analyses.kernels().devices) {
    ASSERT_TRUE(row.cube_utilisation.has_value());
    EXPECT_GT(*row.cube_utilisation, 0.01);
    EXPECT_LT(*row.cube_utilisation, 1);
  }
}

// The computing categories of MindStudio Insight and msprof-analyze: what convolutions and matrix
// products launched, and the copies. They sum durations that the csv rounds to a nanosecond each.
TEST(OperatorsExpected, AscendComputingCategories) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  const double conv_forward[] = {1116.440, 1117.780};
  const double matmul[] = {1066.139, 1088.601};
  const double copies[] = {573.790, 571.570};
  // Under aten::convolution_backward, from trace_view.json: 4 of the copies above and 6
  // MEMCPY_ASYNC, which kernel_details does not have. All 56 are what the operator launched; the
  // tools have a kernel in one category only.
  const double conv_backward[] = {1966.314, 1961.894};
  const double copies_of_backward[] = {39.261 + 12.000, 33.701 + 11.680};
  const double vector[] = {4145.534, 4132.950};
  const double other[] = {5.520, 5.480};  // DSA_SQE
  for (const int64_t rank : {0, 1}) {
    double sums[3] = {};
    double backward_operator = 0;
    double backward_kernels = 0;
    double all = 0;
    int64_t backward_count = 0;
    for (const KernelVariantRow& row : analyses.kernels().variants) {
      if (row.rank != rank || row.name == "MEMCPY_ASYNC") continue;
      if (row.op != "Conv2DBackpropFilter" && row.op != "Conv2DBackpropInput" &&
          row.op != "ReduceSum")
        continue;
      backward_kernels += us(row.total_ns);
      backward_count += row.count;
    }
    for (const OperatorRow& row : analyses.operators().operators) {
      if (row.rank != rank || row.category != kHostOperators) continue;
      if (row.name == "aten::conv2d") sums[0] += us(row.device_total_ns);
      if (row.name == "aten::convolution_backward") backward_operator += us(row.device_total_ns);
      if (row.name == "aten::addmm" || row.name == "aten::mm") sums[1] += us(row.device_total_ns);
    }
    for (const KernelTotalRow& row : analyses.kernels().kernels) {
      if (row.rank == rank && row.kind == "TensorMove") sums[2] += us(row.total_ns);
      if (row.rank == rank && row.work_class == "compute") all += us(row.total_ns);
    }
    EXPECT_EQ(backward_count, 46);
    EXPECT_NEAR(backward_kernels, conv_backward[rank], 0.02);
    EXPECT_NEAR(backward_operator, conv_backward[rank] + copies_of_backward[rank], 0.02);
    EXPECT_NEAR(all - sums[0] - sums[1] - sums[2] - backward_kernels, vector[rank] + other[rank],
                0.05);
    EXPECT_NEAR(sums[0], conv_forward[rank], 0.02);
    EXPECT_NEAR(sums[1], matmul[rank], 0.02);
    EXPECT_NEAR(sums[2], copies[rank], 0.02);
  }
}

// MindInsight's table of operator types, which divides the stored sums by the stored counts.
TEST(OperatorsExpected, MindInsightTypesAndDetails) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  struct Case {
    const char* folder;
    const char* reply;
    int64_t rank;
  };
  const std::string data = testing::shared_data() + "/mindinsight/";
  for (const Case& one : {Case{"run_1/normal_run/profiler", "run_1.json", 1},
                          Case{"profiler", "profiler_dev1.json", 1}}) {
    SCOPED_TRACE(one.reply);
    const ImportedRun run(data + "tests/utils/resource/" + one.folder);
    ASSERT_TRUE(run.ok()) << run.error();
    OperatorTables tables;
    for (const RankId& rank : rank_ids(run.store())) {
      if (rank.rank == one.rank) tables = operators_from_files(run.store(), rank);
    }
    for (const json& reply : read_json(data + "reference_responses/" + one.reply)) {
      if (!reply["endpoint"].get<std::string>().ends_with("ops/search")) continue;
      const json& objects = reply["response"]["object"];
      if (reply["body"]["op_type"] == "aicore_type") {
        ASSERT_EQ(objects.size(), tables.types.size());
        for (const json& wanted : objects) {
          bool found = false;
          for (const OperatorTypeRow& row : tables.types) {
            if (row.type != wanted[0].get<std::string>()) continue;
            found = true;
            // Stored with four digits.
            EXPECT_NEAR(us(row.total_ns), wanted[1].get<double>(), 6e-4 * wanted[1].get<double>());
            EXPECT_EQ(row.count, wanted[2].get<int64_t>());
            EXPECT_NEAR(row.mean_ns / 1000, wanted[4].get<double>(),
                        6e-4 * wanted[1].get<double>());
          }
          EXPECT_TRUE(found) << wanted[0];
        }
      }
      if (reply["body"]["op_type"] == "aicore_detail") {
        ASSERT_EQ(reply["response"]["size"].get<size_t>(), tables.operators.size());
        for (const json& wanted : objects) {
          bool found = false;
          for (const OperatorRow& row : tables.operators) {
            if (row.name != wanted[0].get<std::string>()) continue;
            found = true;
            EXPECT_EQ(row.type, wanted[2].get<std::string>());
            EXPECT_NEAR(row.mean_ns / 1000, wanted[3].get<double>(), 6e-4);
            EXPECT_EQ(row.count, wanted[4].get<int64_t>());
          }
          EXPECT_TRUE(found) << wanted[0];
        }
      }
    }
  }
}

// Sums of MindSpore's own records, per type.
TEST(OperatorsExpected, MindSporeCpuTypes) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string data = testing::shared_data() + "/mindspore_cpu/";
  const json expected = read_json(data + "expected.json");
  for (const char* name : {"a_pynative_lenet", "b_graph_lenet"}) {
    SCOPED_TRACE(name);
    const ImportedRun run(data + name);
    ASSERT_TRUE(run.ok()) << run.error();
    RunAnalyses analyses = analyses_of(run);
    std::map<std::string_view, const OperatorTypeRow*> types;
    for (const OperatorTypeRow& row : analyses.operators().types) {
      EXPECT_EQ(row.category, kHostCpuOperators);
      types[row.type] = &row;
    }
    const json& window = expected[name]["windows"][0];
    ASSERT_TRUE(window.contains("by_type"));
    EXPECT_EQ(types.size(), window["by_type"].size());
    for (const auto& [type, wanted] : window["by_type"].items()) {
      ASSERT_TRUE(types.contains(type)) << type;
      EXPECT_EQ(types[type]->count, wanted["count"].get<int64_t>()) << type;
      EXPECT_EQ(types[type]->total_ns, wanted["total_ns"].get<int64_t>()) << type;
    }
  }
}

}  // namespace
}  // namespace stepscope
