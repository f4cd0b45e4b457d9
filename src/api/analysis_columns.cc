#include "api/analysis_columns.h"

#include <cmath>
#include <variant>

#include "api/text_encoder.h"

namespace stepscope {
namespace {

template <class T>
void append(PodVector<T>& values, PodVector<uint8_t>& nulls, const Value& value, T missing) {
  const bool null = std::holds_alternative<std::monostate>(value);
  nulls.push_back(null ? 1 : 0);
  if (null) {
    values.push_back(missing);
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    values.push_back(std::get<bool>(value) ? 1 : 0);
  } else {
    values.push_back(std::get<T>(value));
  }
}

ColumnType type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::kInteger:
      return ColumnType::kInt64;
    case ValueKind::kFloat:
      return ColumnType::kFloat64;
    case ValueKind::kBool:
      return ColumnType::kBool;
    case ValueKind::kText:
      return ColumnType::kText;
  }
  return ColumnType::kText;
}

ColumnData read_column(const ResultTable& table, size_t position) {
  ColumnData column;
  column.name = table.columns()[position].name;
  column.type = type_of(table.columns()[position].kind);
  TextEncoder texts;
  for (size_t row = 0; row < table.rows(); ++row) {
    const Value value = table.value(row, position);
    if (column.type == ColumnType::kText) {
      const auto* text = std::get_if<std::string_view>(&value);
      column.codes.push_back(text == nullptr ? -1 : texts.code(*text));
    } else if (column.type == ColumnType::kInt64) {
      append<int64_t>(column.integers, column.nulls, value, 0);
    } else if (column.type == ColumnType::kFloat64) {
      append<double>(column.floats, column.nulls, value, std::nan(""));
    } else {
      append<uint8_t>(column.bools, column.nulls, value, 0);
    }
  }
  if (column.type == ColumnType::kText) column.categories = texts.texts();
  bool any_null = false;
  for (size_t i = 0; i < column.nulls.size(); ++i) any_null |= column.nulls[i] != 0;
  if (!any_null) column.nulls = {};
  return column;
}

}  // namespace

TableData read_result_columns(const ResultTable& table) {
  TableData data;
  data.rows = table.rows();
  for (size_t column = 0; column < table.columns().size(); ++column)
    data.columns.push_back(read_column(table, column));
  return data;
}

}  // namespace stepscope
