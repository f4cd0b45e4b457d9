// The nearest name to one that a query got wrong.
#ifndef STEPSCOPE_QUERY_NAME_HINT_H_
#define STEPSCOPE_QUERY_NAME_HINT_H_

#include <string>
#include <string_view>
#include <vector>

#include "query/database.h"

namespace stepscope {

// Smallest number of inserted, deleted, changed or swapped neighbouring characters, case aside.
size_t edit_distance(std::string_view a, std::string_view b);

// From DuckDB's message about an unknown table or column: a line such as "nearest column: dur (of
// kernels)"; "" when the message is about something else. Columns of tables that the query
// mentions come first.
std::string nearest_name_hint(std::string_view message, std::string_view sql,
                              const std::vector<Database::TableName>& tables);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_NAME_HINT_H_
