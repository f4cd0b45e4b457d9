#include "analyses/operators/operators.h"

#include <gtest/gtest.h>

#include "analyses/operators/kernel_names.h"
#include "analyses/run_analyses.h"
#include "store/store_writer.h"
#include "tests/support/rank_making.h"
#include "tests/support/sample_store.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::slice_of;

template <class Row>
const Row* find(const std::vector<Row>& rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

class Operators : public ::testing::Test {
 protected:
  void op(TrackId track, std::string_view name, int64_t ts, int64_t dur, int64_t external = -1,
          const OpDetail& detail = {}) {
    SliceRecord slice = slice_of(rank_, name, ts, dur, SliceKind::kOp);
    slice.cat = rank_.strings.intern("cpu_op");
    if (external >= 0) slice.external_id = rank_.pack_id(external);
    slice.detail = rank_.add_op(detail);
    rank_.add_slice(track, slice);
  }
  void call(TrackId track, int64_t ts, int64_t dur, int64_t correlation) {
    SliceRecord slice = slice_of(rank_, "cudaLaunchKernel", ts, dur, SliceKind::kLaunchCall);
    slice.cat = rank_.strings.intern("cuda_runtime");
    slice.correlation = rank_.pack_id(correlation);
    rank_.add_slice(track, slice);
  }
  void task(TrackId track, std::string_view name, int64_t ts, int64_t dur, int64_t correlation,
            KernelDetail detail) {
    SliceRecord slice = slice_of(rank_, name, ts, dur, SliceKind::kKernel);
    if (correlation >= 0) slice.correlation = rank_.pack_id(correlation);
    slice.detail = rank_.add_kernel(detail);
    rank_.add_slice(track, slice);
  }
  KernelDetail cuda() {
    KernelDetail detail;
    detail.type = rank_.strings.intern("CUDA");
    return detail;
  }
  StringId text(std::string_view words) { return rank_.strings.intern(words); }

  RunAnalyses& run() {
    const std::string path = folder_.path("run.stepscope");
    auto writer = StoreWriter::create(path, 1);
    EXPECT_TRUE(writer.ok());
    EXPECT_TRUE((*writer)->add_rank(0, rank_, 1).ok());
    EXPECT_TRUE((*writer)->finish("{}").ok());
    auto store = StoreReader::open(path);
    EXPECT_TRUE(store.ok());
    run_ = std::make_unique<RunAnalyses>(*store, AnalysisOptions{});
    return *run_;
  }

  testing::TemporaryFolder folder_;
  RankBuilder rank_;
  std::unique_ptr<RunAnalyses> run_;
};

// Some traces write the correlation of a kernel as its external id.
TEST_F(Operators, AnExternalIdOfAnOperatorThatDidNotRunIsChance) {
  const TrackId host = host_track(rank_, "main");
  const TrackId queue = host_track(rank_, "launching thread");
  const TrackId stream = device_track(rank_, 0, 7);
  op(host, "aten::view", 0, 100, 40);
  op(host, "aten::uniform_", 1000, 100, 2);
  op(host, "aten::mm", 3000, 100, 5);
  call(host, 1050, 20, 40);
  call(queue, 3500, 20, 41);  // for aten::mm, later and elsewhere
  const auto kernel = [&](int64_t ts_ns, int64_t dur_ns, int64_t correlation, int64_t external) {
    SliceRecord slice = slice_of(rank_, "kernel", ts_ns, dur_ns, SliceKind::kKernel);
    slice.correlation = rank_.pack_id(correlation);
    slice.external_id = rank_.pack_id(external);
    slice.detail = rank_.add_kernel(cuda());
    rank_.add_slice(stream, slice);
  };
  kernel(2000, 70, 40, 40);
  kernel(4000, 30, 41, 5);
  const auto& operators = run().operators().operators;
  EXPECT_EQ(find(operators, "aten::view")->device_total_ns, 0);
  EXPECT_EQ(find(operators, "aten::uniform_")->device_total_ns, 70);
  EXPECT_EQ(find(operators, "aten::mm")->device_total_ns, 30);
}

TEST_F(Operators, SelfTimeLeavesOutWhatIsNestedAndDeviceTimeIncludesIt) {
  const TrackId host = host_track(rank_, "main");
  const TrackId stream = device_track(rank_, 0, 7);
  op(host, "aten::linear", 0, 1000, 1);
  op(host, "aten::addmm", 100, 600, 2);
  call(host, 300, 50, 10);
  call(host, 800, 40, 11);  // of linear itself
  task(stream, "gemm", 2000, 300, 10, cuda());
  task(stream, "bias", 2300, 20, 11, cuda());
  const auto& rows = run().operators().operators;
  const OperatorRow* linear = find(rows, "aten::linear");
  const OperatorRow* addmm = find(rows, "aten::addmm");
  ASSERT_TRUE(linear != nullptr && addmm != nullptr);
  EXPECT_EQ(linear->category, kHostOperators);
  EXPECT_EQ(linear->total_ns, 1000);
  EXPECT_EQ(linear->runtime_ns, 40);
  EXPECT_EQ(linear->self_ns, 1000 - 600 - 40);
  EXPECT_EQ(linear->device_self_ns, 20);
  EXPECT_EQ(linear->device_total_ns, 320);
  EXPECT_EQ(addmm->self_ns, 550);
  EXPECT_EQ(addmm->device_self_ns, 300);
  EXPECT_EQ(addmm->launches, 1);
  EXPECT_NEAR(linear->share + addmm->share, 1, 1e-12);
  EXPECT_EQ(rows[0].name, "aten::addmm") << "ordered by the device time it launched";
}

TEST_F(Operators, ACallInsideOneOfTheSameOperatorIsNotCountedTwice) {
  const TrackId host = host_track(rank_, "main");
  op(host, "aten::to", 0, 100);
  op(host, "aten::copy_", 10, 80);
  op(host, "aten::to", 20, 30);
  const auto& rows = run().operators().operators;
  const OperatorRow* to = find(rows, "aten::to");
  ASSERT_NE(to, nullptr);
  EXPECT_EQ(to->category, kHostCpuOperators) << "no device: the operators are the work";
  EXPECT_EQ(to->count, 2);
  EXPECT_EQ(to->total_ns, 100);
  EXPECT_EQ(to->self_ns, 20 + 30);
  int64_t self_ns = 0;
  for (const OperatorRow& row : rows) self_ns += row.self_ns;
  EXPECT_EQ(self_ns, 100) << "self times add up to the time on the thread";
  EXPECT_FALSE(run_->reasons("operators").size());
  EXPECT_TRUE(run_->kernels().kernels.empty());
  ASSERT_EQ(run_->reasons("kernels").size(), 1u);
}

TEST_F(Operators, ShapesAndModulesAreShownWhereTheyAreTheSame) {
  const TrackId host = host_track(rank_, "main");
  OpDetail small;
  small.input_shapes = text("[[2, 3]]");
  small.module = text("net/a");
  OpDetail large = small;
  large.input_shapes = text("[[20, 30]]");
  op(host, "relu", 0, 10, -1, small);
  op(host, "relu", 20, 30, -1, small);
  op(host, "relu", 60, 90, -1, large);
  const OperatorResults& results = run().operators();
  ASSERT_EQ(results.operators.size(), 1u);
  EXPECT_EQ(results.operators[0].shapes, 2);
  EXPECT_FALSE(results.operators[0].input_shapes.has_value());
  EXPECT_EQ(results.operators[0].module, "net/a");
  EXPECT_EQ(results.operators[0].median_ns, 30);
  ASSERT_EQ(results.shapes.size(), 2u);
  EXPECT_EQ(results.shapes[0].input_shapes, "[[20, 30]]");
  EXPECT_EQ(results.shapes[1].count, 2);
  EXPECT_EQ(results.shapes[1].mean_ns, 20);
}

TEST_F(Operators, TasksOfADeviceThatRunsOperatorsAreOperators) {
  const TrackId stream = device_track(rank_, 0, 3);
  KernelDetail task_detail;
  task_detail.type = text("AI_CORE");
  task(stream, "Default/net/Conv2D-op3", 0, 100, -1, task_detail);
  task(stream, "Default/net/Conv2D-op3", 200, 300, -1, task_detail);
  task(stream, "Default/net/Conv2D-op9", 600, 50, -1, task_detail);
  task_detail.type = text("AI_CPU");
  task_detail.op_type = text("GetNext");
  task(stream, "GetNext-op1", 700, 10, -1, task_detail);
  task(stream, "broken", 800, -5, -1, task_detail);
  const OperatorResults& results = run().operators();
  ASSERT_EQ(results.operators.size(), 3u);
  EXPECT_EQ(results.operators[0].category, "AI_CORE");
  EXPECT_EQ(results.operators[0].type, "Conv2D");
  EXPECT_EQ(results.operators[0].total_ns, 400);
  EXPECT_NEAR(results.operators[0].share, 400.0 / 450, 1e-12);
  ASSERT_EQ(results.types.size(), 2u);
  EXPECT_EQ(results.types[0].operators, 2);
  EXPECT_EQ(results.types[0].count, 3);
  EXPECT_EQ(results.types[0].median_ns, 100);
  EXPECT_EQ(results.types[1].category, "AI_CPU");
  EXPECT_EQ(results.types[1].count, 1) << "impossible events are left out";
}

TEST_F(Operators, LaunchesAndQueues) {
  const TrackId host = host_track(rank_, "main");
  const TrackId stream = device_track(rank_, 0, 7);
  call(host, 0, 10'000, 1);
  call(host, 20'000, 10'000, 2);
  call(host, 40'000, 60'000, 3);
  task(stream, "short", 10'000, 5'000, 1, cuda());       // 0 after its call
  task(stream, "late", 180'000, 50'000, 2, cuda());      // 150 us after its call
  task(stream, "slow call", 240'000, 1'000, 3, cuda());  // 140 us after
  task(stream, "unknown", 250'000, 1'000, -1, cuda());
  const auto& rows = run().kernels().launches;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tasks, 4);
  EXPECT_EQ(rows[0].launched, 3);
  EXPECT_EQ(rows[0].call_ns, 80'000);
  EXPECT_EQ(rows[0].delay_ns, 150'000 + 140'000);
  EXPECT_EQ(rows[0].max_delay_ns, 150'000);
  EXPECT_EQ(rows[0].short_tasks, 1);
  EXPECT_EQ(rows[0].long_calls, 1);
  EXPECT_EQ(rows[0].long_delays, 2);
  EXPECT_EQ(rows[0].max_queue, 2);
  // 0..10: 1, 10..20: 0, 20..40: 1, 40..180: 2, 180..240: 1
  EXPECT_NEAR(rows[0].mean_queue, (10 + 20 + 280 + 60) / 240.0, 1e-9);
  EXPECT_NEAR(rows[0].empty_queue_share, 10 / 240.0, 1e-9);
}

TEST_F(Operators, KernelsAreWeightedByTime) {
  const TrackId stream = device_track(rank_, 0, 7);
  rank_.info.versions_json = R"({"deviceProperties": [{"id": 0, "numSms": 100}]})";
  KernelDetail small = cuda();
  small.grid = text("[50, 1, 1]");
  small.occupancy = 10;
  KernelDetail large = cuda();
  large.grid = text("[100, 3, 1]");
  large.occupancy = 100;
  task(stream, "ampere_s16816gemm", 0, 100, -1, small);
  task(stream, "ampere_s16816gemm", 200, 300, -1, large);
  task(stream, "elementwise_kernel", 600, 100, -1, cuda());
  KernelDetail copy = cuda();
  copy.type = text("MEMCPY");
  copy.work_class = WorkClass::kMemory;
  copy.bytes = 4000;
  task(stream, "Memcpy HtoD (Pageable -> Device)", 800, 1000, -1, copy);
  const KernelResults& results = run().kernels();
  ASSERT_EQ(results.kernels.size(), 3u);
  const KernelTotalRow* gemm = find(results.kernels, "ampere_s16816gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->tensor_cores, true);
  EXPECT_EQ(gemm->kind, "gemm");
  EXPECT_NEAR(*gemm->occupancy, (0.1 * 100 + 1.0 * 300) / 400, 1e-12);
  EXPECT_NEAR(*gemm->blocks_per_sm, (0.5 * 100 + 3.0 * 300) / 400, 1e-12);
  EXPECT_NEAR(gemm->share, 0.8, 1e-12) << "of computing";
  EXPECT_EQ(results.variants.size(), 4u);
  ASSERT_EQ(results.devices.size(), 1u);
  EXPECT_NEAR(*results.devices[0].tensor_core_share, 0.8, 1e-12);
  ASSERT_EQ(results.copies.size(), 1u);
  EXPECT_EQ(*results.copies[0].bandwidth, 4e9);
}

TEST_F(Operators, HistoryIsByStep) {
  const TrackId host = host_track(rank_, "main");
  for (int64_t step = 0; step < 3; ++step) {
    StepRecord record;
    record.step = step;
    record.ts_ns = step * 1000;
    record.dur_ns = 1000;
    record.source = text("marked");
    rank_.steps.push_back(record);
    op(host, "relu", step * 1000 + 10, 100 + step);
    op(host, "relu", step * 1000 + 500, 100);
  }
  const auto& rows = run().operators().steps;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].step, 2);
  EXPECT_EQ(rows[2].count, 2);
  EXPECT_EQ(rows[2].total_ns, 202);
}

TEST_F(Operators, NothingRecordedIsSaid) {
  RunAnalyses& empty = run();
  EXPECT_TRUE(empty.operators().types.empty());
  EXPECT_EQ(empty.reasons("operators").size(), 1u);
  EXPECT_EQ(empty.reasons("operator_types").size(), 1u);
  for (const std::string_view table :
       {"operators", "operator_types", "operator_shapes", "operator_steps", "kernels",
        "kernel_variants", "device_use", "launches", "copies"}) {
    const auto found = empty.table(table);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->rows(), 0u);
  }
}

TEST(OperatorsOfRanks, EveryRankHasItsRows) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 3));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  EXPECT_EQ(run.operators().operators.size(), 6u);
  EXPECT_EQ(run.operators().operators[5].rank, 2);
  EXPECT_EQ(run.kernels().launches.size(), 3u);
  EXPECT_EQ(find_operators(run.operators().operators, "MM", 1), std::vector<size_t>{1});
}

