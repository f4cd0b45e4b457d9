// Sorting and nesting of one track: who contains whom, and on which row each slice is drawn.
#ifndef STEPSCOPE_STORE_TRACK_LAYOUT_H_
#define STEPSCOPE_STORE_TRACK_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "base/pod_vector.h"
#include "store/quality.h"
#include "store/rank_builder.h"

namespace stepscope {

inline constexpr uint32_t kNoSlice = 0xFFFFFFFFu;

struct TrackLayout {
  PodVector<uint32_t>
      parent;  // index of the innermost containing slice in the sorted track, or kNoSlice
  PodVector<uint32_t>
      row;  // row of the slice in the track's part of the table: lanes one after another
  std::vector<uint32_t> lanes;  // number of slices on each depth
};

// Sorts `slices` by start (longest first, then input order) and lays them out. Slices of one depth
// never overlap. A slice that starts inside another but ends after it is a child when it is a host
// slice and outlives its parent by at most a microsecond (rounding); otherwise it is an overlap, on
// a row of its own. O(n log n), linear when sorted. `strings` has the names, for examples.
TrackLayout lay_out_track(PodVector<SliceRecord>& slices, TrackKind kind, const StringPool& strings,
                          QualityReport& quality);

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_TRACK_LAYOUT_H_
