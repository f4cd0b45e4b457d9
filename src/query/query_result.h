// QueryResult: the columns of an answer and its rows, chunk by chunk (2,048 rows at most) as DuckDB
// computes them, so that a result of any size needs little memory.
//
// DuckDB's many types become five. DECIMAL becomes a float, and what is no number, truth value or
// text (dates, lists, structs ...) its text.
#ifndef STEPSCOPE_QUERY_QUERY_RESULT_H_
#define STEPSCOPE_QUERY_QUERY_RESULT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepscope {

using Int128 = __int128;

enum class ValueType : uint8_t {
  kBool,  // as 0 or 1 among the integers
  kInt64,
  kInt128,  // sums of 64-bit integers, unsigned 64-bit
  kFloat64,
  kText,
};

struct ResultColumn {
  std::string name;
  ValueType type;
};

// Rows of one chunk, column by column. Valid until the next chunk is fetched.
class ResultChunk {
 public:
  size_t rows() const { return rows_; }
  bool is_null(size_t column, size_t row) const {
    const uint64_t* valid = columns_[column].valid;
    return valid != nullptr && (valid[row / 64] >> (row % 64) & 1) == 0;
  }
  // Of the column's type only; values of NULL rows mean nothing.
  std::span<const int64_t> integers(size_t column) const { return columns_[column].integers; }
  std::span<const Int128> wide_integers(size_t column) const { return columns_[column].wide; }
  std::span<const double> floats(size_t column) const { return columns_[column].floats; }
  std::span<const std::string_view> texts(size_t column) const { return columns_[column].texts; }

 private:
  friend class ChunkReader;
  struct Column {
    const uint64_t* valid = nullptr;
    std::span<const int64_t> integers;
    std::span<const Int128> wide;
    std::span<const double> floats;
    std::span<const std::string_view> texts;
    std::vector<int64_t> own_integers;
    std::vector<Int128> own_wide;
    std::vector<double> own_floats;
    std::vector<std::string_view> own_texts;
  };
  size_t rows_ = 0;
  std::vector<Column> columns_;
};

class QueryResult {
 public:
  ~QueryResult();
  QueryResult(const QueryResult&) = delete;
  QueryResult& operator=(const QueryResult&) = delete;

  const std::vector<ResultColumn>& columns() const { return columns_; }
  // The next rows, nullptr after the last. Errors of the query that show only while it runs (a
  // failing cast, the time limit) come here.
  Result<const ResultChunk*> next();

 private:
  friend class Database;
  struct State;
  QueryResult(std::unique_ptr<State> state, std::vector<ResultColumn> columns);

  std::unique_ptr<State> state_;
  std::vector<ResultColumn> columns_;
};

std::string int128_text(Int128 value);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_QUERY_RESULT_H_
