// What a running query owns. Shared by database.cc, which starts queries, and query_result.cc,
// which reads their rows.
#ifndef STEPSCOPE_QUERY_QUERY_STATE_H_
#define STEPSCOPE_QUERY_QUERY_STATE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <duckdb.h>

#include "query/query_result.h"
#include "query/query_watch.h"

namespace stepscope {

class Connection {
 public:
  Connection() = default;
  Connection(Connection&& other) noexcept { *this = std::move(other); }
  Connection& operator=(Connection&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Connection() {
    if (handle_ != nullptr) duckdb_disconnect(&handle_);
  }
  bool open(duckdb_database database) {
    return duckdb_connect(database, &handle_) == DuckDBSuccess;
  }
  duckdb_connection get() const { return handle_; }

 private:
  duckdb_connection handle_ = nullptr;
};

class Prepared {
 public:
  Prepared() = default;
  Prepared(Prepared&& other) noexcept { *this = std::move(other); }
  Prepared& operator=(Prepared&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Prepared() {
    if (handle_ != nullptr) duckdb_destroy_prepare(&handle_);
  }
  // Empty, or DuckDB's message.
  std::optional<std::string> prepare(duckdb_connection connection, const std::string& sql) {
    if (handle_ != nullptr) duckdb_destroy_prepare(&handle_);
    if (duckdb_prepare(connection, sql.c_str(), &handle_) == DuckDBSuccess) return std::nullopt;
    const char* message = duckdb_prepare_error(handle_);
    return message != nullptr ? message : "the statement could not be prepared";
  }
  duckdb_prepared_statement get() const { return handle_; }

 private:
  duckdb_prepared_statement handle_ = nullptr;
};

// DuckDB's type of a result column, and how a ResultChunk shows it.
struct ColumnReader {
  duckdb_type type = DUCKDB_TYPE_INVALID;
  duckdb_type enum_storage = DUCKDB_TYPE_INVALID;
  std::vector<std::string> members;  // of an ENUM
};

struct QueryResult::State {
  Connection connection;
  Prepared prepared;
  std::unique_ptr<QueryWatch> watch;
  QueryLimits limits;
  duckdb_result result{};
  duckdb_data_chunk chunk = nullptr;
  std::vector<ColumnReader> readers;
  ResultChunk rows;
  // Turns DuckDB's message into ours.
  std::function<Error(const std::string&)> explain;

  ~State() {
    watch.reset();
    if (chunk != nullptr) duckdb_destroy_data_chunk(&chunk);
    duckdb_destroy_result(&result);
  }
};

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_QUERY_STATE_H_
