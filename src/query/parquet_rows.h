// Rows that are not in a store, as a Parquet file: what an analysis computed.
#ifndef STEPSCOPE_QUERY_PARQUET_ROWS_H_
#define STEPSCOPE_QUERY_PARQUET_ROWS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "query/query_result.h"

namespace stepscope {

// NULL is std::monostate; the others as the column's type says (kInt128 and kInt64: int64_t).
using ParquetValue = std::variant<std::monostate, int64_t, double, bool, std::string_view>;

// Writes `rows` rows to a new file. They pass through memory, compressed column by column.
Status write_parquet_rows(const std::vector<ResultColumn>& columns, size_t rows,
                          const std::function<ParquetValue(size_t row, size_t column)>& value,
                          const std::string& path);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_PARQUET_ROWS_H_
