#include "analyses/advice/rules.h"

#include <functional>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "analyses/advice/healthy_facts_test.h"

namespace stepscope {
namespace {

using testing::healthy;
using testing::kMs;

// For each rule the smallest change of the healthy run that makes it fire.
struct Case {
  std::function<void(Facts&)> plant;
  int64_t gain_ns;
};

const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all = {
      {"slow_input", {[](Facts& f) { f.ranks[1].idle_input_ns = 20 * kMs; }, 20 * kMs}},
      {"input_stage",
       {[](Facts& f) {
          f.bottleneck_stages = {{"Map_3", "Map", 0.1, 0.95}};
          f.data_verdict = "process";
        },
        kNull}},
      {"machine_cpu_busy", {[](Facts& f) { f.cpu_busy_share = 0.93; }, kNull}},
      {"slow_rank",
       {[](Facts& f) {
          f.slow_rank = 1;
          f.slow_rank_own_ns = 90 * kMs;
          f.other_ranks_own_ns = 60 * kMs;
        },
        30 * kMs}},
      {"late_peer",
       {[](Facts& f) {
          f.late_peer = 5;
          f.late_peer_wait_ns = 70 * kMs;
        },
        70 * kMs}},
      {"slow_link",
       {[](Facts& f) { f.slow_links = {{0, 1, "HCCS", 10e9, 20e9, 40, 8 * kMs}}; }, 4 * kMs}},
      {"exposed_communication",
       {[](Facts& f) {
          for (RankFacts& rank : f.ranks) rank.exposed_communication_ns = 21 * kMs;
        },
        20 * kMs}},
      {"pipeline_receive",
       {[](Facts& f) {
          f.ranks[0].stage = 0;
          f.ranks[1].stage = 1;
          f.ranks[1].exposed_communication_ns = 40 * kMs;
          f.ranks[1].receive_ns = 38 * kMs;
        },
        19 * kMs}},
      {"stage_communication",
       {[](Facts& f) {
          f.ranks[0].stage = 0;
          f.ranks[1].stage = 1;
          f.ranks[1].exposed_communication_ns = 21 * kMs;
          f.ranks[1].collective_ns = 15 * kMs;
        },
        kNull}},
      {"stage_balance",
       {[](Facts& f) {
          f.ranks[0].stage = 0;
          f.ranks[1].stage = 1;
          f.ranks[0].flops_per_step = 1e12;
          f.ranks[1].flops_per_step = 2e12;  // a third above the mean
        },
        95 * kMs / 4}},
      {"slow_device",
       {[](Facts& f) {
          f.ranks[0].computing_rate = 4e14;
          f.ranks[1].computing_rate = 2e14;  // a third below the mean
        },
        31'666'667}},
      {"uneven_interval",
       {[](Facts& f) {
          f.ranks[0].interval_ns = 2 * kMs;
          f.ranks[1].interval_ns = 10 * kMs;
        },
        4 * kMs}},
      {"small_messages",
       {[](Facts& f) {
          f.small_messages_share = 0.7;
          for (RankFacts& rank : f.ranks) rank.exposed_communication_ns = 8 * kMs;
        },
        kNull}},
      {"unaligned_transfers", {[](Facts& f) { f.unaligned_transfers_share = 0.5; }, kNull}},
      {"contended_bandwidth", {[](Facts& f) { f.contended_share = 0.4; }, kNull}},
      {"retransmission", {[](Facts& f) { f.retransmissions = 1; }, kNull}},
      {"gloo", {[](Facts& f) { f.ranks[0].uses_gloo = true; }, kNull}},
      {"sync_batch_norm", {[](Facts& f) { f.ranks[0].sync_batch_norms = 53; }, kNull}},
      {"full_precision", {[](Facts& f) { f.ranks[0].half_precision_share = 0.02; }, kNull}},
      {"unaligned_shapes", {[](Facts& f) { f.ranks[0].unaligned_matrix_share = 0.3; }, kNull}},
      {"small_grids", {[](Facts& f) { f.ranks[0].small_grid_share = 0.4; }, kNull}},
      {"unfused_attention", {[](Facts& f) { f.ranks[0].unfused_softmax_ns = 9 * kMs; }, 9 * kMs}},
      {"settings", {[](Facts& f) { f.ranks[0].settings = {"ASCEND_LAUNCH_BLOCKING=1"}; }, kNull}},
      {"sync_points",
       {[](Facts& f) {
          f.ranks[0].idle_sync_ns = 10 * kMs;
          f.ranks[0].device_waits = 12;
        },
        10 * kMs}},
      {"launch_bound",
       {[](Facts& f) {
          f.ranks[0].idle_host_ns = 40 * kMs;
          f.ranks[0].mean_kernel_ns = 4000;
        },
        40 * kMs}},
      {"host_stalls", {[](Facts& f) { f.ranks[0].idle_stall_ns = 20 * kMs; }, 20 * kMs}},
      {"garbage_collection", {[](Facts& f) { f.ranks[0].idle_gc_ns = 5 * kMs; }, 5 * kMs}},
      {"allocator_calls", {[](Facts& f) { f.ranks[0].allocator_ns = 9 * kMs; }, 3 * kMs}},
      {"pageable_copies",
       {[](Facts& f) {
          f.ranks[0].pageable_copy_ns = 8 * kMs;
          f.ranks[0].exposed_copy_ns = 6 * kMs;
        },
        6 * kMs}},
      {"ai_cpu_operators", {[](Facts& f) { f.ranks[0].ai_cpu_ns = 7 * kMs; }, 7 * kMs}},
      {"compiled_on_the_fly", {[](Facts& f) { f.ranks[0].compiled_on_the_fly = 20; }, kNull}},
      {"no_tensor_cores", {[](Facts& f) { f.ranks[0].tensor_core_share = 0; }, 95 * kMs * 8 / 20}},
      {"low_mfu", {[](Facts& f) { f.ranks[0].mfu = 0.03; }, 39 * kMs}},
      {"data_parallel", {[](Facts& f) { f.ranks[0].data_parallel_module = true; }, kNull}},
      {"uneven_steps", {[](Facts& f) { f.ranks[0].longest_step_ns = 300 * kMs; }, 20 * kMs}},
      {"memory_leak",
       {[](Facts& f) {
          f.ranks[0].leak_bytes_per_step = 64 << 20;
          f.ranks[0].leak_share_of_steps = 1;
        },
        kNull}},
      {"memory_nearly_full",
       {[](Facts& f) { f.ranks[0].peak_allocated_bytes = 75LL << 30; }, kNull}},
      {"fragmentation",
       {[](Facts& f) {
          f.ranks[0].peak_reserved_bytes = 78LL << 30;
          f.ranks[0].peak_allocated_bytes = 40LL << 30;
        },
        kNull}},
      {"potential_input", {[](Facts& f) { f.ranks[0].idle_other_ns = 4 * kMs; }, 4 * kMs}},
      {"between_operators",
       {[](Facts& f) {
          for (RankFacts& rank : f.ranks) rank.has_device = false;
          f.ranks[0].idle_ns = 61 * kMs;
          f.ranks[0].idle_host_ns = 60 * kMs;
        },
        61 * kMs}},
      {"low_utilisation",
       {[](Facts& f) { f.ranks[0].idle_ns = f.ranks[0].idle_other_ns = 60 * kMs; }, 60 * kMs}},
      {"profiler_cost", {[](Facts& f) { f.profiler_cost_share = 0.3; }, kNull}},
  };
  return all;
}

TEST(Rules, AreSilentOnAHealthyRun) { EXPECT_TRUE(find_causes(healthy()).empty()); }

// The other side of each limit: what the rules must leave alone.
TEST(Rules, AreSilentBelowTheirLimits) {
  Facts facts = healthy();
  facts.small_messages_share = 0.9;  // of communication that is hidden
  facts.unaligned_transfers_share = 0.1;
  facts.contended_share = 0.2;
  for (RankFacts& rank : facts.ranks) {
    rank.stage = rank.rank;
    rank.flops_per_step = rank.rank == 0 ? 1e12 : 1.2e12;
    rank.computing_rate = rank.rank == 0 ? 4e14 : 3.6e14;
    rank.interval_ns = (2 + rank.rank) * kMs;  // half as much again, and nothing of the step
    rank.receive_ns = kMs;
    rank.sync_batch_norms = 4;
    rank.half_precision_share = 0.9;
    rank.unaligned_matrix_share = 0.1;
    rank.small_grid_share = 0.1;
    rank.unfused_softmax_ns = kMs;
    rank.mfu = 0.2;
  }
  facts.slow_links = {{0, 1, "NVLINK", 10e9, 20e9, 40, kMs}};  // half a percent of the step
  EXPECT_TRUE(find_causes(facts).empty());
  facts = healthy();
  facts.ranks[0].half_precision_share = 0;
  facts.ranks[0].flops_coverage = 0.3;  // too little is known
  EXPECT_TRUE(find_causes(facts).empty());
  facts = healthy();
  facts.ranks[0].has_device = false;  // gloo is what a CPU has
  facts.ranks[0].uses_gloo = true;
  EXPECT_TRUE(find_causes(facts).empty());
}

TEST(Rules, ASlowLinkExplainsTheCommunicationThatPassesIt) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) rank.exposed_communication_ns = 21 * kMs;
  facts.slow_links = {{0, 1, "all_gather", 5e9, 20e9, 40, 20 * kMs}};
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "slow_link");
  EXPECT_EQ(findings[0].gain_ns, 15 * kMs);
}

