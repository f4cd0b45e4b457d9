// The timeline of a rank as a list of lanes: which process and thread each belongs to, in which
// order they are drawn, and what is on them. A lane shows either a track of the store, or segments
// that are computed here (steps, scopes, AI CPU operators, overlap of computation and
// communication).
//
//   Device N: Steps (with the device work that they launched), Scope Name by level, Stream #n
//   AI CPU Op, Communication Op, Host CPU Op
//   Op Overlap Analyse: merged computation, pure communication, merged communication, free time
//   other tracks of the source, with their own names
#ifndef STEPSCOPE_ANALYSES_TIMELINE_TIMELINE_H_
#define STEPSCOPE_ANALYSES_TIMELINE_TIMELINE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

enum class LaneKind : uint8_t {
  kStep,
  kScope,
  kStream,
  kAiCpu,
  kCommunication,
  kHostCpu,
  kMergedComputation,
  kPureCommunication,
  kMergedCommunication,
  kFree,
  kCounter,
  kOther,
};
std::string_view lane_kind_name(LaneKind kind);

struct LaneSegment {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view name;   // "" for a step
  int64_t number = kNull;  // of a step
};

struct TimelineLane {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t position = 0;  // from the top
  std::string process;
  std::string name;
  LaneKind kind = LaneKind::kOther;
  std::string_view kind_name;
  int64_t level = kNull;  // of a scope, from 1
  int64_t device = kNull;
  int64_t track = kNull;  // id in `tracks`; kNull: computed
  int64_t count = 0;      // slices or segments
  int64_t busy_ns = 0;    // of computed lanes
  std::vector<LaneSegment> segments;
};

inline constexpr Field<TimelineLane> kTimelineFields[] = {
    field<&TimelineLane::rank>("rank", Unit::kNone, "rank"),
    field<&TimelineLane::window>("window", Unit::kNone, "recording window of the rank"),
    field<&TimelineLane::position>("position", Unit::kNone, "place in the timeline, from the top"),
    field<&TimelineLane::process>("process", Unit::kNone, "group of lanes"),
    field<&TimelineLane::name>("lane", Unit::kNone, "name of the lane"),
    field<&TimelineLane::kind_name>("kind", Unit::kNone,
                                    "step, scope, stream, ai_cpu, communication, host_cpu, "
                                    "merged_computation, pure_communication, "
                                    "merged_communication, free, counter, other"),
    field<&TimelineLane::level>("level", Unit::kNone, "level of a scope, from 1"),
    field<&TimelineLane::device>("device", Unit::kNone, "device number"),
    field<&TimelineLane::track>("track", Unit::kNone, "its track; NULL: computed"),
    field<&TimelineLane::count>("count", Unit::kCount, "slices of the track, or segments"),
    field<&TimelineLane::busy_ns>("busy_ns", Unit::kNanoseconds,
                                  "sum of the segments of a computed lane"),
};

// Scopes are cut where steps begin, unless those are inferred.
std::vector<TimelineLane> timeline(const StoreReader& store, const RankId& rank,
                                   const std::vector<DeviceIntervals>& devices,
                                   std::span<const StepRow> steps);

// Lanes with scopes of the first `levels` levels only (seed: the number of scope names to show).
std::vector<const TimelineLane*> with_scope_levels(const std::vector<TimelineLane>& lanes,
                                                   int64_t levels);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_TIMELINE_TIMELINE_H_
