// Operators of a rank from the input's own summaries (MindInsight's csv files), for inputs that
// have these and no events. Lengths are means there, so minima, maxima and quantiles are NULL.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_FILES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_FILES_H_

#include "analyses/operators/operators.h"

namespace stepscope {

// Empty when the rank has no such tables. `shapes` stays empty.
OperatorTables operators_from_files(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OPERATOR_FILES_H_
