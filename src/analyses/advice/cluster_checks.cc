// Ranks and stages of a job beside each other: the rules of MindInsight's cluster helper.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

// Several windows of one rank are not several ranks.
bool has_several_ranks(const Facts& facts) {
  return std::any_of(facts.ranks.begin(), facts.ranks.end(),
                     [&](const RankFacts& rank) { return rank.rank != facts.ranks.front().rank; });
}

// A rank over all of its windows.
struct Computing {
  int64_t rank = 0;
  double rate = 0;  // mean of the windows
  double windows = 0;
  double compute_ns = 0;             // a step, likewise
  std::set<int64_t> steps;           // with kernels
  const RankFacts* first = nullptr;  // window
};

// How much of the steps of either is in both.
double common_share(const std::set<int64_t>& a, const std::set<int64_t>& b) {
  const auto both = static_cast<double>(
      std::count_if(a.begin(), a.end(), [&](int64_t step) { return b.contains(step); }));
  const double either = static_cast<double>(a.size() + b.size()) - both;
  return either > 0 ? both / either : 0;
}

// The ranks whose rates can be compared: enough of their computing time has a number of FLOPs, and
// they have kernels of nearly the same steps as most ranks (a recording that was started late, cut
// off or lost kernels has another mix of operators).
std::vector<Computing> comparable_ranks(const Facts& facts) {
  constexpr double kSameSteps = 0.8;
  std::map<int64_t, Computing> ranks;
  for (const RankFacts& rank : facts.ranks) {
    if (std::isnan(rank.computing_rate) || !(rank.flops_coverage >= kMinFlopsCoverage)) continue;
    Computing& one = ranks[rank.rank];
    one.rank = rank.rank;
    one.rate += rank.computing_rate;
    one.compute_ns += static_cast<double>(rank.compute_ns);
    ++one.windows;
    if (one.first == nullptr) one.first = &rank;
    one.steps.insert(rank.kernel_steps.begin(), rank.kernel_steps.end());
  }
  std::map<int64_t, size_t> ranks_of_step;
  for (const auto& [number, rank] : ranks) {
    for (const int64_t step : rank.steps) ++ranks_of_step[step];
  }
  std::set<int64_t> usual;
  for (const auto& [step, count] : ranks_of_step) {
    if (count * 2 > ranks.size()) usual.insert(step);
  }
  std::vector<Computing> result;
  for (auto& [number, rank] : ranks) {
    if (common_share(rank.steps, usual) < kSameSteps) continue;
    rank.rate /= rank.windows;
    rank.compute_ns /= rank.windows;
    result.push_back(std::move(rank));
  }
  return result;
}

struct StageSum {
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
  int64_t receive_ns = 0;
  int64_t collective_ns = 0;
  double flops = 0;
  double ranks = 0;
  const RankFacts* first_rank = nullptr;
};

// Empty unless the job is a pipeline.
std::map<int64_t, StageSum> stages_of(const Facts& facts) {
  std::map<int64_t, StageSum> stages;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.stage == kNull || rank.steps == 0) continue;
    StageSum& stage = stages[rank.stage];
    if (stage.first_rank == nullptr) stage.first_rank = &rank;
    stage.compute_ns += rank.compute_ns;
    stage.communication_ns += rank.exposed_communication_ns;
    stage.receive_ns += rank.receive_ns;
    stage.collective_ns += rank.collective_ns;
    stage.flops += rank.flops_per_step;  // NaN stays: then nothing is said
    ++stage.ranks;
  }
  return stages;
}

double share_of_work(int64_t part_ns, const StageSum& stage) {
  const int64_t whole = stage.compute_ns + stage.communication_ns;
  return whole > 0 ? static_cast<double>(part_ns) / static_cast<double>(whole) : 0;
}

}  // namespace

std::optional<SlowDevice> slow_device(const Facts& facts, double limit) {
  // Stages of a pipeline have different operators, which reach different rates.
  if (stages_of(facts).size() > 1) return std::nullopt;
  const std::vector<Computing> ranks = comparable_ranks(facts);
  if (ranks.size() < 2) return std::nullopt;
  double mean = 0;
  for (const Computing& rank : ranks) mean += rank.rate / static_cast<double>(ranks.size());
  const auto worst =
      std::min_element(ranks.begin(), ranks.end(),
                       [](const Computing& a, const Computing& b) { return a.rate < b.rate; });
  if (!(worst->rate < (1 - limit) * mean)) return std::nullopt;
  return SlowDevice{worst->rank, worst->first, 1 - worst->rate / mean,
                    worst->rate, mean,         worst->compute_ns};
}

std::optional<Finding> check_slow_device(const Facts& facts, const Rule& rule) {
  const auto slow = slow_device(facts, rule.limit);
  // Where the others wait for this rank, slow_rank has said it.
  if (!slow || (slow->rank == facts.slow_rank && is_slow_rank(facts, kSlowRankExcess)))
    return std::nullopt;
  Finding finding;
  finding.gain_ns = std::llround(slow->compute_ns * slow->below_mean);  // at the average rate
  finding.confidence = Confidence::kHint;  // the mix of operators may differ, too
  finding.title = "Rank " + std::to_string(slow->rank) + "'s device computes " +
                  words_for_share(slow->below_mean) + " slower than the average";
  finding.detail = "It does " + words_for_number(slow->rate / 1e12) +
                   " TFLOP a second of computing time, the average is " +
                   words_for_number(slow->mean_rate / 1e12) + ".";
  finding.evidence = {{"rank", Unit::kNone, static_cast<double>(slow->rank)},
                      {"below_mean", Unit::kShare, slow->below_mean}};
  finding.places = {place_of(*slow->window)};
  return finding;
}

