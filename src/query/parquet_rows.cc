#include "query/parquet_rows.h"

#include <memory>

#include <duckdb.h>

#include "base/utf8.h"
#include "query/database.h"
#include "query/query_state.h"

namespace stepscope {
namespace {

struct CloseDatabase {
  void operator()(duckdb_database handle) const { duckdb_close(&handle); }
};
struct DestroyAppender {
  void operator()(duckdb_appender handle) const { duckdb_appender_destroy(&handle); }
};

const char* sql_type(ValueType type) {
  switch (type) {
    case ValueType::kBool:
      return "BOOLEAN";
    case ValueType::kInt64:
    case ValueType::kInt128:
      return "BIGINT";
    case ValueType::kFloat64:
      return "DOUBLE";
    case ValueType::kText:
      return "VARCHAR";
  }
  return "VARCHAR";
}

Error failed(const std::string& path, const char* why) {
  const std::string message = why == nullptr ? "" : why;
  const bool full = message.find("No space left") != std::string::npos;
  return {full ? ErrorCode::kNoSpace : ErrorCode::kIo, "cannot write Parquet", path, message,
          full ? "free some space" : ""};
}

Status execute(duckdb_connection connection, const std::string& sql, const std::string& path) {
  duckdb_result result;
  const bool done = duckdb_query(connection, sql.c_str(), &result) == DuckDBSuccess;
  Status status;
  if (!done) status = failed(path, duckdb_result_error(&result));
  duckdb_destroy_result(&result);
  return status;
}

struct Append {
  duckdb_appender to;
  duckdb_state operator()(std::monostate) const { return duckdb_append_null(to); }
  duckdb_state operator()(int64_t value) const { return duckdb_append_int64(to, value); }
  duckdb_state operator()(double value) const { return duckdb_append_double(to, value); }
  duckdb_state operator()(bool value) const { return duckdb_append_bool(to, value); }
  duckdb_state operator()(std::string_view text) const {
    if (is_utf8(text)) return duckdb_append_varchar_length(to, text.data(), text.size());
    const std::string repaired = repair_utf8(text);
    return duckdb_append_varchar_length(to, repaired.data(), repaired.size());
  }
};

}  // namespace

Status write_parquet_rows(const std::vector<ResultColumn>& columns, size_t rows,
                          const std::function<ParquetValue(size_t, size_t)>& value,
                          const std::string& path) {
  duckdb_database opened = nullptr;
  if (duckdb_open(nullptr, &opened) != DuckDBSuccess) return failed(path, "DuckDB does not start");
  const std::unique_ptr<std::remove_pointer_t<duckdb_database>, CloseDatabase> database(opened);
  Connection connection;
  if (!connection.open(database.get())) return failed(path, "DuckDB gives no connection");

  // The rows are in memory already; a second time they may not push anything else out of it.
  for (const char* setting : {"SET memory_limit = '1GiB'", "SET temp_directory = ''"}) {
    if (auto status = execute(connection.get(), setting, path); !status) return status;
  }
  std::string create = "CREATE TABLE rows (";
  for (size_t i = 0; i < columns.size(); ++i)
    create += (i == 0 ? "" : ", ") + quote_name(columns[i].name) + " " + sql_type(columns[i].type);
  if (auto status = execute(connection.get(), create + ")", path); !status) return status;
  {
    duckdb_appender made = nullptr;
    const bool ready =
        duckdb_appender_create(connection.get(), nullptr, "rows", &made) == DuckDBSuccess;
    const std::unique_ptr<std::remove_pointer_t<duckdb_appender>, DestroyAppender> appender(made);
    if (!ready) return failed(path, duckdb_appender_error(made));
    for (size_t row = 0; row < rows; ++row) {
      bool good = true;
      for (size_t column = 0; column < columns.size(); ++column)
        good &= std::visit(Append{made}, value(row, column)) == DuckDBSuccess;
      if (!good || duckdb_appender_end_row(made) != DuckDBSuccess)
        return failed(path, duckdb_appender_error(made));
    }
    if (duckdb_appender_close(made) != DuckDBSuccess)
      return failed(path, duckdb_appender_error(made));
  }
  return execute(connection.get(),
                 "COPY rows TO " + quote_text(path) +
                     " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
                 path);
}

}  // namespace stepscope
