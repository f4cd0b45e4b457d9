// Columns of the schema's tables as arrays, decoded on several threads straight into place.
#ifndef STEPSCOPE_API_TABLE_COLUMNS_H_
#define STEPSCOPE_API_TABLE_COLUMNS_H_

#include <vector>

#include "api/column_data.h"
#include "base/progress.h"
#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

// `columns`: positions in the table's description.
Result<TableData> read_table_columns(const StoreReader& store, Table table,
                                     const std::vector<size_t>& columns, unsigned threads,
                                     const Progress& progress);

}  // namespace stepscope

#endif  // STEPSCOPE_API_TABLE_COLUMNS_H_
