#include "importers/common/table_builder.h"

#include <cmath>
#include <map>
#include <vector>

#include "base/decimal.h"
#include "importers/common/text_file.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

bool fits_int64(const json& value) {
  if (!value.is_number_integer()) return false;
  return !value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

// The narrowest type that holds every value of a column.
Type column_type(const std::vector<const json*>& values) {
  bool integers = true;
  bool numbers = true;
  for (const json* value : values) {
    if (value == nullptr || value->is_null()) continue;
    integers = integers && fits_int64(*value);
    numbers = numbers && value->is_number();
  }
  return integers ? Type::kInt64 : numbers ? Type::kFloat64 : Type::kText;
}

int64_t stored(const json* value, Type type, StringPool& strings) {
  if (value == nullptr || value->is_null()) return kNull;
  if (type == Type::kInt64) return value->get<int64_t>();
  if (type == Type::kFloat64) return TableBuilder::real(value->get<double>());
  return strings.intern(json_as_text(*value));
}

}  // namespace

TableBuilder::TableBuilder(RankBuilder& rank, std::string_view name, std::string_view doc,
                           std::initializer_list<std::pair<std::string_view, Type>> columns)
    : rank_(rank), table_(0) {
  for (; table_ < rank.source_tables.size(); ++table_) {
    const SourceTable& known = rank.source_tables[table_];
    if (known.name == name && known.columns.size() == columns.size()) return;
  }
  SourceTable table;
  table.name = name;
  table.doc = doc;
  for (const auto& [column, type] : columns) {
    table.columns.push_back({std::string(column), type, {}});
  }
  rank.source_tables.push_back(std::move(table));
}

void TableBuilder::row(std::initializer_list<int64_t> values) {
  auto& columns = rank_.source_tables[table_].columns;
  auto value = values.begin();
  for (SourceColumn& column : columns) {
    column.values.push_back(value == values.end() ? kNull : *value++);
  }
}

int64_t TableBuilder::real(double value) { return float_bits(value); }

int64_t TableBuilder::real(std::string_view decimal) {
  const auto value = parse_double(decimal);
  return value ? real(*value) : kNull;
}

Status keep_json(const std::string& path, std::string_view table_name, RankBuilder& rank) {
  auto tree = read_json_file(path);
  if (!tree) return std::move(tree.error());
  std::vector<const json*> rows;
  if (tree->is_array() && !tree->empty() &&
      std::all_of(tree->begin(), tree->end(), [](const json& row) { return row.is_object(); })) {
    for (const json& row : *tree) rows.push_back(&row);
  } else {
    rows.push_back(&*tree);
  }
  std::vector<std::string> names;
  std::map<std::string, std::vector<const json*>> columns;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row]->is_object()) {
      names.push_back("json");
      columns["json"].push_back(rows[row]);
      continue;
    }
    for (const auto& [key, value] : rows[row]->items()) {
      auto [column, is_new] = columns.try_emplace(key);
      if (is_new) names.push_back(key);
      column->second.resize(rows.size());
      column->second[row] = &value;
    }
  }
  SourceTable table;
  table.name = table_name;
  table.doc = path;
  for (const std::string& name : names) {
    const auto& values = columns[name];
    SourceColumn column{name, column_type(values), {}};
    for (const json* value : values) {
      column.values.push_back(stored(value, column.type, rank.strings));
    }
    table.columns.push_back(std::move(column));
  }
  add_source(rank, path, table_name, static_cast<int64_t>(table.rows()));
  rank.source_tables.push_back(std::move(table));
  return {};
}

const json& json_member(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

int64_t json_integer(const json& value) {
  if (fits_int64(value)) return value.get<int64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    return std::abs(number) < 9e18 ? std::llround(number) : kNull;
  }
  if (value.is_string()) {
    const auto number = parse_integer(value.get_ref<const std::string&>());
    if (number) return *number;
  }
  return kNull;
}

std::string_view json_text(const json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>())
                           : std::string_view();
}

std::string json_as_text(const json& value) {
  return value.is_string() ? value.get_ref<const std::string&>() : write_json(value);
}

}  // namespace stepscope
