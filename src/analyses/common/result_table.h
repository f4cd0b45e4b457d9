// Results of analyses as tables: rows of plain structs, and one description of their columns. The
// report, the server, Python and the files all print from that description, so that a column has
// one name, one unit and one definition everywhere.
//
//   struct StepRow { int64_t step; int64_t gap_ns; };
//   inline constexpr Field<StepRow> kStepFields[] = {
//       field<&StepRow::step>("step", Unit::kNone, "number of the step"),
//       field<&StepRow::gap_ns>("gap_ns", Unit::kNanoseconds, "time to the step before it"),
//   };
//   ResultTable table = make_table("steps", "Steps.", rows, kStepFields);
//
// A table refers to the rows it was made from, without a copy.
#ifndef STEPSCOPE_ANALYSES_COMMON_RESULT_TABLE_H_
#define STEPSCOPE_ANALYSES_COMMON_RESULT_TABLE_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "store/schema.h"

namespace stepscope {

enum class Unit : uint8_t {
  kNone,         // names, numbers of things, flags
  kTimestamp,    // ns since 1970
  kNanoseconds,  // lengths
  kBytes,
  kCount,
  kShare,  // 0 to 1
  kFlops,
  kFlopsPerSecond,
  kBytesPerSecond,
};
std::string_view unit_name(Unit unit);

// NULL is std::monostate.
using Value = std::variant<std::monostate, int64_t, double, bool, std::string_view>;
enum class ValueKind : uint8_t { kInteger, kFloat, kBool, kText };

// kNull and NaN mean NULL, as in the store. Text points into the row.
inline Value to_value(int64_t value) {
  return value == kNull ? Value() : Value(std::in_place_type<int64_t>, value);
}
inline Value to_value(double value) {
  return std::isnan(value) ? Value() : Value(std::in_place_type<double>, value);
}
inline Value to_value(bool value) { return Value(std::in_place_type<bool>, value); }
inline Value to_value(std::string_view text) {
  return Value(std::in_place_type<std::string_view>, text);
}
inline Value to_value(const std::string& text) { return to_value(std::string_view(text)); }
template <class T>
Value to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : Value();
}

template <class Row>
struct Field {
  std::string_view name;
  Unit unit;
  ValueKind kind;
  std::string_view doc;
  Value (*get)(const Row&);
};

namespace result_table_internal {
template <class T>
struct MemberOf;
template <class Row, class T>
struct MemberOf<T Row::*> {
  using RowType = Row;
  using ValueType = T;
};
template <class T>
struct WithoutOptional {
  using type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};
template <class T>
constexpr ValueKind kind_of() {
  using Plain = typename WithoutOptional<T>::type;
  if constexpr (std::is_same_v<Plain, bool>) return ValueKind::kBool;
  if constexpr (std::is_same_v<Plain, int64_t>) return ValueKind::kInteger;
  if constexpr (std::is_same_v<Plain, double>) return ValueKind::kFloat;
  return ValueKind::kText;
}
}  // namespace result_table_internal

template <auto Member>
constexpr auto field(std::string_view name, Unit unit, std::string_view doc) {
  using Of = result_table_internal::MemberOf<decltype(Member)>;
  using Row = typename Of::RowType;
  return Field<Row>{name, unit, result_table_internal::kind_of<typename Of::ValueType>(), doc,
                    [](const Row& row) { return to_value(row.*Member); }};
}

struct AnalysisColumn {
  std::string_view name;
  Unit unit;
  ValueKind kind;
  std::string_view doc;
};

class ResultTable {
 public:
  std::string_view name() const { return name_; }
  std::string_view doc() const { return doc_; }
  const std::vector<AnalysisColumn>& columns() const { return columns_; }
  size_t rows() const { return rows_; }
  Value value(size_t row, size_t column) const { return get_(row, column); }
  // columns().size() when there is none.
  size_t find_column(std::string_view name) const;

 private:
  template <class Row>
  friend ResultTable make_table(std::string_view name, std::string_view doc,
                                const std::vector<Row>& rows, std::span<const Field<Row>> fields);

  std::string_view name_;
  std::string_view doc_;
  std::vector<AnalysisColumn> columns_;
  size_t rows_ = 0;
  std::function<Value(size_t, size_t)> get_;
};

// `rows` must outlive the table.
template <class Row>
ResultTable make_table(std::string_view name, std::string_view doc, const std::vector<Row>& rows,
                       std::span<const Field<Row>> fields) {
  ResultTable table;
  table.name_ = name;
  table.doc_ = doc;
  for (const Field<Row>& field : fields)
    table.columns_.push_back({field.name, field.unit, field.kind, field.doc});
  table.rows_ = rows.size();
  table.get_ = [&rows, fields](size_t row, size_t column) { return fields[column].get(rows[row]); };
  return table;
}
template <class Row, size_t N>
ResultTable make_table(std::string_view name, std::string_view doc, const std::vector<Row>& rows,
                       const Field<Row> (&fields)[N]) {
  return make_table<Row>(name, doc, rows, std::span<const Field<Row>>(fields, N));
}

// As JSON: an array with an object for each row.
void append_json(std::string& out, const ResultTable& table);
// As CSV: a header line with the columns' names, then a line for each row; NULL is empty.
void append_csv(std::string& out, const ResultTable& table);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_RESULT_TABLE_H_