TEST(Rules, AreSilentWithoutSteps) {
  EXPECT_TRUE(find_causes({}).empty());
  Facts facts;
  facts.ranks.emplace_back();
  EXPECT_TRUE(find_causes(facts).empty());
}

TEST(Rules, EachHasACase) {
  for (const Rule& rule : rules())
    EXPECT_TRUE(cases().contains(std::string(rule.name))) << rule.name;
  EXPECT_EQ(cases().size(), rules().size());
}

TEST(Rules, EachFiresOnItsCauseAlone) {
  for (const auto& [name, planted] : cases()) {
    Facts facts = healthy();
    planted.plant(facts);
    const auto findings = find_causes(facts);
    ASSERT_EQ(findings.size(), 1u) << name;
    const Finding& finding = findings.front();
    EXPECT_EQ(finding.rule, name);
    EXPECT_EQ(finding.gain_ns, planted.gain_ns) << name;
    EXPECT_FALSE(finding.title.empty()) << name;
    EXPECT_FALSE(finding.remedy.empty()) << name;
    EXPECT_FALSE(finding.evidence.empty()) << name;
  }
}

// What each rule can say about where to look, when all instances are known.
TEST(Rules, SayWhereToLook) {
  for (const auto& [name, planted] : cases()) {
    Facts facts = healthy();
    planted.plant(facts);
    int64_t at_ns = 1000;
    const auto instance = [&](int64_t rank) { return Place{rank, 3, ++at_ns, at_ns + 100}; };
    for (RankFacts& rank : facts.ranks) {
      for (auto* place : {&rank.longest_step_place, &rank.longest_interval, &rank.longest_exposed,
                          &rank.longest_stall, &rank.longest_receive, &rank.longest_collective,
                          &rank.peak_allocated, &rank.peak_reserved})
        *place = instance(rank.rank);
      rank.longest_idle_at_ns = ++at_ns;
      rank.longest_idle_ns = 50;
    }
    for (auto* place : {&facts.late_peer_place, &facts.small_message, &facts.unaligned_transfer,
                        &facts.retransmission})
      *place = instance(1);
    for (LinkFacts& link : facts.slow_links) link.longest_transfer = instance(0);
    const auto findings = find_causes(facts);
    ASSERT_EQ(findings.size(), 1u) << name;
    static const std::set<std::string> kOfTheWholeRun = {
        "input_stage", "machine_cpu_busy", "contended_bandwidth", "settings", "profiler_cost"};
    if (kOfTheWholeRun.contains(name)) continue;
    ASSERT_FALSE(findings[0].places.empty()) << name;
    EXPECT_NE(findings[0].places[0].start_ns, kNull) << name;
    EXPECT_GT(findings[0].places[0].end_ns, findings[0].places[0].start_ns) << name;
  }
}

