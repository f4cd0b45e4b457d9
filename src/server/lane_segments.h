// Lanes of the timeline that no track has, as a viewport shows them: steps, scopes, AI CPU
// operators, overlap of computation and communication. They come from the analysis `timeline`.
//
// In the API such a lane has the number kFirstComputedLane + its place among the lanes of all
// ranks, and its names have ids of their own, so that one request asks for tracks and lanes alike.
#ifndef STEPSCOPE_SERVER_LANE_SEGMENTS_H_
#define STEPSCOPE_SERVER_LANE_SEGMENTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyses/run_analyses.h"
#include "server/slice_colour.h"
#include "store/viewport.h"

namespace stepscope {

inline constexpr uint64_t kFirstComputedLane = 1ull << 31;

struct ComputedRow {
  std::vector<uint32_t> segments;  // numbers of the lane's segments; empty: all of them
};

struct ComputedLaneView {
  const TimelineLane* lane = nullptr;
  size_t rank_position = 0;
  // Segments of one row do not overlap; those that do are drawn below each other.
  std::vector<ComputedRow> rows;
};

struct SegmentItem {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t name = 0;
  uint64_t count = 0;
};

class LaneSegments {
 public:
  // The lanes must outlive it.
  explicit LaneSegments(RunAnalyses& analyses);

  // All lanes of the timeline, in its order; those of tracks have no rows.
  const std::vector<ComputedLaneView>& lanes() const { return lanes_; }
  // nullptr: there is no such computed lane.
  const ComputedLaneView* find(uint64_t lane_number) const;

  // Appends what the row shows, left to right. About one item for a pixel at most: a binary search
  // for each, whatever the number of segments.
  void query(const ComputedLaneView& view, const ComputedRow& row, const Viewport& viewport,
             std::vector<SegmentItem>& items) const;

  // Text of a name that query() gave; "" for others.
  std::string name(uint64_t id) const;
  static bool is_own_name(uint64_t id) { return id >= kFirstName; }

 private:
  static constexpr uint32_t kFirstName = 1u << 31;
  static constexpr uint32_t kFirstStep = 3u << 30;  // ids of steps are their numbers

  uint32_t name_of(const LaneSegment& segment) const;

  std::vector<ComputedLaneView> lanes_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  std::vector<std::string_view> names_;
};

SliceColour lane_colour(LaneKind kind);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_LANE_SEGMENTS_H_
