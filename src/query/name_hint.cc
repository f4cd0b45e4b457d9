#include "query/name_hint.h"

#include <algorithm>
#include <optional>

namespace stepscope {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z');
}

// The name after `before`: in double quotes, or up to a blank.
std::optional<std::string> name_after(std::string_view message, std::string_view before) {
  const size_t at = message.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = message.substr(at + before.size());
  size_t end = 0;
  if (rest.starts_with('"')) {
    rest.remove_prefix(1);
    end = rest.find('"');
  } else {
    end = rest.find_first_of(" \n!;,");
  }
  return std::string(rest.substr(0, end));
}

bool mentions(std::string_view sql, std::string_view name) {
  const std::string text = lower(sql);
  const std::string wanted = lower(name);
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
      return true;
  }
  return false;
}

// Words that one contains of the other are near, whatever their lengths.
size_t unlikeness(std::string_view wrong, std::string_view name) {
  const std::string a = lower(wrong);
  const std::string b = lower(name);
  const size_t edits = edit_distance(a, b);
  const bool contains = std::min(a.size(), b.size()) >= 3 &&
                        (a.find(b) != std::string::npos || b.find(a) != std::string::npos);
  return contains ? std::min<size_t>(edits, 2) : edits;
}

std::string nearest_table(std::string_view wrong, const std::vector<Database::TableName>& tables) {
  std::string best;
  size_t least = SIZE_MAX;
  for (const auto& table : tables) {
    const size_t edits = unlikeness(wrong, table.name);
    if (edits < least) least = edits, best = table.name;
  }
  return best.empty() ? best : "nearest table: " + best;
}

std::string nearest_column(std::string_view wrong, std::string_view sql,
                           const std::vector<Database::TableName>& tables) {
  std::string best;
  std::string of;
  size_t least = SIZE_MAX;
  for (const bool mentioned : {true, false}) {
    for (const auto& table : tables) {
      if (mentions(sql, table.name) != mentioned) continue;
      for (const std::string& column : table.columns) {
        const size_t edits = unlikeness(wrong, column);
        if (edits < least) least = edits, best = column, of = table.name;
      }
    }
    if (!best.empty() && mentioned && least <= std::max<size_t>(2, wrong.size() / 2)) break;
  }
  return best.empty() ? best : "nearest column: " + best + " (of " + of + ")";
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table; the one before the last is for swaps.
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(now);
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        now[j] = std::min(now[j], before_last[j - 2] + 1);
      }
    }
  }
  return now[b.size()];
}

std::string nearest_name_hint(std::string_view message, std::string_view sql,
                              const std::vector<Database::TableName>& tables) {
  if (const auto table = name_after(message, "Table with name "))
    return nearest_table(*table, tables);
  for (const std::string_view before :
       {"Referenced column ", "does not have a column named ", "column named "}) {
    if (const auto column = name_after(message, before))
      return nearest_column(*column, sql, tables);
  }
  return {};
}

}  // namespace stepscope
