// The split of a step as the profilers of Ascend write it into step_trace_time.csv. The files we
// write for other tools have these numbers; everything else uses step_times.h, which cuts at the
// ends of the step and adds up.
#ifndef STEPSCOPE_ANALYSES_STEP_TIMES_WRITTEN_STEP_TIMES_H_
#define STEPSCOPE_ANALYSES_STEP_TIMES_WRITTEN_STEP_TIMES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/overlap/overlap_lanes.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// Both sum whole pieces of the lanes Computing, Communication, Communication(Not Overlapped) and
// Free that start in the step, without cutting them, and count copies as free time.
enum class StepTimesWriter : uint8_t {
  kTorchNpu,   // half-open steps; stage from the first to the last piece, without the bubble
  kMindSpore,  // closed steps; free time is cut; stage from the first to the last event of HCCL
};

struct WrittenStepTimes {
  int64_t step = kNull;  // NULL: no steps, one row for everything
  int64_t computing_ns = 0;
  int64_t communication_not_overlapped_ns = 0;
  int64_t overlapped_ns = 0;
  int64_t communication_ns = 0;
  int64_t free_ns = 0;
  int64_t stage_ns = 0;
  int64_t bubble_ns = 0;
  int64_t communication_not_overlapped_and_exclude_receive_ns = 0;
  // NULL where the original writes a moment instead of a length (PyTorch without steps).
  int64_t preparing_ns = kNull;
};

std::vector<WrittenStepTimes> written_step_times(const StoreReader& store, size_t rank,
                                                 const OverlapLanes& lanes,
                                                 std::span<const StepRow> steps,
                                                 StepTimesWriter writer);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_TIMES_WRITTEN_STEP_TIMES_H_
