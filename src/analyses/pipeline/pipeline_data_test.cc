// Data preparation of real recordings, against the numbers beside them.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/run_analyses.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;
using testing::shared_data;

std::string fraction(const PipelineStageRow& row) {
  if (row.size_sum == 0) return "0";
  return std::to_string(row.size_sum) + "/" + std::to_string(row.samples);
}

class PlantedPipeline : public ::testing::TestWithParam<std::string> {};

TEST_P(PlantedPipeline, NumbersAndBottleneck) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = shared_data() + "/mindspore_cpu/";
  const json expected = read_json_file(folder + "expected.json").value()[GetParam()];
  const ImportedRun imported(folder + GetParam());
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const PipelineResult& result = run.pipeline();

  ASSERT_EQ(result.verdicts.size(), 1u);
  ASSERT_EQ(result.stages.size(), expected["ops"].size() + 1);
  for (size_t i = 0; i < expected["ops"].size(); ++i) {
    const json& op = expected["ops"][i];
    const PipelineStageRow& row = result.stages[i];
    EXPECT_EQ(row.op_id, op["op_id"]);
    EXPECT_EQ(row.op_type, op["op_type"].get<std::string>());
    EXPECT_EQ(row.workers, op["num_workers"]);
    EXPECT_EQ(json_tree(row.children), op["children"]);
    EXPECT_EQ(row.parent_id, i == 0 ? kNull : static_cast<int64_t>(i) - 1);
    EXPECT_EQ(row.capacity, op["queue_length"]);
    EXPECT_EQ(row.samples, op["samples"]);
    EXPECT_EQ(row.size_sum, op["size_sum"]);
    EXPECT_EQ(fraction(row), op["average_size"].get<std::string>());
    EXPECT_EQ(row.empty_samples, op["empty_samples"]);
    EXPECT_EQ(row.full_samples, op["full_samples"]);
    EXPECT_FALSE(std::isnan(row.cpu)) << row.stage;
  }
  const PipelineStageRow& iterator = result.stages.back();
  const json& file = expected["iterator_file"];
  EXPECT_EQ(iterator.stage, "dataset_iterator");
  EXPECT_EQ(iterator.batches, file["batches"]);
  EXPECT_EQ(iterator.samples, file["queue_samples"]);
  EXPECT_EQ(iterator.capacity, file["queue_capacity"]);
  EXPECT_EQ(iterator.size_sum, file["queue_size_sum"]);
  EXPECT_EQ(iterator.fetch_ns, file["sum_pipeline_ms"].get<int64_t>() * 1'000'000);
  EXPECT_EQ(iterator.push_ns, file["sum_push_ms"].get<int64_t>() * 1'000'000);
  int64_t batch_ns = 0;
  for (const PipelineBatchRow& row : result.batches) batch_ns += row.batch.total_ns;
  EXPECT_EQ(batch_ns, file["sum_batch_ms"].get<int64_t>() * 1'000'000);
  EXPECT_EQ(result.steps.size(), expected["batches"].get<size_t>());

  const std::map<std::string, std::string> names = {
      {"generator", "GeneratorOp_2"}, {"map", "MapOp_1"}, {"consumer", "training"}};
  const PipelineRow& row = result.verdicts[0];
  const std::string planted = expected["planted_bottleneck"];
  EXPECT_EQ(row.bottleneck, names.at(planted));
  EXPECT_EQ(row.slow_stage, planted == "consumer" ? "none" : "process");
  EXPECT_EQ(row.input_bound, planted == "consumer" ? "not" : "highly");
  EXPECT_EQ(row.wait_ns, iterator.fetch_ns);
  EXPECT_EQ(row.data_process, planted == "consumer" ? "normal" : "warning");
}
INSTANTIATE_TEST_SUITE_P(MindsporeCpu, PlantedPipeline,
                         ::testing::Values("d_dataset_generator", "d_dataset_map",
                                           "d_dataset_consumer"));

json reference(const std::string& file, const std::string& endpoint, const std::string& type = "") {
  const json answers =
      read_json_file(shared_data() + "/mindinsight/reference_responses/" + file).value();
  for (const json& one : answers) {
    if (!one["endpoint"].get<std::string>().ends_with("/" + endpoint)) continue;
    if (!type.empty() && one["args"].value("type", "") != type) continue;
    return one["response"];
  }
  ADD_FAILURE() << "no " << endpoint << " in " << file;
  return {};
}

