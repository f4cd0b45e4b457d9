#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/advice/averaged_steps.h"
#include "analyses/advice/collect_facts.h"
#include "analyses/common/interval_index.h"
#include "analyses/common/merging.h"
#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

// After this time the network card sends a lost packet again.
constexpr int64_t kRetransmissionNs = 4'000'000'000;

// A link in the steps that means are made of.
struct LinkInSteps {
  double time_ns = 0;  // a step, of the ranks that recorded it
  int64_t longest_ns = 0;
  const CommunicationOperatorRow* longest = nullptr;
};

std::map<LinkUse::Key, LinkInSteps> links_in_steps(RunAnalyses& run) {
  std::vector<AveragedSteps> steps;
  for (const RankId& rank : run.ranks())
    steps.emplace_back(run.steps(rank.position), AveragedSteps::By::kWork);
  std::map<LinkUse::Key, LinkInSteps> links;
  std::map<int64_t, int64_t> counts;  // by rank: of all of its windows
  for (const RankId& rank : run.ranks()) counts[rank.rank] += steps[rank.position].count();
  for_each_link_use(run.communication(), [&](const LinkUse& use) {
    if (!steps[use.position].hold(use.operation.start_ns)) return;
    LinkInSteps& link = links[use.key()];
    link.time_ns +=
        static_cast<double>(use.time_ns) / static_cast<double>(counts[use.operation.rank]);
    if (use.time_ns <= link.longest_ns) return;
    link.longest_ns = use.time_ns;
    link.longest = &use.operation;
  });
  return links;
}

// A ring is as slow as its slowest link: all communication that both ends show is held up by it.
void take_slow_links(RunAnalyses& run, Facts& facts) {
  const auto& matrix = run.communication().matrix;
  if (std::ranges::none_of(matrix, &CommunicationMatrixRow::slow)) return;
  auto links = links_in_steps(run);
  for (const CommunicationMatrixRow& row : matrix) {
    if (!row.slow) continue;
    int64_t exposed_ns = kNull;
    for (const RankFacts& rank : facts.ranks) {
      if (rank.steps == 0 || (rank.rank != row.src_rank && rank.rank != row.dst_rank)) continue;
      const int64_t waited = rank.communication_wait_ns == kNull ? 0 : rank.communication_wait_ns;
      const int64_t own_ns = std::max<int64_t>(rank.exposed_communication_ns - waited, 0);
      exposed_ns = exposed_ns == kNull ? own_ns : std::min(exposed_ns, own_ns);
    }
    const LinkInSteps& link = links[{row.src_rank, row.dst_rank, row.transport, row.link}];
    LinkFacts& slow = facts.slow_links.emplace_back();
    slow.src_rank = row.src_rank;
    slow.dst_rank = row.dst_rank;
    slow.kind = row.link.empty() ? row.transport : row.link;
    slow.bytes_per_second = row.bandwidth;
    slow.mean_of_kind = row.mean_bandwidth;
    slow.transfers = row.packets;
    slow.time_ns = std::max<int64_t>(std::llround(link.time_ns), exposed_ns);
    slow.exposed_ns = exposed_ns;
    if (link.longest != nullptr) slow.longest_transfer = place_of_operator(*link.longest);
  }
}

// The rank outside of the recording that is waited for, if there is one: more than half of all
// waiting is for it.
void take_late_peer(const Communication& communication, Facts& facts) {
  for (const LateRankRow& row : communication.late_ranks) {
    if (row.late && !row.recorded) facts.late_peer = row.rank;
  }
}

// The mean over the steps of the ranks that wait for it.
void take_wait_for_late_peer(Facts& facts) {
  double sum_ns = 0;
  double steps = 0;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.late_peer_wait_ns <= 0) continue;
    sum_ns += static_cast<double>(rank.late_peer_wait_ns) * static_cast<double>(rank.steps);
    steps += static_cast<double>(rank.steps);
  }
  if (steps > 0) facts.late_peer_wait_ns = std::llround(sum_ns / steps);
}

// How long an operator waited for ranks that came later, as far as the recording tells.
int64_t waited_ns(const CommunicationOperatorRow& row) {
  const int64_t longest = std::max(row.peer_wait_ns, row.blocked_ns);  // kNull is the least
  return std::clamp<int64_t>(longest == kNull ? 0 : longest, 0, row.elapse_ns);
}

