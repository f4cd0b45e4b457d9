#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

// A device that is idle half of the time reaches no good rate for other reasons.
constexpr double kBusyEnough = 0.7;
// What well-tuned training of large models reaches: the assumption behind the gain of low_mfu.
constexpr double kUsualMfu = 0.4;

double busy_share(const RankFacts& rank) {
  return rank.step_ns == kNull || rank.step_ns <= 0
             ? 0
             : 1 - static_cast<double>(rank.idle_ns) / static_cast<double>(rank.step_ns);
}

// Volta (7.0) is the first that has them. What the input does not say is taken to be newer.
bool can_use_tensor_cores(const RankFacts& rank) {
  constexpr int64_t kVolta = 70;
  return rank.is_nvidia && (rank.compute_capability == kNull || rank.compute_capability >= kVolta);
}

// Tensor cores are several times as fast; half of the time is a cautious estimate.
int64_t gain_of_tensor_cores(const RankFacts& rank) {
  return static_cast<int64_t>(rank.tensor_core_eligible * static_cast<double>(rank.compute_ns) / 2);
}

// Half of the time that operators with known FLOPs take above what they would take at the usual
// part of the peak, without what other rules gain of it.
int64_t gain_of_usual_mfu(const RankFacts& rank) {
  const auto known_ns = static_cast<double>(rank.compute_ns) * rank.flops_coverage;
  const double needed_ns = static_cast<double>(rank.step_ns) * rank.mfu / kUsualMfu;
  auto elsewhere_ns = static_cast<double>(rank.unfused_softmax_ns + rank.ai_cpu_ns);
  if (can_use_tensor_cores(rank) && rank.tensor_core_share <= 0.01)
    elsewhere_ns += static_cast<double>(gain_of_tensor_cores(rank));
  const double gain_ns = (known_ns - needed_ns - elsewhere_ns) / 2;
  return gain_ns > 0 ? static_cast<int64_t>(gain_ns) : kNull;
}

}  // namespace

