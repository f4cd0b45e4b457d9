#include "analyses/modules/modules.h"

#include <map>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::slice_of;

std::map<std::string, ModuleRow> by_name(RunAnalyses& run, int64_t rank = 0) {
  std::map<std::string, ModuleRow> rows;
  for (const ModuleRow& row : run.modules()) {
    if (row.rank == rank) rows[row.module] = row;
  }
  return rows;
}

// Net (0..1000, and again at 2000) has Linear (100..400), which calls aten::linear (150..350) and
// in it aten::mm; Net itself calls aten::add (500..600), which runs a checkpointed ReLU (520..580).
TEST(Modules, HostAndDeviceTimeOfTheTree) {
  testing::MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId thread = host_track(rank, "main");
  const TrackId stream = device_track(rank, 0, 7);
  int64_t correlation = 0;
  const auto launch = [&](int64_t ts_ns, int64_t dur_ns) {
    SliceRecord call = slice_of(rank, "cudaLaunchKernel", ts_ns, 5, SliceKind::kLaunchCall);
    call.correlation = rank.pack_id(++correlation);
    rank.add_slice(thread, call);
    SliceRecord kernel = slice_of(rank, "kernel", ts_ns + 1000, dur_ns, SliceKind::kKernel);
    kernel.correlation = rank.pack_id(correlation);
    rank.add_slice(stream, kernel);
  };
  for (const int64_t at_ns : {0, 2000}) {
    rank.add_slice(thread, slice_of(rank, "nn.Module: Net_0", at_ns, 1000, SliceKind::kPython));
    rank.add_slice(thread, slice_of(rank, "model.py(7): forward", at_ns + 50, 400));
    rank.add_slice(thread,
                   slice_of(rank, "nn.Module: Linear_0", at_ns + 100, 300, SliceKind::kPython));
    rank.add_slice(thread, slice_of(rank, "aten::linear", at_ns + 150, 200, SliceKind::kOp));
    rank.add_slice(thread, slice_of(rank, "aten::mm", at_ns + 200, 100, SliceKind::kOp));
    launch(at_ns + 210, 70);
    rank.add_slice(thread, slice_of(rank, "aten::add", at_ns + 500, 100, SliceKind::kOp));
    rank.add_slice(thread,
                   slice_of(rank, "nn.Module: ReLU_0", at_ns + 520, 60, SliceKind::kPython));
    launch(at_ns + 530, 11);
    launch(at_ns + 700, 20);
    launch(at_ns + 1500, 900);  // in no module
  }
  const auto rows = by_name(run.analyses());
  ASSERT_EQ(rows.size(), 3u);
  const ModuleRow& net = rows.at("Net_0");
  EXPECT_EQ(net.level, 1);
  EXPECT_EQ(net.calls, 2);
  EXPECT_EQ(net.host_ns, 2000);
  EXPECT_EQ(net.host_self_ns, 2 * (1000 - 300 - 100));
  EXPECT_EQ(net.operators, 2);
  EXPECT_EQ(net.kernels, 6);
  EXPECT_EQ(net.device_ns, 2 * (70 + 11 + 20));
  EXPECT_EQ(net.device_self_ns, 2 * 20);
  const ModuleRow& linear = rows.at("Net_0/Linear_0");
  EXPECT_EQ(linear.level, 2);
  EXPECT_EQ(linear.host_self_ns, 2 * (300 - 200));
  EXPECT_EQ(linear.operators, 2);
  EXPECT_EQ(linear.device_ns, 2 * 70);
  EXPECT_EQ(linear.device_self_ns, linear.device_ns);
  EXPECT_EQ(rows.at("Net_0/ReLU_0").device_ns, 2 * 11);
}

// Our own recordings say by the category what is a module: Net (0..1000) calls "layer.0 (Linear)".
TEST(Modules, OfOurOwnRecordings) {
  testing::MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId thread = host_track(rank, "main");
  const auto module = [&](std::string_view name, int64_t ts_ns, int64_t dur_ns) {
    SliceRecord slice = slice_of(rank, name, ts_ns, dur_ns, SliceKind::kAnnotation);
    slice.cat = rank.strings.intern("module");
    rank.add_slice(thread, slice);
  };
  module("Net", 0, 1000);
  module("layer.0 (Linear)", 100, 300);
  rank.add_slice(thread, slice_of(rank, "aten::linear", 150, 200, SliceKind::kOp));
  rank.add_slice(thread, slice_of(rank, "module", 500, 10));  // the user's own range of that name
  const auto rows = by_name(run.analyses());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("Net").host_self_ns, 700);
  EXPECT_EQ(rows.at("Net/layer.0 (Linear)").operators, 1);
  EXPECT_EQ(rows.at("Net/layer.0 (Linear)").host_self_ns, 100);
  EXPECT_TRUE(run.analyses().reasons("modules").empty());
}