// Its gain is what no other rule explains, and half of that.
TEST(Rules, LowMfuComesAfterItsCauses) {
  Facts facts = healthy();
  facts.ranks[0].mfu = 0.03;
  facts.ranks[0].tensor_core_share = 0;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "no_tensor_cores");
  EXPECT_EQ(findings[0].gain_ns, 38 * kMs);
  EXPECT_EQ(findings[1].rule, "low_mfu");
  EXPECT_EQ(findings[1].gain_ns, 20 * kMs);  // (95 * 0.9 - 100 * 0.03 / 0.4 - 38) / 2
  EXPECT_NE(findings[1].detail.find("40 %"), std::string::npos);
}

TEST(Rules, MostToGainComesFirst) {
  Facts facts = healthy();
  facts.ranks[0].idle_gc_ns = 5 * kMs;
  facts.ranks[1].idle_input_ns = 20 * kMs;
  facts.ranks[0].data_parallel_module = true;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].rule, "slow_input");
  EXPECT_DOUBLE_EQ(findings[0].gain_share, 0.2);
  EXPECT_EQ(findings[1].rule, "garbage_collection");
  EXPECT_EQ(findings[2].rule, "data_parallel");
}

// A loop that fetches its batch before the step begins: the step does not have that time.
TEST(Rules, WaitingBeforeTheStepIsAShareOfTheIteration) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) {
    rank.has_device = false;
    rank.input_wait_ns = 310 * kMs;
    rank.before_step_ns = 300 * kMs;
  }
  const auto findings = find_causes(facts);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "slow_input");
  EXPECT_EQ(findings[0].gain_ns, 310 * kMs);
  EXPECT_DOUBLE_EQ(findings[0].gain_share, 0.775);
  EXPECT_TRUE(findings[0].title.starts_with("78 % of an iteration")) << findings[0].title;
}

