#include "analyses/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "analyses/pipeline/bottleneck.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::add_step;
using testing::MadeRun;
using Places = std::vector<size_t>;

QueueNode node(double usage, std::vector<size_t> children = {}) {
  return {usage, true, std::move(children)};
}
QueueNode root(std::vector<size_t> children) { return {0, false, std::move(children)}; }

TEST(PipelineBottleneck, FullInputAndEmptyOutput) {
  // root <- 1 <- 2 <- {3, 4}
  const std::vector<QueueNode> nodes = {root({1}), node(0.15, {2}), node(0.94, {3, 4}), node(0.3),
                                        node(0.3)};
  EXPECT_EQ(bottleneck_operators(nodes, {0.8, 0.2}), Places{1});
  EXPECT_EQ(bottleneck_operators(nodes, {0.8, 0.6}), (Places{1, 3, 4})) << "low leaves come last";
}

TEST(PipelineBottleneck, AllHighMeansTheRoot) {
  EXPECT_EQ(bottleneck_operators({root({1}), node(0.94, {2}), node(0.9)}), Places{0});
  EXPECT_EQ(bottleneck_operators({node(0.9, {1}), node(0.94, {2}), node(0.9)}), Places{})
      << "the root's own queue is full: the training is slow";
  EXPECT_EQ(bottleneck_operators({node(0.1, {1}), node(0.94, {2}), node(0.9)}), Places{0});
}

TEST(PipelineBottleneck, DifferencesOfATenthDoNotCount) {
  EXPECT_EQ(bottleneck_operators({root({1}), node(0.5, {2}), node(0.6)}), Places{});
  EXPECT_EQ(bottleneck_operators({root({1}), node(0.5, {2}), node(0.61)}), Places{1});
  EXPECT_EQ(bottleneck_operators({}), Places{});
  EXPECT_EQ(bottleneck_operators({root({})}), Places{});
  EXPECT_EQ(bottleneck_operators({node(0.2)}), Places{0}) << "a single stage that is starved";
}

TEST(PipelineBottleneck, SuggestionsFollowTheType) {
  EXPECT_NE(suggestion_for("GeneratorOp", true).find("MindRecordDataset"), std::string_view::npos);
  EXPECT_NE(suggestion_for("Map", false).find("num_parallel_workers"), std::string_view::npos);
  EXPECT_NE(suggestion_for("BatchOp", false).find("prefetch_size"), std::string_view::npos);
  EXPECT_NE(suggestion_for("TFReader", true).find("dataset"), std::string_view::npos);
}

struct Sizes {
  int64_t size;
  int64_t capacity;
  int64_t fetch_ns;
};

void add_batches(RankBuilder& rank, std::string_view stage, const std::vector<Sizes>& batches,
                 int64_t interval_ns = 1000) {
  int64_t number = 0;
  for (const Sizes& batch : batches) {
    QueueRecord record;
    record.stage = rank.strings.intern(stage);
    record.batch = ++number;
    record.ts_ns = number * interval_ns;
    record.size = batch.size;
    record.capacity = batch.capacity;
    record.fetch_ns = batch.fetch_ns;
    rank.queues.push_back(record);
  }
}

TEST(Pipeline, TransferWhenOnlyTheDeviceStarves) {
  MadeRun run;
  add_batches(run.rank, "device_queue", {{8, 8, 0}, {8, 8, 0}, {7, 8, 0}, {8, 8, 0}});
  add_batches(run.rank, "GetNext",
              {{0, kNull, 900}, {0, kNull, 900}, {0, kNull, 900}, {1, kNull, 5}});
  const PipelineResult& result = run.analyses().pipeline();
  ASSERT_EQ(result.verdicts.size(), 1u);
  const PipelineRow& row = result.verdicts[0];
  EXPECT_EQ(row.host_batches, 4);
  EXPECT_EQ(row.host_full, 3);
  EXPECT_EQ(row.data_empty, 3);
  EXPECT_EQ(row.data_process, "normal");
  EXPECT_EQ(row.data_transmission, "warning");
  EXPECT_EQ(row.get_next, "normal");
  EXPECT_EQ(row.fpbp, std::nullopt);
  EXPECT_EQ(row.slow_stage, "transfer");
  EXPECT_EQ(row.wait_source, "GetNext");
  EXPECT_EQ(row.wait_ns, 2705);
  EXPECT_EQ(row.step_ns, 3005);  // 1000 to 4005
  EXPECT_EQ(row.input_bound, "highly");
  ASSERT_EQ(result.steps.size(), 4u);
  EXPECT_EQ(result.steps[0].data_empty, 1);
  EXPECT_EQ(result.steps[0].host_full, 1);
  EXPECT_EQ(result.steps[2].host_full, 0);
}

