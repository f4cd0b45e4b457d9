// Where to look: for each fact the worst instance of it.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyses/advice/collect_facts.h"
#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

// Keeps the place with the largest value.
class Worst {
 public:
  explicit Worst(std::optional<Place>& place) : place_(place) {}

  void offer(int64_t value, const Place& place) {
    if (value <= largest_) return;
    largest_ = value;
    place_ = place;
  }

 private:
  std::optional<Place>& place_;
  int64_t largest_ = 0;
};

// The same for rows that are kept by what they belong to.
struct LongestOperation {
  int64_t ns = 0;
  const CommunicationOperatorRow* row = nullptr;

  void offer(int64_t offered_ns, const CommunicationOperatorRow& offered) {
    if (offered_ns <= ns) return;
    ns = offered_ns;
    row = &offered;
  }
};

Place place_of_operator(const CommunicationOperatorRow& row) {
  return {row.rank, row.step, row.start_ns, row.end_ns()};
}

void take_step_places(std::span<const StepRow> steps, RankFacts& facts) {
  Worst longest(facts.longest_step_place);
  Worst interval(facts.longest_interval);
  for (const StepRow& step : steps) {
    if (!step.averaged) continue;
    longest.offer(step.work_dur_ns,
                  {facts.rank, step.step, step.work_start_ns, step.work_end_ns()});
    if (step.gap_ns != kNull)
      interval.offer(step.gap_ns,
                     {facts.rank, step.step, step.start_ns - step.gap_ns, step.start_ns});
  }
}

// The longest piece, cut at the ends of steps.
void take_exposed_place(const std::vector<DeviceIntervals>& devices, std::span<const StepRow> steps,
                        RankFacts& facts) {
  Worst longest(facts.longest_exposed);
  for (const DeviceIntervals& device : devices) {
    const auto exposed = subtract_intervals(device.communication, device.compute);
    for (const StepRow& step : steps) {
      if (!step.averaged) continue;
      for (const Interval& piece : clip_intervals(exposed, step.work_start_ns, step.work_end_ns()))
        longest.offer(piece.end_ns - piece.start_ns,
                      {facts.rank, step.step, piece.start_ns, piece.end_ns});
    }
  }
}

void take_operation_places(const Communication& communication, size_t position,
                           std::span<const StepRow> steps, RankFacts& facts) {
  std::set<int64_t> averaged;
  for (const StepRow& step : steps) {
    if (step.averaged) averaged.insert(step.step);
  }
  Worst receive(facts.longest_receive);
  Worst collective(facts.longest_collective);
  for (size_t i = communication.first_operator[position];
       i < communication.first_operator[position + 1]; ++i) {
    const CommunicationOperatorRow& row = communication.operators[i];
    if (!averaged.contains(row.step)) continue;
    if (row.collective == CollectiveKind::kReceive ||
        row.collective == CollectiveKind::kSendReceive) {
      receive.offer(row.elapse_ns, place_of_operator(row));
    } else if (!is_point_to_point(row.collective)) {
      const int64_t waited = row.peer_wait_ns == kNull ? 0 : row.peer_wait_ns;
      collective.offer(row.elapse_ns - waited, place_of_operator(row));
    }
  }
}

// A moment, from the start of its step on.
std::optional<Place> up_to(int64_t moment_ns, std::span<const StepRow> steps, int64_t rank) {
  if (moment_ns == kNull) return std::nullopt;
  StepOfMoment finder(steps);
  const size_t at = finder.find(moment_ns);
  if (at == StepOfMoment::kNone) return Place{rank, kNull, moment_ns, moment_ns};
  return Place{rank, steps[at].step, steps[at].start_ns, moment_ns};
}

void take_memory_places(RunAnalyses& run, std::span<const StepRow> steps, RankFacts& facts) {
  for (const MemoryRow& row : run.memory().overview) {
    // The pool that the facts are about.
    if (row.rank != facts.rank || row.window != facts.window || row.peak_bytes == kNull ||
        row.peak_bytes != facts.peak_allocated_bytes)
      continue;
    facts.peak_allocated = up_to(row.peak_ts, steps, facts.rank);
    facts.peak_reserved = up_to(row.peak_reserved_ts, steps, facts.rank);
    return;
  }
}