// A compiled graph of MindSpore: ranges of modules on a lane of their own, operators that name
// them.
TEST(Modules, OfAGraphByThePathsOfItsOperators) {
  testing::MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId operators = host_track(rank, "operators");
  const TrackId modules = host_track(rank, "MindSpore modules");
  const auto add_operator = [&](std::string_view path, int64_t ts_ns, int64_t dur_ns) {
    SliceRecord slice = slice_of(rank, "Conv2D", ts_ns, dur_ns, SliceKind::kOp);
    OpDetail detail;
    detail.module = rank.strings.intern(path);
    slice.detail = rank.add_op(detail);
    rank.add_slice(operators, slice);
  };
  add_operator("Default/net/conv", 100, 50);
  add_operator("Default/net/conv", 160, 30);
  add_operator("Default/other", 300, 30);
  for (const auto& [name, dur_ns] : {std::pair{"net", 100}, {"conv", 90}}) {
    SliceRecord slice = slice_of(rank, name, 100, dur_ns, SliceKind::kAnnotation);
    slice.cat = rank.strings.intern("module");
    rank.add_slice(modules, slice);
  }
  const auto rows = by_name(run.analyses());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("net").operators, 0);
  EXPECT_EQ(rows.at("net/conv").operators, 2);
  EXPECT_EQ(rows.at("net/conv").host_self_ns, 10);
}

TEST(Modules, SayWhatToRecord) {
  testing::MadeRun run;
  run.rank.add_slice(host_track(run.rank, "main"),
                     slice_of(run.rank, "aten::mm", 0, 10, SliceKind::kOp));
  EXPECT_TRUE(run.analyses().modules().empty());
  ASSERT_EQ(run.analyses().reasons("modules").size(), 1u);
}

// data/kineto/EXPECTED.md, A of the TensorBoard plugin.
TEST(ModulesExpected, TreeOfTheTensorBoardPlugin) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() +
                                      "/kineto/kineto_tb/unit/build_module_hierarchy.json");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto rows = by_name(run);
  ASSERT_EQ(rows.size(), 3u);
  const auto expect = [&](const char* name, int64_t calls, int64_t operators, int64_t host_us,
                          int64_t self_us) {
    const ModuleRow& row = rows.at(name);
    EXPECT_EQ(row.calls, calls) << name;
    EXPECT_EQ(row.operators, operators) << name;
    EXPECT_EQ(row.host_ns, host_us * 1000) << name;
    EXPECT_EQ(row.host_self_ns, self_us * 1000) << name;
    EXPECT_EQ(row.device_ns, 0) << name;
  };
  expect("Conv2", 1, 0, 211, 211);
  expect("MyModule", 3, 0, 633, 447);
  expect("MyModule/Linear", 3, 3, 186, 90);
}

// data/ascend/EXPECTED_msprof_analyze.md, compare: rank 0 and rank 1.
TEST(ModulesExpected, DeviceTimeOfMsprofAnalyze) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const double alexnet_us[] = {2318.94625, 2335.326531};
  const double sequential_us[] = {1687.613688, 1684.7735};
  const double convolution_us[] = {401.248, 400.808};
  for (const int64_t rank : {0, 1}) {
    const auto rows = by_name(run, rank);
    const std::string alexnet = "DistributedDataParallel_0/AlexNet_0";
    const auto us = [&](const std::string& name) {
      return static_cast<double>(rows.at(name).device_ns) / 1000;
    };
    // The store has whole nanoseconds: half a one for each kernel.
    EXPECT_NEAR(us(alexnet), alexnet_us[rank], 0.024);
    EXPECT_NEAR(us(alexnet + "/Sequential_0"), sequential_us[rank], 0.017);
    EXPECT_NEAR(us(alexnet + "/Sequential_0/Conv2d_0"), convolution_us[rank], 0.002);
  }
}

}  // namespace
}  // namespace stepscope
