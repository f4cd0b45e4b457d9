// Results of analyses as columns for other languages.
#ifndef STEPSCOPE_API_ANALYSIS_COLUMNS_H_
#define STEPSCOPE_API_ANALYSIS_COLUMNS_H_

#include "analyses/common/result_table.h"
#include "api/column_data.h"

namespace stepscope {

TableData read_result_columns(const ResultTable& table);

}  // namespace stepscope

#endif  // STEPSCOPE_API_ANALYSIS_COLUMNS_H_
