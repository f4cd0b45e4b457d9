#include <algorithm>
#include <unordered_map>

#include "analyses/common/interval_index.h"
#include "analyses/common/merging.h"
#include "analyses/common/names.h"
#include "analyses/common/rank_rows.h"
#include "analyses/step_trace/step_points.h"

namespace stepscope {
namespace {

enum NameBit : uint8_t {
  kFetch = 1,
  kOptimizer = 2,
  kBackward = 4,
  kGradient = 8,
  kFpStart = 16,  // given by the user
  kBpEnd = 32,
  kStepMark = 64,  // old traces have marks among the operators
};

bool matches(std::string_view name, const std::string& wanted) {
  return !wanted.empty() && (name == wanted || name.substr(name.rfind('/') + 1) == wanted);
}

std::vector<uint8_t> classify_names(const StoreReader& store, const StepTraceOptions& options) {
  return classify_strings(
      store, is_data_fetch_name, is_optimizer_name, is_backward_name, is_gradient_operator,
      [&](std::string_view name) { return matches(name, options.fp_start); },
      [&](std::string_view name) { return matches(name, options.bp_end); }, is_step_mark_name);
}

// The thread that runs the steps: where their marks are, else the busiest.
int64_t main_track(const StoreReader& store, Table work, size_t rank) {
  const int64_t mark = number_at(store, Table::kSteps, "slice", rank);
  if (work == Table::kOps && mark != kNull) {
    const uint64_t row = static_cast<uint64_t>(mark);
    if (row < store.rows(Table::kSlices, rank)) {
      return number_at(store, Table::kSlices, "track", rank, row) +
             static_cast<int64_t>(store.row_base(Table::kTracks, rank));
    }
  }
  std::unordered_map<int64_t, int64_t> counts;
  for_each_row<1>(store, work, rank, {"track"}, [&](const auto& row) { ++counts[row[0]]; });
  int64_t best = kNull;
  for (const auto& [track, count] : counts) {
    if (best == kNull || count > counts[best] || (count == counts[best] && track < best))
      best = track;
  }
  return best;
}

// Fetching of data and the optimizer's marks, whatever kind of event they are.
std::vector<Interval> not_forward(const StoreReader& store, size_t rank,
                                  const std::vector<uint8_t>& names) {
  const bool any = std::any_of(names.begin(), names.end(),
                               [](uint8_t bits) { return (bits & (kFetch | kOptimizer)) != 0; });
  if (!any) return {};
  Merging intervals;
  const ColumnView& starts = store.column(Table::kSlices, "ts", rank);
  const ColumnView& lengths = store.column(Table::kSlices, "dur", rank);
  uint64_t slice = 0;
  for_each_row<1>(store, Table::kSlices, rank, {"name"}, [&](const auto& row) {
    const uint64_t at = slice++;
    if ((class_of(names, row[0]) & (kFetch | kOptimizer)) == 0) return;
    intervals.add(starts.at(at), starts.at(at) + std::max<int64_t>(0, lengths.at(at)));
  });
  return intervals.take();
}

bool covers(const std::vector<Interval>& merged, int64_t ns) {
  const auto after =
      std::upper_bound(merged.begin(), merged.end(), ns,
                       [](int64_t at, const Interval& interval) { return at < interval.start_ns; });
  return after != merged.begin() && ns < (after - 1)->end_ns;
}

// What the operators (or kernels, in recordings without operators) of each step say.
class PointFinder {
 public:
  PointFinder(const StoreReader& store, size_t rank, std::span<const StepRow> steps,
              const StepTraceOptions& options)
      : store_(store),
        rank_(rank),
        steps_(steps),
        options_(options),
        names_(classify_names(store, options)),
        excluded_(not_forward(store, rank, names_)),
        points_(steps.size()) {}

  std::vector<StepPoints> take(Table work) {
    const int64_t track = main_track(store_, work, rank_);
    // PyNative's gradients have no scope; only when nothing says "backward".
    backward_bit_ = any_of_work(work, kBackward) ? kBackward : kGradient;
    StepOfMoment finder(steps_);
    for_each_row<4>(store_, work, rank_, {"track", "ts", "dur", "name"}, [&](const auto& row) {
      const auto [on_track, ts_ns, dur_ns, name] = row;
      if (dur_ns == kNull || dur_ns < 0) return;
      const size_t step = finder.find(ts_ns);
      if (step == StepOfMoment::kNone) return;
      add(points_[step], on_track == track, ts_ns, ts_ns + dur_ns, name);
    });
    if (std::all_of(points_.begin(), points_.end(),
                    [](const StepPoints& points) { return points.bp_end_ns == kNull; })) {
      end_with_last_collective(work);
    }
    return std::move(points_);
  }

 private:
  bool any_of_work(Table work, uint8_t bit) {
    bool found = false;
    for_each_row<1>(store_, work, rank_, {"name"}, [&](const auto& row) {
      found = found || (class_of(names_, row[0]) & bit) != 0;
    });
    return found;
  }

