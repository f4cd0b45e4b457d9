// Windows of MindSpore, from its text files through the raw file to the store's tables.
#include "importers/native/mindspore_tables.h"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/native/native_importer.h"
#include "stepscope/record.h"
#include "tests/support/imported_rank.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRank;
using testing::TemporaryFolder;

int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class MindsporeRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(framework());
    ASSERT_EQ(stepscope_start(framework().c_str(), nullptr), 0) << stepscope_last_error();
  }
  void TearDown() override { stepscope_stop(); }

  std::string framework() const { return folder_.path("run/FRAMEWORK"); }

  // An execution now, of 1 us, as MindSpore writes it.
  void run(const std::string& name, const std::string& launch = ";;1;") {
    lines_ += name + ";HostCpuOps;" + std::to_string(clock_ns(CLOCK_REALTIME)) + ",0.001,0 \n";
    launches_ += launch + "\n";
    const int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + 2000;
    while (clock_ns(CLOCK_MONOTONIC) < until_ns) {
    }
  }
  void hand_over() {
    folder_.write("window/cpu_op_execute_timestamp_0.txt", lines_);
    folder_.write("window/cpu_framework_0.txt", launches_);
    const std::string now = std::to_string(clock_ns(CLOCK_REALTIME));
    folder_.write("window/cpu_ms_memory_record_0.txt",
                  "Timestamp(ns),a,b,c\n5,1,1,1\n" + now + ",512,1024,512\n");
    EXPECT_EQ(
        stepscope_import_mindspore_window(folder_.path("window").c_str(), 1'000, INT64_MAX,
                                          STEPSCOPE_MINDSPORE_SHAPES | STEPSCOPE_MINDSPORE_MEMORY),
        0);
  }
  ImportedRank import_run() {
    stepscope_stop();
    const NativeImporter importer;
    const auto found = testing::find_candidates(importer, folder_.path());
    return ImportedRank(importer, found.at(0));
  }

  TemporaryFolder folder_;
  std::string lines_;
  std::string launches_;
};

TEST_F(MindsporeRun, OperatorsAreInTheirStepsWithModulesShapesAndMemory) {
  for (int step = 1; step <= 2; ++step) {
    stepscope_step(step);
    run("Default/network-Loss/c1-Conv2d/Conv2D-op0", "Conv2D;Conv2D-op0;1;input_1:[2, 3];");
    run("Default/network-Loss/c1-Conv2d/BiasAdd-op0", "BiasAdd;BiasAdd-op0;1;input_1:[2];");
    run("Default/network-Loss/r-ReLU/ReLU-op0", "ReLU;ReLU-op0;1;input_1:[2, 3];");
    run("Gradients/Default/network-Loss/r-ReLU/ReluGrad-op0");
    run("Default/AllReduce-op0", "AllReduce;AllReduce-op0;1;input_1:[128, 64];");
  }
  stepscope_end_step();
  hand_over();
  ImportedRank imported = import_run();
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported.rows(Table::kOps), 10u);
  EXPECT_EQ(imported.integers(Table::kOps, "step"),
            (std::vector<int64_t>{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}));
  const auto types = imported.texts(Table::kOps, "type");
  EXPECT_EQ(types[0], "Conv2D");
  EXPECT_EQ(imported.texts(Table::kOps, "module")[0], "Default/network-Loss/c1-Conv2d");
  EXPECT_EQ(imported.texts(Table::kOps, "input_shapes")[0], "[[2, 3]]");
  EXPECT_EQ(imported.integers(Table::kCommunications, "elements"),
            (std::vector<int64_t>{8192, 8192}));
  EXPECT_EQ(imported.texts(Table::kCommunications, "op")[0], "AllReduce");
  EXPECT_EQ(imported.integers(Table::kMemory, "total_allocated"), std::vector<int64_t>{512});

  // Per step: network, its two modules, and on the way back Gradients, network and the module.
  const auto names = imported.texts(Table::kSlices, "name");
  const auto categories = imported.texts(Table::kSlices, "cat");
  EXPECT_EQ(std::ranges::count(categories, "module"), 2 * 6);
  EXPECT_EQ(std::ranges::count(names, "c1-Conv2d"), 2);
  EXPECT_EQ(std::ranges::count(names, "network-Loss"), 4);
  EXPECT_EQ(std::ranges::count(names, "Gradients"), 2);
  EXPECT_EQ(std::ranges::count(names, "Default"), 0);
  EXPECT_EQ(imported.quality("not_honoured"), 2) << "the backward operators have no shapes";
  EXPECT_EQ(imported.quality("unknown_category"), 0);
}

