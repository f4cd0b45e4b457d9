#include "analyses/rank_comparison/rank_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace stepscope {
namespace {

void use_devices(const std::vector<DeviceIntervals>& devices, RankComparisonRow& row) {
  for (const DeviceIntervals& device : devices) {
    // On the host a collective is an operator like others, and waiting in it is no computation.
    row.compute_ns += total_length_ns(device.compute);
    if (device.device == kHostDevice)
      row.compute_ns -= total_length_ns(intersect_intervals(device.compute, device.communication));
    row.span_ns = std::max(row.span_ns, device.span_ns());
    row.idle_ns += device.span_ns() - device.busy_ns();
  }
}

void use_steps(std::span<const StepRow> steps, RankComparisonRow& row) {
  int64_t total_ns = 0;
  int64_t averaged = 0;
  for (const StepRow& step : steps) {
    row.steps += step.complete ? 1 : 0;
    if (!step.averaged) continue;
    ++averaged;
    total_ns += step.work_dur_ns;
  }
  if (averaged > 0) row.step_ns = static_cast<double>(total_ns) / static_cast<double>(averaged);
}

void use_communication(const Communication& communication, size_t position,
                       RankComparisonRow& row) {
  for (size_t i = communication.first_operator[position];
       i < communication.first_operator[position + 1]; ++i) {
    const CommunicationOperatorRow& one = communication.operators[i];
    row.communication_ns += one.elapse_ns;
    if (one.last_rank == kNull) continue;
    ++row.collectives;
    row.arrived_last += one.last_rank == one.rank ? 1 : 0;
    row.communication_wait_ns += one.peer_wait_ns;
  }
}

// Mean over the rows that have the number; NaN when none has.
template <class Get>
double mean_of(const std::vector<RankComparisonRow>& rows, Get get) {
  double sum = 0;
  int64_t count = 0;
  for (const RankComparisonRow& row : rows) {
    const double value = get(row);
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? kNoNumber : sum / static_cast<double>(count);
}

double over(double value, double mean) { return mean > 0 ? value / mean - 1 : kNoNumber; }

double compute_per_step(const RankComparisonRow& row) {
  const auto compute = static_cast<double>(row.compute_ns);
  return row.steps > 0 ? compute / static_cast<double>(row.steps) : compute;
}

void find_slow(bool late, RankComparisonRow& row) {
  const auto add = [&](bool is_so, std::string_view why) {
    if (!is_so) return;
    row.slow = true;
    row.why += (row.why.empty() ? "" : ", ") + std::string(why);
  };
  add(late, "late for communication");
  add(row.step_over_mean > kSlowRankShare, "longer steps");
  add(row.compute_over_mean > kSlowRankShare, "more computation");
}

}  // namespace

std::vector<RankComparisonRow> compare_ranks(
    const std::vector<RankId>& ranks, const std::vector<std::vector<DeviceIntervals>>& devices,
    const std::vector<std::span<const StepRow>>& steps, const Communication& communication) {
  std::map<std::pair<int64_t, int64_t>, int64_t> caused_ns;  // by rank and window
  for (const CommunicationOperatorRow& one : communication.operators) {
    if (one.last_rank != kNull && one.rank != one.last_rank)
      caused_ns[{one.last_rank, one.window}] += one.peer_wait_ns;
  }
  std::vector<RankComparisonRow> rows;
  for (const RankId& rank : ranks) {
    RankComparisonRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    use_devices(devices[rank.position], row);
    use_steps(steps[rank.position], row);
    use_communication(communication, rank.position, row);
    const auto caused = caused_ns.find({rank.rank, rank.window});
    if (caused != caused_ns.end()) row.caused_wait_ns = caused->second;
    rows.push_back(std::move(row));
  }
  const double step_ns = mean_of(rows, [](const auto& row) { return row.step_ns; });
  const double compute_ns = mean_of(rows, compute_per_step);
  for (RankComparisonRow& row : rows) {
    row.step_over_mean = over(row.step_ns, step_ns);
    row.compute_over_mean = over(compute_per_step(row), compute_ns);
    bool late = false;
    for (const LateRankRow& one : communication.late_ranks)
      late |= one.late && one.rank == row.rank;
    find_slow(late, row);
  }
  return rows;
}

}  // namespace stepscope
