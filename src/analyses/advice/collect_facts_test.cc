#include "analyses/advice/collect_facts.h"

#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analyses/advice/facts_of_ranks_test.h"
#include "analyses/run_analyses.h"
#include "tests/support/imported_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

struct Said {
  std::string versions;
  std::string parallel;
  int64_t rank = 0;
  int64_t world_size = kNull;
};

Facts facts_of(const Said& said) {
  return testing::facts_of_ranks([&](RankBuilder& rank) {
    rank.info.rank = said.rank;
    rank.info.world_size = said.world_size;
    rank.info.versions_json = said.versions;
    rank.info.parallel_json = said.parallel;
  });
}

TEST(CollectFacts, SettingsThatCostTime) {
  const Facts facts = facts_of({R"({"ENV_VARIABLES":{"ASCEND_LAUNCH_BLOCKING":"1",
    "ASCEND_GLOBAL_LOG_LEVEL":"1","HCCL_ALGO":"","ACLNN_CACHE_LIMIT":"","HCCL_RDMA_TC":"132"}})",
                                "", 0, kNull});
  EXPECT_EQ(facts.ranks[0].settings,
            (std::vector<std::string>{"ASCEND_GLOBAL_LOG_LEVEL=1", "ASCEND_LAUNCH_BLOCKING=1"}));
  EXPECT_TRUE(facts_of({R"({"ENV_VARIABLES":{"ASCEND_LAUNCH_BLOCKING":"0",
    "ASCEND_GLOBAL_LOG_LEVEL":"3","HCCL_ALGO":7}})",
                        "", 0, kNull})
                  .ranks[0]
                  .settings.empty());
  EXPECT_TRUE(facts_of({"not JSON", "[]", 0, kNull}).ranks[0].settings.empty());
}

TEST(CollectFacts, CostOfRecordingFromTheStepsBesideIt) {
  const std::string times =
      R"({"with_recording":{"median_seconds":0.12,"steps":5},"without_recording":)"
      R"({"median_seconds":0.1,"steps":20}})";
  const Facts kept = facts_of({R"({"metadata":{"step_times":)" + times + "}}", "", 0, kNull});
  EXPECT_NEAR(kept.profiler_cost_share, 0.2, 1e-9);
  const Facts few = facts_of({R"({"metadata":{"step_times":{"with_recording":)"
                              R"({"median_seconds":0.12,"steps":1},"without_recording":)"
                              R"({"median_seconds":0.1,"steps":20}}}})",
                              "", 0, kNull});
  EXPECT_TRUE(std::isnan(few.profiler_cost_share));
}

TEST(CollectFacts, RanksAreDealtOutToStagesInOrder) {
  EXPECT_EQ(facts_of({"", R"({"mode":"pipeline-parallel","stages":2})", 5, 8}).ranks[0].stage, 1);
  EXPECT_EQ(facts_of({"", R"({"distributed_args":{"pipeline_model_parallel_size":4}})", 3, 8})
                .ranks[0]
                .stage,
            1);
  EXPECT_EQ(facts_of({"", R"({"pipeline_stages":4})", 5, 8}).ranks[0].stage, 2);
  EXPECT_EQ(facts_of({"", R"({"stages":1})", 5, 8}).ranks[0].stage, kNull);
  EXPECT_EQ(facts_of({"", R"({"stages":9})", 5, 8}).ranks[0].stage, kNull);
}

// Steps of 1000 and a pause of 50 before the last; the all-reduce of step 2 is the longest.
TEST(CollectFacts, PlacesAreTheWorstInstances) {
  const Facts facts = testing::facts_of_ranks([](RankBuilder& rank) {
    rank.info.rank = 3;
    const TrackId stream = testing::device_track(rank, 0, 7);
    for (int64_t step = 0; step < 4; ++step) {
      const int64_t at_ns = step * 1000 + (step == 3 ? 50 : 0);
      testing::add_step(rank, step, at_ns, 1000);
      rank.add_slice(stream, testing::slice_of(rank, "gemm", at_ns, 400, SliceKind::kKernel));
      testing::add_operation(rank, stream, "allReduce", at_ns + 400, step == 2 ? 300 : 100,
                             testing::numbered(step, 1000, 2));
      testing::add_operation(rank, stream, "recv", at_ns + 800, step == 1 ? 90 : 20, {});
    }
  });
  const RankFacts& rank = facts.ranks.at(0);
  const auto expect_place = [](const std::optional<Place>& place, int64_t step, int64_t start_ns,
                               int64_t end_ns) {
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->rank, 3);
    EXPECT_EQ(place->step, step);
    EXPECT_EQ(place->start_ns, start_ns);
    EXPECT_EQ(place->end_ns, end_ns);
  };
  expect_place(rank.longest_step_place, 1, 1000, 2000);  // the first of equals; step 0 is no mean's
  expect_place(rank.longest_interval, 3, 3000, 3050);
  expect_place(rank.longest_exposed, 2, 2400, 2700);
  expect_place(rank.longest_collective, 2, 2400, 2700);
  expect_place(rank.longest_receive, 1, 1800, 1890);
  expect_place(facts.small_message, 2, 2400, 2700);
  EXPECT_FALSE(rank.peak_allocated.has_value());
  EXPECT_FALSE(facts.late_peer_place.has_value());
}

