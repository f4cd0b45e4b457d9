// The rows of a query's result as arrays.
#ifndef STEPSCOPE_API_QUERY_COLUMNS_H_
#define STEPSCOPE_API_QUERY_COLUMNS_H_

#include "api/column_data.h"
#include "base/result.h"
#include "query/query_result.h"

namespace stepscope {

// Reads the result to its end. A copy of every value, and one hash for each text.
Result<TableData> read_query_columns(QueryResult& result);

}  // namespace stepscope

#endif  // STEPSCOPE_API_QUERY_COLUMNS_H_
