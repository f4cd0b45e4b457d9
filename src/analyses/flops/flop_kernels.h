// FLOPs of tasks on devices that run operators: by hardware counters, or by the tasks' shapes.
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOP_KERNELS_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOP_KERNELS_H_

#include "analyses/flops/flop_sums.h"

namespace stepscope {

// Both add to `sums` and say whether anything was counted. NaN counters count nothing.
bool count_kernel_counters(const StoreReader& store, const RankId& rank, FlopSums& sums);
bool count_kernel_shapes(const StoreReader& store, const RankId& rank, FlopSums& sums);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOP_KERNELS_H_
