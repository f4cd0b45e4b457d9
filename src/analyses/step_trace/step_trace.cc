#include "analyses/step_trace/step_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyses/step_trace/step_points.h"
#include "analyses/steps/steps.h"
#include "base/intervals.h"

namespace stepscope {
namespace {

// Start and end of a step: with the device work it launched when the points are the device's.
Interval step_range(const StepRow& step, std::string_view points) {
  return points == "device" ? Interval{step.work_start_ns, step.work_end_ns()}
                            : Interval{step.start_ns, step.end_ns()};
}

StepTraceRow make_row(const StoreReader& store, std::span<const StepRow> steps, size_t at,
                      const PointsOfSteps& found) {
  const StepRow& step = steps[at];
  Interval range = step_range(step, found.source);
  // The interval reaches back to the end of the step before: data is fetched between them.
  if (at > 0 && steps[at - 1].step + 1 == step.step)
    range.start_ns = std::min(range.start_ns, step_range(steps[at - 1], found.source).end_ns);
  StepTraceRow row;
  row.rank = step.rank;
  row.window = step.window;
  row.step = step.step;
  row.start_ns = range.start_ns;
  row.dur_ns = range.end_ns - range.start_ns;
  row.complete = step.complete;
  row.points = found.source;
  if (found.source.empty()) return row;
  const StepPoints& points = found.points[at];
  row.fp_start = store.string(points.fp_name);
  row.bp_end = store.string(points.bp_name);
  if (points.fp_start_ns == kNull) return row;
  const auto inside = [&](int64_t ns) { return std::clamp(ns, range.start_ns, range.end_ns); };
  const int64_t fp_ns = inside(points.fp_start_ns);
  const int64_t bp_ns =
      points.bp_end_ns == kNull ? range.end_ns : std::max(fp_ns, inside(points.bp_end_ns));
  row.iteration_interval_ns = fp_ns - range.start_ns;
  row.fp_and_bp_ns = bp_ns - fp_ns;
  if (points.bp_end_ns == kNull) {
    row.fp_ns = row.fp_and_bp_ns;
    return row;
  }
  row.tail_ns = range.end_ns - bp_ns;
  if (points.bp_start_ns == kNull) return row;
  const int64_t turn_ns = std::clamp(points.bp_start_ns, fp_ns, bp_ns);
  row.fp_ns = turn_ns - fp_ns;
  row.bp_ns = bp_ns - turn_ns;
  return row;
}

// The mean of a column over the rows that have it, rounded; kNull when none has.
class Mean {
 public:
  void add(int64_t value) {
    if (value == kNull) return;
    sum_ += value;
    ++count_;
  }
  int64_t rounded() const {
    if (count_ == 0) return kNull;
    const __int128 twice = 2 * sum_ + (sum_ < 0 ? -count_ : count_);
    return static_cast<int64_t>(twice / (2 * count_));
  }

 private:
  __int128 sum_ = 0;
  int64_t count_ = 0;
};

StepTraceRow average_row(const std::vector<StepTraceRow>& rows, const std::vector<size_t>& chosen) {
  StepTraceRow average = rows[chosen.back()];
  average.step = kNull;
  average.start_ns = kNull;
  average.steps = static_cast<int64_t>(chosen.size());
  constexpr int64_t StepTraceRow::* kColumns[] = {
      &StepTraceRow::dur_ns,       &StepTraceRow::iteration_interval_ns,
      &StepTraceRow::fp_and_bp_ns, &StepTraceRow::fp_ns,
      &StepTraceRow::bp_ns,        &StepTraceRow::tail_ns};
  for (const auto column : kColumns) {
    Mean mean;
    for (const size_t at : chosen) mean.add(rows[at].*column);
    average.*column = mean.rounded();
  }
  return average;
}

// Whole collectives, of the device where there are any, with their streams.
std::vector<StepReduceRow> find_reduces(const StoreReader& store, size_t rank,
                                        const std::vector<StepTraceRow>& rows) {
  bool on_device = false;
  for_each_row<1>(store, Table::kCommunications, rank, {"level"},
                  [&](const auto& row) { on_device = on_device || store.string(row[0]) == "op"; });
  // Rows as steps, so that a collective between two steps belongs to the later one.
  std::vector<StepRow> ranges(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ranges[i].start_ns = rows[i].start_ns;
    ranges[i].dur_ns = rows[i].dur_ns;
  }
  StepOfMoment finder(ranges);
  const auto first_track = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  std::vector<std::pair<size_t, StepReduceRow>> found;  // with the position of the step
  for_each_row<5>(store, Table::kCommunications, rank, {"ts", "dur", "level", "track", "name"},
                  [&](const auto& row) {
                    const auto [ts_ns, dur_ns, level, track, name] = row;
                    if (dur_ns == kNull || dur_ns < 0) return;
                    if (store.string(level) != (on_device ? "op" : "host")) return;
                    const size_t step = finder.find(ts_ns);
                    if (step == StepOfMoment::kNone) return;
                    StepReduceRow reduce;
                    reduce.rank = rows[step].rank;
                    reduce.window = rows[step].window;
                    reduce.step = rows[step].step;
                    reduce.stream = number_at(store, Table::kTracks, "stream", rank,
                                              static_cast<uint64_t>(track - first_track));
                    reduce.name = store.string(name);
                    reduce.offset_ns = ts_ns - rows[step].start_ns;
                    reduce.dur_ns = dur_ns;
                    found.emplace_back(step, reduce);
                  });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.stream, a.second.offset_ns) <
           std::tie(b.first, b.second.stream, b.second.offset_ns);
  });
  std::vector<StepReduceRow> reduces;
  for (const auto& [step, reduce] : found) {
    reduces.push_back(reduce);
    const size_t last = reduces.size() - 1;
    if (last > 0 && reduces[last - 1].stream == reduce.stream &&
        reduces[last - 1].step == reduce.step) {
      reduces[last].index = reduces[last - 1].index + 1;
    }
  }
  return reduces;
}