TEST_F(MindsporeRun, StepsWhoseOperatorsAKilledProgramLostAreNotComplete) {
  for (int step = 1; step <= 5; ++step) {
    stepscope_step(step);
    run("Default/ReLU-op0");
    if (step == 3) hand_over();  // what comes behind is never handed over
  }
  stepscope_end_step();
  stepscope_stop();
  const std::string raw = framework() + "/stepscope.raw";
  const auto complete_steps = [&](int64_t& dropped) {
    ImportedRank imported = import_run();
    dropped = imported.quality("dropped_records");
    return imported.integers(Table::kSteps, "complete");
  };
  int64_t dropped = 0;
  EXPECT_EQ(complete_steps(dropped), (std::vector<int64_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(dropped, 0) << "a program that stopped has done nothing in them";
  std::filesystem::resize_file(raw, std::filesystem::file_size(raw) - 7);  // the note of the end
  EXPECT_EQ(complete_steps(dropped), (std::vector<int64_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(dropped, 2);
}

// As MindSpore 2.10 writes them: the machine's lists with two entries a sample, or cut to half.
void write_pipeline(TemporaryFolder& folder, const std::string& front, const std::string& tree,
                    int64_t first_ms, int batches) {
  const std::string beside = "run/FRAMEWORK/" + front;
  const std::string times = std::to_string(first_ms) + "," + std::to_string(first_ms + 100);
  folder.write(beside + "pipeline_profiling_0.json",
               R"({"sampling_interval":100,"op_info":[)" + tree + "]}");
  folder.write(beside + "minddata_cpu_utilization_0.json",
               R"({"cpu_processor_num":2,"sampling_interval":100,"time_stamp":[)" + times + R"(],
        "device_info":{"user_utilization":[0,0],"idle_utilization":[0,0,50,0]},
        "process_info":{"user_utilization":[7]},
        "op_info":[{"op_id":1,"metrics":{"user_utilization":[0,40]}}]})");
  std::string lines;
  for (int batch = 1; batch <= batches; ++batch) {
    const std::string rest = std::to_string(batch) + " 7 " + std::to_string(first_ms + batch);
    lines += "0 1 " + rest + "\n0 2 " + rest + "\n0 0 " + rest + "\n1 16 " + rest + "\n";
  }
  folder.write(beside + "dataset_iterator_profiling_0.txt", lines);
}

constexpr const char* kMapTree =
    R"({"op_id":0,"op_type":"BatchOp","num_workers":1,"children":[1],
        "metrics":{"output_queue":{"length":16,"size":[0,8]}}},
       {"op_id":1,"op_type":"MapOp","num_workers":2,
        "metrics":{"output_queue":{"length":16,"size":[4,4]}}})";
constexpr const char* kBatchTree =
    R"({"op_id":0,"op_type":"BatchOp","num_workers":1,
        "metrics":{"output_queue":{"length":8,"size":[1,1]}}})";

// Windows of a program that `stepscope record` started: `ended` of the two that began.
TEST_F(MindsporeRun, ThePipelineThatAKilledProgramLostIsSaidAlsoBesideOthers) {
  for (const int ended : {2, 1}) {
    SCOPED_TRACE(ended);
    stepscope_stop();
    std::filesystem::remove_all(folder_.path("run"));
    SetUp();
    run("Default/ReLU-op0");
    hand_over();
    for (int window = 1; window <= 2; ++window) {
      stepscope_metadata("parameters", R"({"data_process": true})");
      if (window <= ended) stepscope_metadata("profiler_window", "{}");
    }
    stepscope_stop();
    const std::string raw = framework() + "/stepscope.raw";
    std::filesystem::resize_file(raw, std::filesystem::file_size(raw) - 7);  // the note of the end
    write_pipeline(folder_, "", kBatchTree, 1000, 1);
    EXPECT_EQ(import_run().quality("source_left_out"), ended == 2 ? 0 : 1);
  }
}