// What of receives, of waiting for other ranks or for the late peer, and of collectives without
// their waiting no computation hides: merged, cut at the ends of the steps that the other means are
// made of, on the device that computes most. Waiting is known where other ranks recorded the
// operation too.
void take_exposed_parts(RunAnalyses& run, Facts& facts) {
  const Communication& communication = run.communication();
  std::unordered_map<int64_t, const PeerWaitRow*> peer_waits;
  if (facts.late_peer != kNull) peer_waits = longest_peer_waits(communication);
  int64_t longest_wait_ns = 0;
  for (const RankId& rank : run.ranks()) {
    RankFacts& one = facts.ranks[rank.position];
    const std::vector<DeviceIntervals>& devices = run.device_intervals()[rank.position];
    const auto busiest = std::max_element(
        devices.begin(), devices.end(), [](const DeviceIntervals& a, const DeviceIntervals& b) {
          return total_length_ns(a.compute) < total_length_ns(b.compute);
        });
    if (one.steps == 0 || busiest == devices.end()) continue;
    Merging receives;
    Merging waits;
    Merging late_peer_waits;
    AveragedSteps averaged(run.steps(rank.position), AveragedSteps::By::kWork);
    Merging collectives;
    bool is_wait_known = false;
    one.all_waits_known = true;
    for (size_t i = communication.first_operator[rank.position];
         i < communication.first_operator[rank.position + 1]; ++i) {
      const CommunicationOperatorRow& row = communication.operators[i];
      // An operation of unknown size may have ranks that are not in the input.
      one.all_waits_known &=
          row.last_rank != kNull && (row.group_size == kNull ? facts.missing_ranks == 0
                                                             : row.matched_ranks >= row.group_size);
      if (row.last_rank != kNull) {
        is_wait_known = true;
        waits.add(row.start_ns, row.start_ns + row.peer_wait_ns);
      }
      if (const auto wait = peer_waits.find(row.slice);
          wait != peer_waits.end() && wait->second->peer == facts.late_peer) {
        const PeerWaitRow& peer = *wait->second;
        late_peer_waits.add(peer.first_start_ns,
                            peer.first_start_ns + std::min(peer.wait_ns, row.elapse_ns));
        if (peer.wait_ns > longest_wait_ns && averaged.hold(row.start_ns)) {
          longest_wait_ns = peer.wait_ns;
          facts.late_peer_place = place_of_operator(row);
        }
      }
      if (row.collective == CollectiveKind::kReceive ||
          row.collective == CollectiveKind::kSendReceive) {
        receives.add(row.start_ns, row.end_ns());
      } else if (!is_point_to_point(row.collective)) {
        collectives.add(row.start_ns + waited_ns(row), row.end_ns());
      }
    }
    const auto exposed = [&](Merging& merging) {
      return subtract_intervals(merging.take(), busiest->compute);
    };
    const std::vector<Interval> exposed_receives = exposed(receives);
    const std::vector<Interval> exposed_waits = exposed(waits);
    const IntervalIndex received(exposed_receives);
    const IntervalIndex waited(exposed_waits);
    const IntervalIndex waited_for_late_peer(exposed(late_peer_waits));
    const IntervalIndex waited_in_receives(intersect_intervals(exposed_receives, exposed_waits));
    const IntervalIndex collected(exposed(collectives));
    int64_t counted = 0;
    int64_t wait_ns = 0;
    for (const StepRow& step : run.steps(rank.position)) {
      if (!step.averaged) continue;
      ++counted;
      const auto in_step = [&](const IntervalIndex& index) {
        return index.length_in(step.work_start_ns, step.work_end_ns());
      };
      one.receive_ns += in_step(received);
      one.receive_wait_ns += in_step(waited_in_receives);
      one.collective_ns += in_step(collected);
      wait_ns += in_step(waited);
      one.late_peer_wait_ns += in_step(waited_for_late_peer);
    }
    if (counted == 0) continue;
    one.receive_ns /= counted;
    one.receive_wait_ns /= counted;
    one.collective_ns /= counted;
    one.late_peer_wait_ns /= counted;
    if (is_wait_known) one.communication_wait_ns = wait_ns / counted;
  }
}

void take_messages(const Communication& communication, Facts& facts) {
  int64_t small_ns = 0;
  int64_t all_ns = 0;
  for (const CommunicationOperatorRow& row : communication.operators) {
    const int64_t waited = row.peer_wait_ns == kNull ? 0 : row.peer_wait_ns;
    if (is_point_to_point(row.collective) || row.bytes == kNull) continue;
    all_ns += row.elapse_ns - waited;
    if (row.bytes < kSmallMessageBytes) small_ns += row.elapse_ns - waited;
  }
  if (all_ns > 0)
    facts.small_messages_share = static_cast<double>(small_ns) / static_cast<double>(all_ns);
}

