// The step trace: each step as step interval, forward and backward, and tail, with the collectives
// that run beside them.
#ifndef STEPSCOPE_ANALYSES_STEP_TRACE_STEP_TRACE_H_
#define STEPSCOPE_ANALYSES_STEP_TRACE_STEP_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// dur = iteration_interval + fp_and_bp + tail. A time that is not known is NULL.
struct StepTraceRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;  // NULL: the average
  int64_t steps = 1;
  int64_t start_ns = kNull;
  int64_t dur_ns = kNull;
  int64_t iteration_interval_ns = kNull;
  int64_t fp_and_bp_ns = kNull;
  int64_t fp_ns = kNull;
  int64_t bp_ns = kNull;
  int64_t tail_ns = kNull;
  std::string_view fp_start;
  std::string_view bp_end;
  std::string_view points;
  bool complete = true;
};

inline constexpr Field<StepTraceRow> kStepTraceFields[] = {
    field<&StepTraceRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepTraceRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepTraceRow::step>("step", Unit::kNone, "step; NULL in rows of averages"),
    field<&StepTraceRow::steps>("steps", Unit::kCount, "steps in this row"),
    field<&StepTraceRow::start_ns>("start_ns", Unit::kTimestamp,
                                   "end of the step before, else start of the step"),
    field<&StepTraceRow::dur_ns>("dur_ns", Unit::kNanoseconds, "start to end of the step"),
    field<&StepTraceRow::iteration_interval_ns>("iteration_interval_ns", Unit::kNanoseconds,
                                                "start to the first operator of the forward pass"),
    field<&StepTraceRow::fp_and_bp_ns>("fp_and_bp_ns", Unit::kNanoseconds,
                                       "forward and backward; without a backward pass, forward to "
                                       "the end of the step"),
    field<&StepTraceRow::fp_ns>("fp_ns", Unit::kNanoseconds,
                                "the part before the first backward operator"),
    field<&StepTraceRow::bp_ns>("bp_ns", Unit::kNanoseconds,
                                "the part from the first backward operator on"),
    field<&StepTraceRow::tail_ns>("tail_ns", Unit::kNanoseconds,
                                  "end of the backward pass to the end of the step"),
    field<&StepTraceRow::fp_start>("fp_start", Unit::kNone, "first operator of the forward pass"),
    field<&StepTraceRow::bp_end>("bp_end", Unit::kNone, "last operator of the backward pass"),
    field<&StepTraceRow::points>("points", Unit::kNone,
                                 "whose times these are: file (the input's own points), device "
                                 "(work launched by the operators), host (the operators)"),
    field<&StepTraceRow::complete>("complete", Unit::kNone,
                                   "false when the recording has only a part of the step; such "
                                   "steps are not in the average"),
};

// A collective of a step. In average rows (step NULL) offset and length are means over the steps
// that have it.
struct StepReduceRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  int64_t stream = kNull;
  int64_t index = 0;
  std::string_view name;
  int64_t offset_ns = 0;
  int64_t dur_ns = 0;
};

inline constexpr Field<StepReduceRow> kStepReduceFields[] = {
    field<&StepReduceRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepReduceRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepReduceRow::step>("step", Unit::kNone, "step; NULL in rows of averages"),
    field<&StepReduceRow::stream>("stream", Unit::kNone, "stream it runs on"),
    field<&StepReduceRow::index>("index", Unit::kNone, "number on its stream in the step, from 0"),
    field<&StepReduceRow::name>("name", Unit::kNone, "name"),
    field<&StepReduceRow::offset_ns>("offset_ns", Unit::kNanoseconds,
                                     "start after the step's start_ns in step_trace"),
    field<&StepReduceRow::dur_ns>("dur_ns", Unit::kNanoseconds, "length"),
};

// Names of operators that begin the forward and end the backward pass; empty: found automatically.
// A name matches an operator's whole name or the last part of its scope path.
struct StepTraceOptions {
  std::string fp_start;
  std::string bp_end;
};

struct RankStepTrace {
  std::vector<StepTraceRow> rows;  // steps, then the average
  std::vector<StepReduceRow> reduces;
  std::string why;  // what is missing
};

RankStepTrace rank_step_trace(const StoreReader& store, const RankId& rank,
                              std::span<const StepRow> steps, const StepTraceOptions& options);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_TRACE_STEP_TRACE_H_
