// The statements of a text of SQL.
#ifndef STEPSCOPE_QUERY_STATEMENTS_H_
#define STEPSCOPE_QUERY_STATEMENTS_H_

#include <string_view>
#include <vector>

namespace stepscope {

// Splits at semicolons outside of quotes, dollar quotes and comments; pieces without any word are
// left out, and pieces keep their comments but not their semicolon. Knows just enough of the
// grammar for that: whether a piece is good SQL is DuckDB's to say.
std::vector<std::string_view> split_statements(std::string_view sql);

// Whether the first word after blanks and comments is `word` (in lower case), in any case.
bool starts_with_word(std::string_view statement, std::string_view word);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_STATEMENTS_H_