std::optional<Finding> check_pageable_copies(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::pageable_copy_ns);
  if (rank == nullptr || facts.share(rank->pageable_copy_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = std::min(rank->pageable_copy_ns, rank->exposed_copy_ns);
  finding.confidence = Confidence::kDerived;
  finding.title =
      "Copies of pageable memory take " + words_for_time(rank->pageable_copy_ns) + " a step";
  finding.detail = "The driver" + words_for_owner(facts, *rank) +
                   " copies them twice and cannot overlap them with computing.";
  finding.evidence = {
      {"pageable", Unit::kNanoseconds, static_cast<double>(rank->pageable_copy_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_ai_cpu_operators(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::ai_cpu_ns);
  if (rank == nullptr || facts.share(rank->ai_cpu_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->ai_cpu_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "Operators on the AI CPU take " + words_for_time(rank->ai_cpu_ns) + " a step";
  finding.detail = "They could run on the AI cores" + words_for_owner(facts, *rank) +
                   ", which are idle meanwhile.";
  finding.evidence = {{"ai_cpu", Unit::kNanoseconds, static_cast<double>(rank->ai_cpu_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_compiled_on_the_fly(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (static_cast<double>(rank.compiled_on_the_fly) < rule.limit) continue;
    Finding finding;
    finding.confidence = Confidence::kHint;
    finding.title =
        std::to_string(rank.compiled_on_the_fly) + " operators were compiled while training ran";
    finding.detail = "A compiled operator waits for the compiler once for every new shape.";
    finding.evidence = {{"compiled", Unit::kCount, static_cast<double>(rank.compiled_on_the_fly)}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_no_tensor_cores(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (!can_use_tensor_cores(rank) || std::isnan(rank.tensor_core_eligible)) continue;
    if (rank.tensor_core_eligible <= rule.limit || rank.tensor_core_share > 0.01) continue;
    Finding finding;
    finding.gain_ns = gain_of_tensor_cores(rank);
    finding.confidence = Confidence::kHint;
    finding.title = words_for_share(rank.tensor_core_eligible) +
                    " of the computing time could use tensor cores and does not";
    finding.detail =
        "Matrix operators" + words_for_owner(facts, rank) + " run kernels without tensor cores.";
    finding.evidence = {{"eligible", Unit::kShare, rank.tensor_core_eligible},
                        {"used", Unit::kShare, rank.tensor_core_share}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_full_precision(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (!rank.has_device || !(rank.half_precision_share < rule.limit)) continue;
    if (!(rank.flops_coverage >= kMinFlopsCoverage)) continue;
    // Where tensor cores are not used at all, that is the finding.
    if (rank.is_nvidia && !(rank.tensor_core_share > 0.01)) continue;
    Finding finding;
    finding.confidence = Confidence::kHint;
    finding.title =
        words_for_share(1 - rank.half_precision_share) + " of the arithmetic is in 32 or more bits";
    finding.detail = "Matrix units do at least twice as much in 16 bits.";
    finding.evidence = {{"low_precision", Unit::kShare, rank.half_precision_share}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_unaligned_shapes(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = first_rank_above(facts, &RankFacts::unaligned_matrix_share, rule.limit);
  if (rank == nullptr) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = words_for_share(rank->unaligned_matrix_share) +
                  " of the computing time is matrix work with odd sizes";
  finding.detail =
      "A size that is no multiple of 8 (Ascend: 16) leaves matrix units partly empty "
      "or needs copies.";
  finding.evidence = {{"share", Unit::kShare, rank->unaligned_matrix_share}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_small_grids(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = first_rank_above(facts, &RankFacts::small_grid_share, rule.limit);
  if (rank == nullptr) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = words_for_share(rank->small_grid_share) +
                  " of the computing time leaves half of the device without work";
  finding.detail = "These kernels have fewer blocks than half of the multiprocessors.";
  finding.evidence = {{"share", Unit::kShare, rank->small_grid_share}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_unfused_attention(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::unfused_softmax_ns);
  if (rank == nullptr || facts.share(rank->unfused_softmax_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->unfused_softmax_ns;
  finding.confidence = Confidence::kHint;
  finding.title = "Softmax takes " + words_for_time(rank->unfused_softmax_ns) +
                  " a step, and no attention kernel is fused";
  finding.detail = "A fused kernel keeps the scores on the chip; softmax over them costs nothing.";
  finding.evidence = {
      {"softmax", Unit::kNanoseconds, static_cast<double>(rank->unfused_softmax_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_low_mfu(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (std::isnan(rank.mfu) || rank.mfu >= rule.limit) continue;
    if (!(rank.flops_coverage >= kMinFlopsCoverage) || busy_share(rank) < kBusyEnough) continue;
    Finding finding;
    finding.gain_ns = gain_of_usual_mfu(rank);
    finding.confidence = Confidence::kHint;
    finding.title =
        "The device is busy but reaches " + words_for_share(rank.mfu) + " of its arithmetic rate";
    finding.detail = "Counted from shapes or counters that cover " +
                     words_for_share(rank.flops_coverage) + " of the computing time.";
    if (finding.gain_ns != kNull)
      finding.detail += " The gain is half of what is above the time at " +
                        words_for_share(kUsualMfu) + ", which tuned training reaches.";
    finding.evidence = {{"mfu", Unit::kShare, rank.mfu},
                        {"coverage", Unit::kShare, rank.flops_coverage}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_data_parallel(const Facts& facts, const Rule&) {
  for (const RankFacts& rank : facts.ranks) {
    if (!rank.data_parallel_module) continue;
    Finding finding;
    finding.confidence = Confidence::kHint;
    finding.title = "DataParallel drives several devices from one process";
    finding.detail =
        "It copies the model every step, and one interpreter launches for all devices.";
    finding.evidence = {{"count", Unit::kCount, rank.data_parallel_calls},
                        {"host", Unit::kNanoseconds, static_cast<double>(rank.data_parallel_ns)}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

}  // namespace stepscope
