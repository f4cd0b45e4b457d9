#include "api/query_columns.h"

#include <limits>

#include "api/text_encoder.h"

namespace stepscope {
namespace {

// Collects one column chunk by chunk.
class ColumnCollector {
 public:
  explicit ColumnCollector(const ResultColumn& source) : type_(source.type) {
    data_.name = source.name;
  }

  void add(const ResultChunk& chunk, size_t column) {
    add_nulls(chunk, column);
    const size_t rows = chunk.rows();
    switch (type_) {
      case ValueType::kBool:
        for (size_t i = 0; i < rows; ++i)
          data_.bools.push_back(!is_null(i) && chunk.integers(column)[i] != 0 ? 1 : 0);
        break;
      case ValueType::kInt64:
        for (size_t i = 0; i < rows; ++i)
          data_.integers.push_back(is_null(i) ? 0 : chunk.integers(column)[i]);
        break;
      case ValueType::kInt128:
        for (size_t i = 0; i < rows; ++i) add_wide(is_null(i) ? 0 : chunk.wide_integers(column)[i]);
        break;
      case ValueType::kFloat64:
        for (size_t i = 0; i < rows; ++i) {
          data_.floats.push_back(is_null(i) ? std::numeric_limits<double>::quiet_NaN()
                                            : chunk.floats(column)[i]);
        }
        break;
      case ValueType::kText:
        for (size_t i = 0; i < rows; ++i)
          data_.codes.push_back(is_null(i) ? -1 : encoder_.code(chunk.texts(column)[i]));
        break;
    }
    rows_ += rows;
  }

  ColumnData finish() {
    switch (type_) {
      case ValueType::kBool:
        data_.type = ColumnType::kBool;
        break;
      case ValueType::kInt64:
        data_.type = ColumnType::kInt64;
        break;
      case ValueType::kInt128:
        data_.type = data_.wide_integers.empty() ? ColumnType::kInt64 : ColumnType::kInt128;
        break;
      case ValueType::kFloat64:
        data_.type = ColumnType::kFloat64;
        break;
      case ValueType::kText:
        data_.type = ColumnType::kText;
        data_.categories = encoder_.texts();
        data_.nulls.clear();
        break;
    }
    return std::move(data_);
  }

 private:
  // Of the chunk that is being added.
  bool is_null(size_t row) const { return !data_.nulls.empty() && data_.nulls[rows_ + row] != 0; }

  void add_nulls(const ResultChunk& chunk, size_t column) {
    bool any = !data_.nulls.empty();
    for (size_t i = 0; i < chunk.rows() && !any; ++i) any = chunk.is_null(column, i);
    if (!any) return;
    while (data_.nulls.size() < rows_) data_.nulls.push_back(0);
    for (size_t i = 0; i < chunk.rows(); ++i)
      data_.nulls.push_back(chunk.is_null(column, i) ? 1 : 0);
  }

  // Sums are 128 bits wide in DuckDB and nearly always fit 64: wide values only when they must be.
  void add_wide(Int128 value) {
    const bool fits = value >= std::numeric_limits<int64_t>::min() &&
                      value <= std::numeric_limits<int64_t>::max();
    if (fits && data_.wide_integers.empty()) {
      data_.integers.push_back(static_cast<int64_t>(value));
      return;
    }
    for (const int64_t earlier : data_.integers) data_.wide_integers.push_back(earlier);
    data_.integers.clear();
    data_.wide_integers.push_back(value);
  }

  const ValueType type_;
  ColumnData data_;
  TextEncoder encoder_;
  size_t rows_ = 0;
};

}  // namespace

Result<TableData> read_query_columns(QueryResult& result) {
  std::vector<ColumnCollector> collectors;
  for (const ResultColumn& column : result.columns()) collectors.emplace_back(column);
  TableData data;
  while (true) {
    auto chunk = result.next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) break;
    for (size_t i = 0; i < collectors.size(); ++i) collectors[i].add(**chunk, i);
    data.rows += (*chunk)->rows();
  }
  for (ColumnCollector& collector : collectors) data.columns.push_back(collector.finish());
  return data;
}

}  // namespace stepscope
