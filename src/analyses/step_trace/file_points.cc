#include "analyses/common/rank_rows.h"
#include "analyses/common/source_rows.h"
#include "analyses/step_trace/step_points.h"

namespace stepscope {
namespace {

// Rows of tracks that hold the input's step trace.
std::vector<bool> step_trace_tracks(const StoreReader& store, size_t rank) {
  std::vector<bool> tracks;
  for_each_row<2>(store, Table::kTracks, rank, {"process", "thread"}, [&](const auto& row) {
    tracks.push_back(store.string(row[0]) == "Step Trace" ||
                     store.string(row[1]).starts_with("Step Trace"));
  });
  return tracks;
}

enum class Phase : uint8_t { kNone, kInterval, kForwardBackward, kTail };

Phase phase_of(std::string_view name, std::string_view category) {
  if (name == "iteration_interval") return Phase::kInterval;
  if (name == "fp_and_bp" || category == "FP_BP Time") return Phase::kForwardBackward;
  if (name == "tail" || category == "Iteration Refresh") return Phase::kTail;
  return Phase::kNone;
}

// One row for all steps, or one row for each.
void add_names(const SourceRows& table, std::string_view column, int64_t StepPoints::* name,
               std::vector<StepPoints>& points) {
  const SourceColumn names = table.column({column});
  for (size_t i = 0; i < points.size(); ++i) {
    const int64_t id = names.text_id(table.rows() == 1 ? 0 : i);
    if (id != kNull) points[i].*name = id;
  }
}

}  // namespace

PointsOfSteps file_points(const StoreReader& store, size_t rank, std::span<const StepRow> steps) {
  PointsOfSteps result;
  const std::vector<bool> tracks = step_trace_tracks(store, rank);
  result.points.resize(steps.size());
  StepOfMoment finder(steps);
  bool any_tail = false;
  const ColumnView& lane_starts = store.column(Table::kSlices, "ts", rank);
  for (const Lane& lane : store.lanes(rank)) {
    if (lane.track >= tracks.size() || !tracks[lane.track]) continue;
    for (uint64_t row = lane.first_row; row < lane.first_row + lane.rows; ++row) {
      const Phase phase = phase_of(text_at(store, Table::kSlices, "name", rank, row),
                                   text_at(store, Table::kSlices, "cat", rank, row));
      if (phase == Phase::kNone) continue;
      const int64_t start_ns = lane_starts.at(row);
      const int64_t end_ns = start_ns + number_at(store, Table::kSlices, "dur", rank, row);
      const size_t step = finder.find(start_ns);
      if (step == StepOfMoment::kNone) continue;
      StepPoints& points = result.points[step];
      result.source = "file";
      switch (phase) {
        case Phase::kInterval:
          if (points.fp_start_ns == kNull) points.fp_start_ns = end_ns;
          break;
        case Phase::kForwardBackward:
          points.fp_start_ns = start_ns;
          if (points.bp_end_ns == kNull) points.bp_end_ns = end_ns;
          break;
        case Phase::kTail:
          any_tail = true;
          points.bp_end_ns = start_ns;
          break;
        case Phase::kNone:
          break;
      }
    }
  }
  if (result.source.empty()) return {};
  for (size_t i = 0; i < steps.size(); ++i) {
    StepPoints& points = result.points[i];
    // Phases of no length are not in the input.
    if (points.fp_start_ns == kNull) points.fp_start_ns = steps[i].start_ns;
    if (points.bp_end_ns == kNull) points.bp_end_ns = points.fp_start_ns;
    if (!any_tail) points.bp_end_ns = kNull;  // inference
  }
  const SourceRows names(store, rank, "step_trace_point_info");
  add_names(names, "fp_start", &StepPoints::fp_name, result.points);
  add_names(names, "bp_end", &StepPoints::bp_name, result.points);
  return result;
}

}  // namespace stepscope
