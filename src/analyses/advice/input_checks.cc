#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"
#include "analyses/pipeline/pipeline.h"

namespace stepscope {
namespace {

// With a device, only what the device lost counts: waiting that overlaps its work is free.
int64_t lost_to_input(const RankFacts& rank) {
  return rank.has_device ? rank.idle_input_ns : rank.input_wait_ns;
}

}  // namespace

std::optional<Finding> check_slow_input(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = nullptr;
  int64_t lost_ns = 0;
  for (const RankFacts& each : facts.ranks) {
    const int64_t lost = lost_to_input(each);
    if (lost > lost_ns) {
      lost_ns = lost;
      rank = &each;
    }
  }
  if (rank == nullptr) return std::nullopt;
  const bool is_before = !rank->has_device && rank->before_step_ns > 0;
  const double share = is_before ? static_cast<double>(lost_ns) /
                                       static_cast<double>(facts.step_ns() + rank->before_step_ns)
                                 : facts.share(lost_ns);
  if (share <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = lost_ns;
  finding.gain_share = share;
  finding.title = words_for_share(share) + (is_before ? " of an iteration" : " of the step") +
                  " is spent waiting for data";
  finding.detail = "The host" + words_for_owner(facts, *rank) + " waits " +
                   words_for_time(rank->input_wait_ns) + " a step for the next batch" +
                   (rank->has_device ? "; its device has nothing to do for " +
                                           words_for_time(lost_ns) + " of it."
                                     : ".") +
                   (share >= kHighlyInputBound ? " The run is highly input-bound."
                                               : " It is moderately input-bound.");
  finding.evidence = {{"input_wait", Unit::kNanoseconds, static_cast<double>(rank->input_wait_ns)},
                      {"lost", Unit::kNanoseconds, static_cast<double>(lost_ns)},
                      {"share", Unit::kShare, share}};
  finding.places = {{rank->rank, rank->longest_idle_step, rank->longest_idle_at_ns,
                     rank->longest_idle_at_ns == kNull
                         ? kNull
                         : rank->longest_idle_at_ns + rank->longest_idle_ns}};
  return finding;
}

std::optional<Finding> check_potential_input(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = worst_rank(facts, &RankFacts::idle_other_ns);
  if (rank == nullptr || !rank->has_device) return std::nullopt;
  if (facts.share(unexplained_idle_ns(facts, rank->idle_other_ns)) < rule.limit)
    return std::nullopt;
  // Waiting that was measured is not a guess.
  if (facts.is_input_measured || lost_to_input(*rank) > 0) return std::nullopt;
  Finding finding;
  finding.gain_ns = rank->idle_other_ns;
  finding.confidence = Confidence::kHint;
  finding.title = "The run is potentially input-bound: for " +
                  words_for_share(facts.share(rank->idle_other_ns)) +
                  " of the step nothing is recorded";
  finding.detail = "The device of " + words_for_rank(facts, *rank) + " stands still for " +
                   words_for_time(rank->idle_other_ns) +
                   " a step while no host thread is in anything that was recorded, and waiting for "
                   "data was not recorded.";
  finding.evidence = {{"other", Unit::kNanoseconds, static_cast<double>(rank->idle_other_ns)},
                      {"share", Unit::kShare, facts.share(rank->idle_other_ns)}};
  finding.places = {place_of(*rank)};
  return finding;
}

std::optional<Finding> check_input_stage(const Facts& facts, const Rule& rule) {
  // The pipeline analysis has named the stages by the seed's rules; the wait for data decides
  // whether that matters.
  if (facts.bottleneck_stages.empty()) return std::nullopt;
  int64_t wait_ns = 0;
  for (const RankFacts& rank : facts.ranks) wait_ns = std::max(wait_ns, rank.input_wait_ns);
  const bool starved = facts.data_verdict == "process" || facts.share(wait_ns) > rule.limit;
  if (!starved) return std::nullopt;
  const StageFacts& stage = facts.bottleneck_stages.front();
  Finding finding;
  finding.confidence = Confidence::kDerived;
  finding.title = "The data pipeline is held up by " + stage.name;
  finding.detail = "Its output queue is " +
                   (std::isnan(stage.queue_share) ? std::string("low")
                                                  : words_for_share(stage.queue_share) + " full") +
                   (std::isnan(stage.input_queue_share)
                        ? "."
                        : " while the queue before it is " +
                              words_for_share(stage.input_queue_share) + " full.");
  if (!std::isnan(stage.queue_share))
    finding.evidence.push_back({"queue_share", Unit::kShare, stage.queue_share});
  if (!std::isnan(facts.empty_queue_share))
    finding.evidence.push_back({"empty_queue_share", Unit::kShare, facts.empty_queue_share});
  return finding;
}

std::optional<Finding> check_machine_cpu_busy(const Facts& facts, const Rule& rule) {
  if (std::isnan(facts.cpu_busy_share) || facts.cpu_busy_share <= rule.limit) return std::nullopt;
  // A run on CPUs is meant to use them.
  bool any_device = false;
  for (const RankFacts& rank : facts.ranks) any_device |= rank.has_device;
  if (!any_device) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = "The machine's CPUs are " + words_for_share(facts.cpu_busy_share) + " busy";
  finding.detail = "Data preparation and launching share them.";
  finding.evidence = {{"cpu_busy", Unit::kShare, facts.cpu_busy_share}};
  return finding;
}

}  // namespace stepscope
