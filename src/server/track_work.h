// How long the tracks of a rank were at work: what a lane of the timeline says beside its name.
//
// On a device that is its work: the time that the track's kernels, copies and sets cover. What a
// source draws beside them (annotations of the program, waits for events) is none, so that a stream
// is not busier than its device. A device's track without any row of `kernels`, as those with the
// transfers of collectives, is busy with what it has but waits and annotations. Elsewhere the
// outermost slices count.
//
// One pass over the rank's kernels and the outermost slices: some ns each.
#ifndef STEPSCOPE_SERVER_TRACK_WORK_H_
#define STEPSCOPE_SERVER_TRACK_WORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

// By row of the rank's `tracks`: ns of that work between the two times. Only device tracks, others
// have kNull.
std::vector<int64_t> device_work_ns(const StoreReader& store, size_t rank, const Interval& within);

// The same of all tracks over the whole recording.
std::vector<int64_t> busy_of_tracks(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_SERVER_TRACK_WORK_H_
