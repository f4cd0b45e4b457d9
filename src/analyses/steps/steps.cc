#include "analyses/steps/steps.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/common/names.h"
#include "analyses/common/saturated.h"
#include "analyses/steps/infer_steps.h"

namespace stepscope {
namespace {

constexpr std::string_view kMarkSteps =
    "mark steps (profiler.step() in PyTorch and MindSpore, or a schedule)";

// Marks of one step that lie over each other are one step.
void join_repeated_marks(std::vector<StepRow>& rows) {
  std::vector<StepRow> joined;
  for (const StepRow& row : rows) {
    const bool is_repeated =
        !joined.empty() && joined.back().step == row.step &&
        (row.start_ns < joined.back().end_ns() || row.start_ns == joined.back().start_ns);
    if (!is_repeated) {
      joined.push_back(row);
    } else if (row.dur_ns > joined.back().dur_ns) {
      joined.back() = row;
    }
  }
  rows = std::move(joined);
}

std::vector<StepRow> marked_steps(const StoreReader& store, const RankId& rank) {
  std::vector<StepRow> rows;
  for_each_row<5>(store, Table::kSteps, rank.position, {"step", "ts", "dur", "source", "complete"},
                  [&](const auto& row) {
                    const auto [step, ts_ns, dur_ns, source, complete] = row;
                    if (ts_ns == kNull || dur_ns == kNull || dur_ns < 0) return;
                    StepRow result;
                    result.step = step;
                    result.start_ns = ts_ns;
                    result.dur_ns = dur_ns;
                    result.complete = complete != 0;
                    result.source = store.string(source);
                    rows.push_back(result);
                  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const StepRow& a, const StepRow& b) { return a.start_ns < b.start_ns; });
  join_repeated_marks(rows);
  return rows;
}

// The track with most rows has the program's thread of control; kNull when it has fewer than a
// quarter of them: threads that serve requests side by side have no common steps.
int64_t busiest_track(const StoreReader& store, Table table, size_t rank) {
  std::unordered_map<int64_t, uint64_t> counts;
  for_each_row<1>(store, table, rank, {"track"}, [&](const auto& row) { ++counts[row[0]]; });
  int64_t best = kNull;
  for (const auto& [track, count] : counts) {
    if (best == kNull || count > counts[best] || (count == counts[best] && track < best))
      best = track;
  }
  return best != kNull && 4 * counts[best] >= store.rows(table, rank) ? best : kNull;
}

// PyTorch marks the DataLoader's __next__ with a range that is not an operator.
void add_data_fetches(const StoreReader& store, size_t rank, int64_t track,
                      const std::vector<bool>& is_op, std::vector<RepeatedEvent>& events) {
  const auto names = classify_strings(store, is_data_fetch_name);
  if (std::find(names.begin(), names.end(), 1) == names.end()) return;
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  for_each_row<5>(store, Table::kSlices, rank, {"id", "track", "ts", "dur", "name"},
                  [&](const auto& row) {
                    const auto [id, on_track, ts_ns, dur_ns, name] = row;
                    if (on_track != track || class_of(names, name) == 0 || dur_ns < 0) return;
                    if (is_op[static_cast<size_t>(id - base)]) return;
                    events.push_back({ts_ns, ts_ns + dur_ns, static_cast<uint32_t>(name), false});
                  });
}

// The outermost operators of the busiest thread.
std::vector<RepeatedEvent> operator_sequence(const StoreReader& store, size_t rank) {
  std::vector<RepeatedEvent> events;
  const int64_t track = busiest_track(store, Table::kOps, rank);
  if (track == kNull) return events;
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  std::vector<bool> is_op(store.rows(Table::kSlices, rank));
  for_each_row<1>(store, Table::kOps, rank, {"id"}, [&](const auto& row) {
    const auto slice = static_cast<uint64_t>(row[0] - base);
    if (slice < is_op.size()) is_op[slice] = true;
  });
  for_each_row<5>(store, Table::kOps, rank, {"track", "ts", "dur", "name", "parent"},
                  [&](const auto& row) {
                    const auto [op_track, ts_ns, dur_ns, name, parent] = row;
                    if (op_track != track || dur_ns == kNull || dur_ns < 0) return;
                    const uint64_t outer =
                        parent == kNull ? is_op.size() : static_cast<uint64_t>(parent - base);
                    if (outer < is_op.size() && is_op[outer]) return;
                    events.push_back({ts_ns, ts_ns + dur_ns, static_cast<uint32_t>(name), false});
                  });
  add_data_fetches(store, rank, track, is_op, events);
  return events;
}

std::vector<RepeatedEvent> kernel_sequence(const StoreReader& store, size_t rank) {
  std::vector<RepeatedEvent> events;
  const int64_t track = busiest_track(store, Table::kKernels, rank);
  if (track == kNull) return events;
  for_each_row<5>(store, Table::kKernels, rank, {"track", "ts", "dur", "name", "flags"},
                  [&](const auto& row) {
                    const auto [on_track, ts_ns, dur_ns, name, flags] = row;
                    if (on_track != track || dur_ns == kNull || (flags & kFlagImpossible)) return;
                    events.push_back({ts_ns, ts_ns + dur_ns, static_cast<uint32_t>(name), false});
                  });
  return events;
}

InferredSteps infer_from(const StoreReader& store, std::vector<RepeatedEvent> events) {
  if (events.empty()) {
    InferredSteps none;
    none.why_none = "no thread or stream does most of the work";
    return none;
  }
  std::stable_sort(
      events.begin(), events.end(),
      [](const RepeatedEvent& a, const RepeatedEvent& b) { return a.start_ns < b.start_ns; });
  // Names become small numbers, so that counting needs small arrays.
  std::unordered_map<uint32_t, std::pair<uint32_t, bool>> numbers;
  for (RepeatedEvent& event : events) {
    auto [found, is_new] = numbers.try_emplace(event.name, numbers.size(), false);
    if (is_new) found->second.second = is_data_fetch_name(store.string(event.name));
    std::tie(event.name, event.fetches_data) = found->second;
  }
  return infer_steps(events);
}

RankSteps inferred_rank_steps(const StoreReader& store, size_t rank) {
  RankSteps result;
  InferredSteps inferred;
  if (store.rows(Table::kOps, rank) > 0)
    inferred = infer_from(store, operator_sequence(store, rank));
  if (inferred.steps.empty() && store.rows(Table::kKernels, rank) > 0) {
    InferredSteps from_kernels = infer_from(store, kernel_sequence(store, rank));
    if (!from_kernels.steps.empty() || inferred.why_none.empty()) inferred = from_kernels;
  }
  if (inferred.steps.empty()) {
    const std::string_view why =
        inferred.why_none.empty() ? "there are no operators and no kernels" : inferred.why_none;
    result.why =
        "the recording marks no steps, and " + std::string(why) + ": " + std::string(kMarkSteps);
    return result;
  }
  int64_t number = 0;
  for (const InferredStep& step : inferred.steps) {
    StepRow row;
    row.step = ++number;
    row.start_ns = step.start_ns;
    row.dur_ns = step.end_ns - step.start_ns;
    row.complete = step.complete;
    row.source = "inferred";
    result.rows.push_back(row);
  }
  result.why =
      "the recording marks no steps; they were inferred from the repetition of its "
      "operators: " +
      std::string(kMarkSteps);
  return result;
}

// Device work by the step that launched it.
struct LaunchedWork {
  std::vector<int64_t> end_ns;     // by step; kNull when it launched nothing
  int64_t first_ns = kNull;        // start of the first work that a step launched
  int64_t earlier_end_ns = kNull;  // end of work that was launched before the first step
  bool some_without_launch = false;
};

template <class Use>
void for_each_kernel(const StoreReader& store, size_t rank, Use&& use) {
  for_each_row<4>(store, Table::kKernels, rank, {"ts", "dur", "flags", "queue_delay"},
                  [&](const auto& row) {
                    const auto [ts_ns, dur_ns, flags, delay_ns] = row;
                    if (dur_ns == kNull || dur_ns < 0 || (flags & kFlagImpossible)) return;
                    use(ts_ns, ts_ns + dur_ns, flags, delay_ns);
                  });
}

LaunchedWork launched_work(const StoreReader& store, size_t rank, std::vector<StepRow>& steps) {
  LaunchedWork work;
  work.end_ns.assign(steps.size(), kNull);
  StepOfMoment finder(steps);
  for_each_kernel(store, rank, [&](int64_t ts_ns, int64_t end_ns, int64_t flags, int64_t delay_ns) {
    const bool launched = delay_ns != kNull;
    const int64_t moment_ns = launched ? ts_ns - delay_ns : ts_ns;
    const size_t step = finder.find(moment_ns);
    if (step != StepOfMoment::kNone) ++steps[step].device_events;
    if (!launched) {
      work.some_without_launch |= (flags & kFlagOutsideWindow) != 0;
    } else if (step != StepOfMoment::kNone) {
      work.end_ns[step] = std::max(work.end_ns[step], end_ns);
      if (work.first_ns == kNull || ts_ns < work.first_ns) work.first_ns = ts_ns;
    } else if (moment_ns < steps.front().start_ns) {
      work.earlier_end_ns = std::max(work.earlier_end_ns, end_ns);
    }
  });
  // Work that the recording found under way: its launch is missing and it comes before all others.
  if (work.first_ns != kNull && work.some_without_launch) {
    for_each_kernel(store, rank,
                    [&](int64_t ts_ns, int64_t end_ns, int64_t flags, int64_t /*delay_ns*/) {
                      if ((flags & kFlagOutsideWindow) != 0 && ts_ns < work.first_ns)
                        work.earlier_end_ns = std::max(work.earlier_end_ns, end_ns);
                    });
  }
  return work;
}

void add_device_work(const StoreReader& store, size_t rank, std::vector<StepRow>& steps) {
  const LaunchedWork work = launched_work(store, rank, steps);
  if (work.first_ns == kNull) return;
  int64_t previous_end_ns = work.earlier_end_ns;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepRow& step = steps[i];
    const int64_t start_ns = std::max(step.start_ns, previous_end_ns);
    const int64_t end_ns = std::max({step.end_ns(), work.end_ns[i], start_ns});
    step.work_start_ns = start_ns;
    step.work_dur_ns = end_ns - start_ns;
    previous_end_ns = end_ns;
  }
  for (size_t i = steps.size(); i > 0 && steps[i - 1].device_events == 0; --i)
    steps[i - 1].complete = false;
}

void add_time_between(std::vector<StepRow>& steps) {
  for (size_t i = 1; i < steps.size(); ++i) {
    const uint64_t distance =
        static_cast<uint64_t>(steps[i].step) - static_cast<uint64_t>(steps[i - 1].step);
    if (distance == 1 && steps[i].source != "inferred")
      steps[i].between_ns =
          std::max<int64_t>(0, steps[i].work_start_ns - steps[i - 1].work_end_ns());
  }
}

}  // namespace

