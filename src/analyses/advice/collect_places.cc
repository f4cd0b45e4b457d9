// Where to look: for each fact the worst instance of it.
#include <algorithm>
#include <utility>

#include "analyses/advice/averaged_steps.h"
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
  AveragedSteps averaged(steps, AveragedSteps::By::kWork);
  Worst receive(facts.longest_receive);
  Worst collective(facts.longest_collective);
  for (size_t i = communication.first_operator[position];
       i < communication.first_operator[position + 1]; ++i) {
    const CommunicationOperatorRow& row = communication.operators[i];
    if (!averaged.hold(row.start_ns)) continue;
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

Place place_of_operator(const CommunicationOperatorRow& row) {
  return {row.rank, row.step, row.start_ns, row.end_ns()};
}

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
  take_transfer_places(communication, facts);
  Worst small(facts.small_message);
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (!is_point_to_point(row.collective) && row.bytes != kNull && row.bytes < kSmallMessageBytes)
      small.offer(row.elapse_ns, place_of_operator(row));
  }
}

}  // namespace stepscope
