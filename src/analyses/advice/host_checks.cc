#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

// Eager frameworks need tens of microseconds of host time for a kernel: shorter ones outrun it.
constexpr int64_t kShortKernelNs = 50'000;

Place longest_gap(const RankFacts& rank) {
  if (rank.longest_idle_at_ns == kNull) return {rank.rank};
  return {rank.rank, rank.longest_idle_step, rank.longest_idle_at_ns,
          rank.longest_idle_at_ns + rank.longest_idle_ns};
}

}  // namespace

std::optional<Finding> check_sync_points(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_sync_ns);
  if (rank == nullptr || facts.share(rank->idle_sync_ns) <= rule.limit) return std::nullopt;
  // The one wait at the end of a step is how many programs end it.
  if (rank->device_waits > 0 && rank->device_waits <= 1) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_sync_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "The host waits for the device " + words_for_number(rank->device_waits) +
                  " times a step, and the device then has nothing to do";
  finding.detail = "After these waits rank " + std::to_string(rank->rank) +
                   "'s device stands still for " + words_for_time(rank->idle_sync_ns) +
                   " a step (" + words_for_share(facts.share(rank->idle_sync_ns)) +
                   "), until new work is launched.";
  finding.evidence = {{"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_sync_ns)},
                      {"waits", Unit::kCount, rank->device_waits},
                      {"share", Unit::kShare, facts.share(rank->idle_sync_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_launch_bound(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_host_ns);
  if (rank == nullptr || !rank->has_device || facts.share(rank->idle_host_ns) <= rule.limit)
    return std::nullopt;
  if (rank->mean_kernel_ns == kNull || rank->mean_kernel_ns > kShortKernelNs) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_host_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "Launching cannot keep up: kernels last " + words_for_time(rank->mean_kernel_ns) +
                  " on average";
  finding.detail = "A step has " + words_for_number(rank->kernels) + " kernels; the device waits " +
                   words_for_time(rank->idle_host_ns) + " a step (" +
                   words_for_share(facts.share(rank->idle_host_ns)) +
                   ") for the host to launch the next.";
  finding.evidence = {
      {"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_host_ns)},
      {"kernels", Unit::kCount, rank->kernels},
      {"mean_kernel", Unit::kNanoseconds, static_cast<double>(rank->mean_kernel_ns)},
      {"share", Unit::kShare, facts.share(rank->idle_host_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_garbage_collection(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_gc_ns);
  if (rank == nullptr || facts.share(rank->idle_gc_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_gc_ns;
  finding.title =
      "Python's garbage collector costs " + words_for_time(rank->idle_gc_ns) + " a step";
  finding.detail = "The device stands still meanwhile.";
  finding.evidence = {{"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_gc_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_allocator_calls(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::allocator_ns);
  if (rank == nullptr || facts.share(rank->allocator_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  // What the device lost by it is part of its idle time; the calls themselves bound it.
  finding.gain_ns = std::min(rank->allocator_ns, rank->idle_ns);
  finding.confidence = Confidence::kDerived;
  finding.title =
      "Allocating device memory takes " + words_for_time(rank->allocator_ns) + " a step";
  finding.detail = "Rank " + std::to_string(rank->rank) +
                   " calls the driver for memory inside of steps instead of reusing what it has.";
  finding.evidence = {{"allocator", Unit::kNanoseconds, static_cast<double>(rank->allocator_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_low_utilisation(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_ns);
  if (rank == nullptr || !rank->has_device || facts.share(rank->idle_ns) <= rule.limit)
    return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_ns;
  finding.confidence = Confidence::kHint;
  finding.title =
      "The device is idle for " + words_for_share(facts.share(rank->idle_ns)) + " of the step";
  finding.detail = "Of " + words_for_time(rank->idle_ns) + " a step on rank " +
                   std::to_string(rank->rank) + ", the host was busy with other things for " +
                   words_for_time(rank->idle_host_ns) + " and in nothing that was recorded for " +
                   words_for_time(rank->idle_other_ns) + ".";
  finding.evidence = {{"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_ns)},
                      {"host", Unit::kNanoseconds, static_cast<double>(rank->idle_host_ns)},
                      {"other", Unit::kNanoseconds, static_cast<double>(rank->idle_other_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_between_operators(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_ns);
  if (rank == nullptr || rank->has_device || facts.share(rank->idle_ns) <= rule.limit)
    return std::nullopt;
  // Without any operator nobody knows what a step does, so there is nothing to gain on.
  if (rank->compute_ns <= 0) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_ns;
  finding.confidence = Confidence::kHint;
  finding.title =
      words_for_share(facts.share(rank->idle_ns)) + " of the step is spent outside of operators";
  finding.detail = "Of " + words_for_time(rank->idle_ns) + " a step on rank " +
                   std::to_string(rank->rank) + ", " + words_for_time(rank->idle_host_ns) +
                   " are in other recorded code and " + words_for_time(rank->idle_other_ns) +
                   " in nothing that was recorded.";
  finding.evidence = {{"outside", Unit::kNanoseconds, static_cast<double>(rank->idle_ns)},
                      {"host", Unit::kNanoseconds, static_cast<double>(rank->idle_host_ns)},
                      {"other", Unit::kNanoseconds, static_cast<double>(rank->idle_other_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_uneven_steps(const Facts& facts, const Rule& rule) {
  const RankFacts* worst = nullptr;
  double worst_factor = rule.limit;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.steps < 4 || rank.median_step_ns == kNull || rank.median_step_ns <= 0) continue;
    const double factor =
        static_cast<double>(rank.longest_step_ns) / static_cast<double>(rank.median_step_ns);
    if (factor <= worst_factor) continue;
    worst_factor = factor;
    worst = &rank;
  }
  if (worst == nullptr) return std::nullopt;
  Finding finding;
  finding.gain_ns = (worst->longest_step_ns - worst->median_step_ns) / worst->steps;
  finding.title = "Step " + std::to_string(worst->longest_step) + " took " +
                  words_for_number(worst_factor) + " times as long as usual";
  finding.detail = words_for_time(worst->longest_step_ns) + " on rank " +
                   std::to_string(worst->rank) + "; half of its steps take less than " +
                   words_for_time(worst->median_step_ns) + ".";
  finding.evidence = {{"longest", Unit::kNanoseconds, static_cast<double>(worst->longest_step_ns)},
                      {"median", Unit::kNanoseconds, static_cast<double>(worst->median_step_ns)}};
  finding.places = {worst->longest_step_place.value_or(Place{worst->rank, worst->longest_step})};
  return finding;
}

std::optional<Finding> check_settings(const Facts& facts, const Rule&) {
  for (const RankFacts& rank : facts.ranks) {
    if (rank.settings.empty()) continue;
    std::string all;
    for (const std::string& one : rank.settings) all += (all.empty() ? "" : ", ") + one;
    Finding finding;
    finding.confidence = Confidence::kHint;
    finding.title = "The environment slows the program down: " + all;
    finding.detail = "Set when rank " + std::to_string(rank.rank) + " was recorded.";
    finding.evidence = {{"count", Unit::kCount, static_cast<double>(rank.settings.size())}};
    finding.places = {{rank.rank}};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_profiler_cost(const Facts& facts, const Rule& rule) {
  if (std::isnan(facts.profiler_cost_share) || facts.profiler_cost_share <= rule.limit)
    return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kMeasured;
  finding.title = "Recording made steps " + words_for_share(facts.profiler_cost_share) + " longer";
  finding.detail = "Steps before the recording were shorter than the recorded ones.";
  finding.evidence = {{"cost", Unit::kShare, facts.profiler_cost_share}};
  return finding;
}

}  // namespace stepscope
