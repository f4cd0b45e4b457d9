// A step's time by what kind of event was the most important one at each moment: the device's work
// before the host's, so that host time only counts where the device had nothing to do. The same
// classes as the TensorBoard plugin of PyTorch's profiler.
#ifndef STEPSCOPE_ANALYSES_STEP_TIMES_STEP_CATEGORIES_H_
#define STEPSCOPE_ANALYSES_STEP_TIMES_STEP_CATEGORIES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

// The classes, first match wins at every moment; together they are the step, exactly.
struct StepCategoryRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  int64_t start_ns = 0;
  int64_t total_ns = 0;
  int64_t kernel_ns = 0;
  int64_t memcpy_ns = 0;
  int64_t memset_ns = 0;
  int64_t communication_ns = 0;
  int64_t runtime_ns = 0;
  int64_t data_loader_ns = 0;
  int64_t cpu_ns = 0;
  int64_t other_ns = 0;
  bool complete = true;
};

inline constexpr Field<StepCategoryRow> kStepCategoryFields[] = {
    field<&StepCategoryRow::rank>("rank", Unit::kNone, "rank"),
    field<&StepCategoryRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&StepCategoryRow::step>("step", Unit::kNone,
                                  "step; NULL: the whole recording, when no steps are known"),
    field<&StepCategoryRow::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&StepCategoryRow::total_ns>("total_ns", Unit::kNanoseconds,
                                      "length, with the device work that the step launched"),
    field<&StepCategoryRow::kernel_ns>("kernel_ns", Unit::kNanoseconds, "a kernel computes"),
    field<&StepCategoryRow::memcpy_ns>("memcpy_ns", Unit::kNanoseconds, "else, a copy runs"),
    field<&StepCategoryRow::memset_ns>("memset_ns", Unit::kNanoseconds, "else, a set runs"),
    field<&StepCategoryRow::communication_ns>("communication_ns", Unit::kNanoseconds,
                                              "else, a collective runs, on the device or the host"),
    field<&StepCategoryRow::runtime_ns>("runtime_ns", Unit::kNanoseconds,
                                        "else, a call into the device's runtime or driver"),
    field<&StepCategoryRow::data_loader_ns>("data_loader_ns", Unit::kNanoseconds,
                                            "else, waiting for the next batch"),
    field<&StepCategoryRow::cpu_ns>("cpu_ns", Unit::kNanoseconds,
                                    "else, an operator or mark on the host"),
    field<&StepCategoryRow::other_ns>("other_ns", Unit::kNanoseconds, "none of these"),
    field<&StepCategoryRow::complete>("complete", Unit::kNone,
                                      "false when the recording has only a part of the step"),
};

// One pass over the kernels and one over the slices of host threads. One row without a number when
// there are no steps: from the first to the last event of the host's threads and what they
// launched.
std::vector<StepCategoryRow> step_categories(const StoreReader& store, const RankId& rank,
                                             std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_STEP_TIMES_STEP_CATEGORIES_H_
