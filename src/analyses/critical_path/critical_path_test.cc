#include "analyses/critical_path/critical_path.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/training_rank.h"

namespace stepscope {
namespace {

using testing::kTrainingStart;
using testing::TrainingRank;

// "host 0+100" for each segment: kind, start in the step, length.
std::vector<std::string> text_of(const CriticalPath& path) {
  std::vector<std::string> text;
  for (const PathSegment& segment : path.segments()) {
    text.push_back(std::string(segment.kind) + " " +
                   std::to_string(segment.start_ns - kTrainingStart) + "+" +
                   std::to_string(segment.dur_ns));
  }
  return text;
}

// The segments touch each other, cover the step, and the sums are the step's.
void expect_covers(const CriticalPath& path, const StepRow& step) {
  int64_t at_ns = step.work_start_ns;
  for (const PathSegment& segment : path.segments()) {
    ASSERT_EQ(segment.start_ns, at_ns);
    ASSERT_GT(segment.dur_ns, 0);
    at_ns += segment.dur_ns;
  }
  EXPECT_EQ(at_ns, step.work_end_ns());
  const CriticalPathRow row = path.summary();
  EXPECT_EQ(row.dur_ns, step.work_dur_ns);
  EXPECT_EQ(row.host_ns + row.data_loading_ns + row.launch_ns + row.kernel_ns + row.memory_ns +
                row.communication_ns + row.kernel_gap_ns + row.sync_ns,
            row.dur_ns);
  const int64_t parts_ns[kPathKinds] = {
      row.host_ns,   row.data_loading_ns,  row.launch_ns,     row.kernel_ns,
      row.memory_ns, row.communication_ns, row.kernel_gap_ns, row.sync_ns};
  for (size_t i = 0; i < kPathKinds; ++i) {
    const auto kind = static_cast<PathKind>(i);
    SCOPED_TRACE(path_kind_name(kind));
    EXPECT_EQ(path.what_if({"", kind, 1.0}), row.dur_ns);
    // Nothing gains more than it has on the path, and less never takes longer.
    int64_t shorter_ns = row.dur_ns - parts_ns[i];
    for (const double factor : {0.0, 0.5, 1.0, 2.0}) {
      const int64_t length_ns = path.what_if({"", kind, factor});
      EXPECT_GE(length_ns, shorter_ns) << factor;
      shorter_ns = length_ns;
    }
  }
}

CriticalPath path_of(RunAnalyses& run, size_t step = 0) {
  return CriticalPath(run.store(), run.ranks()[0], run.steps()[step]);
}

TEST(CriticalPath, OfADeviceThatIsAlwaysBehindIsItsWork) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.step(thread, 1, 0, 1'000);
  rank.op(thread, "aten::mm", 100, 200);
  rank.launch(thread, 110, 120, stream, {"gemm", 150, 20'000});
  rank.launch(thread, 130, 140, stream, {"relu", 20'010, 30'000});
  rank.launch(thread, 150, 160, stream, {"gemm", 30'010, 50'000});
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  EXPECT_EQ(text_of(path), (std::vector<std::string>{"host 0+100", "host 100+10", "launch 110+40",
                                                     "kernel 150+19850", "kernel_gap 20000+10",
                                                     "kernel 20010+9990", "kernel_gap 30000+10",
                                                     "kernel 30010+19990"}));
  expect_covers(path, run.steps()[0]);
  // Both gemms at half their time.
  EXPECT_EQ(path.what_if({"gemm", PathKind::kKernel, 0.5}), 50'000 - 9'925 - 9'995);
  EXPECT_EQ(path.what_if({"no such kernel", PathKind::kKernel, 0.5}), 50'000);
  // Kernels that take no time leave what the host needs.
  EXPECT_EQ(path.what_if({"", PathKind::kKernel, 0.0}), 1'000);
  EXPECT_EQ(path.what_if({"", PathKind::kKernelGap, 0.0}), 50'000 - 20);
}

TEST(CriticalPath, OfASlowHostIsTheHost) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.step(thread, 1, 0, 100'000);
  rank.mark(thread, "enumerate(DataLoader)#_SingleProcess.__next__", 0, 20'000);
  rank.op(thread, "aten::mm", 30'000, 40'000);
  rank.launch(thread, 31'000, 32'000, stream, {"gemm", 35'000, 36'000});
  rank.op(thread, "aten::relu", 80'000, 90'000);
  rank.launch(thread, 81'000, 82'000, stream, {"relu", 85'000, 86'000});
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  const CriticalPathRow row = path.summary();
  expect_covers(path, run.steps()[0]);
  EXPECT_EQ(row.data_loading_ns, 20'000);
  EXPECT_EQ(row.host_ns, 80'000);
  EXPECT_EQ(path.what_if({"gemm", PathKind::kKernel, 0.5}), 100'000);
  EXPECT_EQ(path.what_if({"", PathKind::kDataLoading, 0.0}), 80'000);
  // The device becomes what limits: relu starts when gemm is done.
  EXPECT_EQ(path.what_if({"gemm", PathKind::kKernel, 100.0}), 35'000 + 100'000 + 1'000);
}

TEST(CriticalPath, GoesToTheDeviceWhereTheHostWaitsForIt) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.step(thread, 1, 0, 100'000);
  rank.launch(thread, 1'000, 2'000, stream, {"gemm", 5'000, 60'000});
  rank.call(thread, "cudaDeviceSynchronize", 10'000, 61'000);
  rank.op(thread, "aten::add", 70'000, 80'000);
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  expect_covers(path, run.steps()[0]);
  const CriticalPathRow row = path.summary();
  EXPECT_EQ(row.kernel_ns, 55'000);
  EXPECT_EQ(row.launch_ns, 4'000);
  EXPECT_EQ(row.sync_ns, 1'000);
  EXPECT_EQ(row.host_ns, 40'000);
  EXPECT_EQ(path.what_if({"gemm", PathKind::kKernel, 0.8}), 89'000);
  // Below that the host gets to the call after the device is done.
  EXPECT_EQ(path.what_if({"gemm", PathKind::kKernel, 0.0}), 10'000 + 1'000 + 39'000);
}

// Eight steps of 90'000 on the host and of 100'000 on the device, ten works of 8'000 each.
std::shared_ptr<const StoreReader> host_ahead(TrainingRank& rank) {
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  for (int64_t step = 0; step < 8; ++step) {
    const int64_t host_ns = step * 90'000;
    rank.step(thread, step, host_ns, host_ns + 90'000);
    rank.op(thread, "aten::model", host_ns, host_ns + 89'000);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t start_ns = 50'000 + step * 100'000 + i * 10'000;
      rank.launch(thread, host_ns + i * 9'000, host_ns + i * 9'000 + 4'000, stream,
                  {"gelu", start_ns, start_ns + 8'000});
    }
  }
  return rank.finish();
}

TEST(CriticalPath, AHostThatIsAheadIsWhatIsLeftOfAFasterDevice) {
  TrainingRank rank;
  RunAnalyses run(host_ahead(rank), {});
  for (const size_t step : {3u, 7u}) {
    SCOPED_TRACE(step);
    const CriticalPath path = path_of(run, step);
    expect_covers(path, run.steps()[step]);
    EXPECT_EQ(path.summary().kernel_ns, 80'000);
    EXPECT_EQ(path.summary().kernel_gap_ns, 20'000);
    EXPECT_EQ(path.what_if({"", PathKind::kLaunch, 0.0}), 100'000);
    EXPECT_EQ(path.what_if({"", PathKind::kHost, 0.0}), 100'000);
    EXPECT_EQ(path.what_if({"gelu", PathKind::kKernel, 0.95}), 96'000);
    EXPECT_EQ(path.what_if({"gelu", PathKind::kKernel, 0.5}), 90'000);
    EXPECT_EQ(path.what_if({"", PathKind::kKernel, 0.0}), 90'000);
    EXPECT_EQ(path.what_if({"", PathKind::kKernel, 2.0}), 180'000);
    EXPECT_EQ(path.what_if({"", PathKind::kHost, 2.0}), 180'000);
  }
}

// Steps of 600 works of 20'000 for a device whose queue takes 1024. A launch takes 5'000 and what
// comes after it 2'000; after every 75th the host needs 400'000 more.
constexpr int64_t kOwnOfHostNs = 600 * 7'000 + 8 * 400'000;
std::shared_ptr<const StoreReader> full_queue(TrainingRank& rank, int64_t steps) {
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  std::vector<int64_t> starts_ns;
  int64_t now_ns = 0;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t begin_ns = now_ns;
    for (int64_t i = 0; i < 600; ++i) {
      const size_t n = starts_ns.size();
      const int64_t place_ns = n < 1024 ? 0 : starts_ns[n - 1024];
      const int64_t end_ns = std::max(now_ns + 5'000, place_ns);
      const int64_t start_ns = std::max(end_ns + 1'000, n == 0 ? 0 : starts_ns.back() + 20'000);
      rank.launch(thread, now_ns, end_ns, stream, {"gelu", start_ns, start_ns + 20'000});
      starts_ns.push_back(start_ns);
      now_ns = end_ns + 2'000 + (i % 75 == 74 ? 400'000 : 0);
    }
    rank.step(thread, step, begin_ns, now_ns);
  }
  return rank.finish();
}

TEST(CriticalPath, ALaunchThatAFullQueueHoldsUpWaits) {
  TrainingRank rank;
  RunAnalyses run(full_queue(rank, 7), {});
  for (const size_t step : {4u, 5u, 6u}) {
    SCOPED_TRACE(step);
    EXPECT_GT(run.steps()[step].dur_ns, 10'000'000);
    const CriticalPath path = path_of(run, step);
    expect_covers(path, run.steps()[step]);
    EXPECT_EQ(path.summary().dur_ns, 12'000'000);
    EXPECT_EQ(path.what_if({"", PathKind::kLaunch, 0.0}), 12'000'000);
    EXPECT_EQ(path.what_if({"", PathKind::kKernel, 0.8}), 9'600'000);
    EXPECT_NEAR(path.what_if({"", PathKind::kKernel, 0.5}), kOwnOfHostNs, 50'000);
    EXPECT_NEAR(path.what_if({"", PathKind::kKernel, 0.0}), kOwnOfHostNs, 50'000);
  }
}

TEST(CriticalPath, BeginsWhereTheHostSeesTheEndOfTheStepBefore) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId stream = rank.stream(0, 7);
  rank.step(thread, 1, 0, 10'000);
  rank.launch(thread, 1'000, 2'000, stream, {"gemm", 5'000, 60'000});
  rank.step(thread, 2, 10'000, 100'000);
  rank.call(thread, "cudaDeviceSynchronize", 12'000, 61'000);
  rank.launch(thread, 70'000, 71'000, stream, {"gemm", 75'000, 99'000});
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run, 1);
  expect_covers(path, run.steps()[1]);
  EXPECT_EQ(text_of(path).front(), "sync 60000+1000");
  EXPECT_EQ(path.summary().host_ns, 39'000);
  EXPECT_EQ(path.what_if({"", PathKind::kHost, 0.0}), 1'000 + 5'000 + 24'000);
}

TEST(CriticalPath, FollowsTheThreadThatTheOtherWaitedFor) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId autograd = rank.thread("autograd");
  rank.step(thread, 1, 0, 100'000);
  rank.op(thread, "aten::linear", 1'000, 20'000);
  rank.op(autograd, "AddmmBackward0", 22'000, 70'000);
  rank.op(thread, "aten::add_", 73'000, 90'000);
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  expect_covers(path, run.steps()[0]);
  EXPECT_EQ(text_of(path),
            (std::vector<std::string>{"host 0+1000", "host 1000+19000", "sync 20000+2000",
                                      "host 22000+48000", "sync 70000+3000", "host 73000+17000",
                                      "host 90000+10000"}));
}

TEST(CriticalPath, FindsTheCollectiveThatAStreamWaitedFor) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId compute = rank.stream(0, 7);
  const TrackId collectives = rank.stream(0, 20);
  rank.step(thread, 1, 0, 10'000);
  rank.launch(thread, 1'000, 2'000, compute, {"gemm", 5'000, 20'000});
  rank.launch(thread, 2'000, 3'000, collectives,
              {"ncclAllReduce", 8'000, 90'000, WorkClass::kCommunication});
  rank.launch(thread, 3'000, 4'000, compute, {"add", 91'000, 99'000});
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  expect_covers(path, run.steps()[0]);
  const CriticalPathRow row = path.summary();
  EXPECT_EQ(row.communication_ns, 82'000);
  EXPECT_EQ(row.kernel_ns, 8'000);
  EXPECT_EQ(path.what_if({"", PathKind::kCommunication, 0.5}), 99'000 - 41'000);
}

TEST(CriticalPath, KnowsWhichWorkAStreamWaitsForWhenTheRecordingSaysSo) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  const TrackId first = rank.stream(0, 7);
  const TrackId second = rank.stream(0, 20);
  rank.step(thread, 1, 0, 10'000);
  rank.launch(thread, 1'000, 1'100, second, {"fft", 2'000, 50'000});
  rank.slice(thread, "cudaEventRecord", "cuda_runtime", 1'200, 1'300, SliceKind::kLaunchCall, 900,
             "");
  // Launched after the event was recorded: nobody waits for it.
  rank.launch(thread, 1'400, 1'500, second, {"copy", 50'000, 58'000});
  rank.slice(thread, "cudaStreamWaitEvent", "cuda_runtime", 1'600, 1'700, SliceKind::kLaunchCall,
             901, "");
  rank.slice(first, "Stream Wait Event", "cuda_sync", 1'650, 1'660, SliceKind::kOther, 901,
             R"({"stream": 7, "wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 900})");
  rank.launch(thread, 1'800, 1'900, first, {"add", 50'001, 60'000});
  RunAnalyses run(rank.finish(), {});
  const CriticalPath path = path_of(run);
  expect_covers(path, run.steps()[0]);
  EXPECT_EQ(path.summary().kernel_ns, 48'000 + 9'999);
  EXPECT_EQ(path.what_if({"fft", PathKind::kKernel, 0.5}), 60'000 - 24'000);
  EXPECT_EQ(path.what_if({"copy", PathKind::kKernel, 0.5}), 60'000);
}

TEST(CriticalPath, OnTheHostAndOfAnEmptyStep) {
  TrainingRank rank;
  const TrackId thread = rank.thread("main");
  rank.step(thread, 1, 0, 1'000);
  rank.step(thread, 2, 1'000, 2'000);
  rank.op(thread, "aten::mm", 1'100, 1'900);
  RunAnalyses run(rank.finish(), {});
  const CriticalPath empty = path_of(run, 0);
  expect_covers(empty, run.steps()[0]);
  EXPECT_EQ(empty.summary().host_ns, 1'000);
  const CriticalPath host = path_of(run, 1);
  expect_covers(host, run.steps()[1]);
  EXPECT_EQ(text_of(host),
            (std::vector<std::string>{"host 1000+100", "host 1100+800", "host 1900+100"}));
  EXPECT_EQ(host.what_if({"", PathKind::kHost, 0.5}), 500);
}

TEST(CriticalPath, ReasonWithoutSteps) {
  TrainingRank rank;
  rank.op(rank.thread("main"), "aten::mm", 0, 10);
  RunAnalyses run(rank.finish(), {});
  EXPECT_TRUE(run.critical_path().empty());
  EXPECT_EQ(run.reasons("critical_path").size(), 1u);
}

// Every step of every trace: exact cover. And where HTA's path holds up, the same bound.
TEST(CriticalPath, CoversTheStepsOfRealTraces) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const char* const paths[] = {"kineto/hta/ns_resolution_trace",
                               "kineto/hta/critical_path/alexnet",
                               "kineto/hta/critical_path/cuda_event_sync",
                               "kineto/hta/trace_filter",
                               "kineto/hta/trace_compare/base",
                               "kineto/hta/df_index_resolver",
                               "kineto/hta/cpu_only",
                               "kineto/kineto_tb/old",
                               "kineto/kineto_tb/samples",
                               "ascend/msinsight/text/level1",
                               "ascend/msinsight/db/level1",
                               "mindinsight/tests/utils/resource/run_1",
                               "mindspore_cpu/h_data_parallel",
                               "h200"};
  for (const char* path : paths) {
    SCOPED_TRACE(path);
    const testing::ImportedRun imported(testing::shared_data() + "/" + path);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    size_t seen = 0;
    for (const RankId& rank : run.ranks()) {
      for (const StepRow& step : run.steps(rank.position)) {
        if (++seen > 20) break;
        const CriticalPath critical(run.store(), rank, step);
        SCOPED_TRACE("rank " + std::to_string(rank.rank) + " step " + std::to_string(step.step));
        expect_covers(critical, step);
        EXPECT_LE(critical.what_if({"", PathKind::kKernel, 0.5}), step.work_dur_ns);
        EXPECT_GE(critical.what_if({"", PathKind::kKernel, 2.0}), step.work_dur_ns);
      }
    }
    EXPECT_GT(seen, 0u);
  }
}

TEST(CriticalPath, NamesWhatLimitsRealTraces) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const auto share = [](int64_t part, const CriticalPathRow& row) {
    return static_cast<double>(part) / static_cast<double>(row.dur_ns);
  };
  {  // HTA: 96 % gpu_compute_bound
    const testing::ImportedRun imported(testing::shared_data() + "/kineto/hta/ns_resolution_trace");
    RunAnalyses run(imported.shared_store(), {});
    EXPECT_GT(share(run.critical_path()[0].kernel_ns, run.critical_path()[0]), 0.96);
  }
  {  // HTA: 100 % cpu_bound
    const testing::ImportedRun imported(testing::shared_data() + "/kineto/hta/df_index_resolver");
    RunAnalyses run(imported.shared_store(), {});
    EXPECT_GT(share(run.critical_path()[0].host_ns, run.critical_path()[0]), 0.99);
  }
  {  // All four all-reduces, which wait for a late peer (data/ascend/EXPECTED.md).
    const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/db/level1");
    RunAnalyses run(imported.shared_store(), {});
    EXPECT_EQ(run.critical_path()[0].communication_ns, 102'108'100);
    EXPECT_EQ(run.critical_path()[1].communication_ns, 98'590'190);
  }
}

}  // namespace
}  // namespace stepscope
