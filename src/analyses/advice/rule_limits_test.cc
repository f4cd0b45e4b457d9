// Every rule that has a limit is silent just below it and speaks just above it.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "analyses/advice/healthy_facts_test.h"
#include "analyses/advice/rules.h"

namespace stepscope {
namespace {

using testing::healthy;
using testing::kMs;

// Of a step of 100 ms.
int64_t part_of_step(double share) { return static_cast<int64_t>(share * 100 * kMs); }

void make_pipeline(Facts& f) {
  for (RankFacts& rank : f.ranks) rank.stage = rank.rank;
}

// For each rule the healthy run with the number that the rule compares with its limit.
const std::map<std::string, std::function<void(Facts&, double)>>& cases() {
  static const std::map<std::string, std::function<void(Facts&, double)>> all = {
      {"slow_input", [](Facts& f, double x) { f.ranks[1].idle_input_ns = part_of_step(x); }},
      {"input_stage",
       [](Facts& f, double x) {
         f.bottleneck_stages = {{"Map_3", "Map", 0.1, 0.95}};
         f.ranks[0].input_wait_ns = part_of_step(x);
       }},
      {"machine_cpu_busy", [](Facts& f, double x) { f.cpu_busy_share = x; }},
      {"slow_rank",
       [](Facts& f, double x) {
         f.slow_rank = 1;
         f.other_ranks_own_ns = 60 * kMs;
         f.slow_rank_own_ns = 60 * kMs + part_of_step(x);
       }},
      {"late_peer",
       [](Facts& f, double x) {
         f.late_peer = 5;
         f.late_peer_wait_ns = part_of_step(x);
       }},
      {"slow_link",
       [](Facts& f, double x) {
         f.slow_links = {{0, 1, "HCCS", (1 - x) * 20e9, 20e9, 40, 50 * kMs}};
       }},
      {"exposed_communication",
       [](Facts& f, double x) {  // and a millisecond of waiting
         for (RankFacts& rank : f.ranks) rank.exposed_communication_ns = kMs + part_of_step(x);
       }},
      {"pipeline_receive",
       [](Facts& f, double x) {  // of 190 ms of computing and 4 ms of other communication
         make_pipeline(f);
         f.ranks[1].receive_ns = part_of_step(1.94 * x / (1 - x));
         f.ranks[1].exposed_communication_ns += f.ranks[1].receive_ns;
       }},
      {"stage_communication",
       [](Facts& f, double x) {  // of 95 ms of computing and 2 ms of other communication
         make_pipeline(f);
         f.ranks[1].collective_ns = part_of_step(0.97 * x / (1 - x));
         f.ranks[1].exposed_communication_ns += f.ranks[1].collective_ns;
       }},
      {"stage_balance",
       [](Facts& f, double x) {
         make_pipeline(f);
         f.ranks[0].flops_per_step = (1 - x) * 1e12;
         f.ranks[1].flops_per_step = (1 + x) * 1e12;
       }},
      {"slow_device",
       [](Facts& f, double x) {
         f.ranks[0].computing_rate = (1 + x) * 1e14;
         f.ranks[1].computing_rate = (1 - x) * 1e14;
       }},
      {"uneven_interval",
       [](Facts& f, double x) {
         f.ranks[0].interval_ns = part_of_step(0.5 * (1 - x));
         f.ranks[1].interval_ns = part_of_step(0.5 * (1 + x));
       }},
      {"small_messages",
       [](Facts& f, double x) {
         f.small_messages_share = x;
         for (RankFacts& rank : f.ranks) rank.exposed_communication_ns = 8 * kMs;
       }},
      {"unaligned_transfers", [](Facts& f, double x) { f.unaligned_transfers_share = x; }},
      {"contended_bandwidth", [](Facts& f, double x) { f.contended_share = x; }},
      {"sync_batch_norm", [](Facts& f, double x) { f.ranks[0].sync_batch_norms = x; }},
      {"sync_points",
       [](Facts& f, double x) {
         f.ranks[0].idle_sync_ns = part_of_step(x);
         f.ranks[0].device_waits = 12;
       }},
      {"launch_bound",
       [](Facts& f, double x) {
         f.ranks[0].idle_host_ns = part_of_step(x);
         f.ranks[0].mean_kernel_ns = 4000;
       }},
      {"host_stalls", [](Facts& f, double x) { f.ranks[0].idle_stall_ns = part_of_step(x); }},
      {"garbage_collection", [](Facts& f, double x) { f.ranks[0].idle_gc_ns = part_of_step(x); }},
      {"allocator_calls", [](Facts& f, double x) { f.ranks[0].allocator_ns = part_of_step(x); }},
      {"pageable_copies",
       [](Facts& f, double x) {
         f.ranks[0].pageable_copy_ns = f.ranks[0].exposed_copy_ns = part_of_step(x);
       }},
      {"ai_cpu_operators", [](Facts& f, double x) { f.ranks[0].ai_cpu_ns = part_of_step(x); }},
      {"compiled_on_the_fly",
       [](Facts& f, double x) { f.ranks[0].compiled_on_the_fly = static_cast<int64_t>(x); }},
      {"no_tensor_cores",
       [](Facts& f, double x) {
         f.ranks[0].tensor_core_eligible = x;
         f.ranks[0].tensor_core_share = 0;
       }},
      // These two speak below their limits.
      {"full_precision", [](Facts& f, double x) { f.ranks[0].half_precision_share = 0.2 - x; }},
      {"low_mfu", [](Facts& f, double x) { f.ranks[0].mfu = 0.3 - x; }},
      {"unaligned_shapes", [](Facts& f, double x) { f.ranks[0].unaligned_matrix_share = x; }},
      {"small_grids", [](Facts& f, double x) { f.ranks[0].small_grid_share = x; }},
      {"unfused_attention",
       [](Facts& f, double x) { f.ranks[0].unfused_softmax_ns = part_of_step(x); }},
      {"uneven_steps", [](Facts& f, double x) { f.ranks[0].longest_step_ns = part_of_step(x); }},
      {"memory_leak",
       [](Facts& f, double x) {
         f.ranks[0].leak_bytes_per_step = 64 << 20;
         f.ranks[0].leak_share_of_steps = x;
       }},
      {"memory_nearly_full",
       [](Facts& f, double x) {
         f.ranks[0].peak_allocated_bytes =
             static_cast<int64_t>(x * static_cast<double>(f.ranks[0].device_memory_bytes));
       }},
      {"fragmentation",
       [](Facts& f, double x) {
         f.ranks[0].peak_reserved_bytes = 78LL << 30;
         f.ranks[0].peak_allocated_bytes =
             static_cast<int64_t>((1 - x) * static_cast<double>(f.ranks[0].peak_reserved_bytes));
       }},
      {"low_utilisation",
       [](Facts& f, double x) { f.ranks[0].idle_ns = f.ranks[0].idle_host_ns = part_of_step(x); }},
      {"potential_input", [](Facts& f, double x) { f.ranks[0].idle_other_ns = part_of_step(x); }},
      {"between_operators",
       [](Facts& f, double x) {
         for (RankFacts& rank : f.ranks) rank.has_device = false;
         f.ranks[0].idle_ns = f.ranks[0].idle_host_ns = part_of_step(x);
       }},
      {"profiler_cost", [](Facts& f, double x) { f.profiler_cost_share = x; }},
  };
  return all;
}

TEST(RuleLimits, EachRuleIsSilentBelowAndSpeaksAboveItsOwn) {
  size_t limits = 0;
  for (const Rule& rule : rules()) {
    if (rule.limit <= 0) continue;  // of what must not be there at all
    ++limits;
    const auto found = cases().find(std::string(rule.name));
    ASSERT_NE(found, cases().end()) << rule.name;
    Facts below = healthy();
    found->second(below, rule.limit * 0.99);
    for (const Finding& finding : find_causes(below))
      ADD_FAILURE() << rule.name << " below its limit: " << finding.title;
    Facts above = healthy();
    found->second(above, rule.limit * 1.02);
    const auto findings = find_causes(above);
    ASSERT_EQ(findings.size(), 1u) << rule.name;
    EXPECT_EQ(findings[0].rule, rule.name);
  }
  EXPECT_EQ(limits, cases().size());
}

// Communication that nothing hides takes a part of the step, and explains no standing still.
TEST(RuleLimits, ASymptomIsToldBesideCausesOfWork) {
  Facts facts = healthy();
  for (RankFacts& rank : facts.ranks) {
    rank.compute_ns = 20 * kMs;
    rank.exposed_communication_ns = 40 * kMs;
    rank.idle_ns = rank.idle_host_ns = 40 * kMs;
  }
  std::set<std::string_view> found;
  for (const Finding& finding : find_causes(facts)) found.insert(finding.rule);
  EXPECT_TRUE(found.contains("exposed_communication"));
  EXPECT_TRUE(found.contains("low_utilisation"));
}

// What is measured is no guess.
TEST(RuleLimits, InputIsNotPotentialWhereItsWaitingIsMeasured) {
  Facts facts = healthy();
  facts.ranks[0].idle_other_ns = 20 * kMs;
  ASSERT_EQ(find_causes(facts).size(), 1u);
  facts.is_input_measured = true;
  EXPECT_TRUE(find_causes(facts).empty());
}

}  // namespace
}  // namespace stepscope