TEST(PipelineOfMindinsight, FlatSetAnswersAsTheReference) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/mindinsight/tests/utils/resource/profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const PipelineResult& result = run.pipeline();

  const json table = reference("profiler_dev0.json", "minddata-pipeline/op-queue")["object"];
  std::vector<PipelineStageRow> stages;
  for (const PipelineStageRow& row : result.stages) {
    if (row.rank == 0 && row.role == "operator") stages.push_back(row);
  }
  ASSERT_EQ(stages.size(), table.size());
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(stages[i].op_id, table[i][0]);
    EXPECT_EQ(stages[i].op_type, table[i][1].get<std::string>());
    EXPECT_EQ(std::isnan(stages[i].mean_size), table[i][2].is_null());
    if (!table[i][2].is_null()) {
      EXPECT_DOUBLE_EQ(stages[i].mean_size, table[i][2].get<double>());
      EXPECT_EQ(stages[i].capacity, table[i][3]);
      EXPECT_DOUBLE_EQ(stages[i].usage, table[i][4].get<double>());
    }
    EXPECT_EQ(stages[i].parent_id, table[i][6].is_null() ? kNull : table[i][6].get<int64_t>());
    EXPECT_EQ(json_tree(stages[i].children), table[i][7].is_null() ? json::array() : table[i][7]);
  }

  const auto verdict = std::ranges::find(result.verdicts, 0, &PipelineRow::rank);
  ASSERT_NE(verdict, result.verdicts.end());
  const json summary = reference("profiler_dev0.json", "process_summary");
  EXPECT_EQ(verdict->data_process, summary["data_process"]["status"].get<std::string>());
  EXPECT_EQ(verdict->device_queue_warning,
            summary["device_queue_warning"]["status"].get<std::string>());
  EXPECT_EQ(verdict->fpbp, summary["fpbp"]["status"].get<std::string>());
  EXPECT_EQ(verdict->get_next, std::nullopt);
  const json& counts = summary["device_queue_info"]["summary"];
  EXPECT_EQ(verdict->host_empty, counts["empty_batch_count"]);
  EXPECT_EQ(verdict->host_full, counts["full_batch_count"]);
  EXPECT_EQ(verdict->host_batches, counts["total_batch"]);
  const json costs =
      reference("profiler_dev0.json", "minddata_op", "device_queue")["summary"]["time_summary"];
  EXPECT_DOUBLE_EQ(verdict->mean_get_ns, costs["get_cost"].get<double>() * 1e6);
  EXPECT_DOUBLE_EQ(verdict->mean_push_ns, costs["push_cost"].get<double>() * 1e6);
  EXPECT_DOUBLE_EQ(verdict->mean_batch_ns, costs["avg_cost"].get<double>() * 1e6);
  const json queue = reference("profiler_dev0.json", "queue_info", "device_queue");
  std::vector<int64_t> sizes;
  for (const PipelineBatchRow& row : result.batches) {
    if (row.rank == 0) sizes.push_back(row.batch.size);
  }
  EXPECT_EQ(json(sizes), queue["info"]["queue"]);
  EXPECT_EQ(verdict->slow_stage, "process");
  EXPECT_EQ(verdict->bottleneck, "TFReader_3/TFReader_2");
}

TEST(PipelineOfMindinsight, OperatorsWithoutAQueueAreLookedThrough) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/mindinsight/tests/utils/resource/JOB1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::vector<int64_t> ids;
  std::vector<std::string> children;
  for (const PipelineStageRow& row : run.pipeline().stages) {
    if (row.role != "operator") continue;
    ids.push_back(row.op_id);
    children.push_back(row.children);
  }
  EXPECT_EQ(ids, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(children, (std::vector<std::string>{"[1]", "[2, 3]", "[]", "[]"}));
}

// The fixtures of MindInsight's own test of these rules.
TEST(PipelineOfMindinsight, BottleneckFixtures) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/mindinsight/tests/ut/profiler/analyser/resource");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::map<int64_t, std::vector<int64_t>> slow;
  for (const PipelineStageRow& row : run.pipeline().stages) {
    if (row.is_bottleneck) slow[row.rank].push_back(row.op_id);
  }
  // With low = 0.6 the leaves of file 0 (0.3125) count too.
  EXPECT_EQ(slow[0], (std::vector<int64_t>{4, 2, 3}));
  EXPECT_EQ(slow[2], std::vector<int64_t>{0});
}

TEST(PipelineOfTorch, DataLoaderOfTheSamples) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(
      shared_data() +
      "/kineto/kineto_tb/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const PipelineRow& row = run.pipeline().verdicts.at(0);
  // The TensorBoard plugin: 59261.833 us a step, six steps. It also takes off the runtime calls
  // that it finds inside.
  double waited_ns = 0;
  for (const PipelineStepRow& step : run.pipeline().steps)
    waited_ns += static_cast<double>(step.exposed_wait_ns);
  EXPECT_NEAR(waited_ns, 6 * 59'261'833.333, 6 * 5'000);
  EXPECT_EQ(row.wait_source, "_SingleProcessDataLoaderIter");
  EXPECT_EQ(row.waits, 5) << "of the steps that averages are made of";
  EXPECT_EQ(row.slow_stage, "process");
  EXPECT_EQ(row.input_bound, "highly");
  EXPECT_NE(row.advice.find("num_workers"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
