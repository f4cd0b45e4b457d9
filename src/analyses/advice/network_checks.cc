#include "analyses/advice/checks.h"
#include "analyses/advice/wording.h"

namespace stepscope {
namespace {

// How the network is used matters where communication holds up steps.
constexpr double kCommunicationMatters = 0.05;

bool communication_matters(const Facts& facts) {
  return facts.share(own_communication_ns(facts)) > kCommunicationMatters;
}

}  // namespace

std::optional<Finding> check_small_messages(const Facts& facts, const Rule& rule) {
  if (!(facts.small_messages_share > rule.limit) || !communication_matters(facts))
    return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = words_for_share(facts.small_messages_share) +
                  " of the time in collectives goes into small messages";
  finding.detail =
      "Below about a megabyte a collective takes as long as its latency, whatever it moves.";
  finding.evidence = {{"share", Unit::kShare, facts.small_messages_share}};
  finding.places = places_of(facts.small_message);
  return finding;
}

std::optional<Finding> check_unaligned_transfers(const Facts& facts, const Rule& rule) {
  if (!(facts.unaligned_transfers_share > rule.limit)) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = words_for_share(facts.unaligned_transfers_share) +
                  " of the transfer time is in sizes that are no multiple of 512 bytes";
  finding.detail = "SDMA between devices is fastest in whole blocks of 512 bytes.";
  finding.evidence = {{"share", Unit::kShare, facts.unaligned_transfers_share}};
  finding.places = places_of(facts.unaligned_transfer);
  return finding;
}

std::optional<Finding> check_contended_bandwidth(const Facts& facts, const Rule& rule) {
  if (!(facts.contended_share > rule.limit)) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title = "Collectives lose " + words_for_share(facts.contended_share) +
                  " of their bandwidth while devices compute";
  finding.detail = "The same operations are that much faster where nothing runs beside them.";
  finding.evidence = {{"lost", Unit::kShare, facts.contended_share}};
  return finding;
}

std::optional<Finding> check_retransmission(const Facts& facts, const Rule& rule) {
  if (static_cast<double>(facts.retransmissions) <= rule.limit) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title =
      std::to_string(facts.retransmissions) + " operations over RDMA took four seconds or more";
  finding.detail = "That is the time after which lost packets are sent again.";
  finding.evidence = {{"operations", Unit::kCount, static_cast<double>(facts.retransmissions)}};
  finding.places = places_of(facts.retransmission);
  return finding;
}

std::optional<Finding> check_gloo(const Facts& facts, const Rule&) {
  for (const RankFacts& rank : facts.ranks) {
    if (!rank.uses_gloo || !rank.has_device) continue;
    Finding finding;
    finding.confidence = Confidence::kHint;
    finding.title = "Collectives of devices go through the host";
    finding.detail = "Rank " + std::to_string(rank.rank) + " has a device and uses gloo.";
    finding.evidence = {{"operations", Unit::kCount, rank.gloo_calls},
                        {"host", Unit::kNanoseconds, static_cast<double>(rank.gloo_ns)}};
    finding.places = {place_of(rank)};
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> check_sync_batch_norm(const Facts& facts, const Rule& rule) {
  const RankFacts* rank = first_rank_above(facts, &RankFacts::sync_batch_norms, rule.limit);
  if (rank == nullptr) return std::nullopt;
  Finding finding;
  finding.confidence = Confidence::kHint;
  finding.title =
      words_for_number(rank->sync_batch_norms) + " synchronised batch normalisations a step";
  finding.detail = "Each one is a small collective that everything behind it waits for.";
  finding.evidence = {{"count", Unit::kCount, rank->sync_batch_norms}};
  finding.places = {place_of(*rank)};
  return finding;
}

}  // namespace stepscope
