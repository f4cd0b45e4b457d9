#include "analyses/rank_comparison/rank_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyses/common/interval_index.h"

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

void use_steps(std::span<const StepRow> steps, const std::vector<DeviceIntervals>& devices,
               RankComparisonRow& row) {
  std::vector<IntervalIndex> computing;
  for (const DeviceIntervals& device : devices) {
    if (device.device == kHostDevice) {
      computing.emplace_back(subtract_intervals(device.compute, device.communication));
    } else {
      computing.emplace_back(device.compute);
    }
  }
  int64_t total_ns = 0;
  int64_t compute_ns = 0;
  for (const StepRow& step : steps) {
    row.steps += step.complete ? 1 : 0;
    if (!step.averaged) continue;
    ++row.averaged_steps;
    total_ns += step.work_dur_ns;
    for (const IntervalIndex& device : computing)
      compute_ns += device.length_in(step.work_start_ns, step.work_end_ns());
  }
  if (row.averaged_steps == 0) return;
  const auto count = static_cast<double>(row.averaged_steps);
  row.step_ns = static_cast<double>(total_ns) / count;
  row.compute_per_step_ns = static_cast<double>(compute_ns) / count;
}

using Place = std::pair<int64_t, int64_t>;  // rank and window

// What steps of means take without communication, of the device that computes most.
std::map<Place, double> own_times(const std::vector<StepBudgetRow>& budget) {
  struct Sum {
    int64_t compute_ns = 0;
    int64_t own_ns = 0;
    int64_t steps = 0;
  };
  std::map<std::pair<Place, int64_t>, Sum> sums;  // the last: device
  for (const StepBudgetRow& row : budget) {
    if (!row.averaged) continue;
    Sum& sum = sums[{{row.rank, row.window}, row.device}];
    sum.compute_ns += row.compute_ns;
    sum.own_ns += row.step_ns - row.exposed_communication_ns;
    ++sum.steps;
  }
  std::map<Place, double> own;
  std::map<Place, int64_t> most_compute_ns;
  for (const auto& [key, sum] : sums) {
    const auto [most, is_first] = most_compute_ns.try_emplace(key.first, sum.compute_ns);
    if (!is_first && sum.compute_ns <= most->second) continue;
    most->second = sum.compute_ns;
    own[key.first] = static_cast<double>(sum.own_ns) / static_cast<double>(sum.steps);
  }
  return own;
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

// Of all that is recorded where there are no steps.
double compute_per_step(const RankComparisonRow& row) {
  return std::isnan(row.compute_per_step_ns) ? static_cast<double>(row.compute_ns)
                                             : row.compute_per_step_ns;
}

void find_slow(bool late, bool slow_by_itself, RankComparisonRow& row) {
  const auto add = [&](bool is_so, std::string_view why) {
    if (!is_so) return;
    row.slow = true;
    row.why += (row.why.empty() ? "" : ", ") + std::string(why);
  };
  add(late, "late for communication");
  add(row.step_over_mean > kSlowRankShare, "longer steps");
  add(slow_by_itself, "longer without communication");
  add(row.compute_over_mean > kSlowRankShare, "more computation");
}

}  // namespace

std::optional<SlowRank> slow_rank(const std::vector<RankComparisonRow>& rows) {
  struct Own {
    double sum_ns = 0;
    double windows = 0;
  };
  std::map<int64_t, Own> by_rank;
  double steps_ns = 0;
  double steps = 0;
  for (const RankComparisonRow& row : rows) {
    if (std::isnan(row.own_ns)) continue;
    by_rank[row.rank].sum_ns += row.own_ns;
    ++by_rank[row.rank].windows;
    steps_ns += row.step_ns * static_cast<double>(row.averaged_steps);
    steps += static_cast<double>(row.averaged_steps);
  }
  if (by_rank.size() < 2) return std::nullopt;
  std::vector<std::pair<double, int64_t>> all;  // time, rank
  for (const auto& [rank, own] : by_rank) all.emplace_back(own.sum_ns / own.windows, rank);
  std::sort(all.begin(), all.end());
  const auto [slowest_ns, slowest] = all.back();
  all.pop_back();
  const double others_ns = all[all.size() / 2].first;
  if (slowest_ns - others_ns <= kSlowRankExcess * steps_ns / steps) return std::nullopt;
  return SlowRank{slowest, slowest_ns, others_ns};
}

std::vector<RankComparisonRow> compare_ranks(
    const std::vector<RankId>& ranks, const std::vector<std::vector<DeviceIntervals>>& devices,
    const std::vector<std::span<const StepRow>>& steps, const std::vector<StepBudgetRow>& budget,
    const Communication& communication) {
  const std::map<Place, double> own = own_times(budget);
  std::map<Place, int64_t> caused_ns;
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
    use_steps(steps[rank.position], devices[rank.position], row);
    if (const auto found = own.find({rank.rank, rank.window}); found != own.end())
      row.own_ns = found->second;
    use_communication(communication, rank.position, row);
    const auto caused = caused_ns.find({rank.rank, rank.window});
    if (caused != caused_ns.end()) row.caused_wait_ns = caused->second;
    rows.push_back(std::move(row));
  }
  const double step_ns = mean_of(rows, [](const auto& row) { return row.step_ns; });
  const double compute_ns = mean_of(rows, compute_per_step);
  const auto slowest = slow_rank(rows);
  for (RankComparisonRow& row : rows) {
    row.step_over_mean = over(row.step_ns, step_ns);
    row.compute_over_mean = over(compute_per_step(row), compute_ns);
    bool late = false;
    for (const LateRankRow& one : communication.late_ranks)
      late |= one.late && one.rank == row.rank;
    find_slow(late, slowest && slowest->rank == row.rank, row);
  }
  return rows;
}

}  // namespace stepscope
