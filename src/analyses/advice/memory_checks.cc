#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

constexpr int64_t kSmallestLeakBytes = 1 << 20;  // a step

}  // namespace

std::optional<Finding> check_memory_leak(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::leak_bytes_per_step);
  if (rank == nullptr || rank->leak_bytes_per_step < kSmallestLeakBytes ||
      rank->leak_share_of_steps < rule.limit)
    return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kDerived;
  finding.title = "Memory grows by " +
                  words_for_bytes(static_cast<double>(rank->leak_bytes_per_step)) + " every step";
  finding.detail = words_for_share(rank->leak_share_of_steps) + " of the steps of " +
                   words_for_rank(facts, *rank) +
                   " end with more memory in use than the one before.";
  if (rank->device_memory_bytes != kNull && rank->peak_allocated_bytes != kNull &&
      rank->device_memory_bytes > rank->peak_allocated_bytes) {
    const int64_t left =
        (rank->device_memory_bytes - rank->peak_allocated_bytes) / rank->leak_bytes_per_step;
    finding.detail += " It will be full in about " + std::to_string(left) + " steps.";
  }
  finding.evidence = {
      {"bytes_per_step", Unit::kBytes, static_cast<double>(rank->leak_bytes_per_step)},
      {"share_of_steps", Unit::kShare, rank->leak_share_of_steps}};
  finding.places = {place_of(*rank, rank->peak_allocated)};
  return finding;
}

std::optional<Finding> check_memory_nearly_full(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (rank.device_memory_bytes == kNull || rank.peak_allocated_bytes == kNull) continue;
    const double share = static_cast<double>(rank.peak_allocated_bytes) /
                         static_cast<double>(rank.device_memory_bytes);
    if (share <= rule.limit) continue;
    Finding finding;
    finding.title = "Memory is " + words_for_share(share) + " full at its peak";
    finding.detail = "The training of " + words_for_rank(facts, rank) + " needs " +
                     words_for_bytes(static_cast<double>(rank.peak_allocated_bytes)) + " of " +
                     words_for_bytes(static_cast<double>(rank.device_memory_bytes)) + ".";
    finding.evidence = {{"peak", Unit::kBytes, static_cast<double>(rank.peak_allocated_bytes)},
                        {"device", Unit::kBytes, static_cast<double>(rank.device_memory_bytes)}};
    finding.places = {place_of(rank, rank.peak_allocated)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_fragmentation(const Facts& facts, const Rule& rule) {
  for (const RankFacts& rank : facts.ranks) {
    if (rank.peak_reserved_bytes == kNull || rank.peak_allocated_bytes == kNull) continue;
    // Reserving far more than needed only matters where the device is short of memory.
    const bool tight = rank.device_memory_bytes != kNull &&
                       static_cast<double>(rank.peak_reserved_bytes) >
                           0.7 * static_cast<double>(rank.device_memory_bytes);
    if (!tight || rank.peak_reserved_bytes <= 0) continue;
    const double unused = 1 - static_cast<double>(rank.peak_allocated_bytes) /
                                  static_cast<double>(rank.peak_reserved_bytes);
    if (unused <= rule.limit) continue;
    Finding finding;
    finding.confidence = Confidence::kDerived;
    finding.title = words_for_share(unused) + " of the reserved memory is never used";
    finding.detail = "The allocator of " + words_for_rank(facts, rank) + " reserves " +
                     words_for_bytes(static_cast<double>(rank.peak_reserved_bytes)) +
                     " and uses at most " +
                     words_for_bytes(static_cast<double>(rank.peak_allocated_bytes)) + ".";
    finding.evidence = {
        {"reserved", Unit::kBytes, static_cast<double>(rank.peak_reserved_bytes)},
        {"allocated", Unit::kBytes, static_cast<double>(rank.peak_allocated_bytes)}};
    finding.places = {place_of(rank, rank.peak_reserved)};
    return finding;
  }
  return std::nullopt;
}

}  // namespace stepscope