TEST(Pipeline, NothingIsBlamedWhenTheTrainingDoesNotWait) {
  MadeRun run;
  // MindInsight would blame the transfer for the one empty batch.
  add_batches(run.rank, "device_queue", {{8, 8, 0}, {8, 8, 0}, {8, 8, 0}, {8, 8, 0}});
  add_batches(run.rank, "GetNext", {{0, kNull, 9}, {3, kNull, 1}, {3, kNull, 1}, {3, kNull, 1}});
  const PipelineRow& row = run.analyses().pipeline().verdicts.at(0);
  EXPECT_EQ(row.data_transmission, "warning");
  EXPECT_EQ(row.slow_stage, "none");
  EXPECT_EQ(row.bottleneck, "training");
  EXPECT_EQ(row.input_bound, "not");
}

TEST(Pipeline, FetchWhenBatchesAreThereButSlowToGet) {
  MadeRun run;
  add_batches(run.rank, "GetNext", {{2, kNull, 500}, {3, kNull, 500}, {3, kNull, 500}});
  const PipelineRow& row = run.analyses().pipeline().verdicts.at(0);
  EXPECT_EQ(row.slow_stage, "fetch");
  EXPECT_EQ(row.data_process, std::nullopt) << "MindInsight says nothing without a host queue";
}

TEST(Pipeline, LoaderRangesAreWaitsOfTheirSteps) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId thread = testing::host_track(rank, "python");
  const TrackId stream = testing::device_track(rank, 0, 7);
  const char* next = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  rank.add_slice(thread, testing::slice_of(rank, "train", 0, 3000));
  rank.add_slice(thread, testing::slice_of(rank, next, 100, 300));
  rank.add_slice(thread, testing::slice_of(rank, "enumerate(DataPipe)#Mapper", 150, 50));  // inside
  rank.add_slice(thread, testing::slice_of(rank, next, 1100, 100));
  rank.add_slice(stream, testing::slice_of(rank, next, 1150, 100));  // the device's copy
  SliceRecord impossible = testing::slice_of(rank, next, 2100, -5);
  rank.add_slice(thread, impossible);
  add_step(rank, 7, 0, 1000);
  add_step(rank, 8, 1000, 1000);
  add_step(rank, 9, 2000, 1000);
  const PipelineResult& result = run.analyses().pipeline();
  const PipelineRow& row = result.verdicts.at(0);
  EXPECT_EQ(row.wait_source, "_MultiProcessingDataLoaderIter");
  EXPECT_EQ(row.waits, 1) << "the first step is in no average";
  EXPECT_EQ(row.wait_ns, 100);
  EXPECT_EQ(row.step_ns, 2000);
  EXPECT_EQ(row.slow_stage, "process");
  EXPECT_EQ(row.input_bound, "moderately");
  ASSERT_EQ(result.steps.size(), 3u);
  EXPECT_EQ(result.steps[0].step, 7);
  EXPECT_EQ(result.steps[0].wait_ns, 300);
  EXPECT_DOUBLE_EQ(result.steps[0].wait_share, 0.3);
  EXPECT_EQ(result.steps[2].wait_ns, 0);
  EXPECT_EQ(result.batches.size(), 2u);
}

TEST(Pipeline, WaitsUnderWhichTheDeviceWorksCostNothing) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId thread = testing::host_track(rank, "python");
  const TrackId stream = testing::device_track(rank, 0, 7);
  const char* next = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  rank.add_slice(thread, testing::slice_of(rank, next, 100, 500));
  rank.add_slice(stream, testing::slice_of(rank, "gemm", 50, 250, SliceKind::kKernel));
  rank.add_slice(stream, testing::slice_of(rank, "gemm", 320, 270, SliceKind::kKernel));
  add_step(rank, 1, 0, 1000);
  const PipelineResult& result = run.analyses().pipeline();
  const PipelineRow& row = result.verdicts.at(0);
  EXPECT_EQ(row.wait_ns, 500);
  EXPECT_EQ(row.exposed_wait_ns, 30);  // 300..320 and 590..600
  EXPECT_EQ(row.slow_stage, "none");
  EXPECT_EQ(row.input_bound, "potentially") << "nothing is recorded from 600 on";
  EXPECT_EQ(result.steps.at(0).exposed_wait_ns, 30);
  EXPECT_EQ(result.batches.at(0).batch.exposed_ns, 30);
}

