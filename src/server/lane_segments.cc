#include "server/lane_segments.h"

#include <algorithm>

namespace stepscope {
namespace {

// Each segment goes to the first row that is free by then. Most lanes do not overlap and need one.
std::vector<ComputedRow> make_rows(const std::vector<LaneSegment>& segments) {
  std::vector<ComputedRow> rows;
  std::vector<int64_t> ends_ns;
  bool overlaps = false;
  for (size_t i = 1; i < segments.size() && !overlaps; ++i)
    overlaps = segments[i].start_ns < segments[i - 1].end_ns;
  if (!overlaps) return std::vector<ComputedRow>(1);
  for (size_t i = 0; i < segments.size(); ++i) {
    size_t row = 0;
    while (row < rows.size() && ends_ns[row] > segments[i].start_ns) ++row;
    if (row == rows.size()) {
      rows.emplace_back();
      ends_ns.push_back(0);
    }
    rows[row].segments.push_back(static_cast<uint32_t>(i));
    ends_ns[row] = std::max(segments[i].end_ns, segments[i].start_ns);
  }
  return rows;
}

}  // namespace

LaneSegments::LaneSegments(RunAnalyses& analyses) {
  for (size_t rank = 0; rank < analyses.ranks().size(); ++rank) {
    for (const TimelineLane& lane : analyses.timeline(rank)) {
      ComputedLaneView& view = lanes_.emplace_back();
      view.lane = &lane;
      view.rank_position = rank;
      if (lane.track != kNull) continue;
      view.rows = make_rows(lane.segments);
      for (const LaneSegment& segment : lane.segments) {
        if (segment.number != kNull) continue;
        const auto id = static_cast<uint32_t>(names_.size());
        if (id < kFirstStep - kFirstName && ids_.try_emplace(segment.name, id).second)
          names_.push_back(segment.name);
      }
    }
  }
}

const ComputedLaneView* LaneSegments::find(uint64_t lane_number) const {
  if (lane_number < kFirstComputedLane) return nullptr;
  const uint64_t index = lane_number - kFirstComputedLane;
  if (index >= lanes_.size() || lanes_[index].rows.empty()) return nullptr;
  return &lanes_[index];
}

uint32_t LaneSegments::name_of(const LaneSegment& segment) const {
  if (segment.number != kNull)
    return kFirstStep + static_cast<uint32_t>(segment.number) % (UINT32_MAX - kFirstStep);
  const auto found = ids_.find(segment.name);
  return found == ids_.end() ? 0 : kFirstName + found->second;
}

std::string LaneSegments::name(uint64_t id) const {
  if (id >= kFirstStep && id <= UINT32_MAX) return std::to_string(id - kFirstStep);
  if (id < kFirstName || id - kFirstName >= names_.size()) return {};
  return std::string(names_[id - kFirstName]);
}

void LaneSegments::query(const ComputedLaneView& view, const ComputedRow& row,
                         const Viewport& viewport, std::vector<SegmentItem>& items) const {
  if (viewport.end_ns <= viewport.start_ns) return;
  const std::vector<LaneSegment>& segments = view.lane->segments;
  const size_t size = row.segments.empty() ? segments.size() : row.segments.size();
  const auto at = [&](size_t i) -> const LaneSegment& {
    return segments[row.segments.empty() ? i : row.segments[i]];
  };
  const auto first_that = [&](size_t low, auto&& is_late) {
    size_t high = size;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (is_late(at(middle))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  };
  const auto span =
      static_cast<uint64_t>(viewport.end_ns) - static_cast<uint64_t>(viewport.start_ns);
  const auto pixel_ns =
      static_cast<int64_t>(std::max<uint64_t>(1, span / std::max(1u, viewport.pixels)));
  size_t i = first_that(0, [&](const LaneSegment& one) { return one.end_ns > viewport.start_ns; });
  while (i < size && at(i).start_ns < viewport.end_ns) {
    const LaneSegment& first = at(i);
    // All that begin on the pixel of the first, without a last one that is seen for itself: its
    // name can be read on it.
    const int64_t offset = std::max<int64_t>(first.start_ns - viewport.start_ns, 0);
    const int64_t stop =
        std::min(viewport.start_ns + (offset / pixel_ns + 1) * pixel_ns, viewport.end_ns);
    size_t next = i + 1;
    if (next < size && at(next).start_ns < stop)
      next = first_that(next, [&](const LaneSegment& one) { return one.start_ns >= stop; });
    if (next - i > 1 && at(next - 1).end_ns - at(next - 1).start_ns > 2 * pixel_ns) --next;
    const LaneSegment& middle = at(i + (next - i) / 2);
    items.push_back({first.start_ns, std::max(at(next - 1).end_ns, first.end_ns),
                     name_of(next - i > 1 ? middle : first), next - i});
    i = next;
  }
}

SliceColour lane_colour(LaneKind kind) {
  switch (kind) {
    case LaneKind::kStep:
      return SliceColour::kStep;
    case LaneKind::kAiCpu:
      return SliceColour::kAiCpu;
    case LaneKind::kMergedComputation:
      return SliceColour::kComputing;
    case LaneKind::kPureCommunication:
      return SliceColour::kCommunication;
    case LaneKind::kMergedCommunication:
      return SliceColour::kCommunicationMerged;
    case LaneKind::kFree:
      return SliceColour::kFree;
    case LaneKind::kScope:
      return SliceColour::kScope;
    default:
      return SliceColour::kOther;
  }
}

}  // namespace stepscope
