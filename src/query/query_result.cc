#include "query/query_result.h"

#include <algorithm>

#include "query/query_state.h"
#include "query/store_strings.h"

namespace stepscope {

// Shows DuckDB's vectors as the columns of a ResultChunk.
class ChunkReader {
 public:
  static void read(duckdb_data_chunk chunk, const std::vector<ColumnReader>& readers,
                   ResultChunk& rows) {
    rows.rows_ = duckdb_data_chunk_get_size(chunk);
    rows.columns_.resize(readers.size());
    for (size_t i = 0; i < readers.size(); ++i) {
      duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
      rows.columns_[i].valid = duckdb_vector_get_validity(vector);
      read_column(readers[i], duckdb_vector_get_data(vector), rows.rows_, rows.columns_[i]);
    }
  }

 private:
  template <typename From>
  static void widen(const void* data, size_t count, ResultChunk::Column& column) {
    const From* values = static_cast<const From*>(data);
    column.own_integers.assign(values, values + count);
    column.integers = column.own_integers;
  }

  template <typename Place>
  static void name_members(const ColumnReader& reader, const void* data, size_t count,
                           ResultChunk::Column& column) {
    const Place* places = static_cast<const Place*>(data);
    column.own_texts.resize(count);
    for (size_t i = 0; i < count; ++i) {
      column.own_texts[i] = places[i] < reader.members.size()
                                ? std::string_view(reader.members[places[i]])
                                : std::string_view();
    }
    column.texts = column.own_texts;
  }

  static void read_column(const ColumnReader& reader, const void* data, size_t count,
                          ResultChunk::Column& column) {
    switch (reader.type) {
      case DUCKDB_TYPE_BOOLEAN:
      case DUCKDB_TYPE_UTINYINT:
        return widen<uint8_t>(data, count, column);
      case DUCKDB_TYPE_TINYINT:
        return widen<int8_t>(data, count, column);
      case DUCKDB_TYPE_SMALLINT:
        return widen<int16_t>(data, count, column);
      case DUCKDB_TYPE_USMALLINT:
        return widen<uint16_t>(data, count, column);
      case DUCKDB_TYPE_INTEGER:
        return widen<int32_t>(data, count, column);
      case DUCKDB_TYPE_UINTEGER:
        return widen<uint32_t>(data, count, column);
      case DUCKDB_TYPE_BIGINT:
        column.integers = {static_cast<const int64_t*>(data), count};
        return;
      case DUCKDB_TYPE_UBIGINT: {
        const auto* values = static_cast<const uint64_t*>(data);
        column.own_wide.assign(values, values + count);
        column.wide = column.own_wide;
        return;
      }
      case DUCKDB_TYPE_HUGEINT: {
        const auto* values = static_cast<const duckdb_hugeint*>(data);
        column.own_wide.resize(count);
        for (size_t i = 0; i < count; ++i) {
          const auto high = static_cast<unsigned __int128>(static_cast<Int128>(values[i].upper));
          column.own_wide[i] = static_cast<Int128>(high << 64 | values[i].lower);
        }
        column.wide = column.own_wide;
        return;
      }
      case DUCKDB_TYPE_FLOAT: {
        const auto* values = static_cast<const float*>(data);
        column.own_floats.assign(values, values + count);
        column.floats = column.own_floats;
        return;
      }
      case DUCKDB_TYPE_DOUBLE:
        column.floats = {static_cast<const double*>(data), count};
        return;
      case DUCKDB_TYPE_ENUM:
        if (reader.enum_storage == DUCKDB_TYPE_UTINYINT)
          return name_members<uint8_t>(reader, data, count, column);
        if (reader.enum_storage == DUCKDB_TYPE_USMALLINT)
          return name_members<uint16_t>(reader, data, count, column);
        return name_members<uint32_t>(reader, data, count, column);
      default: {
        const auto* values = static_cast<const duckdb_string_t*>(data);
        column.own_texts.resize(count);
        for (size_t i = 0; i < count; ++i) {
          const bool null = column.valid != nullptr && (column.valid[i / 64] >> (i % 64) & 1) == 0;
          column.own_texts[i] = null ? std::string_view() : as_view(values[i]);
        }
        column.texts = column.own_texts;
      }
    }
  }
};

QueryResult::QueryResult(std::unique_ptr<State> state, std::vector<ResultColumn> columns)
    : state_(std::move(state)), columns_(std::move(columns)) {}

QueryResult::~QueryResult() = default;

Result<const ResultChunk*> QueryResult::next() {
  if (state_->chunk != nullptr) duckdb_destroy_data_chunk(&state_->chunk);
  state_->chunk = duckdb_fetch_chunk(state_->result);
  if (state_->chunk == nullptr) {
    const char* message = duckdb_result_error(&state_->result);
    if (message != nullptr && *message != '\0') return state_->explain(message);
    if (state_->watch && (state_->watch->timed_out() || state_->watch->cancelled()))
      return state_->explain("interrupted");
    return nullptr;
  }
  ChunkReader::read(state_->chunk, state_->readers, state_->rows);
  return &state_->rows;
}

std::string int128_text(Int128 value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  auto left =
      negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; left > 0; left /= 10) digits += static_cast<char>('0' + static_cast<int>(left % 10));
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace stepscope