TEST(OperatorNames, TypesAndKinds) {
  EXPECT_EQ(operator_type_in("Default/net-Net/Conv2D-op12"), "Conv2D");
  EXPECT_EQ(operator_type_in("aclnnAddmm_MatMulCommon_MatMulV2"), "MatMulV2");
  EXPECT_EQ(operator_type_in("GetNext"), "GetNext");
  EXPECT_EQ(operator_type_in("-op"), "-op");
  EXPECT_EQ(operator_type_in(""), "");
  EXPECT_TRUE(uses_tensor_cores("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT"));
  EXPECT_TRUE(uses_tensor_cores("turing_h1688cudnn_128x128"));
  EXPECT_FALSE(uses_tensor_cores("volta_sgemm_128x32_nt"));
  EXPECT_TRUE(is_double_precision("volta_dgemm_64x64_nn"));
  EXPECT_TRUE(is_double_precision("void gemmk1_kernel<double, 256, 5>(double*)"));
  EXPECT_FALSE(is_double_precision("volta_sgemm_128x64_nn"));
  EXPECT_FALSE(is_double_precision("ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_nn"));
  EXPECT_EQ(kernel_kind("ncclDevKernel_AllReduce"), "communication");
  EXPECT_EQ(kernel_kind("cunn_SoftMaxBackward"), "softmax");
  EXPECT_EQ(kernel_kind("who knows"), "other");
}

}  // namespace
}  // namespace stepscope
