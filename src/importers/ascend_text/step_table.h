// msprof's step_trace_*.csv: iterations of a graph that runs without the framework's marks.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_

#include "importers/common/ascend_recording.h"
#include "store/rank_builder.h"

namespace stepscope {

// Adds the iterations as steps of source "file". Iterations of several models or devices that have
// the same number are one step, from the first start to the last end.
void add_steps_of_table(const AscendRecording& recording, RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_STEP_TABLE_H_