TEST(Rules, ASymptomIsSilentWhenItsCauseIsNamed) {
  Facts facts = healthy();
  facts.ranks[0].idle_ns = 60 * kMs;
  facts.ranks[0].idle_input_ns = 55 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "slow_input");
}

TEST(Rules, ASymptomIsWhatCausesDoNotExplain) {
  Facts facts = healthy();
  facts.ranks[0].idle_ns = 90 * kMs;
  facts.ranks[0].idle_input_ns = 52 * kMs;
  auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].rule, "slow_input");
  EXPECT_EQ(findings[1].rule, "low_utilisation");
  EXPECT_EQ(findings[1].gain_ns, 38 * kMs);
  EXPECT_NE(findings[1].title.find("38 % of the step beyond"), std::string::npos);
  EXPECT_NE(findings[1].detail.find("The others explain 52.0 ms"), std::string::npos);
}

// One step of ten waits 200 ms for its batch: that step is the finding, not the loader.
TEST(Rules, WhatOneSlowStepWaitedForIsItsCause) {
  Facts facts = healthy();
  facts.ranks[0].longest_step_ns = 300 * kMs;
  facts.ranks[0].idle_input_ns = 21 * kMs;
  facts.ranks[0].idle_ns = 24 * kMs;
  facts.ranks[0].longest_step_more.input_ns = 200 * kMs;
  facts.ranks[0].longest_step_more.idle_ns = 200 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "uneven_steps");
  EXPECT_NE(findings[0].detail.find("Most of the difference, 200 ms, is waiting for data."),
            std::string::npos)
      << findings[0].detail;
  // All steps wait, and that one longer.
  facts.ranks[0].idle_input_ns = 41 * kMs;
  const auto both = find_causes(facts);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].rule, "slow_input");
  EXPECT_EQ(both[0].gain_ns, 21 * kMs);
}

// Computing grew by more than the step did: it is not a part of the difference.
TEST(Rules, APartMayGrowByMoreThanItsStep) {
  Facts facts = healthy();
  facts.ranks[0].longest_step_ns = facts.ranks[0].median_step_ns + 200 * kMs;
  facts.ranks[0].longest_step_more.host_ns = 150 * kMs;
  facts.ranks[0].longest_step_more.compute_ns = 250 * kMs;
  facts.ranks[0].longest_step_more.input_ns = -200 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "uneven_steps");
  EXPECT_TRUE(
      findings[0].detail.ends_with("It has 250 ms more of computing, and less of other "
                                   "parts."))
      << findings[0].detail;
}

TEST(Rules, WhatGainsNothingThatMattersIsNotSaid) {
  Facts facts = healthy();
  facts.ranks[0].pageable_copy_ns = 8 * kMs;
  facts.ranks[0].exposed_copy_ns = kMs / 2 - 1;  // computing hides the rest
  EXPECT_TRUE(find_causes(facts).empty());
  facts.ranks[0].exposed_copy_ns = kMs / 2;
  EXPECT_EQ(find_causes(facts).size(), 1u);
}

TEST(Rules, TensorCoresNeedADeviceThatHasThem) {
  Facts facts = healthy();
  facts.ranks[0].tensor_core_share = 0;
  facts.ranks[0].compute_capability = 60;
  EXPECT_TRUE(find_causes(facts).empty());
  facts.ranks[0].compute_capability = 70;
  EXPECT_EQ(find_causes(facts).size(), 1u);
}

TEST(Rules, AStragglerIsToldOnce) {
  Facts facts = healthy();
  facts.ranks[0].computing_rate = 4e14;
  facts.ranks[1].computing_rate = 2e14;
  facts.slow_rank = 1;
  facts.slow_rank_own_ns = 90 * kMs;
  facts.other_ranks_own_ns = 60 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "slow_rank");
  EXPECT_NE(findings[0].detail.find("Its device computes 33 % slower"), std::string::npos);
  facts.slow_rank = 0;  // another one
  EXPECT_EQ(find_causes(facts).size(), 2u);
}

