#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/advice/collect_facts.h"
#include "analyses/common/interval_index.h"
#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

constexpr int64_t kSmallMessageBytes = 1 << 20;
constexpr int64_t kAlignedBytes = 512;
// After this time the network card sends a lost packet again.
constexpr int64_t kRetransmissionNs = 4'000'000'000;

RankFacts* facts_of(Facts& facts, int64_t rank) {
  const auto found = std::find_if(facts.ranks.begin(), facts.ranks.end(),
                                  [&](const RankFacts& one) { return one.rank == rank; });
  return found == facts.ranks.end() ? nullptr : &*found;
}

void take_late_peers(const Communication& communication, int64_t steps, Facts& facts) {
  for (const LateRankRow& row : communication.late_ranks) {
    if (!row.late || row.recorded || row.waiting_ranks <= 0) continue;
    const int64_t wait_ns = row.wait_ns / row.waiting_ranks / steps;
    if (wait_ns > facts.late_peer_wait_ns) {
      facts.late_peer = row.rank;
      facts.late_peer_wait_ns = wait_ns;
    }
  }
}

// A ring is as slow as its slowest link: all communication that both ends show is held up by it.
void take_slow_links(const Communication& communication, int64_t steps, Facts& facts) {
  for (const CommunicationMatrixRow& row : communication.matrix) {
    if (!row.slow) continue;
    int64_t exposed_ns = kNull;
    for (const int64_t end : {row.src_rank, row.dst_rank}) {
      const RankFacts* rank = facts_of(facts, end);
      if (rank == nullptr) continue;
      const int64_t waited = rank->communication_wait_ns == kNull ? 0 : rank->communication_wait_ns;
      const int64_t own_ns = std::max<int64_t>(rank->exposed_communication_ns - waited, 0);
      exposed_ns = exposed_ns == kNull ? own_ns : std::min(exposed_ns, own_ns);
    }
    facts.slow_links.push_back(
        {row.src_rank, row.dst_rank, std::string(row.link.empty() ? row.transport : row.link),
         row.bandwidth, row.mean_bandwidth, std::max(row.time_ns / steps, exposed_ns)});
  }
}

void take_messages(const Communication& communication, int64_t steps, Facts& facts) {
  int64_t small_ns = 0;
  int64_t all_ns = 0;
  std::map<std::pair<int64_t, int64_t>, int64_t> receive_ns;  // by rank and window
  for (const CommunicationOperatorRow& row : communication.operators) {
    const int64_t waited = row.peer_wait_ns == kNull ? 0 : row.peer_wait_ns;
    if (row.collective == CollectiveKind::kReceive ||
        row.collective == CollectiveKind::kSendReceive)
      receive_ns[{row.rank, row.window}] += row.elapse_ns;
    if (is_point_to_point(row.collective) || row.bytes == kNull) continue;
    all_ns += row.elapse_ns - waited;
    if (row.bytes < kSmallMessageBytes) small_ns += row.elapse_ns - waited;
  }
  if (all_ns > 0)
    facts.small_messages_share = static_cast<double>(small_ns) / static_cast<double>(all_ns);
  for (RankFacts& rank : facts.ranks) {
    const auto found = receive_ns.find({rank.rank, rank.window});
    if (found != receive_ns.end())
      rank.receive_ns = std::min(found->second / steps, rank.exposed_communication_ns);
  }
}

void take_transfers(const Communication& communication, Facts& facts) {
  int64_t unaligned_ns = 0;
  int64_t all_ns = 0;
  for (size_t position = 0; position < communication.ranks.size(); ++position) {
    std::set<uint32_t> over_rdma;
    for (const CommunicationTransferRow& row : communication.ranks[position].transfers) {
      if (row.transport == "RDMA") over_rdma.insert(row.operation);
      if (row.transport != "SDMA" || row.src_rank == row.dst_rank || row.link == "ON_CHIP")
        continue;
      all_ns += row.time_ns;
      if (row.packet_bytes > kAlignedBytes && row.packet_bytes % kAlignedBytes != 0)
        unaligned_ns += row.time_ns;
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

void collect_communication(RunAnalyses& run, int64_t steps, Facts& facts) {
  const Communication& communication = run.communication();
  if (steps <= 0 || communication.operators.empty()) return;
  take_late_peers(communication, steps, facts);
  take_slow_links(communication, steps, facts);
  take_messages(communication, steps, facts);
  take_transfers(communication, facts);
  take_contention(run, facts);
}

}  // namespace stepscope