TEST(CollectFacts, CallsOfGlooAndDataParallelAreCounted) {
  const Facts facts = testing::facts_of_ranks([](RankBuilder& rank) {
    const TrackId thread = testing::host_track(rank, "main");
    for (int64_t step = 0; step < 2; ++step) {
      testing::add_step(rank, step, step * 1000, 1000);
      rank.add_slice(thread, testing::slice_of(rank, "gloo:all_reduce", step * 1000, 30));
      rank.add_slice(thread, testing::slice_of(rank, "gloo:broadcast", step * 1000 + 50, 10));
      rank.add_slice(thread, testing::slice_of(rank, "DataParallel.forward", step * 1000 + 80, 60));
    }
  });
  EXPECT_EQ(facts.ranks[0].gloo_calls, 2);
  EXPECT_EQ(facts.ranks[0].gloo_ns, 40);
  EXPECT_EQ(facts.ranks[0].data_parallel_calls, 1);
  EXPECT_EQ(facts.ranks[0].data_parallel_ns, 60);
}

// Steps of 1000, of which the first is in no mean. Most of it is before them or in the first.
TEST(CollectFacts, WorkOfAStepIsThatOfTheStepsThatMeansAreMadeOf) {
  const Facts facts = testing::facts_of_ranks([](RankBuilder& rank) {
    const TrackId thread = testing::host_track(rank, "main");
    const TrackId stream = testing::device_track(rank, 0, 7);
    const auto work = [&](std::string_view name, std::string_view type, WorkClass work_class,
                          int64_t at_ns, int64_t dur_ns) {
      KernelDetail detail;
      detail.type = rank.strings.intern(type);
      detail.work_class = work_class;
      SliceRecord slice = testing::slice_of(rank, name, at_ns, dur_ns, SliceKind::kKernel);
      slice.detail = rank.add_kernel(detail);
      rank.add_slice(stream, slice);
    };
    const auto step_work = [&](int64_t at_ns, int64_t times) {
      work("Memcpy HtoD (Pageable -> Device)", "MEMCPY", WorkClass::kMemory, at_ns, 20 * times);
      work("softmax_warp_forward", "CUDA", WorkClass::kCompute, at_ns + 300, 30 * times);
      work("Unique", "AI_CPU", WorkClass::kCompute, at_ns + 600, 40 * times);
      for (int64_t i = 0; i < times; ++i) {
        rank.add_slice(thread, testing::slice_of(rank, "gloo:all_reduce", at_ns + 100 * i, 10));
        rank.add_slice(thread, testing::slice_of(rank, "SyncBatchNorm", at_ns + 20 + 100 * i, 10));
        rank.add_slice(thread,
                       testing::slice_of(rank, "DataParallel.forward", at_ns + 40 + 100 * i, 10));
      }
    };
    step_work(1'000, 5);  // before the first step
    for (int64_t step = 0; step < 3; ++step) {
      testing::add_step(rank, step, 10'000 + step * 1000, 1000);
      step_work(10'000 + step * 1000, step == 0 ? 7 : step);
    }
  });
  const RankFacts& rank = facts.ranks.at(0);
  EXPECT_EQ(rank.steps, 2);
  EXPECT_EQ(rank.kernels, 2);
  EXPECT_EQ(rank.mean_kernel_ns, (30 + 60 + 40 + 80) / 4);
  EXPECT_EQ(rank.pageable_copy_ns, 30);
  EXPECT_EQ(rank.unfused_softmax_ns, 45);
  EXPECT_EQ(rank.ai_cpu_ns, 60);
  EXPECT_EQ(rank.gloo_calls, 1.5);
  EXPECT_EQ(rank.gloo_ns, 15);
  EXPECT_EQ(rank.sync_batch_norms, 1.5);
  EXPECT_EQ(rank.data_parallel_calls, 1.5);
  EXPECT_EQ(rank.data_parallel_ns, 15);
}

// Steps of 20 ms: the device computes for 10, then waits for a host that is in augment.
TEST(CollectFacts, LongGapsHaveTheCodeThatTheHostIsIn) {
  constexpr int64_t kMs = 1'000'000;
  const Facts facts = testing::facts_of_ranks([](RankBuilder& rank) {
    rank.info.versions_json =
        R"({"deviceProperties":[{"id":0,"computeMajor":7,"computeMinor":5}]})";
    const TrackId thread = testing::host_track(rank, "main");
    const TrackId stream = testing::device_track(rank, 0, 7);
    for (int64_t step = 0; step < 3; ++step) {
      const int64_t at_ns = step * 20 * kMs;
      testing::add_step(rank, step, at_ns, 20 * kMs);
      rank.add_slice(thread, testing::slice_of(rank, "train", at_ns, 20 * kMs));
      rank.add_slice(thread, testing::slice_of(rank, "augment", at_ns + 4 * kMs, 6 * kMs));
      rank.add_slice(thread, testing::slice_of(rank, "blur", at_ns + 5 * kMs, 2 * kMs));
      rank.add_slice(stream, testing::slice_of(rank, "gemm", at_ns, 2 * kMs, SliceKind::kKernel));
      rank.add_slice(stream, testing::slice_of(rank, "gemm", at_ns + 10 * kMs, 9 * kMs + kMs / 2,
                                               SliceKind::kKernel));
    }
  });
  const RankFacts& rank = facts.ranks.at(0);
  EXPECT_EQ(rank.idle_ns, 8 * kMs + kMs / 2);
  EXPECT_EQ(rank.idle_stall_ns, 8 * kMs);
  EXPECT_EQ(rank.idle_host_ns, kMs / 2);
  EXPECT_EQ(rank.stall_code, "augment");  // 6 of 8 ms; train is around it
  ASSERT_TRUE(rank.longest_stall.has_value());
  EXPECT_EQ(rank.longest_stall->start_ns, 22 * kMs);
  EXPECT_EQ(rank.longest_stall->end_ns, 30 * kMs);
  EXPECT_EQ(rank.compute_capability, 75);
}

// data/ascend/EXPECTED.md and EXPECTED_msprof_analyze.md: what msprof-analyze's rules see there.
TEST(CollectFacts, NetworkOfTheAscendSample) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const Facts& facts = run.facts();
  EXPECT_EQ(facts.late_peer, 5);
  // 237.9447 + 159.0632 and 263.9253 + 171.8235 us of unaligned transfers in all that was moved.
  double moved_ns = 0;
  for (const CommunicationMatrixRow& row : run.communication().matrix) {
    if (row.src_rank != row.dst_rank) moved_ns += static_cast<double>(row.time_ns);
  }
  EXPECT_NEAR(facts.unaligned_transfers_share * moved_ns, 832'756.7, 4);  // eight are rounded
  EXPECT_EQ(facts.small_messages_share, 0);  // none of the four operations
  EXPECT_EQ(facts.retransmissions, 0);
  EXPECT_EQ(facts.ranks[0].compiled_on_the_fly, 19);
  EXPECT_TRUE(facts.ranks[0].settings.empty());
  const auto& findings = run.findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "late_peer");
  // The wait of 78.770 ms of rank 0, in the operation of 79.090 ms.
  EXPECT_EQ(findings[0].rank, 0);
  EXPECT_EQ(findings[0].step, 50);
  EXPECT_NEAR(findings[0].end_ns - findings[0].start_ns, 79'089'520, 10);
}

// data/mindinsight/EXPECTED.md, section 5: the helper's first rule and its pipeline rule.
TEST(CollectFacts, HelperOfMindInsight) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() +
                                      "/mindinsight/tests/utils/resource/profiler");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  EXPECT_NEAR(static_cast<double>(run.facts().ranks[0].interval_ns), 90'353'600,
              10);  // 69.26 % of its step
  std::set<std::string_view> rules;
  for (const FindingRow& finding : run.findings()) rules.insert(finding.rule);
  EXPECT_TRUE(rules.contains("slow_input"));
  EXPECT_TRUE(rules.contains("input_stage"));
}

// GPT-2 on an H200: the host launches too slowly, and the vocabulary of 50257 has kernels that load
// one element at a time ("align1").
TEST(CollectFacts, RealBottleneckOfGpt2) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/h200/gpt2.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto& findings = run.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "launch_bound");
  EXPECT_GT(findings[0].gain_share, 0.45);  // of 0.56; the rest is in gaps of 1 ms and more
  EXPECT_EQ(findings[1].rule, "unaligned_shapes");
}

}  // namespace
}  // namespace stepscope