std::optional<Finding> check_uneven_interval(const Facts& facts, const Rule& rule) {
  if (!has_several_ranks(facts)) return std::nullopt;
  double sum = 0;
  double count = 0;
  const RankFacts* worst = nullptr;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.interval_ns == kNull) continue;
    sum += static_cast<double>(rank.interval_ns);
    ++count;
    if (worst == nullptr || rank.interval_ns > worst->interval_ns) worst = &rank;
  }
  if (count < 2 || sum <= 0) return std::nullopt;
  const double mean = sum / count;
  const double above = static_cast<double>(worst->interval_ns) - mean;
  // MindInsight compares with the mean alone; a long interval of a short one is nothing to act on.
  constexpr double kMatters = 0.02;
  if (above / mean <= rule.limit || facts.share(static_cast<int64_t>(above)) <= kMatters)
    return std::nullopt;
  Finding finding;
  finding.gain_ns = static_cast<int64_t>(above);
  finding.confidence = Confidence::kDerived;
  finding.title = "Rank " + std::to_string(worst->rank) + " begins its steps " +
                  words_for_time(finding.gain_ns) + " later than the average";
  finding.detail = "From the end of a step to the first operator of the next it needs " +
                   words_for_time(worst->interval_ns) + ".";
  finding.evidence = {{"rank", Unit::kNone, static_cast<double>(worst->rank)},
                      {"interval", Unit::kNanoseconds, static_cast<double>(worst->interval_ns)},
                      {"mean", Unit::kNanoseconds, mean}};
  finding.places = {place_of(*worst, worst->longest_interval)};
  return finding;
}

std::optional<Finding> check_pipeline_receive(const Facts& facts, const Rule& rule) {
  // NCCL receives in all-to-all collectives, too: without stages there is nobody before a rank.
  const auto stages = stages_of(facts);
  if (stages.size() < 2) return std::nullopt;
  StageSum all;
  for (const auto& [number, stage] : stages) {
    all.compute_ns += stage.compute_ns;
    all.communication_ns += stage.communication_ns;
    all.receive_ns += stage.receive_ns;
    all.ranks += stage.ranks;
  }
  const double share = share_of_work(all.receive_ns, all);
  if (share <= rule.limit) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kDerived;
  finding.gain_ns = all.receive_ns / static_cast<int64_t>(all.ranks);
  finding.title =
      "Stages wait " + words_for_time(finding.gain_ns) + " a step for the ones before them";
  finding.detail = "Receiving takes " + words_for_share(share) +
                   " of computing and communication together, over all ranks.";
  finding.evidence = {{"receive", Unit::kNanoseconds, static_cast<double>(finding.gain_ns)},
                      {"share", Unit::kShare, share}};
  const RankFacts* rank = worst_rank(facts, &RankFacts::receive_ns);
  if (rank != nullptr) finding.places = {place_of(*rank, rank->longest_receive)};
  return finding;
}

std::optional<Finding> check_stage_communication(const Facts& facts, const Rule& rule) {
  const auto stages = stages_of(facts);
  if (stages.size() < 2) return std::nullopt;
  const auto share = [](const StageSum& stage) {
    return share_of_work(stage.collective_ns, stage);
  };
  const auto worst = std::max_element(
      stages.begin(), stages.end(),
      [&](const auto& a, const auto& b) { return share(a.second) < share(b.second); });
  if (share(worst->second) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kDerived;
  finding.title = "Collectives inside stage " + std::to_string(worst->first) + " take " +
                  words_for_share(share(worst->second)) + " of its work";
  finding.detail =
      "Collectives that nothing hides, waiting for late ranks and messages between stages not "
      "counted.";
  finding.evidence = {{"stage", Unit::kNone, static_cast<double>(worst->first)},
                      {"share", Unit::kShare, share(worst->second)}};
  const RankFacts& rank = *worst->second.first_rank;
  finding.places = {place_of(rank, rank.longest_collective)};
  return finding;
}

std::optional<Finding> check_stage_balance(const Facts& facts, const Rule& rule) {
  const auto stages = stages_of(facts);
  if (stages.size() < 2) return std::nullopt;
  double mean = 0;
  const auto per_rank = [](const StageSum& stage) { return stage.flops / stage.ranks; };
  for (const auto& [number, stage] : stages)
    mean += per_rank(stage) / static_cast<double>(stages.size());
  const auto most = std::max_element(
      stages.begin(), stages.end(),
      [&](const auto& a, const auto& b) { return per_rank(a.second) < per_rank(b.second); });
  const double above = per_rank(most->second) / mean - 1;
  if (!(above > rule.limit)) return std::nullopt;
  Finding finding;
  // What its ranks compute longer than with the average share of the arithmetic.
  finding.gain_ns = std::llround(static_cast<double>(most->second.compute_ns) / most->second.ranks *
                                 above / (1 + above));
  finding.confidence = Confidence::kDerived;
  finding.title = "Stage " + std::to_string(most->first) + " has " + words_for_share(above) +
                  " more arithmetic than the average stage";
  finding.detail = "The others wait for it in every micro batch.";
  finding.evidence = {{"stage", Unit::kNone, static_cast<double>(most->first)},
                      {"above_mean", Unit::kShare, above}};
  finding.places = {place_of(*most->second.first_rank)};
  return finding;
}

}  // namespace stepscope
