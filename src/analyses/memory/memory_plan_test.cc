#include "analyses/memory/memory_plan.h"

#include <gtest/gtest.h>

#include "tests/support/made_run.h"

namespace stepscope {
namespace {

using testing::MadeRun;

SourceColumn integers(const char* name, std::vector<int64_t> values) {
  return {name, Type::kInt64, std::move(values)};
}
SourceColumn texts(RankBuilder& rank, const char* name, const std::vector<const char*>& values) {
  SourceColumn column{name, Type::kText, {}};
  for (const char* value : values)
    column.values.push_back(value == nullptr ? kNull : rank.strings.intern(value));
  return column;
}

TEST(MemoryPlan, NodesTensorsAndMarks) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  rank.source_tables.push_back(
      {"memory_usage_graphs",
       "",
       {integers("graph_id", {7}), integers("nodes", {2}), integers("tensors", {3}),
        integers("static_bytes", {1000}), integers("peak_bytes", {1250}),
        integers("device_bytes", {5000}), texts(rank, "fp_start", {"Default/Conv2D-op1"}),
        texts(rank, "bp_end", {"ReLU-op2"})}});
  rank.source_tables.push_back(
      {"memory_usage_nodes",
       "",
       {integers("graph_id", {7, 7}), integers("position", {0, 1}),
        texts(rank, "node_name", {"Default/Conv2D-op1", "Default/ReLU-op2"}),
        integers("allocations", {1, 1}), integers("allocated_bytes", {200, 40}),
        integers("change_bytes", {210, 40}), integers("total_bytes", {1210, 1250})}});
  rank.source_tables.push_back(
      {"memory_usage_tensors",
       "",
       {integers("graph_id", {7, 7, 7}), integers("tensor_id", {1, 2, 3}),
        texts(rank, "source_node", {nullptr, "Default/Conv2D-op1", "Default/ReLU-op2"}),
        integers("source_output", {kNull, 0, 0}), integers("bytes", {10, 200, 40}),
        texts(rank, "type", {"Workspace", "NormalTensor", "NormalTensor"}),
        integers("first_position", {0, 0, 1}), integers("last_position", {1, 1, 1})}});
  rank.source_tables.push_back(
      {"framework_raw",
       "",
       {texts(rank, "full_kernel_name", {"Default/Conv2D-op1"}),
        texts(rank, "op_info",
              {R"({"output_0":{"format":"NC1HWC0","data_type":"FLOAT16","shape":[1, 100]}})"})}});
  MemoryRecord record;
  record.ts_ns = kNull;
  record.device = 3;
  record.device_kind = rank.strings.intern("NPU");
  record.component = rank.strings.intern("graph 7");
  record.total_allocated = 1000;
  rank.memory.push_back(record);

  RunAnalyses& analyses = run.analyses();
  ASSERT_EQ(analyses.memory().overview.size(), 1u);
  const MemoryRow row = analyses.memory().overview[0];
  EXPECT_EQ(row.source, "plan");
  EXPECT_EQ(row.device, 3);
  EXPECT_EQ(row.capacity_bytes, 5000);
  EXPECT_EQ(row.static_bytes, 1000);
  EXPECT_EQ(row.peak_bytes, 1250);
  EXPECT_EQ(row.peak_position, 1);
  EXPECT_EQ(row.allocations, 3);
  EXPECT_DOUBLE_EQ(row.peak_share, 0.25);
  const auto& curve = analyses.memory_curve();
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_EQ(curve[0].mark, "fp_start");
  EXPECT_EQ(curve[1].mark, "bp_end");
  EXPECT_EQ(curve[1].allocated_bytes, 1250);
  EXPECT_EQ(curve[0].operator_bytes, 200);
  EXPECT_EQ(curve[1].operator_bytes, 40);
  EXPECT_EQ(curve[1].ts, kNull);
  const auto& owners = analyses.memory().owners;
  ASSERT_EQ(owners.size(), 4u);
  EXPECT_EQ(owners[1].name, "Default/Conv2D-op1:0");
  EXPECT_EQ(owners[1].data_type, "FLOAT16");
  EXPECT_EQ(owners[1].shape, "[1,100]");
  EXPECT_EQ(owners[1].format, "NC1HWC0");
  EXPECT_EQ(owners[1].last_position, 1);
  EXPECT_EQ(owners[3].name, "tensor 1");
  int64_t sum = 0;
  for (const MemoryOwnerRow& owner : owners) sum += owner.bytes;
  EXPECT_EQ(sum, row.peak_bytes);
  EXPECT_EQ(analyses.memory_owners_at(row, 0, 10).size(), 3u);
  EXPECT_EQ(analyses.memory_operators().at(1).self_increase_bytes, 40);
}

}  // namespace
}  // namespace stepscope
