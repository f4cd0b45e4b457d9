// Test support: facts that no rule finds anything in.
#ifndef STEPSCOPE_ANALYSES_ADVICE_HEALTHY_FACTS_TEST_H_
#define STEPSCOPE_ANALYSES_ADVICE_HEALTHY_FACTS_TEST_H_

#include <cstdint>

#include "analyses/advice/facts.h"

namespace stepscope::testing {

inline constexpr int64_t kMs = 1'000'000;

// Two ranks on GPUs with nothing wrong: 100 ms steps, 95 ms of computing.
inline Facts healthy() {
  Facts facts;
  for (int64_t number = 0; number < 2; ++number) {
    RankFacts rank;
    rank.rank = number;
    rank.steps = 10;
    rank.step_ns = rank.median_step_ns = 100 * kMs;
    rank.longest_step_ns = 104 * kMs;
    rank.longest_step = 3;
    rank.compute_ns = 95 * kMs;
    rank.exposed_communication_ns = 2 * kMs;
    rank.communication_wait_ns = kMs;
    rank.all_waits_known = true;
    rank.idle_ns = 3 * kMs;
    rank.idle_host_ns = 3 * kMs;
    rank.kernels = 1000;
    rank.mean_kernel_ns = 95'000;
    rank.has_device = rank.is_nvidia = true;
    rank.tensor_core_eligible = 0.8;
    rank.tensor_core_share = 0.7;
    rank.mfu = 0.45;
    rank.flops_coverage = 0.9;
    rank.kernel_steps = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    rank.device_memory_bytes = 80LL << 30;
    rank.peak_allocated_bytes = 40LL << 30;
    rank.peak_reserved_bytes = 44LL << 30;
    facts.ranks.push_back(rank);
  }
  return facts;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_ANALYSES_ADVICE_HEALTHY_FACTS_TEST_H_
