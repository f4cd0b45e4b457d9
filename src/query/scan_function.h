// A ScanTable as a DuckDB table function: rows come in parallel, one block of 2,048 a call, and
// only the columns that a query uses are read.
#ifndef STEPSCOPE_QUERY_SCAN_FUNCTION_H_
#define STEPSCOPE_QUERY_SCAN_FUNCTION_H_

#include <string>

#include <duckdb.h>

#include "base/result.h"
#include "query/scan_table.h"

namespace stepscope {

// `table` must outlive the database.
Status register_scan(duckdb_connection connection, const std::string& function_name,
                     const ScanTable& table);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_SCAN_FUNCTION_H_