// Waiting for 1 % of a step of 1000, a device that is busy up to `busy_to` and a host up to 1000.
TEST(Pipeline, PotentiallyInputBoundWhereIdleTimeIsUnexplained) {
  const auto class_of = [](int64_t busy_to, int64_t host_from) {
    MadeRun run;
    RankBuilder& rank = run.rank;
    const TrackId thread = testing::host_track(rank, "python");
    const TrackId stream = testing::device_track(rank, 0, 7);
    rank.add_slice(thread,
                   testing::slice_of(rank, "enumerate(DataLoader)#_SingleProcess.__next__", 0, 10));
    rank.add_slice(stream, testing::slice_of(rank, "gemm", 10, busy_to - 10, SliceKind::kKernel));
    rank.add_slice(
        thread, testing::slice_of(rank, "aten::add", host_from, 1000 - host_from, SliceKind::kOp));
    add_step(rank, 1, 0, 1000);
    return std::string(run.analyses().pipeline().verdicts.at(0).input_bound);
  };
  EXPECT_EQ(class_of(960, 990), "potentially");  // 960..990: 3 %
  EXPECT_EQ(class_of(961, 990), "not");
  EXPECT_EQ(class_of(900, 900), "not") << "the host works meanwhile";
}

TEST(Pipeline, APutAndATakeAreOneBatch) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  // Four batches through a queue of two that records both its ends; each put finds it as the take
  // before it left it. A queue whose producer alone records has its puts.
  const int64_t sizes[] = {0, 1, 2, 2};
  for (int64_t number = 1; number <= 4; ++number) {
    QueueRecord record;
    record.stage = rank.strings.intern("images");
    record.batch = number;
    record.capacity = 2;
    record.size = 0;
    record.ts_ns = number * 1000;
    record.push_ns = 5;
    rank.queues.push_back(record);
    record.size = sizes[number - 1];
    record.ts_ns += 100;
    record.push_ns = kNull;
    record.fetch_ns = 10;
    rank.queues.push_back(record);
    record.stage = rank.strings.intern("labels");
    record.push_ns = 7;
    record.fetch_ns = kNull;
    rank.queues.push_back(record);
  }
  add_step(rank, 1, 0, 10'000);
  const PipelineResult& result = run.analyses().pipeline();
  const PipelineRow& row = result.verdicts.at(0);
  EXPECT_EQ(row.host_batches, 4);
  EXPECT_EQ(row.host_empty, 1);
  EXPECT_EQ(row.host_full, 2);
  EXPECT_EQ(row.waits, 4);
  ASSERT_EQ(result.stages.size(), 2u);
  EXPECT_EQ(result.stages[0].batches, 4);
  EXPECT_EQ(result.stages[0].push_ns, 20) << "the waiting of both ends stays";
  EXPECT_EQ(result.stages[0].fetch_ns, 40);
  EXPECT_EQ(result.stages[1].batches, 4);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(result.steps[0].batches, 8) << "four of each queue";
  EXPECT_EQ(result.steps[0].host_empty, 1);
  EXPECT_EQ(result.batches.size(), 12u) << "every record is in the table";
}

constexpr int64_t kMs = 1'000'000;

