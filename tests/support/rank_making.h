// Test support: ranks made by hand, without an importer.
#ifndef STEPSCOPE_TESTS_SUPPORT_RANK_MAKING_H_
#define STEPSCOPE_TESTS_SUPPORT_RANK_MAKING_H_

#include <string_view>

#include "store/rank_builder.h"

namespace stepscope::testing {

inline SliceRecord slice_of(RankBuilder& rank, std::string_view name, int64_t ts_ns, int64_t dur_ns,
                            SliceKind kind = SliceKind::kOther) {
  SliceRecord slice;
  slice.ts_ns = ts_ns;
  slice.dur_ns = dur_ns;
  slice.name = rank.strings.intern(name);
  slice.kind = kind;
  return slice;
}

inline TrackId host_track(RankBuilder& rank, std::string_view thread) {
  TrackInfo track;
  track.kind = TrackKind::kHost;
  track.thread = rank.strings.intern(thread);
  return rank.add_track(track);
}

inline TrackId device_track(RankBuilder& rank, int64_t device, int64_t stream) {
  TrackInfo track;
  track.kind = TrackKind::kDevice;
  track.device = device;
  track.stream = stream;
  return rank.add_track(track);
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_RANK_MAKING_H_