void take_late_peer_place(const Communication& communication, Facts& facts) {
  if (facts.late_peer == kNull) return;
  const PeerWaitRow* longest = nullptr;
  for (const PeerWaitRow& row : communication.peer_waits) {
    if (row.peer == facts.late_peer && (longest == nullptr || row.wait_ns > longest->wait_ns))
      longest = &row;
  }
  if (longest == nullptr) return;
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (row.rank != longest->rank || row.window != longest->window || row.slice != longest->slice)
      continue;
    facts.late_peer_place = place_of_operator(row);
    return;
  }
}

// Of the transfers over a link, or where groups of two measure it of their operations.
void take_link_places(const Communication& communication, Facts& facts) {
  if (facts.slow_links.empty()) return;
  std::map<std::pair<int64_t, int64_t>, LongestOperation> by_ends;
  for (size_t position = 0; position < communication.ranks.size(); ++position) {
    for (const CommunicationTransferRow& row : communication.ranks[position].transfers) {
      by_ends[{row.src_rank, row.dst_rank}].offer(
          row.time_ns,
          communication.operators[communication.first_operator[position] + row.operation]);
    }
  }
  // A rank may be in several groups of two.
  std::map<uint64_t, std::set<int64_t>> pairs;
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (row.group_size == 2) pairs[row.group_identity].insert(row.rank);
  }
  using Direction = std::tuple<int64_t, int64_t, std::string_view>;  // from, to, kind
  std::map<Direction, LongestOperation> by_pair;
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (row.group_size != 2 || row.transmit_ns == kNull) continue;
    for (const int64_t other : pairs[row.group_identity]) {
      if (other != row.rank) by_pair[{row.rank, other, row.kind}].offer(row.transmit_ns, row);
    }
  }
  for (LinkFacts& link : facts.slow_links) {
    const CommunicationOperatorRow* longest = by_ends[{link.src_rank, link.dst_rank}].row;
    if (longest == nullptr) longest = by_pair[{link.src_rank, link.dst_rank, link.kind}].row;
    if (longest != nullptr) link.longest_transfer = place_of_operator(*longest);
  }
}

void take_transfer_places(const Communication& communication, Facts& facts) {
  Worst unaligned(facts.unaligned_transfer);
  Worst retransmission(facts.retransmission);
  for (size_t position = 0; position < communication.ranks.size(); ++position) {
    for (const CommunicationTransferRow& row : communication.ranks[position].transfers) {
      const CommunicationOperatorRow& operation =
          communication.operators[communication.first_operator[position] + row.operation];
      if (is_unaligned(row)) unaligned.offer(row.time_ns, place_of_operator(operation));
      if (row.transport == "RDMA")
        retransmission.offer(operation.elapse_ns, place_of_operator(operation));
    }
  }
}

}  // namespace

void collect_places(RunAnalyses& run, Facts& facts) {
  const Communication& communication = run.communication();
  for (const RankId& rank : run.ranks()) {
    RankFacts& one = facts.ranks[rank.position];
    const std::span<const StepRow> steps = run.steps(rank.position);
    take_step_places(steps, one);
    take_memory_places(run, steps, one);
    if (communication.first_operator[rank.position] ==
        communication.first_operator[rank.position + 1])
      continue;
    take_exposed_place(run.device_intervals()[rank.position], steps, one);
    take_operation_places(communication, rank.position, steps, one);
  }
  if (communication.operators.empty()) return;
  take_late_peer_place(communication, facts);
  take_link_places(communication, facts);
  take_transfer_places(communication, facts);
  Worst small(facts.small_message);
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (!is_point_to_point(row.collective) && row.bytes != kNull && row.bytes < kSmallMessageBytes)
      small.offer(row.elapse_ns, place_of_operator(row));
  }
}

}  // namespace stepscope
