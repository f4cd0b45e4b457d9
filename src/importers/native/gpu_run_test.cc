// A recording of a real GPU, tests/data/gpu_training: see tests/data/README.md.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/native/native_importer.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using testing::ImportedRank;

class GpuRun : public ::testing::Test {
 protected:
  static std::string folder() {
    const char* const source = std::getenv("STEPSCOPE_SOURCE_DIR");
    return std::string(source == nullptr ? "." : source) + "/tests/data/gpu_training";
  }
  static ImportedRank import_it() {
    const NativeImporter importer;
    const auto found = testing::find_candidates(importer, folder());
    EXPECT_EQ(found.size(), 1u);
    return ImportedRank(importer, found.at(0));
  }
  // From the ids of a table's rows to a column of them.
  std::map<int64_t, std::string> by_id(Table table, std::string_view column) const {
    const auto ids = run_.integers(table, "id");
    const auto values = run_.texts(table, column);
    std::map<int64_t, std::string> result;
    for (size_t row = 0; row < ids.size(); ++row) result[ids[row]] = values[row];
    return result;
  }

  ImportedRank run_ = import_it();
};

TEST_F(GpuRun, HasItsDeviceAndSteps) {
  ASSERT_TRUE(run_.ok());
  EXPECT_EQ(run_.builder().info.device_kind, "NVIDIA GPU");
  EXPECT_EQ(run_.builder().info.device_name, "NVIDIA H200");
  const std::string& versions = run_.builder().info.versions_json;
  EXPECT_NE(versions.find(R"("numSms":132)"), std::string::npos) << versions;
  EXPECT_EQ(versions.find(R"("numSms":132.)"), std::string::npos) << "whole, as Kineto has it";
  EXPECT_NE(versions.find(R"("totalGlobalMem":15)"), std::string::npos) << versions;
  EXPECT_EQ(run_.integers(Table::kSteps, "step"), (std::vector<int64_t>{2, 3, 4}));
  for (const int64_t length : run_.integers(Table::kSteps, "dur")) {
    EXPECT_GT(length, 1'000'000);
    EXPECT_LT(length, 10'000'000);
  }
  for (const char* const finding : {"dropped_records", "kernel_before_launch", "unknown_category",
                                    "unparsable_event", "launch_outside_window"}) {
    EXPECT_EQ(run_.quality(finding), 0) << finding;
  }
}

TEST_F(GpuRun, KernelsHaveTheirCallsAndOperators) {
  ASSERT_TRUE(run_.ok());
  ASSERT_EQ(run_.rows(Table::kKernels), 210u);  // 204 kernels and 6 copies
  const auto names = run_.texts(Table::kKernels, "name");
  const auto starts = run_.integers(Table::kKernels, "ts");
  const auto launches = run_.integers(Table::kKernels, "launch");
  const auto operators = run_.integers(Table::kKernels, "op");
  const auto calls = by_id(Table::kSlices, "name");
  const auto slice_ids = run_.integers(Table::kSlices, "id");
  const auto slice_starts = run_.integers(Table::kSlices, "ts");
  std::map<int64_t, int64_t> start_of;
  for (size_t row = 0; row < slice_ids.size(); ++row) start_of[slice_ids[row]] = slice_starts[row];
  const auto operator_names = by_id(Table::kOps, "name");
  const auto shapes = by_id(Table::kOps, "input_shapes");
  std::map<std::string, int> launched_by;
  int without_operator = 0;
  for (size_t row = 0; row < names.size(); ++row) {
    ASSERT_NE(launches[row], kNull) << names[row];
    ++launched_by[calls.at(launches[row])];
    EXPECT_GE(starts[row], start_of.at(launches[row])) << names[row];
    without_operator += operators[row] == kNull;
    if (names[row].find("fmha_cutlassF") == std::string::npos || operators[row] == kNull) continue;
    EXPECT_EQ(operator_names.at(operators[row]), "aten::_efficient_attention_forward");
    EXPECT_TRUE(shapes.at(operators[row]).starts_with("[[8,64,4,16],[8,64,4,16],[8,64,4,16],"));
  }
  // cuBLAS and Triton launch through the driver, the graph's 33 kernels have three launches.
  EXPECT_EQ(launched_by["cuLaunchKernel"], 21);
  EXPECT_EQ(launched_by["cuLaunchKernelEx"], 3);
  EXPECT_EQ(launched_by["cudaGraphLaunch"], 33);
  EXPECT_EQ(launched_by["cudaMemcpyAsync"], 6);
  EXPECT_EQ(std::ranges::count(names, "_add_one"), 3);
  EXPECT_EQ(without_operator, 36) << "the graph's and Triton's";
}

TEST_F(GpuRun, HasOperatorsRangesAndMemory) {
  ASSERT_TRUE(run_.ok());
  EXPECT_EQ(run_.rows(Table::kOps), 1320u);
  const auto names = run_.texts(Table::kOps, "name");
  const auto shapes = run_.texts(Table::kOps, "input_shapes");
  std::set<std::string> of_linear;
  for (size_t row = 0; row < names.size(); ++row) {
    if (names[row] == "aten::linear") of_linear.insert(shapes[row]);
  }
  EXPECT_TRUE(of_linear.contains("[[8,64,64],[192,64],[192]]")) << "queries, keys and values";
  EXPECT_TRUE(of_linear.contains("[[8,64,64],[512,64],[512]]")) << "the scores";
  const auto slices = run_.texts(Table::kSlices, "name");
  EXPECT_EQ(std::ranges::count(slices, "copy"), 3) << "NVTX ranges";
  EXPECT_EQ(std::ranges::count(slices, "forward"), 3) << "record_function";
  EXPECT_EQ(std::ranges::count(slices, "Stream Sync"), 3);
  EXPECT_EQ(std::ranges::count(slices, "AddmmBackward0"), 15);
  const auto devices = run_.integers(Table::kMemory, "device");
  const auto totals = run_.integers(Table::kMemory, "total_allocated");
  EXPECT_EQ(std::ranges::count(devices, 0), 336);
  EXPECT_GT(*std::ranges::max_element(totals), 100 << 20);
}

}  // namespace
}  // namespace stepscope
