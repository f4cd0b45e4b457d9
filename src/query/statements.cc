#include "query/statements.h"

namespace stepscope {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

// Where the token that starts at `at` ends, for the tokens that can hide a semicolon; at + 1 for
// everything else. `word` tells whether it was more than blanks and comments.
size_t token_end(std::string_view sql, size_t at, bool& word) {
  const auto after = [&](std::string_view mark, size_t from) {
    const size_t found = sql.find(mark, from);
    return found == std::string_view::npos ? sql.size() : found + mark.size();
  };
  const char c = sql[at];
  const std::string_view rest = sql.substr(at);
  word = true;
  if (rest.starts_with("--")) {
    word = false;
    return after("\n", at);
  }
  if (rest.starts_with("/*")) {
    word = false;
    int depth = 0;
    for (size_t i = at; i < sql.size();) {
      const std::string_view here = sql.substr(i);
      if (here.starts_with("/*")) {
        ++depth;
        i += 2;
      } else if (here.starts_with("*/")) {
        i += 2;
        if (--depth == 0) return i;
      } else {
        ++i;
      }
    }
    return sql.size();
  }
  if (c == '\'' || c == '"') {
    const bool escapes = c == '\'' && at > 0 && (sql[at - 1] == 'e' || sql[at - 1] == 'E');
    for (size_t i = at + 1; i < sql.size(); ++i) {
      if (escapes && sql[i] == '\\') {
        ++i;
      } else if (sql[i] == c) {
        return i + 1;  // a doubled quote starts the next token, with the same effect
      }
    }
    return sql.size();
  }
  if (c == '$') {
    size_t end = at + 1;
    while (end < sql.size() && (sql[end] == '_' || (sql[end] | 32) >= 'a')) ++end;
    if (end < sql.size() && sql[end] == '$') {
      const std::string_view tag = sql.substr(at, end + 1 - at);
      return after(tag, end + 1);
    }
  }
  word = !is_blank(c);
  return at + 1;
}

}  // namespace

std::vector<std::string_view> split_statements(std::string_view sql) {
  std::vector<std::string_view> statements;
  size_t first = 0;
  bool any = false;
  const auto close = [&](size_t end) {
    if (any) statements.push_back(sql.substr(first, end - first));
    first = end + 1;
    any = false;
  };
  for (size_t at = 0; at < sql.size();) {
    if (sql[at] == ';') {
      close(at++);
      continue;
    }
    bool word = false;
    at = token_end(sql, at, word);
    any |= word;
  }
  if (first < sql.size()) close(sql.size());
  return statements;
}

bool starts_with_word(std::string_view statement, std::string_view word) {
  size_t at = 0;
  for (bool found = false; at < statement.size();) {
    const size_t end = token_end(statement, at, found);
    if (found) break;
    at = end;
  }
  const std::string_view rest = statement.substr(at);
  if (rest.size() < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((rest[i] | 32) != word[i]) return false;
  }
  return rest.size() == word.size() || ((rest[word.size()] | 32) < 'a') ||
         ((rest[word.size()] | 32) > 'z');
}

}  // namespace stepscope
