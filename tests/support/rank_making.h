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

inline void add_step(RankBuilder& rank, int64_t number, int64_t ts_ns, int64_t dur_ns) {
  StepRecord step;
  step.step = number;
  step.ts_ns = ts_ns;
  step.dur_ns = dur_ns;
  rank.steps.push_back(step);
}

// A communication operator on a device.
inline void add_operation(RankBuilder& rank, TrackId track, std::string_view name, int64_t ts_ns,
                          int64_t dur_ns, CommunicationDetail detail,
                          std::string_view group = "7") {
  detail.level = rank.strings.intern("op");
  detail.op = rank.strings.intern(name.substr(0, name.find("__")));
  if (!group.empty()) detail.group = rank.strings.intern(group);
  SliceRecord slice = slice_of(rank, name, ts_ns, dur_ns, SliceKind::kKernel);
  KernelDetail kernel;
  kernel.work_class = WorkClass::kCommunication;
  kernel.communication = rank.add_communication(detail);
  slice.detail = rank.add_kernel(kernel);
  rank.add_slice(track, slice);
}

inline CommunicationDetail numbered(int64_t sequence, int64_t bytes = kNull,
                                    int64_t group_size = kNull) {
  CommunicationDetail detail;
  detail.sequence = sequence;
  detail.bytes = bytes;
  detail.group_size = group_size;
  return detail;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_RANK_MAKING_H_
