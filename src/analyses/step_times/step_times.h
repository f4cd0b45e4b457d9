// Where the time of each step went on each device.
#ifndef STEPSCOPE_ANALYSES_STEP_TIMES_STEP_TIMES_H_
#define STEPSCOPE_ANALYSES_STEP_TIMES_STEP_TIMES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/overlap/overlap_lanes.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// Everything is cut at the step's ends (StepRow::work_*), and
//   dur = preparing + computing + communication_not_overlapped + memory_not_overlapped
//         + free + tail
// A step in which the device computes and communicates nothing is all free.
struct StepTimeRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t device = 0;
  int64_t step = kNull;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  int64_t computing_ns = 0;
  int64_t communication_not_overlapped_ns = 0;
  int64_t overlapped_ns = 0;
  int64_t communication_ns = 0;
  int64_t memory_not_overlapped_ns = 0;
  int64_t free_ns = 0;
  int64_t stage_ns = 0;
  int64_t bubble_ns = 0;
  int64_t preparing_ns = 0;
  int64_t tail_ns = 0;
  bool complete = true;
};

inline constexpr Field<StepTimeRow> kStepTimeFields[] = {
    field<&StepTimeRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepTimeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepTimeRow::device>("device", Unit::kNone,
                                "device number; -1: the host, for runs without a device"),
    field<&StepTimeRow::step>("step", Unit::kNone,
                              "step; NULL: the whole recording, when no steps are known"),
    field<&StepTimeRow::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&StepTimeRow::dur_ns>("dur_ns", Unit::kNanoseconds,
                                "length, with the device work that the step launched"),
    field<&StepTimeRow::computing_ns>("computing_ns", Unit::kNanoseconds, "time with computation"),
    field<&StepTimeRow::communication_not_overlapped_ns>(
        "communication_not_overlapped_ns", Unit::kNanoseconds,
        "time with communication and no computation"),
    field<&StepTimeRow::overlapped_ns>("overlapped_ns", Unit::kNanoseconds,
                                       "time with communication and computation at once"),
    field<&StepTimeRow::communication_ns>("communication_ns", Unit::kNanoseconds,
                                          "time with communication"),
    field<&StepTimeRow::memory_not_overlapped_ns>(
        "memory_not_overlapped_ns", Unit::kNanoseconds,
        "time with copies or sets only, between the first and the last computation or "
        "communication"),
    field<&StepTimeRow::free_ns>("free_ns", Unit::kNanoseconds,
                                 "time with nothing, between the first and the last computation or "
                                 "communication"),
    field<&StepTimeRow::stage_ns>("stage_ns", Unit::kNanoseconds,
                                  "first to last computation or communication, without the bubble"),
    field<&StepTimeRow::bubble_ns>("bubble_ns", Unit::kNanoseconds,
                                   "time of receives from another pipeline stage"),
    field<&StepTimeRow::preparing_ns>("preparing_ns", Unit::kNanoseconds,
                                      "start to the first computation or communication"),
    field<&StepTimeRow::tail_ns>("tail_ns", Unit::kNanoseconds,
                                 "last computation or communication to the end"),
    field<&StepTimeRow::complete>("complete", Unit::kNone,
                                  "false when the recording has only a part of the step"),
};

// A row for each device and step of a rank; one row without a number where there are no steps.
std::vector<StepTimeRow> step_times(const StoreReader& store, const RankId& rank,
                                    const std::vector<OverlapLanes>& devices,
                                    std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_TIMES_STEP_TIMES_H_
