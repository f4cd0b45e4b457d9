#include <algorithm>

#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

// Eager frameworks need tens of microseconds of host time for a kernel: shorter ones outrun it.
constexpr int64_t kShortKernelNs = 50'000;
// A step with fewer has nothing to launch together.
constexpr double kManyKernels = 20;

Place longest_gap(const RankFacts& rank) {
  if (rank.longest_idle_at_ns == kNull) return {rank.rank};
  return {rank.rank, rank.longest_idle_step, rank.longest_idle_at_ns,
          rank.longest_idle_at_ns + rank.longest_idle_ns};
}

struct PartOfStep {
  const char* words;
  int64_t StepBudgetRow::* field;
};
constexpr PartOfStep kPartsOfStep[] = {
    {"waiting for data", &StepBudgetRow::input_ns},
    {"standing still after a synchronisation", &StepBudgetRow::sync_ns},
    {"garbage collection", &StepBudgetRow::gc_ns},
    {"waiting for a host that is busy with other things", &StepBudgetRow::host_ns},
    {"standing still with the next work launched", &StepBudgetRow::queued_ns},
    {"time in which nothing was recorded", &StepBudgetRow::other_ns},
    {"computing", &StepBudgetRow::compute_ns},
    {"communication that nothing hides", &StepBudgetRow::exposed_communication_ns},
    {"copies", &StepBudgetRow::exposed_copy_ns},
};

// The part that makes up more than half of what the longest step is longer than usual; none where
// several do together.
const PartOfStep* most_of_difference(const RankFacts& rank) {
  const auto more_ns = [&](const PartOfStep& part) { return rank.longest_step_more.*part.field; };
  const PartOfStep* const most = std::ranges::max_element(kPartsOfStep, {}, more_ns);
  return more_ns(*most) * 2 > rank.longest_step_ns - rank.median_step_ns ? most : nullptr;
}

}  // namespace

