// Which operators allocate: by themselves, and with the operators that they call.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_OPERATORS_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_OPERATORS_H_

#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/memory_rows.h"

namespace stepscope {

// By pool, then by falling bytes. The TensorBoard plugin's columns, with two differences: an event
// counts once for an operator that calls itself, and events in no operator are a row, so that the
// `self` columns add up to the pool's. 100 ns an event.
std::vector<MemoryOperatorRow> memory_operators(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_OPERATORS_H_
