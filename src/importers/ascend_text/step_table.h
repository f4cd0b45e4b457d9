// Iterations of a graph that runs without the framework's marks: the timeline's lane of steps, and
// msprof's step_trace_*.csv. aicpu_mi_*.csv: the data queue as the device sees it.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_

#include "importers/common/ascend_recording.h"
#include "store/rank_builder.h"

namespace stepscope {

// Adds the iterations as steps of source "file". Iterations of several models or devices that have
// the same number are one step, from the first start to the last end.
void add_steps_of_table(const AscendRecording& recording, RankBuilder& rank);
// The same from slices "Iteration N" on lanes of steps.
void add_steps_of_timeline(RankBuilder& rank);
// Whether a lane shows a graph's iterations and their parts, and no work of a stream.
bool is_step_lane(const TrackInfo& track, const RankBuilder& rank);

void add_queue_of_table(const AscendRecording& recording, RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_
