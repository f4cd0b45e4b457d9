#include "analyses/flops/flops.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/run_analyses.h"
#include "base/file.h"
#include "store/store_writer.h"
#include "tests/support/imported_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::ImportedRun;
using testing::slice_of;

class Flops : public ::testing::Test {
 protected:
  void op(TrackId track, std::string_view name, int64_t ts, int64_t dur, std::string_view shapes,
          std::string_view types = "", int64_t external = -1) {
    OpDetail detail;
    if (!shapes.empty()) detail.input_shapes = text(shapes);
    if (!types.empty()) detail.input_types = text(types);
    SliceRecord slice = slice_of(rank_, name, ts, dur, SliceKind::kOp);
    slice.cat = text("cpu_op");
    if (external >= 0) slice.external_id = rank_.pack_id(external);
    slice.detail = rank_.add_op(detail);
    rank_.add_slice(track, slice);
  }
  void kernel(TrackId track, std::string_view name, int64_t ts, int64_t dur, int64_t external,
              std::string_view type = "CUDA", std::string_view counters = "") {
    KernelDetail detail;
    detail.type = text(type);
    if (!counters.empty()) detail.counters = text(counters);
    SliceRecord slice = slice_of(rank_, name, ts, dur, SliceKind::kKernel);
    if (external >= 0) slice.external_id = rank_.pack_id(external);
    slice.detail = rank_.add_kernel(detail);
    rank_.add_slice(track, slice);
  }
  void step(int64_t number, int64_t ts, int64_t dur) {
    StepRecord record;
    record.step = number;
    record.ts_ns = ts;
    record.dur_ns = dur;
    record.source = text("marked");
    rank_.steps.push_back(record);
  }
  StringId text(std::string_view words) { return rank_.strings.intern(words); }

  RunAnalyses& run(const AnalysisOptions& options = {}) {
    const std::string path = folder_.path("run.stepscope");
    auto writer = StoreWriter::create(path, 1);
    EXPECT_TRUE(writer.ok());
    EXPECT_TRUE((*writer)->add_rank(0, rank_, 1).ok());
    EXPECT_TRUE((*writer)->finish("{}").ok());
    auto store = StoreReader::open(path);
    EXPECT_TRUE(store.ok());
    run_ = std::make_unique<RunAnalyses>(*store, options);
    return *run_;
  }

  testing::TemporaryFolder folder_;
  RankBuilder rank_;
  std::unique_ptr<RunAnalyses> run_;
};

constexpr std::string_view kFloats = R"(["float", "float"])";

