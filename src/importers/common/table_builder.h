// Tables of the input that are kept beside the common ones, built row by row or from a JSON file.
#ifndef STEPSCOPE_IMPORTERS_COMMON_TABLE_BUILDER_H_
#define STEPSCOPE_IMPORTERS_COMMON_TABLE_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "store/rank_builder.h"

namespace stepscope {

// Appends to the rank's source table `name`, which is made on first use. Several files of one kind
// give one table. Valid until the rank's list of tables changes otherwise.
class TableBuilder {
 public:
  TableBuilder(RankBuilder& rank, std::string_view name, std::string_view doc,
               std::initializer_list<std::pair<std::string_view, Type>> columns);

  // One value per column: integers, text(), real() or kNull.
  void row(std::initializer_list<int64_t> values);
  int64_t text(std::string_view value) { return rank_.strings.intern(value); }
  // kNull for empty text.
  int64_t text_or_null(std::string_view value) {
    return value.empty() ? kNull : static_cast<int64_t>(rank_.strings.intern(value));
  }
  static int64_t real(double value);
  // A decimal number as real(); kNull when it is none.
  static int64_t real(std::string_view decimal);

 private:
  RankBuilder& rank_;
  size_t table_;  // index in rank_.source_tables
};

// A JSON document as a table, and the file as a source: an object is one row, a list of objects one
// row each. Numbers and text become columns under their key, anything nested its JSON text.
Status keep_json(const std::string& path, std::string_view table_name, RankBuilder& rank);

// JSON values by key without exceptions: null when `object` is none or has no such key.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key);
// kNull unless it is a number, or text that is an integer.
int64_t json_integer(const nlohmann::json& value);
// "" unless it is text.
std::string_view json_text(const nlohmann::json& value);
// Text as it is, anything else as JSON.
std::string json_as_text(const nlohmann::json& value);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_TABLE_BUILDER_H_
