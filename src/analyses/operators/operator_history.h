// Chosen operators and kernels, step by step.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_HISTORY_H_
#define STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_HISTORY_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/operators/op_tree.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

struct OperatorStepRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view category;
  std::string_view name;
  int64_t step = kNull;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t device_ns = 0;
};
inline constexpr Field<OperatorStepRow> kOperatorStepFields[] = {
    field<&OperatorStepRow::rank>("rank", Unit::kNone, "rank"),
    field<&OperatorStepRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&OperatorStepRow::category>("category", Unit::kNone,
                                      "as in operators; CUDA, MEMCPY ... for kernels"),
    field<&OperatorStepRow::name>("name", Unit::kNone, "name of the operator or kernel"),
    field<&OperatorStepRow::step>("step", Unit::kNone, "step; NULL outside of steps"),
    field<&OperatorStepRow::count>("count", Unit::kCount, "calls in the step"),
    field<&OperatorStepRow::total_ns>("total_ns", Unit::kNanoseconds,
                                      "sum of their lengths, nested ones too"),
    field<&OperatorStepRow::device_ns>("device_ns", Unit::kNanoseconds,
                                       "device work that they and what they called launched"),
};

struct OperatorChoice {
  std::string_view category;
  std::string_view name;
};
// By choice, then step. Choices are HOST and HOST_CPU operators or tasks of devices.
std::vector<OperatorStepRow> operator_history(const StoreReader& store, const RankId& rank,
                                              const OpTree& tree, std::span<const StepRow> steps,
                                              const std::vector<OperatorChoice>& choices);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_HISTORY_H_