TEST_F(Flops, NestedOperatorsCountOnce) {
  const TrackId host = host_track(rank_, "main");
  const TrackId stream = device_track(rank_, 0, 7);
  rank_.info.device_name = "NVIDIA A100-SXM4-80GB";
  step(1, 0, 10'000);
  op(host, "aten::linear", 0, 1000, "[[10, 20], [30, 20]]", kFloats, 1);
  op(host, "aten::mm", 100, 500, "[[10, 20], [20, 30]]", kFloats, 2);
  op(host, "aten::copy_", 150, 100, "[[20, 30], [20, 30]]", kFloats, 3);  // inside the product
  op(host, "aten::relu", 2000, 500, "[[10, 30]]", R"(["float"])", 4);
  op(host, "aten::mul", 3000, 100, "[[10, 30]]", R"(["float"])", 5);  // of tensors on the host
  kernel(stream, "ampere_sgemm_32x32", 5000, 400, 2);
  kernel(stream, "copy_kernel", 5400, 100, 3);
  kernel(stream, "elementwise_kernel", 5500, 100, 4);
  kernel(stream, "unknown", 5600, 400, -1);
  const FlopResults& results = run().flops();
  ASSERT_EQ(results.operators.size(), 2u);
  const FlopRow& product = results.operators[0];
  EXPECT_EQ(product.name, "aten::mm");
  EXPECT_EQ(product.flops, 12'000);
  EXPECT_EQ(product.time_ns, 500) << "with the copy that it made";
  EXPECT_EQ(product.data_type, "float32");
  EXPECT_EQ(*product.flops_per_second, 12'000 / 500e-9);
  EXPECT_NEAR(*product.utilisation, 12'000 / 500e-9 / 19.5e12, 1e-9);
  EXPECT_EQ(*product.bytes, 4 * (200 + 600 + 300));
  EXPECT_EQ(product.bound, "memory");
  EXPECT_EQ(results.operators[1].name, "aten::relu");
  EXPECT_EQ(results.operators[1].flops, 300);
  ASSERT_EQ(results.summaries.size(), 1u);
  const FlopSummaryRow& summary = results.summaries[0];
  EXPECT_EQ(summary.flops, 12'300);
  EXPECT_EQ(summary.matrix_flops, 12'000);
  EXPECT_EQ(summary.covered, 0.6);
  EXPECT_EQ(summary.peak, 19.5e12);
  ASSERT_EQ(results.steps.size(), 1u);
  EXPECT_NEAR(*results.steps[0].mfu, 12'000 / 19.5e12 / 10e-6, 1e-12);
  EXPECT_EQ(*summary.mfu, *results.steps[0].mfu);
}

TEST_F(Flops, TensorCoresMake32BitsTf32AndOptionsReplaceThePeaks) {
  const TrackId host = host_track(rank_, "main");
  const TrackId stream = device_track(rank_, 0, 7);
  op(host, "aten::mm", 0, 500, "[[10, 20], [20, 30]]", kFloats, 2);
  kernel(stream, "ampere_s16816gemm_tf32", 5000, 400, 2);
  AnalysisOptions options;
  options.peaks.emplace();
  options.peaks->tf32 = 1e12;
  const FlopResults& results = run(options).flops();
  ASSERT_EQ(results.operators.size(), 1u);
  EXPECT_EQ(results.operators[0].data_type, "tf32");
  EXPECT_NEAR(*results.operators[0].utilisation, 12'000 / 400e-9 / 1e12, 1e-9);
  EXPECT_EQ(results.summaries[0].peak_source, "option");
  EXPECT_EQ(results.summaries[0].steps, 0);
  EXPECT_EQ(results.summaries[0].span_ns, 400) << "no steps: the device's span";
  EXPECT_EQ(run_->reasons("flops_steps").size(), 1u);
}

TEST_F(Flops, CountersComeFirst) {
  const TrackId host = host_track(rank_, "main");
  const TrackId stream = device_track(rank_, 0, 7);
  op(host, "aten::mm", 0, 500, "[[10, 20], [20, 30]]", kFloats, 2);
  kernel(stream, "Default/net/MatMul-op1", 1000, 400, 2, "AI_CORE",
         R"({"aic_cube_fops":50000,"aiv_vec_fops":700})");
  kernel(stream, "Default/net/Add-op2", 2000, 100, -1, "AI_VECTOR_CORE",
         R"({"aic_cube_fops":NaN,"aiv_vec_fops":300})");
  kernel(stream, "Default/net/Broken-op3", 3000, 100, -1, "AI_CORE",
         R"({"aic_cube_fops":NaN,"aiv_vec_fops":"N/A"})");
  const FlopResults& results = run().flops();
  ASSERT_EQ(results.operators.size(), 3u);
  EXPECT_EQ(results.operators[0].source, kFromCounters);
  EXPECT_EQ(results.operators[0].kind, "cube");
  EXPECT_EQ(results.operators[0].flops, 50'000);
  EXPECT_EQ(results.operators[0].module, "Default/net");
  EXPECT_EQ(results.summaries[0].flops, 51'000);
  EXPECT_EQ(results.summaries[0].time_ns, 500) << "each task once";
  EXPECT_NEAR(results.summaries[0].covered, 500.0 / 600, 1e-12);
  ASSERT_EQ(results.scopes.size(), 2u);
  EXPECT_EQ(results.scopes[0].source, "Total");
  EXPECT_EQ(results.scopes[0].target, "Default");
  EXPECT_EQ(results.scopes[1].target, "Default/net");
  EXPECT_EQ(results.scopes[1].name, "net(Default)");
  EXPECT_EQ(results.scopes[1].flops, 51'000);
}

TEST_F(Flops, ModulesOfPyTorchAreScopesForwardAndBackward) {
  const TrackId host = host_track(rank_, "main");
  const TrackId autograd = host_track(rank_, "autograd");
  for (const auto& [name, ts, dur] :
       {std::tuple("nn.Module: Net_0", 0, 1000), std::tuple("nn.Module: Linear_0", 10, 900)})
    rank_.add_slice(host, slice_of(rank_, name, ts, dur, SliceKind::kPython));
  OpDetail forward;
  forward.input_shapes = text("[[10, 20], [20, 30]]");
  forward.sequence = 5;
  forward.forward_thread = 0;
  SliceRecord slice = slice_of(rank_, "aten::mm", 20, 500, SliceKind::kOp);
  slice.detail = rank_.add_op(forward);
  rank_.add_slice(host, slice);
  OpDetail backward;
  backward.sequence = 5;
  backward.forward_thread = 1;
  slice = slice_of(rank_, "MmBackward0", 2000, 500, SliceKind::kOp);
  slice.detail = rank_.add_op(backward);
  rank_.add_slice(autograd, slice);
  op(autograd, "aten::mm", 2100, 100, "[[20, 10], [10, 30]]");
  std::map<std::string, double> edges;
  for (const FlopScopeRow& row : run().flops().scopes)
    edges[row.source + " > " + row.target] = row.flops;
  const std::map<std::string, double> wanted = {
      {"Total > Net_0", 12'000},
      {"Net_0 > Net_0/Linear_0", 12'000},
      {"Total > Gradients", 12'000},
      {"Gradients > Gradients/Net_0", 12'000},
      {"Gradients/Net_0 > Gradients/Net_0/Linear_0", 12'000}};
  EXPECT_EQ(edges, wanted);
}

TEST_F(Flops, WithoutShapesThereIsAReason) {
  const TrackId host = host_track(rank_, "main");
  op(host, "aten::mm", 0, 500, "");
  const FlopResults& results = run().flops();
  EXPECT_TRUE(results.operators.empty());
  ASSERT_EQ(results.summaries.size(), 1u);
  EXPECT_EQ(results.summaries[0].source, "none");
  EXPECT_EQ(run_->reasons("flops").size(), 1u);
  for (const std::string_view table : {"flops", "flops_scopes", "flops_steps", "flops_summary"})
    EXPECT_TRUE(run_->table(table).ok());
}

RunAnalyses analyses_of(const ImportedRun& run) {
  return {std::shared_ptr<const StoreReader>(std::shared_ptr<void>(), &run.store()), {}};
}

// GPT-2 small, 8 * 512 tokens: six operations for each weight of a product and token, and
// attention's two products three times.
TEST(FlopsExpected, Gpt2ByHand) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(testing::shared_data() + "/h200/gpt2.pt.trace.json.gz");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  const double layers = 12;
  const double width = 768;
  const double tokens = 8 * 512;
  const double weights = layers * width * width * (3 + 1 + 4 + 4) + width * 50257;
  const double attention = layers * 3 * 4 * 8 * 12 * 512 * 512 * 64;
  const double wanted = 6 * weights * tokens + attention;
  const FlopResults& results = analyses.flops();
  ASSERT_EQ(results.summaries.size(), 1u);
  EXPECT_EQ(*results.summaries[0].flops_per_step, wanted);
  ASSERT_EQ(results.steps.size(), 4u);
  for (const FlopStepRow& row : results.steps) {
    EXPECT_EQ(row.matrix_flops, wanted);
    EXPECT_NEAR(*row.mfu, wanted / 989.4e12 / (static_cast<double>(row.step_ns) / 1e9), 1e-9);
  }
  EXPECT_EQ(results.summaries[0].peak_data_type, "bfloat16");
  EXPECT_GT(results.summaries[0].covered, 0.85);
  for (const FlopRow& row : results.operators) {
    EXPECT_LT(row.utilisation.value_or(0), 1) << row.name;
  }
  double top = 0;
  for (const FlopScopeRow& row : results.scopes) top += row.level == 1 ? row.flops : 0;
  EXPECT_NEAR(top / results.summaries[0].flops, 1, 1e-3) << "what is in modules, of everything";
}

// ResNet-50 on 32 images: 4.089 G multiplications forward for each image, twice that backward
// except for the gradient of the images themselves.
TEST(FlopsExpected, ResNet50ByHand) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(
      testing::shared_data() +
      "/kineto/kineto_tb/samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  struct Stage {
    double blocks, in, width, size;
  };
  double forward = 64.0 * 3 * 49 * 112 * 112;
  const double first = forward;
  for (const Stage& stage : {Stage{3, 64, 64, 56}, Stage{4, 256, 128, 28}, Stage{6, 512, 256, 14},
                             Stage{3, 1024, 512, 7}}) {
    const double out = 4 * stage.width;
    const double area = stage.size * stage.size;
    // The first convolution of the first block still has the size of the stage before.
    const double before = stage.in == 64 ? area : 4 * area;
    forward += stage.in * stage.width * before + stage.in * out * area;
    forward += (stage.blocks - 1) * out * stage.width * area;
    forward += stage.blocks * (stage.width * stage.width * 9 * area + stage.width * out * area);
  }
  forward += 2048.0 * 1000;
  const double wanted = 2 * 32 * (3 * forward - first);
  const FlopResults& results = analyses.flops();
  ASSERT_EQ(results.summaries.size(), 1u);
  EXPECT_EQ(*results.summaries[0].flops_per_step, wanted);
  EXPECT_GT(results.summaries[0].covered, 0.98);
}

TEST(FlopsExpected, AscendTextAndDatabaseAgree) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun text(testing::shared_data() + "/ascend/msinsight/text/level1");
  const ImportedRun database(testing::shared_data() + "/ascend/msinsight/db/level1");
  ASSERT_TRUE(text.ok() && database.ok());
  RunAnalyses from_text = analyses_of(text);
  RunAnalyses from_database = analyses_of(database);
  // AlexNet on 32 images of 224 * 224.
  const double forward = 64.0 * 3 * 121 * 55 * 55 + 192.0 * 64 * 25 * 27 * 27 +
                         384.0 * 192 * 9 * 13 * 13 + 256.0 * 384 * 9 * 13 * 13 +
                         256.0 * 256 * 9 * 13 * 13 + 9216.0 * 4096 + 4096.0 * 4096 + 4096.0 * 1000;
  for (RunAnalyses* run : {&from_text, &from_database}) {
    ASSERT_EQ(run->flops().summaries.size(), 2u);
    EXPECT_EQ(run->flops().summaries[0].matrix_flops, 3 * 2 * 32 * forward);
    EXPECT_EQ(run->flops().summaries[1].matrix_flops, 3 * 2 * 32 * forward);
    EXPECT_EQ(run->reasons("flops_summary").size(), 1u) << "the variant of the 910B is not said";
  }
}

TEST(FlopsExpected, MindInsightSummaryAndScopes) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(testing::shared_data() + "/mindinsight/tests/utils/resource/profiler");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  const FlopSummaryRow* summary = nullptr;
  for (const FlopSummaryRow& row : analyses.flops().summaries) {
    if (row.rank == 0 && row.source == kFromFile) summary = &row;
  }
  ASSERT_NE(summary, nullptr);
  EXPECT_NEAR(summary->flops, 8167.743e6, 1);
  EXPECT_NEAR(*summary->flops_per_second, 9868.936e9, 1e3);
  EXPECT_NEAR(*summary->mfu, 0.03765, 1e-9);
  int64_t links = 0;
  std::map<std::string, double> top;
  for (const FlopScopeRow& row : analyses.flops().scopes) {
    if (row.rank != 0) continue;
    ++links;
    if (row.source == "Total") top[row.target] = row.flops;
  }
  EXPECT_EQ(links, 34);
  EXPECT_NEAR(top["Default"], 4655.465e6, 1);
  EXPECT_NEAR(top["Gradients"], 3512.277e6, 1);
  // Operators of device 1, with a part for the cube and one for the vector unit.
  int64_t operators = 0;
  for (const FlopRow& row : analyses.flops().operators) {
    if (row.rank != 1) continue;
    ++operators;
    EXPECT_EQ(row.flops, 333e6);
    EXPECT_EQ(*row.flops_per_second, 333e9);
    EXPECT_NEAR(*row.utilisation, 0.33, 1e-12);
  }
  EXPECT_EQ(operators, 20);
}

// LeNet on the CPU, in a graph: every shape is known.
TEST(FlopsExpected, LeNetOnTheCpu) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun run(testing::shared_data() + "/mindspore_cpu/b_graph_lenet");
  ASSERT_TRUE(run.ok()) << run.error();
  RunAnalyses analyses = analyses_of(run);
  const double first = 6.0 * 25 * 28 * 28;
  const double forward = first + 16.0 * 6 * 25 * 10 * 10 + 400 * 120 + 120 * 84 + 84 * 10;
  ASSERT_EQ(analyses.flops().summaries.size(), 1u);
  EXPECT_EQ(analyses.flops().summaries[0].matrix_flops, 12 * 2 * 32 * (3 * forward - first));
  EXPECT_GT(analyses.flops().summaries[0].covered, 0.98);
}

}  // namespace
}  // namespace stepscope