int64_t unexplained_idle_ns(const Facts& facts, int64_t idle_ns) {
  return std::max<int64_t>(0, idle_ns - facts.explained_idle_ns);
}

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
  finding.detail = "After these waits the device" + words_for_owner(facts, *rank) +
                   " stands still for " + words_for_time(rank->idle_sync_ns) + " a step (" +
                   words_for_share(facts.share(rank->idle_sync_ns)) +
                   "), until new work is launched.";
  finding.evidence = {{"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_sync_ns)},
                      {"waits", Unit::kCount, rank->device_waits},
                      {"share", Unit::kShare, facts.share(rank->idle_sync_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_host_stalls(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_stall_ns);
  if (rank == nullptr || !rank->has_device) return std::nullopt;
  // Calls of the allocator have a finding of their own.
  const bool allocates = facts.share(rank->allocator_ns) > kAllocatorShare;
  const int64_t stall_ns = rank->idle_stall_ns - (allocates ? rank->allocator_ns : 0);
  if (facts.share(stall_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = stall_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "The device waits " + words_for_time(stall_ns) + " a step in long gaps";
  if (!rank->stall_code.empty())
    finding.title += "; in the longest the host is in " + rank->stall_code;
  finding.detail = words_for_share(facts.share(stall_ns)) + " of the step" +
                   words_for_owner(facts, *rank) +
                   " are pieces of a millisecond or more in which the host does something else and "
                   "has launched nothing.";
  finding.evidence = {{"stall", Unit::kNanoseconds, static_cast<double>(stall_ns)},
                      {"share", Unit::kShare, facts.share(stall_ns)}};
  finding.places = {rank->longest_stall.value_or(longest_gap(*rank))};
  return finding;
}

std::optional<Finding> check_launch_bound(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_host_ns);
  if (rank == nullptr || !rank->has_device || facts.share(rank->idle_host_ns) <= rule.limit)
    return std::nullopt;
  if (rank->mean_kernel_ns == kNull || rank->mean_kernel_ns > kShortKernelNs ||
      rank->kernels < kManyKernels)
    return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_host_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "Launching cannot keep up: kernels last " + words_for_time(rank->mean_kernel_ns) +
                  " on average";
  finding.detail =
      "A step" + words_for_owner(facts, *rank) + " has " + words_for_number(rank->kernels) +
      " kernels; the device waits " + words_for_time(rank->idle_host_ns) + " a step (" +
      words_for_share(facts.share(rank->idle_host_ns)) + ") for the host to launch the next.";
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
  finding.detail = "The device" + words_for_owner(facts, *rank) + " stands still meanwhile.";
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
  finding.detail = "The program" + words_for_owner(facts, *rank) +
                   " calls the driver for memory inside of steps instead of reusing what it has.";
  finding.evidence = {{"allocator", Unit::kNanoseconds, static_cast<double>(rank->allocator_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_low_utilisation(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_ns);
  if (rank == nullptr || !rank->has_device) return std::nullopt;
  const int64_t idle_ns = unexplained_idle_ns(facts, rank->idle_ns);
  if (facts.share(idle_ns) <= rule.limit) return std::nullopt;
  const int64_t host_ns = rank->idle_host_ns + rank->idle_stall_ns;
  Finding finding;
  finding.gain_ns = idle_ns;
  finding.confidence = Confidence::kHint;
  finding.title = "The device is idle for " + words_for_share(facts.share(idle_ns)) +
                  " of the step" +
                  (idle_ns < rank->idle_ns ? " beyond what other findings explain" : "");
  finding.detail = "Of " + words_for_time(rank->idle_ns) + " a step on " +
                   words_for_rank(facts, *rank) + ", the host was busy with other things for " +
                   words_for_time(host_ns) + " and in nothing that was recorded for " +
                   words_for_time(rank->idle_other_ns) + ".";
  if (idle_ns < rank->idle_ns)
    finding.detail += " The others explain " + words_for_time(rank->idle_ns - idle_ns) + ".";
  finding.evidence = {{"idle", Unit::kNanoseconds, static_cast<double>(rank->idle_ns)},
                      {"host", Unit::kNanoseconds, static_cast<double>(host_ns)},
                      {"other", Unit::kNanoseconds, static_cast<double>(rank->idle_other_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

std::optional<Finding> check_between_operators(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_ns);
  if (rank == nullptr || rank->has_device) return std::nullopt;
  const int64_t outside_ns = unexplained_idle_ns(facts, rank->idle_ns);
  if (facts.share(outside_ns) <= rule.limit) return std::nullopt;
  // Without any operator nobody knows what a step does, so there is nothing to gain on.
  if (rank->compute_ns <= 0) return std::nullopt;
  const int64_t host_ns = rank->idle_host_ns + rank->idle_stall_ns;
  Finding finding;
  finding.gain_ns = outside_ns;
  finding.confidence = Confidence::kHint;
  finding.title =
      words_for_share(facts.share(outside_ns)) + " of the step is spent outside of operators";
  finding.detail = "Of " + words_for_time(rank->idle_ns) + " a step on " +
                   words_for_rank(facts, *rank) + ", " + words_for_time(host_ns) +
                   " are in other recorded code and " + words_for_time(rank->idle_other_ns) +
                   " in nothing that was recorded.";
  finding.evidence = {{"outside", Unit::kNanoseconds, static_cast<double>(outside_ns)},
                      {"host", Unit::kNanoseconds, static_cast<double>(host_ns)},
                      {"other", Unit::kNanoseconds, static_cast<double>(rank->idle_other_ns)}};
  finding.places = {longest_gap(*rank)};
  return finding;
}

bool has_uneven_step(const RankFacts& rank, double limit) {
  constexpr int64_t kFewSteps = 4;
  return rank.steps >= kFewSteps && rank.median_step_ns != kNull && rank.median_step_ns > 0 &&
         static_cast<double>(rank.longest_step_ns) / static_cast<double>(rank.median_step_ns) >
             limit;
}

std::optional<Finding> check_uneven_steps(const Facts& facts, const Rule& rule) {
  const RankFacts* worst = nullptr;
  double worst_factor = rule.limit;
  for (const RankFacts& rank : facts.ranks) {
    if (!has_uneven_step(rank, worst_factor)) continue;
    worst_factor =
        static_cast<double>(rank.longest_step_ns) / static_cast<double>(rank.median_step_ns);
    worst = &rank;
  }
  if (worst == nullptr) return std::nullopt;
  Finding finding;
  finding.gain_ns = (worst->longest_step_ns - worst->median_step_ns) / worst->steps;
  finding.title = "Step " + std::to_string(worst->longest_step) + " took " +
                  words_for_number(worst_factor) + " times as long as usual";
  finding.detail = words_for_time(worst->longest_step_ns) + " on " + words_for_rank(facts, *worst) +
                   "; half of its steps take less than " + words_for_time(worst->median_step_ns) +
                   ".";
  finding.evidence = {{"longest", Unit::kNanoseconds, static_cast<double>(worst->longest_step_ns)},
                      {"median", Unit::kNanoseconds, static_cast<double>(worst->median_step_ns)}};
  if (const PartOfStep* part = most_of_difference(*worst)) {
    const int64_t more_ns = worst->longest_step_more.*part->field;
    const bool others_shrank = more_ns > worst->longest_step_ns - worst->median_step_ns;
    finding.detail += others_shrank ? " It has " + words_for_time(more_ns) + " more of " +
                                          part->words + ", and less of other parts."
                                    : " Most of the difference, " + words_for_time(more_ns) +
                                          ", is " + part->words + ".";
    finding.evidence.push_back({"difference", Unit::kNanoseconds, static_cast<double>(more_ns)});
  }
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
