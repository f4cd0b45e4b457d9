// The store's strings as DuckDB sees them: string values that point into the store's mapping, and
// ENUM types for the columns that queries group by.
//
// Nothing is copied: a DuckDB string of more than 12 bytes is a length, a prefix and a pointer.
// Building the table costs one pass over the strings and happens on the first use.
#ifndef STEPSCOPE_QUERY_STORE_STRINGS_H_
#define STEPSCOPE_QUERY_STORE_STRINGS_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <duckdb.h>

#include "store/store_reader.h"

namespace stepscope {

class StoreStrings {
 public:
  explicit StoreStrings(const StoreReader& store) : store_(store) {}
  StoreStrings(const StoreStrings&) = delete;
  StoreStrings& operator=(const StoreStrings&) = delete;

  // One value per string id; UTF-8 in any case (bytes that are not become U+FFFD). Thread-safe.
  const std::vector<duckdb_string_t>& values();
  std::string_view text(size_t id);

 private:
  void build();

  const StoreReader& store_;
  std::once_flag built_;
  std::vector<duckdb_string_t> values_;
  std::deque<std::string> repaired_;
};

duckdb_string_t as_duckdb_string(std::string_view text);
std::string_view as_view(const duckdb_string_t& value);

// The distinct strings of a column as an ENUM whose members are in alphabetical order, so that
// ORDER BY, min and max mean what they mean for text.
class StringEnum {
 public:
  static constexpr size_t kMaxMembers = 65'535;  // DuckDB stores up to this many in two bytes
  static constexpr uint16_t kUnknown = 0xFFFF;

  // `ids`: sorted, without repetition. Not usable when there are too many or when a string cannot
  // be a member.
  StringEnum(StoreStrings& strings, const std::vector<StringId>& ids);
  ~StringEnum();
  StringEnum(const StringEnum&) = delete;
  StringEnum& operator=(const StringEnum&) = delete;

  bool usable() const { return type_ != nullptr; }
  duckdb_logical_type type() const { return type_; }
  bool one_byte() const { return member_count_ <= 255; }
  // By string id; kUnknown for strings that are no members.
  const std::vector<uint16_t>& positions() const { return positions_; }

 private:
  duckdb_logical_type type_ = nullptr;
  size_t member_count_ = 0;
  std::vector<uint16_t> positions_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_STORE_STRINGS_H_