// Model.train fetches a batch before it says that the step begins: 900 of 1000 ms, here.
TEST(Pipeline, WaitsBetweenStepsAreOfTheStepThatFollows) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  const Sizes batch = {0, 8, 900 * kMs};
  add_batches(rank, "dataset_iterator", {batch, batch, batch, batch}, 1000 * kMs);
  // The fetches end at 1000, 2000, 3000, and 4000, behind the last step; at 2100 somebody
  // evaluates.
  for (int64_t step = 1; step <= 3; ++step)
    add_step(rank, step, (step * 1000 + 50) * kMs, 50 * kMs);
  const PipelineResult& result = run.analyses().pipeline();
  const PipelineRow& row = result.verdicts.at(0);
  EXPECT_EQ(row.waits, 2) << "the first step is in no average";
  EXPECT_EQ(row.wait_ns, 1800 * kMs);
  EXPECT_EQ(row.step_ns, 1900 * kMs);
  EXPECT_EQ(row.input_bound, "highly");
  EXPECT_EQ(row.slow_stage, "process");
  ASSERT_EQ(result.steps.size(), 3u);
  for (const PipelineStepRow& step : result.steps) {
    EXPECT_EQ(step.batches, 1);
    EXPECT_EQ(step.host_empty, 1);
    EXPECT_EQ(step.wait_ns, 900 * kMs);
    EXPECT_EQ(step.step_ns, 950 * kMs);
  }
  EXPECT_EQ(result.batches.at(3).batch.step, kNull);
}

// minddata's times are cut to whole milliseconds. Steps here follow each other within one: the
// second begins at 10.7, its batch came at 10.6 and is stamped 10, when the first still ran.
TEST(Pipeline, ABatchIsNotOfTheStepBeforeBecauseItsTimeWasCut) {
  MadeRun run;
  const Sizes batch = {1, 8, 2 * kMs};
  add_batches(run.rank, "dataset_iterator", {batch, batch}, 5 * kMs);  // 5 and 10
  add_step(run.rank, 1, 5'800'000, 4'500'000);
  add_step(run.rank, 2, 10'700'000, 4'000'000);
  const PipelineResult& result = run.analyses().pipeline();
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[0].batches, 1);
  EXPECT_EQ(result.steps[1].batches, 1);
}

// Operators of minddata's files, and samples of their queues: `sizes` of 10.
void add_operator(RankBuilder& rank, SourceTable& tree, int64_t id, const char* type,
                  const char* children, const std::vector<int64_t>& sizes) {
  const int64_t values[] = {id, rank.strings.intern(type), 2, rank.strings.intern(children), 10};
  for (size_t i = 0; i < std::size(values); ++i) tree.columns[i].values.push_back(values[i]);
  for (const int64_t size : sizes) {
    QueueRecord record;
    record.stage = rank.strings.intern(std::string(type) + "_" + std::to_string(id));
    record.ts_ns = std::ssize(rank.queues) + 1;
    record.size = size;
    record.capacity = 10;
    rank.queues.push_back(record);
  }
}

TEST(Pipeline, PipelinesOfSeveralWindowsAreAllThereAndTheLongestIsJudged) {
  MadeRun run;
  SourceTable tree;
  tree.name = "minddata_pipeline";
  tree.columns = {{"op_id", Type::kInt64, {}},
                  {"op_type", Type::kText, {}},
                  {"num_workers", Type::kInt64, {}},
                  {"children", Type::kText, {}},
                  {"queue_length", Type::kInt64, {}}};
  add_operator(run.rank, tree, 0, "BatchOp", "[1]", {9});
  add_operator(run.rank, tree, 1, "MapOp", "[]", {9});
  add_operator(run.rank, tree, 2, "BatchOp", "[3]", {0, 0, 0});
  add_operator(run.rank, tree, 3, "GeneratorOp", "[]", {1, 0, 1});
  run.rank.source_tables.push_back(std::move(tree));
  add_batches(run.rank, "dataset_iterator", {{0, 16, 900}, {0, 16, 900}});
  const PipelineResult& result = run.analyses().pipeline();
  ASSERT_EQ(result.stages.size(), 5u);
  EXPECT_EQ(result.stages[2].stage, "BatchOp_2");
  EXPECT_EQ(result.stages[2].role, "operator");
  EXPECT_EQ(result.stages[3].parent_id, 2);
  EXPECT_EQ(result.verdicts.at(0).slow_stage, "process");
  EXPECT_EQ(result.verdicts.at(0).bottleneck, "GeneratorOp_3");
}

TEST(Pipeline, ARunWithoutDataPipelineSaysWhatToRecord) {
  MadeRun run;
  add_step(run.rank, 1, 0, 10);
  EXPECT_TRUE(run.analyses().pipeline().verdicts.empty());
  const auto reasons = run.analyses().reasons("pipeline");
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_NE(reasons[0].why.find("data_process"), std::string::npos);
}

