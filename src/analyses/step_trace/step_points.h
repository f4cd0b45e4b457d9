// Where the passes of each step begin and end.
#ifndef STEPSCOPE_ANALYSES_STEP_TRACE_STEP_POINTS_H_
#define STEPSCOPE_ANALYSES_STEP_TRACE_STEP_POINTS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/step_trace/step_trace.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// kNull where not known; a step without a backward pass has no bp_*.
struct StepPoints {
  int64_t fp_start_ns = kNull;
  int64_t bp_start_ns = kNull;
  int64_t bp_end_ns = kNull;
  int64_t fp_name = kNull;  // string ids
  int64_t bp_name = kNull;
};

struct PointsOfSteps {
  std::vector<StepPoints> points;  // by position of the step
  std::string_view source;         // file, device, host; empty when nothing was found
};

// The points that the input itself has (Ascend's step trace, MindInsight's files).
PointsOfSteps file_points(const StoreReader& store, size_t rank, std::span<const StepRow> steps);

// From the operators: forward starts with the first one that neither fetches data nor belongs to
// the optimizer, backward ends with the last one of autograd or of MindSpore's scope Gradients; in
// their absence, with the last work before the last collective. Where device work knows its launch,
// the points are those of the work that the operators launched.
PointsOfSteps operator_points(const StoreReader& store, size_t rank, std::span<const StepRow> steps,
                              const StepTraceOptions& options);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_TRACE_STEP_POINTS_H_
