#include "analyses/step_budget/step_budget.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace stepscope {
namespace {

// The merged interval that holds `at`, ends included: a wait for the device ends after the device
// did, and clocks of host and device may differ by a tick.
bool holds(const std::vector<Interval>& merged, int64_t at_ns) {
  auto after = std::upper_bound(merged.begin(), merged.end(), at_ns,
                                [](int64_t at, const Interval& i) { return at < i.start_ns; });
  return after != merged.begin() && std::prev(after)->end_ns >= at_ns;
}

// Takes what `cause` covers away from `rest` and returns its length.
int64_t take(std::vector<Interval>& rest, const std::vector<Interval>& cause) {
  const int64_t before = total_length_ns(rest);
  rest = subtract_intervals(rest, cause);
  return before - total_length_ns(rest);
}

// Idle time in which the host did not launch, by what it did instead.
void add_host_causes(std::vector<Interval> starved, const std::vector<Interval>& busy,
                     StepBudgetRow& row) {
  for (const Interval& piece : starved) {
    if (piece.end_ns - piece.start_ns < kStallNs) continue;
    const int64_t stall_ns = total_length_ns(clip_intervals(busy, piece.start_ns, piece.end_ns));
    row.host_stall_ns += stall_ns;
    if (stall_ns <= row.longest_stall_ns) continue;
    row.longest_stall_ns = stall_ns;
    row.longest_stall_at_ns = piece.start_ns;
  }
  row.host_ns = take(starved, busy);
  row.other_ns = total_length_ns(starved);
}

StepBudgetRow budget_of(const DeviceIntervals& device, const std::vector<Interval>& launched,
                        const HostActivity& host, const StepRow& step) {
  const auto inside = [&](const std::vector<Interval>& merged) {
    return clip_intervals(merged, step.work_start_ns, step.work_end_ns());
  };
  StepBudgetRow row;
  row.step = step.step;
  row.start_ns = step.work_start_ns;
  row.step_ns = step.work_dur_ns;
  row.averaged = step.averaged;
  std::vector<Interval> rest = {{step.work_start_ns, step.work_end_ns()}};
  row.compute_ns = take(rest, inside(device.compute));
  row.exposed_communication_ns = take(rest, inside(device.communication));
  row.exposed_copy_ns = take(rest, inside(device.memory));
  row.idle_ns = total_length_ns(rest);
  for (const Interval& piece : rest) {
    if (piece.end_ns - piece.start_ns <= row.longest_idle_ns) continue;
    row.longest_idle_ns = piece.end_ns - piece.start_ns;
    row.longest_idle_at_ns = piece.start_ns;
  }

  row.queued_ns = take(rest, inside(launched));
  std::vector<Interval> drained;
  std::vector<Interval> starved;
  for (const Interval& piece : rest) {
    (holds(host.sync, piece.start_ns) ? drained : starved).push_back(piece);
  }
  // Waiting for input comes first: the device was waited for, and then lacked its batch.
  const std::vector<Interval> input = inside(host.input);
  const std::vector<Interval> collection = inside(host.gc);
  row.input_ns = take(starved, input) + take(drained, input);
  row.gc_ns = take(starved, collection) + take(drained, collection);
  row.sync_ns = total_length_ns(drained);
  add_host_causes(std::move(starved), inside(host.any), row);

  row.input_wait_ns = total_length_ns(input);
  row.device_wait_ns = total_length_ns(inside(host.sync));
  row.allocator_ns = total_length_ns(inside(host.allocator));
  const auto& starts = host.sync_starts;
  row.device_waits = std::lower_bound(starts.begin(), starts.end(), step.work_end_ns()) -
                     std::lower_bound(starts.begin(), starts.end(), step.work_start_ns);
  return row;
}

}  // namespace

std::vector<StepBudgetRow> step_budget(const RankId& rank, const DeviceIntervals& device,
                                       const std::vector<Interval>& launched,
                                       const HostActivity& host, std::span<const StepRow> steps) {
  std::vector<StepBudgetRow> rows;
  for (const StepRow& step : steps) {
    if (!step.complete) continue;
    StepBudgetRow row = budget_of(device, launched, host, step);
    row.rank = rank.rank;
    row.window = rank.window;
    row.device = device.device;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace stepscope