TEST_F(MindsporeRun, ThePipelineFilesBesideTheRawFileAreRead) {
  const int64_t now_ms = clock_ns(CLOCK_MONOTONIC) / 1'000'000;
  const int64_t before_ns = clock_ns(CLOCK_REALTIME);
  const std::string time = std::to_string(now_ms);
  folder_.write(
      "run/FRAMEWORK/dataset_iterator_profiling_0.txt",
      "0 1 1 0 " + time + "\n0 2 1 7 " + time + "\n0 0 1 7 " + time + "\n1 16 1 3 " + time + "\n");
  ImportedRank imported = import_run();
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported.integers(Table::kQueues, "size"), std::vector<int64_t>{3});
  const int64_t ts = imported.integers(Table::kQueues, "ts").at(0);
  EXPECT_LT(std::abs(ts - before_ns), 5'000'000'000);
}

TEST_F(MindsporeRun, EveryWindowHasItsPipeline) {
  const int64_t now_ms = clock_ns(CLOCK_MONOTONIC) / 1'000'000;
  write_pipeline(folder_, "", kMapTree, now_ms, 3);
  write_pipeline(folder_, "window2.", kMapTree, now_ms + 1000, 2);
  write_pipeline(folder_, "window10.", kBatchTree, now_ms + 2000, 1);
  ImportedRank imported = import_run();
  ASSERT_TRUE(imported.ok());
  auto names = imported.texts(Table::kStages, "stage");
  std::ranges::sort(names);
  EXPECT_EQ(names,
            (std::vector<std::string>{"BatchOp_0", "BatchOp_2", "MapOp_1", "dataset_iterator"}))
      << "the second pipeline is like the first, the third is another";
  EXPECT_EQ(imported.source_integers("minddata_pipeline", "op_id"),
            (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(imported.source_texts("minddata_pipeline", "children"),
            (std::vector<std::string>{"[1]", "[]", "[]"}));

  const auto stages = imported.texts(Table::kQueues, "stage");
  const auto numbers = imported.integers(Table::kQueues, "batch");
  std::vector<int64_t> batches;
  for (size_t i = 0; i < stages.size(); ++i) {
    if (stages[i] == "dataset_iterator") batches.push_back(numbers[i]);
  }
  std::ranges::sort(batches);
  EXPECT_EQ(batches, (std::vector<int64_t>{1, 2, 3, 4, 5, 6})) << "numbered on";
  EXPECT_EQ(std::ranges::count(stages, "MapOp_1"), 4);
  EXPECT_EQ(std::ranges::count(stages, "BatchOp_2"), 2);
}

TEST_F(MindsporeRun, OfMinddatasProcessorTimesOnlyTheOperatorsAreTaken) {
  const int64_t now_ms = clock_ns(CLOCK_MONOTONIC) / 1'000'000;
  write_pipeline(folder_, "", kMapTree, now_ms, 3);
  write_pipeline(folder_, "window2.", kMapTree, now_ms + 1000, 2);
  ImportedRank imported = import_run();
  ASSERT_TRUE(imported.ok());
  const auto processes = imported.texts(Table::kTracks, "process");
  EXPECT_EQ(std::ranges::count(processes, "minddata"), 0) << "the recording has its own samples";
  EXPECT_EQ(std::ranges::count(processes, "MapOp_1"), 1) << "one lane for both windows";
  EXPECT_EQ(imported.quality("inconsistent_counts"), 0);
  const auto of_map = std::ranges::find(processes, "MapOp_1") - processes.begin();
  const auto owner = imported.integers(Table::kCounters, "track");
  const auto values = imported.reals(Table::kCounters, "value");
  std::vector<double> use;
  for (size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == of_map) use.push_back(values[i]);
  }
  EXPECT_EQ(use, (std::vector<double>{0, 40, 40})) << "the first of a later window means nothing";
}

TEST_F(MindsporeRun, HostEventsBesideTheRawFileAreRangesOnly) {
  const std::string now = std::to_string(clock_ns(CLOCK_REALTIME));
  folder_.write("run/FRAMEWORK/RuntimeProfilerDetail1794715400344868003.csv",
                "[Step:1 step_time:83782276ns, module_total_time:235217348ns]\n"
                "module:Kernel, event:KernelLaunch, op:MatMul, start_time:" +
                    now + ", end_time:" + now + ", dur_time:,0,ns, tid:15704, pid:15704\n");
  ImportedRank imported = import_run();
  ASSERT_TRUE(imported.ok());
  EXPECT_EQ(imported.rows(Table::kOps), 0u);
  EXPECT_EQ(imported.rows(Table::kSteps), 0u);
  EXPECT_EQ(
      std::ranges::count(imported.texts(Table::kSlices, "name"), "Kernel::KernelLaunch::MatMul"),
      1);
}

}  // namespace
}  // namespace stepscope