RankSteps rank_steps(const StoreReader& store, const RankId& rank) {
  RankSteps result;
  result.rows = marked_steps(store, rank);
  if (result.rows.empty()) result = inferred_rank_steps(store, rank.position);
  if (result.rows.empty()) return result;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    StepRow& step = result.rows[i];
    step.rank = rank.rank;
    step.window = rank.window;
    step.work_start_ns = step.start_ns;
    step.work_dur_ns = step.dur_ns;
    if (i > 0) step.gap_ns = step.start_ns - result.rows[i - 1].end_ns();
  }
  add_device_work(store, rank.position, result.rows);
  add_time_between(result.rows);
  for (StepRow& step : result.rows) step.averaged = false;
  for (const size_t at : steps_to_average(result.rows)) result.rows[at].averaged = true;
  return result;
}

TimeBetweenSteps time_between_steps(std::span<const StepRow> steps) {
  constexpr double kWorthTelling = 0.02;
  TimeBetweenSteps sum;
  for (const StepRow& step : steps) {
    if (!step.averaged || step.between_ns == kNull) continue;
    ++sum.count;
    add_saturated(sum.between_ns, step.between_ns);
    add_saturated(sum.steps_ns, step.work_dur_ns);
  }
  return sum.between_ns > 0 && sum.share() >= kWorthTelling ? sum : TimeBetweenSteps();
}

std::vector<size_t> steps_to_average(std::span<const StepRow> steps) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].complete) chosen.push_back(i);
  }
  if (chosen.size() > 1 && chosen.front() == 0) chosen.erase(chosen.begin());
  return chosen;
}

}  // namespace stepscope
