#include "analyses/common/rank_rows.h"
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

const SourceTableView::ColumnInfo* find_source_column(const StoreReader& store, size_t rank,
                                                      std::string_view table,
                                                      std::string_view column) {
  for (const SourceTableView& view : store.source_tables(rank)) {
    if (view.name != table) continue;
    for (const auto& info : view.columns) {
      if (info.name == column && info.type == Type::kText) return &info;
    }
  }
  return nullptr;
}

// One row for all steps, or one row for each.
void add_names(const StoreReader& store, size_t rank, std::string_view column,
               int64_t StepPoints::* name, std::vector<StepPoints>& points) {
  const auto* const info = find_source_column(store, rank, "step_trace_point_info", column);
  if (info == nullptr || info->values.rows() == 0) return;
  for (size_t i = 0; i < points.size(); ++i) {
    const uint64_t row = info->values.rows() == 1 ? 0 : i;
    if (row < info->values.rows()) points[i].*name = info->values.at(row);
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
  add_names(store, rank, "fp_start", &StepPoints::fp_name, result.points);
  add_names(store, rank, "bp_end", &StepPoints::bp_name, result.points);
  return result;
}

}  // namespace stepscope