void add_average_reduces(const std::vector<StepTraceRow>& rows, const std::vector<size_t>& chosen,
                         std::vector<StepReduceRow>& reduces) {
  struct Sum {
    StepReduceRow row;
    Mean offset;
    Mean length;
  };
  std::map<std::pair<int64_t, int64_t>, Sum> sums;  // by stream and index
  std::map<int64_t, bool> wanted;
  for (const size_t at : chosen) wanted[rows[at].step] = true;
  for (const StepReduceRow& reduce : reduces) {
    if (!wanted.contains(reduce.step)) continue;
    Sum& sum = sums[{reduce.stream, reduce.index}];
    sum.row = reduce;
    sum.offset.add(reduce.offset_ns);
    sum.length.add(reduce.dur_ns);
  }
  for (auto& [key, sum] : sums) {
    sum.row.step = kNull;
    sum.row.offset_ns = sum.offset.rounded();
    sum.row.dur_ns = sum.length.rounded();
    reduces.push_back(sum.row);
  }
}

std::string what_is_missing(const RankStepTrace& trace, const StepTraceOptions& options) {
  const auto none = [&](int64_t StepTraceRow::* column) {
    return std::all_of(trace.rows.begin(), trace.rows.end(),
                       [&](const StepTraceRow& row) { return row.*column == kNull; });
  };
  if (none(&StepTraceRow::fp_and_bp_ns)) {
    return options.fp_start.empty()
               ? "no operators in the steps, so forward and backward are not known: record the "
                 "CPU activity too"
               : "no step has an operator named " + options.fp_start + " (fp_start)";
  }
  if (none(&StepTraceRow::tail_ns)) {
    return options.bp_end.empty() ? "no backward operators found: inference, or name the last one "
                                    "with bp_end (PROFILING_BP_END)"
                                  : "no step has an operator named " + options.bp_end + " (bp_end)";
  }
  return "";
}

}  // namespace

RankStepTrace rank_step_trace(const StoreReader& store, const RankId& rank,
                              std::span<const StepRow> steps, const StepTraceOptions& options) {
  RankStepTrace trace;
  if (steps.empty()) {
    trace.why = "no steps are known; see steps";
    return trace;
  }
  const bool given = !options.fp_start.empty() || !options.bp_end.empty();
  PointsOfSteps points;
  if (!given) points = file_points(store, rank.position, steps);
  if (points.source.empty()) points = operator_points(store, rank.position, steps, options);
  for (size_t at = 0; at < steps.size(); ++at)
    trace.rows.push_back(make_row(store, steps, at, points));
  trace.why = what_is_missing(trace, options);
  trace.reduces = find_reduces(store, rank.position, trace.rows);
  // Steps without their points are not in the average either.
  std::vector<size_t> chosen = steps_to_average(steps);
  std::erase_if(chosen, [&](size_t at) { return trace.rows[at].fp_and_bp_ns == kNull; });
  if (!chosen.empty()) {
    add_average_reduces(trace.rows, chosen, trace.reduces);
    trace.rows.push_back(average_row(trace.rows, chosen));
  }
  return trace;
}

}  // namespace stepscope
