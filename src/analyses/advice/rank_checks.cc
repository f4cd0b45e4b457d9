#include <algorithm>

#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

constexpr double kLinkMatters = 0.01;  // of a step
// A bandwidth of fewer transfers may be chance.
constexpr int64_t kEnoughTransfers = 4;

double below(const LinkFacts& link) {
  return link.mean_of_kind > 0 ? 1 - link.bytes_per_second / link.mean_of_kind : 0;
}

const LinkFacts* slowest_link(const Facts& facts) {
  const LinkFacts* worst = nullptr;
  for (const LinkFacts& link : facts.slow_links) {
    if (worst == nullptr || below(link) > below(*worst)) worst = &link;
  }
  return worst;
}

// What a step would gain if the link were as fast as others of its kind: not more than the
// communication that the step waits for.
int64_t gain_of(const LinkFacts& link) {
  const auto shorter_ns = static_cast<int64_t>(below(link) * static_cast<double>(link.time_ns));
  return link.exposed_ns == kNull ? shorter_ns : std::min(shorter_ns, link.exposed_ns);
}

}  // namespace

bool is_slow_rank(const Facts& facts, double limit) {
  return facts.slow_rank != kNull && facts.slow_rank_own_ns != kNull &&
         facts.share(facts.slow_rank_own_ns - facts.other_ranks_own_ns) > limit;
}

std::optional<Finding> check_slow_rank(const Facts& facts, const Rule& rule) {
  if (!is_slow_rank(facts, rule.limit)) return std::nullopt;
  const int64_t excess_ns = facts.slow_rank_own_ns - facts.other_ranks_own_ns;
  Finding finding;
  finding.gain_ns = excess_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "Rank " + std::to_string(facts.slow_rank) + " is slower than the others by " +
                  words_for_time(excess_ns) + " a step";
  finding.detail = "Without communication it needs " + words_for_time(facts.slow_rank_own_ns) +
                   " a step, the others " + words_for_time(facts.other_ranks_own_ns) +
                   "; they wait for it in collectives.";
  finding.evidence = {
      {"rank", Unit::kNone, static_cast<double>(facts.slow_rank)},
      {"own", Unit::kNanoseconds, static_cast<double>(facts.slow_rank_own_ns)},
      {"others", Unit::kNanoseconds, static_cast<double>(facts.other_ranks_own_ns)}};
  if (const auto slow = slow_device(facts, kSlowDeviceShare);
      slow && slow->rank == facts.slow_rank) {
    finding.detail += " Its device computes " + words_for_share(slow->below_mean) +
                      " slower than the average: " + words_for_number(slow->rate / 1e12) +
                      " TFLOP a second of computing time, not " +
                      words_for_number(slow->mean_rate / 1e12) + ".";
    finding.evidence.push_back({"below_mean", Unit::kShare, slow->below_mean});
  }
  finding.places = {{facts.slow_rank}};
  for (const RankFacts& rank : facts.ranks) {
    if (rank.rank != facts.slow_rank) continue;
    finding.places = {place_of(rank)};
    break;
  }
  return finding;
}

std::optional<Finding> check_late_peer(const Facts& facts, const Rule& rule) {
  if (facts.late_peer == kNull || facts.share(facts.late_peer_wait_ns) <= rule.limit)
    return std::nullopt;
  Finding finding;
  finding.gain_ns = facts.late_peer_wait_ns;
  finding.confidence = Confidence::kDerived;
  finding.title = "Collectives wait " + words_for_time(facts.late_peer_wait_ns) +
                  " a step for rank " + std::to_string(facts.late_peer);
  finding.detail =
      "The wait is for a notice of that peer; other tools count it as idle. Waiting that "
      "computation "
      "hides is not counted.";
  finding.evidence = {{"peer", Unit::kNone, static_cast<double>(facts.late_peer)},
                      {"wait", Unit::kNanoseconds, static_cast<double>(facts.late_peer_wait_ns)}};
  finding.places = places_of(facts.late_peer_place);
  return finding;
}

std::optional<Finding> check_slow_link(const Facts& facts, const Rule& rule) {
  const LinkFacts* worst = slowest_link(facts);
  if (worst == nullptr || below(*worst) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.confidence =
      worst->transfers < kEnoughTransfers ? Confidence::kHint : Confidence::kDerived;
  if (worst->time_ns > 0) {
    finding.gain_ns = gain_of(*worst);
    if (facts.share(finding.gain_ns) <= kLinkMatters) return std::nullopt;
  }
  finding.title = "The link between ranks " + std::to_string(worst->src_rank) + " and " +
                  std::to_string(worst->dst_rank) +
                  " is slow: " + words_for_rate(worst->bytes_per_second);
  finding.detail = "Links of its kind (" + worst->kind + ") reach " +
                   words_for_rate(worst->mean_of_kind) + " on average.";
  if (worst->transfers < kEnoughTransfers)
    finding.detail += " It is measured by " + std::to_string(worst->transfers) +
                      (worst->transfers == 1 ? " transfer only." : " transfers only.");
  finding.evidence = {{"src_rank", Unit::kNone, static_cast<double>(worst->src_rank)},
                      {"dst_rank", Unit::kNone, static_cast<double>(worst->dst_rank)},
                      {"bandwidth", Unit::kBytesPerSecond, worst->bytes_per_second},
                      {"mean_of_kind", Unit::kBytesPerSecond, worst->mean_of_kind}};
  finding.places = {worst->longest_transfer.value_or(Place{worst->src_rank})};
  return finding;
}

std::optional<Finding> check_exposed_communication(const Facts& facts, const Rule& rule) {
  // Waiting for a late rank is that rank's fault, a slow link that link's; what is left is
  // communication itself.
  const RankFacts* rank = nullptr;
  bool is_wait_known = facts.ranks.size() > 1 && facts.missing_ranks <= 0;
  for (const RankFacts& each : facts.ranks)
    is_wait_known &= each.steps == 0 || each.all_waits_known;
  int64_t exposed_ns = own_communication_ns(facts, &rank);
  if (rank == nullptr) return std::nullopt;
  if (const LinkFacts* link = slowest_link(facts)) exposed_ns -= gain_of(*link);
  if (facts.share(exposed_ns) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.gain_ns = exposed_ns;
  finding.title =
      words_for_share(facts.share(exposed_ns)) + " of the step is communication that nothing hides";
  finding.detail = std::string(facts.ranks.size() > 1 ? "On every rank at least " : "") +
                   words_for_time(exposed_ns) +
                   " a step pass with communication and no computation";
  if (is_wait_known) {
    finding.detail += ", waiting for late ranks not counted.";
  } else {
    finding.confidence = Confidence::kHint;
    finding.detail += "; how much of it is waiting for other ranks cannot be told";
    if (facts.missing_ranks > 0)
      finding.detail +=
          ": " + std::to_string(facts.missing_ranks) + " ranks of the job are not in the input";
    finding.detail += ".";
  }
  finding.evidence = {{"exposed", Unit::kNanoseconds, static_cast<double>(exposed_ns)},
                      {"share", Unit::kShare, facts.share(exposed_ns)}};
  finding.places = {place_of(*rank, rank->longest_exposed)};
  return finding;
}

}  // namespace stepscope
