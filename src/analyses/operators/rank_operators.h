// Everything about the operators of a rank that comes from one walk over them, and everything that
// comes from its device work.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_RANK_OPERATORS_H_
#define STEPSCOPE_ANALYSES_OPERATORS_RANK_OPERATORS_H_

#include <vector>

#include "analyses/common/reason.h"
#include "analyses/operators/kernels.h"
#include "analyses/operators/launches.h"
#include "analyses/operators/operator_history.h"
#include "analyses/operators/operators.h"

namespace stepscope {

// How many operators of each category have their history kept.
inline constexpr size_t kHistoryOperators = 20;

struct OperatorResults {
  std::vector<OperatorRow> operators;
  std::vector<OperatorTypeRow> types;
  std::vector<OperatorShapeRow> shapes;
  std::vector<OperatorStepRow> steps;

  void append(OperatorResults&& other);
};
// From the events; from the input's own summaries where it has no events.
OperatorResults rank_operators(const StoreReader& store, const RankId& rank, const OpTree& tree,
                               std::span<const StepRow> steps);

struct KernelResults {
  std::vector<KernelTotalRow> kernels;
  std::vector<KernelVariantRow> variants;
  std::vector<DeviceUseRow> devices;
  std::vector<LaunchRow> launches;
  std::vector<CopyRow> copies;

  void append(KernelResults&& other);
};
KernelResults rank_kernels(const StoreReader& store, const RankId& rank);

// Tables that are empty or incomplete, and why.
std::vector<Reason> operator_reasons(const OperatorResults& results);
std::vector<Reason> kernel_reasons(const KernelResults& results);

// Places in `operators` of those that match what somebody typed, the best first.
std::vector<size_t> find_operators(const std::vector<OperatorRow>& operators,
                                   std::string_view query, size_t limit);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_RANK_OPERATORS_H_