void take_transfers(const Communication& communication, Facts& facts) {
  int64_t unaligned_ns = 0;
  int64_t all_ns = 0;
  for (size_t position = 0; position < communication.ranks.size(); ++position) {
    std::set<uint32_t> over_rdma;
    for (const CommunicationTransferRow& row : communication.ranks[position].transfers) {
      if (row.transport == "RDMA") over_rdma.insert(row.operation);
      if (!is_sdma_transfer(row)) continue;
      all_ns += row.time_ns;
      if (is_unaligned(row)) unaligned_ns += row.time_ns;
    }
    for (const uint32_t operation : over_rdma) {
      const size_t at = communication.first_operator[position] + operation;
      if (communication.operators[at].elapse_ns >= kRetransmissionNs) ++facts.retransmissions;
    }
  }
  if (all_ns > 0)
    facts.unaligned_transfers_share =
        static_cast<double>(unaligned_ns) / static_cast<double>(all_ns);
}

// The same operation (kind, size, group) beside computation and without it: how much bandwidth it
// loses.
void take_contention(RunAnalyses& run, Facts& facts) {
  constexpr double kBeside = 0.8;
  constexpr double kAlone = 0.1;
  constexpr int64_t kEnough = 3;
  struct Sums {
    double rates[2] = {};  // alone, beside computation
    int64_t counts[2] = {};
    int64_t time_ns = 0;
  };
  const Communication& communication = run.communication();
  std::map<std::tuple<CollectiveKind, int64_t, uint64_t>, Sums> sums;
  for (size_t position = 0; position < run.ranks().size(); ++position) {
    const auto rows = std::span(communication.operators)
                          .subspan(communication.first_operator[position],
                                   communication.first_operator[position + 1] -
                                       communication.first_operator[position]);
    if (rows.empty()) continue;
    for (const DeviceIntervals& device : run.device_intervals()[position]) {
      if (device.device == kHostDevice) continue;
      const IntervalIndex computing(device.compute);
      for (const CommunicationOperatorRow& row : rows) {
        if (row.elapse_ns <= 0 || row.bytes == kNull || row.bytes < kSmallMessageBytes) continue;
        const double rate =
            std::isnan(row.transfer_bandwidth) ? row.algorithm_bandwidth : row.transfer_bandwidth;
        // Where waiting is not told apart, an operation that starts early looks slow.
        const bool moves_only = !std::isnan(row.transfer_bandwidth) || row.transmit_ns != kNull;
        if (!(rate > 0) || !moves_only) continue;
        const double beside =
            static_cast<double>(computing.length_in(row.start_ns, row.start_ns + row.elapse_ns)) /
            static_cast<double>(row.elapse_ns);
        if (beside > kAlone && beside < kBeside) continue;
        Sums& sum = sums[{row.collective, row.bytes, row.group_identity}];
        const size_t side = beside >= kBeside ? 1 : 0;
        sum.rates[side] += rate;
        ++sum.counts[side];
        sum.time_ns += row.elapse_ns;
      }
    }
  }
  int64_t most_ns = 0;
  for (const auto& [key, sum] : sums) {
    if (sum.counts[0] < kEnough || sum.counts[1] < kEnough || sum.time_ns <= most_ns) continue;
    most_ns = sum.time_ns;
    const double alone = sum.rates[0] / static_cast<double>(sum.counts[0]);
    const double beside = sum.rates[1] / static_cast<double>(sum.counts[1]);
    facts.contended_share = 1 - beside / alone;
  }
}

}  // namespace

bool is_sdma_transfer(const CommunicationTransferRow& row) {
  return row.transport == "SDMA" && row.src_rank != row.dst_rank && row.link != "ON_CHIP";
}

bool is_unaligned(const CommunicationTransferRow& row) {
  constexpr int64_t kAlignedBytes = 512;
  return is_sdma_transfer(row) && row.packet_bytes > kAlignedBytes &&
         row.packet_bytes % kAlignedBytes != 0;
}

void collect_communication(RunAnalyses& run, Facts& facts) {
  const Communication& communication = run.communication();
  if (communication.operators.empty()) return;
  take_late_peer(communication, facts);
  take_exposed_parts(run, facts);
  take_wait_for_late_peer(facts);
  take_slow_links(run, facts);
  take_messages(communication, facts);
  take_transfers(communication, facts);
  take_contention(run, facts);
}

}  // namespace stepscope
