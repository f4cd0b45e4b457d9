// The checks that the rules name, by what they look at.
#ifndef STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_
#define STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_

#include <optional>
#include <string>
#include <vector>

#include "analyses/advice/rules.h"
#include "analyses/rank_comparison/rank_comparison.h"

namespace stepscope {

// input_checks.cc
std::optional<Finding> check_slow_input(const Facts& facts, const Rule& rule);
std::optional<Finding> check_potential_input(const Facts& facts, const Rule& rule);
std::optional<Finding> check_input_stage(const Facts& facts, const Rule& rule);
std::optional<Finding> check_machine_cpu_busy(const Facts& facts, const Rule& rule);
// rank_checks.cc
std::optional<Finding> check_slow_rank(const Facts& facts, const Rule& rule);
std::optional<Finding> check_late_peer(const Facts& facts, const Rule& rule);
std::optional<Finding> check_slow_link(const Facts& facts, const Rule& rule);
std::optional<Finding> check_exposed_communication(const Facts& facts, const Rule& rule);
// network_checks.cc
std::optional<Finding> check_small_messages(const Facts& facts, const Rule& rule);
std::optional<Finding> check_unaligned_transfers(const Facts& facts, const Rule& rule);
std::optional<Finding> check_contended_bandwidth(const Facts& facts, const Rule& rule);
std::optional<Finding> check_retransmission(const Facts& facts, const Rule& rule);
std::optional<Finding> check_gloo(const Facts& facts, const Rule& rule);
std::optional<Finding> check_sync_batch_norm(const Facts& facts, const Rule& rule);
// cluster_checks.cc
std::optional<Finding> check_slow_device(const Facts& facts, const Rule& rule);
std::optional<Finding> check_uneven_interval(const Facts& facts, const Rule& rule);
std::optional<Finding> check_pipeline_receive(const Facts& facts, const Rule& rule);
std::optional<Finding> check_stage_communication(const Facts& facts, const Rule& rule);
std::optional<Finding> check_stage_balance(const Facts& facts, const Rule& rule);
// host_checks.cc
std::optional<Finding> check_settings(const Facts& facts, const Rule& rule);
std::optional<Finding> check_sync_points(const Facts& facts, const Rule& rule);
std::optional<Finding> check_host_stalls(const Facts& facts, const Rule& rule);
std::optional<Finding> check_launch_bound(const Facts& facts, const Rule& rule);
std::optional<Finding> check_garbage_collection(const Facts& facts, const Rule& rule);
std::optional<Finding> check_allocator_calls(const Facts& facts, const Rule& rule);
std::optional<Finding> check_between_operators(const Facts& facts, const Rule& rule);
std::optional<Finding> check_low_utilisation(const Facts& facts, const Rule& rule);
std::optional<Finding> check_uneven_steps(const Facts& facts, const Rule& rule);
std::optional<Finding> check_profiler_cost(const Facts& facts, const Rule& rule);
// device_checks.cc
std::optional<Finding> check_pageable_copies(const Facts& facts, const Rule& rule);
std::optional<Finding> check_ai_cpu_operators(const Facts& facts, const Rule& rule);
std::optional<Finding> check_compiled_on_the_fly(const Facts& facts, const Rule& rule);
std::optional<Finding> check_no_tensor_cores(const Facts& facts, const Rule& rule);
std::optional<Finding> check_full_precision(const Facts& facts, const Rule& rule);
std::optional<Finding> check_low_mfu(const Facts& facts, const Rule& rule);
std::optional<Finding> check_unaligned_shapes(const Facts& facts, const Rule& rule);
std::optional<Finding> check_small_grids(const Facts& facts, const Rule& rule);
std::optional<Finding> check_unfused_attention(const Facts& facts, const Rule& rule);
std::optional<Finding> check_data_parallel(const Facts& facts, const Rule& rule);
// memory_checks.cc
std::optional<Finding> check_memory_leak(const Facts& facts, const Rule& rule);
std::optional<Finding> check_memory_nearly_full(const Facts& facts, const Rule& rule);
std::optional<Finding> check_fragmentation(const Facts& facts, const Rule& rule);

// Below this part of the computing time an estimate of FLOPs says nothing about the device.
inline constexpr double kMinFlopsCoverage = 0.5;
// Of a step: calls that get or give back device memory.
inline constexpr double kAllocatorShare = 0.02;
// How far a device is below the mean rate.
inline constexpr double kSlowDeviceShare = 0.2;

// The rank with the largest value of a field; null without ranks or where no value is above zero.
const RankFacts* worst_rank(const Facts& facts, int64_t RankFacts::* field);
// The first rank whose field is above the limit; null when none is. NaN is not.
const RankFacts* first_rank_above(const Facts& facts, double RankFacts::* field, double limit);
// Where a rank shows a finding: the instance, else the longest of its steps.
Place place_of(const RankFacts& rank, const std::optional<Place>& instance = {});
// The places of a finding that no rank has alone; none when the instance is not known.
std::vector<Place> places_of(const std::optional<Place>& instance);
// "rank 3", with its window where it has several.
std::string words_for_rank(const Facts& facts, const RankFacts& rank);
// " of rank 3", for numbers of one rank; nothing where the run has one only.
std::string words_for_owner(const Facts& facts, const RankFacts& rank);
// The rank has one step that is longer than the others by this factor.
bool has_uneven_step(const RankFacts& rank, double limit);
// Idle time that no finding has explained so far.
int64_t unexplained_idle_ns(const Facts& facts, int64_t idle_ns);
// How far the rank's rate of computing is below the mean of all; nothing where that is less than
// the limit, or another rank is slower, or rates cannot be compared.
struct SlowDevice {
  int64_t rank = 0;
  const RankFacts* window = nullptr;  // its first
  double below_mean = 0;
  double rate = 0;  // FLOPs a second of computing time
  double mean_rate = 0;
  double compute_ns = 0;
};
std::optional<SlowDevice> slow_device(const Facts& facts, double limit);
// Whether the others wait that share of a step for the slow rank.
bool is_slow_rank(const Facts& facts, double limit);
// Communication of a step that no computation hides, without waiting for late ranks and
// receiving from other stages: on the rank that has least of it, which shows it best. kNull without
// steps.
int64_t own_communication_ns(const Facts& facts, const RankFacts** rank = nullptr);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_