  void add(StepPoints& points, bool on_main_track, int64_t start_ns, int64_t end_ns, int64_t name) {
    const uint8_t bits = class_of(names_, name);
    if ((bits & kStepMark) != 0) return;
    const bool backward = (bits & backward_bit_) != 0 && (bits & kOptimizer) == 0;
    const bool starts_forward = options_.fp_start.empty()
                                    ? on_main_track && !backward && (bits & kFetch) == 0
                                    : (bits & kFpStart) != 0;
    if (starts_forward && (points.fp_start_ns == kNull || start_ns < points.fp_start_ns) &&
        (!options_.fp_start.empty() || !covers(excluded_, start_ns))) {
      points.fp_start_ns = start_ns;
      points.fp_name = name;
    }
    if (backward && (points.bp_start_ns == kNull || start_ns < points.bp_start_ns))
      points.bp_start_ns = start_ns;
    const bool ends_backward = options_.bp_end.empty() ? backward : (bits & kBpEnd) != 0;
    if (ends_backward && (points.bp_end_ns == kNull || end_ns > points.bp_end_ns)) {
      points.bp_end_ns = end_ns;
      points.bp_name = name;
    }
  }

  // The last operator that ends before the last collective of its step starts.
  void end_with_last_collective(Table work) {
    if (!options_.bp_end.empty()) return;
    std::vector<int64_t> last_start_ns(steps_.size(), kNull);
    StepOfMoment finder(steps_);
    for_each_row<2>(store_, Table::kCommunications, rank_, {"ts", "level"}, [&](const auto& row) {
      if (store_.string(row[1]) != "op") return;
      const size_t step = finder.find(row[0]);
      if (step != StepOfMoment::kNone) last_start_ns[step] = std::max(last_start_ns[step], row[0]);
    });
    for_each_row<3>(store_, work, rank_, {"ts", "dur", "name"}, [&](const auto& row) {
      const auto [ts_ns, dur_ns, name] = row;
      if (dur_ns == kNull || dur_ns < 0) return;
      const size_t step = finder.find(ts_ns);
      if (step == StepOfMoment::kNone || ts_ns + dur_ns > last_start_ns[step]) return;
      StepPoints& points = points_[step];
      if (points.bp_end_ns != kNull && ts_ns + dur_ns <= points.bp_end_ns) return;
      points.bp_end_ns = ts_ns + dur_ns;
      points.bp_name = name;
    });
  }

  const StoreReader& store_;
  size_t rank_;
  std::span<const StepRow> steps_;
  const StepTraceOptions& options_;
  std::vector<uint8_t> names_;
  std::vector<Interval> excluded_;
  uint8_t backward_bit_ = kBackward;
  std::vector<StepPoints> points_;
};

// Points of the device: of the work that was launched in each pass. Communication runs beside the
// backward pass and does not end it.
bool move_to_device(const StoreReader& store, size_t rank, std::span<const StepRow> steps,
                    std::vector<StepPoints>& points) {
  const auto words =
      classify_strings(store, [](std::string_view word) { return word == "communication"; });
  std::vector<StepPoints> device(points.size());
  bool any = false;
  StepOfMoment finder(steps);
  for_each_row<5>(store, Table::kKernels, rank, {"ts", "dur", "flags", "queue_delay", "class"},
                  [&](const auto& row) {
                    const auto [ts_ns, dur_ns, flags, delay_ns, work_class] = row;
                    if (delay_ns == kNull || dur_ns == kNull || (flags & kFlagImpossible)) return;
                    if (class_of(words, work_class) != 0) return;
                    const int64_t launch_ns = ts_ns - delay_ns;
                    const size_t step = finder.find(launch_ns);
                    if (step == StepOfMoment::kNone) return;
                    any = true;
                    const StepPoints& host = points[step];
                    StepPoints& there = device[step];
                    if (host.fp_start_ns != kNull && launch_ns >= host.fp_start_ns &&
                        (there.fp_start_ns == kNull || ts_ns < there.fp_start_ns)) {
                      there.fp_start_ns = ts_ns;
                    }
                    if (host.bp_end_ns == kNull || launch_ns > host.bp_end_ns) return;
                    if (host.bp_start_ns == kNull || launch_ns >= host.bp_start_ns) {
                      there.bp_end_ns = std::max(there.bp_end_ns, ts_ns + dur_ns);
                      if (host.bp_start_ns != kNull &&
                          (there.bp_start_ns == kNull || ts_ns < there.bp_start_ns)) {
                        there.bp_start_ns = ts_ns;
                      }
                    }
                  });
  if (!any) return false;
  for (size_t i = 0; i < points.size(); ++i) {
    device[i].fp_name = points[i].fp_name;
    device[i].bp_name = points[i].bp_name;
  }
  points = std::move(device);
  return true;
}

}  // namespace

PointsOfSteps operator_points(const StoreReader& store, size_t rank, std::span<const StepRow> steps,
                              const StepTraceOptions& options) {
  PointsOfSteps result;
  const bool has_ops = store.rows(Table::kOps, rank) > 0;
  if (!has_ops && store.rows(Table::kKernels, rank) == 0) return result;
  result.points =
      PointFinder(store, rank, steps, options).take(has_ops ? Table::kOps : Table::kKernels);
  result.source = has_ops ? "host" : "device";
  if (has_ops && move_to_device(store, rank, steps, result.points)) result.source = "device";
  return result;
}

}  // namespace stepscope
