// A result table as text, row by row, for answers that are written as they are read.
#ifndef STEPSCOPE_ANALYSES_COMMON_RESULT_TEXT_H_
#define STEPSCOPE_ANALYSES_COMMON_RESULT_TEXT_H_

#include <string>

#include "analyses/common/result_table.h"

namespace stepscope {

void append_json_row(std::string& out, const ResultTable& table, size_t row);
void append_csv_head(std::string& out, const ResultTable& table);
void append_csv_row(std::string& out, const ResultTable& table, size_t row);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_RESULT_TEXT_H_
