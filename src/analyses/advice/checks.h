// The checks that the rules name, by what they look at.
#ifndef STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_
#define STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_

#include <optional>
#include <vector>

#include "analyses/advice/rules.h"

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

// The rank with the largest value of a field; null without ranks or where no value is above zero.
const RankFacts* worst_rank(const Facts& facts, int64_t RankFacts::* field);
// Median over the ranks that know the field; kNull when none does.
int64_t median_over_ranks(const Facts& facts, int64_t RankFacts::* field);
// The first rank whose field is above the limit; null when none is. NaN is not.
const RankFacts* first_rank_above(const Facts& facts, double RankFacts::* field, double limit);
// Where a rank shows a finding: the instance, else the longest of its steps.
Place place_of(const RankFacts& rank, const std::optional<Place>& instance = {});
// The places of a finding that no rank has alone; none when the instance is not known.
std::vector<Place> places_of(const std::optional<Place>& instance);
// Communication of a step that no computation hides, without waiting for late ranks and
// receiving from other stages: on the rank that has least of it, which shows it best. kNull without
// steps.
int64_t own_communication_ns(const Facts& facts, const RankFacts** rank = nullptr);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_CHECKS_H_
