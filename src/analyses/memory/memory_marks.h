// Where the forward pass starts and the backward pass ends, in the curve of memory over time.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_MARKS_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_MARKS_H_

#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/memory_curve.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/step_trace/step_trace.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// Marks, for each step and pool of the rank, the first point at or after those of these moments
// that lie in the range of the curve. Memory is allocated by the host, so they are those of the
// host's operators, not of the work that they launched. One pass over the operators.
void mark_passes(const StoreReader& store, const RankId& rank, std::span<const StepRow> steps,
                 const std::vector<StepTraceRow>& trace, const CurveRange& range,
                 std::vector<MemoryPoint>& points);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_MARKS_H_