TEST(Rules, LaunchingIsNoLimitOfAFewKernels) {
  Facts facts = healthy();
  facts.ranks[0].idle_host_ns = 40 * kMs;
  facts.ranks[0].mean_kernel_ns = 4000;
  facts.ranks[0].kernels = 19;
  EXPECT_TRUE(find_causes(facts).empty());
  facts.ranks[0].kernels = 20;
  EXPECT_EQ(find_causes(facts).size(), 1u);
}

TEST(Rules, ARunOfOneRankNeedsNoNameForIt) {
  Facts facts = healthy();
  const auto wait = [](RankFacts& rank) {
    rank.idle_sync_ns = 40 * kMs;
    rank.device_waits = 5;
  };
  wait(facts.ranks[0]);
  EXPECT_NE(find_causes(facts).at(0).detail.find("the device of rank 0 stands"), std::string::npos);
  facts.ranks.resize(1);
  EXPECT_NE(find_causes(facts).at(0).detail.find("the device stands"), std::string::npos);
}

TEST(Rules, AStallNamesWhatTheHostWasIn) {
  Facts facts = healthy();
  facts.ranks[1].idle_stall_ns = 80 * kMs;
  facts.ranks[1].stall_code = "augment_on_cpu";
  facts.ranks[1].mean_kernel_ns = 4000;  // short ones: launching is not what takes the time
  auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].title,
            "The device waits 80.0 ms a step in long gaps; in the longest the host is in "
            "augment_on_cpu");
  EXPECT_NE(findings[0].detail.find("of rank 1"), std::string::npos);
  facts.ranks[1].idle_ns = 83 * kMs;
  facts.ranks[1].allocator_ns = 78 * kMs;  // the allocator's
  findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "allocator_calls");
}

TEST(Rules, SharesAreOfTheMeanStepAndWindowsAreNamed) {
  Facts facts = healthy();
  facts.ranks[1].rank = 0;
  facts.ranks[1].window = 1;
  facts.ranks[1].steps = 30;
  facts.ranks[1].step_ns = facts.ranks[1].median_step_ns = 200 * kMs;
  facts.ranks[1].longest_step_ns = 200 * kMs;
  EXPECT_EQ(facts.step_ns(), 175 * kMs);
  facts.ranks[1].idle_input_ns = 35 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_DOUBLE_EQ(findings[0].gain_share, 0.2);
  EXPECT_NE(findings[0].detail.find("rank 0, window 1"), std::string::npos);
}

TEST(Rules, WaitingForASlowRankIsNotCommunication) {
  Facts facts = healthy();
  facts.ranks[0].exposed_communication_ns = 32 * kMs;
  facts.ranks[0].communication_wait_ns = 30 * kMs;
  facts.slow_rank = 1;
  facts.slow_rank_own_ns = 95 * kMs;
  facts.other_ranks_own_ns = 65 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "slow_rank");
}

TEST(Rules, WaitingForALatePeerIsNotCommunicationEither) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) {
    rank.exposed_communication_ns = 72 * kMs;
    rank.late_peer_wait_ns = 70 * kMs;
  }
  facts.late_peer = 5;
  facts.late_peer_wait_ns = 70 * kMs;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "late_peer");
}

TEST(Rules, WaitingThatIsNotKnownIsNotSaidToBeLeftOut) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) rank.exposed_communication_ns = 40 * kMs;
  auto findings = find_causes(facts);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, "exposed_communication");
  EXPECT_NE(findings[0].detail.find("not counted"), std::string::npos);
  facts.ranks[1].all_waits_known = false;
  findings = find_causes(facts);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].confidence, Confidence::kHint);
  EXPECT_NE(findings[0].detail.find("cannot be told"), std::string::npos);
}

TEST(Rules, WindowsOfOneRankAreNotComparedAsRanks) {
  Facts facts = healthy();
  facts.ranks[1].rank = facts.ranks[0].rank;
  facts.ranks[1].window = 1;
  facts.ranks[0].computing_rate = 4e14;
  facts.ranks[1].computing_rate = 2e14;
  facts.ranks[0].interval_ns = 2 * kMs;
  facts.ranks[1].interval_ns = 10 * kMs;
  EXPECT_TRUE(find_causes(facts).empty());
}