TEST(Pipeline, ARunThatAskedForAPipelineIsNotToldToAskForIt) {
  for (
      const char* versions :
      {R"({"metadata": {"parameters": {"data_process": true}}})",
       R"({"metadata": {"parameters": {}}, "windows": [{}, {"asked_for": {"data_process": true}}]})"}) {
    MadeRun run;
    add_step(run.rank, 1, 0, 10);
    run.rank.info.versions_json = versions;
    EXPECT_TRUE(run.analyses().pipeline().verdicts.empty());
    const auto reasons = run.analyses().reasons("pipeline");
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_TRUE(reasons[0].why.starts_with("data_process was on")) << reasons[0].why;
  }
  MadeRun off;
  off.rank.info.versions_json =
      R"({"metadata": {"parameters": {"data_process": false}}, "windows": [7]})";
  EXPECT_TRUE(off.analyses().pipeline().verdicts.empty());
  EXPECT_NE(off.analyses().reasons("pipeline").at(0).why.find("record with"), std::string::npos);
}

TEST(Pipeline, QueuesWithoutCapacityOrSizeDoNotDivideByZero) {
  MadeRun run;
  add_batches(run.rank, "dataset_iterator", {{kNull, 0, kNull}, {0, 0, kNull}, {-3, 4, 1}});
  const PipelineResult& result = run.analyses().pipeline();
  EXPECT_EQ(result.stages.at(0).samples, 1);
  EXPECT_EQ(result.stages.at(0).capacity, 4);
  EXPECT_EQ(result.verdicts.at(0).slow_stage, "none") << "1 ns of waiting in 2000";
}

TEST(Pipeline, StagesThatTheProgramDescribed) {
  testing::MadeRun run;
  RankBuilder& rank = run.rank;
  const auto stage = [&](const char* name, const char* kind, int64_t workers, int64_t capacity,
                         const char* consumer) {
    StageRecord record;
    record.stage = rank.strings.intern(name);
    record.kind = rank.strings.intern(kind);
    record.workers = workers;
    record.capacity = capacity;
    if (consumer != nullptr) record.consumer = rank.strings.intern(consumer);
    rank.stages.push_back(record);
  };
  stage("read", "read", 4, 10, "decode");
  stage("decode", "map", 2, 10, "DataLoader_0 pin_memory");
  stage("DataLoader_0 pin_memory", "pin_memory", 1, 4, nullptr);
  stage("DataLoader_1", "DataLoader of V", kNull, kNull, nullptr);
  const auto sample = [&](const char* name, int64_t size, int64_t capacity, int64_t fetch_ns,
                          int64_t ts) {
    QueueRecord record;
    record.stage = rank.strings.intern(name);
    record.ts_ns = ts;
    record.size = size;
    record.capacity = capacity;
    record.fetch_ns = fetch_ns;
    if (fetch_ns != kNull) record.batch = ts / 1000;
    rank.queues.push_back(record);
  };
  for (int64_t i = 0; i < 4; ++i) {
    sample("read", 9, 10, kNull, i * 1000);
    sample("decode", 1, 10, kNull, i * 1000);
    sample("DataLoader_0 pin_memory", 0, 4, 600, i * 1000 + 100);
  }
  sample("DataLoader_1", kNull, kNull, 5, 4500);
  for (int64_t i = 0; i < 5; ++i) add_step(rank, i, i * 1000, 1000);
  TrackInfo lane;
  lane.process = rank.strings.intern("decode");
  lane.thread = rank.strings.intern("cpu %");
  lane.kind = TrackKind::kCounter;
  for (int worker = 0; worker < 2; ++worker) {
    const TrackId track = rank.add_track(lane);
    rank.counters.push_back({1000, 80, track});
    rank.counters.push_back({2000, 90, track});
  }
  const PipelineResult& result = run.analyses().pipeline();
  const PipelineRow& row = result.verdicts.at(0);
  EXPECT_EQ(row.wait_source, "DataLoader_0 pin_memory");
  EXPECT_EQ(row.wait_ns, 1800);
  EXPECT_EQ(row.step_ns, 4000);
  EXPECT_EQ(row.slow_stage, "process");
  EXPECT_EQ(row.bottleneck, "decode");
  EXPECT_EQ(row.host_empty, 4);
  for (const auto& one : result.stages) {
    if (one.stage == "decode") {
      EXPECT_DOUBLE_EQ(one.cpu, 1.7) << "both workers together";
    }
  }
}
}  // namespace
}  // namespace stepscope
