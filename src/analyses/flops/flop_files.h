// FLOPs that the input has computed itself (MindInsight's flops files).
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOP_FILES_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOP_FILES_H_

#include "analyses/flops/flops.h"

namespace stepscope {

// Empty when the rank has no such tables.
FlopResults flops_from_files(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOP_FILES_H_