TEST(Rules, ReceivingWithoutStagesIsNoPipeline) {
  Facts facts = healthy();
  facts.ranks[1].exposed_communication_ns = 40 * kMs;
  facts.ranks[1].receive_ns = 38 * kMs;
  for (const Finding& finding : find_causes(facts)) EXPECT_NE(finding.rule, "pipeline_receive");
}

TEST(Rules, SendingAndWaitingAreNoCollectivesOfAStage) {
  Facts facts = healthy();
  facts.ranks[0].stage = 0;
  facts.ranks[1].stage = 1;
  facts.ranks[1].exposed_communication_ns = 40 * kMs;  // 36 of it sending and waiting
  facts.ranks[1].communication_wait_ns = 20 * kMs;
  facts.ranks[1].collective_ns = 4 * kMs;
  for (const Finding& finding : find_causes(facts)) EXPECT_NE(finding.rule, "stage_communication");
}

TEST(Rules, DevicesAreComparedBySameStepsAndEnoughFlops) {
  const auto slow_device = [](auto change) {
    Facts facts = healthy();
    facts.ranks.push_back(facts.ranks[1]);
    facts.ranks[2].rank = 2;
    for (RankFacts& rank : facts.ranks) rank.computing_rate = rank.rank == 1 ? 2e14 : 4e14;
    change(facts.ranks);
    for (const Finding& finding : find_causes(facts)) {
      if (finding.rule == "slow_device") return finding.places.at(0).rank;
    }
    return kNull;
  };
  using Ranks = std::vector<RankFacts>;
  EXPECT_EQ(slow_device([](Ranks&) {}), 1);
  EXPECT_EQ(slow_device([](Ranks& ranks) { ranks[1].kernel_steps = {2}; }), kNull);
  EXPECT_EQ(slow_device([](Ranks& ranks) { ranks[1].kernel_steps.clear(); }), kNull);
  EXPECT_EQ(slow_device([](Ranks& ranks) { ranks[1].kernel_steps.pop_back(); }), 1);
  EXPECT_EQ(slow_device([](Ranks& ranks) { ranks[1].flops_coverage = 0.4; }), kNull);
  // Another rank that cannot be compared leaves the rest as it is.
  EXPECT_EQ(slow_device([](Ranks& ranks) { ranks[2].kernel_steps = {40, 41}; }), 1);
  // Two windows of a rank together have the steps of the others.
  EXPECT_EQ(slow_device([](Ranks& ranks) {
              ranks.push_back(ranks[1]);
              ranks[3].window = 1;
              ranks[1].kernel_steps = {2, 3, 4, 5};
              ranks[3].kernel_steps = {6, 7, 8, 9, 10, 11};
            }),
            1);
}

TEST(Rules, AFasterLinkGainsNoMoreThanTheStepWaitsForIt) {
  Facts facts = healthy();
  facts.slow_links = {{0, 1, "all_reduce", 5e9, 20e9, 40, 8 * kMs, 4 * kMs}};
  EXPECT_EQ(find_causes(facts).at(0).gain_ns, 4 * kMs);
  facts.slow_links[0].exposed_ns = 0;
  EXPECT_TRUE(find_causes(facts).empty());
}

TEST(Rules, ALinkOfFewTransfersIsAHint) {
  Facts facts = healthy();
  facts.slow_links = {{0, 1, "all_reduce", 10e9, 20e9, 40, 8 * kMs}};
  EXPECT_EQ(find_causes(facts).at(0).confidence, Confidence::kDerived);
  facts.slow_links[0].transfers = 2;
  const auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].confidence, Confidence::kHint);
  EXPECT_NE(findings[0].detail.find("2 transfers only"), std::string::npos);
}

TEST(Rules, WaitingIsNotToldApartWithoutTheOtherRanks) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) rank.exposed_communication_ns = 30 * kMs;
  auto findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].detail.find("waiting for late ranks not counted"), std::string::npos);
  facts.missing_ranks = 126;
  findings = find_causes(facts);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].confidence, Confidence::kHint);
  EXPECT_NE(findings[0].detail.find("cannot be told: 126 ranks"), std::string::npos);
}

TEST(Rules, OneWaitAtTheEndOfAStepIsHowProgramsEndIt) {
  Facts facts = healthy();
  facts.ranks[0].idle_sync_ns = 10 * kMs;
  facts.ranks[0].device_waits = 1;
  EXPECT_TRUE(find_causes(facts).empty());
}

}  // namespace
}  // namespace stepscope
