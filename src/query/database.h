// SQL over a store: DuckDB with every table of the store as a view of its own name, tables of the
// input in the schema `source`, and `runs` with one row for the whole.
//
// Read-only and shut in: no file access, no extensions, no settings, one SELECT-like statement a
// call, with limits on memory and time. Opening costs a few milliseconds; the data stays in the
// store's mapping and is decoded block by block when a query reads it. Thread-safe: every query has
// a connection of its own.
#ifndef STEPSCOPE_QUERY_DATABASE_H_
#define STEPSCOPE_QUERY_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "query/query_result.h"
#include "store/store_reader.h"

namespace stepscope {

struct DatabaseOptions {
  uint64_t memory_bytes = 0;                // 0: half of the machine's memory
  unsigned threads = 0;                     // 0: every CPU this process may use
  std::vector<std::string> writable_paths;  // files that write_parquet() will make
};

struct QueryLimits {
  double seconds = 0;                  // 0: no limit
  const Progress* progress = nullptr;  // its cancel() ends the query
};

class Database {
 public:
  static Result<std::unique_ptr<Database>> open(std::shared_ptr<const StoreReader> store,
                                                const DatabaseOptions& options = {});
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs one statement; rows come as they are computed. The result may outlive the call but not
  // the database.
  Result<std::unique_ptr<QueryResult>> query(std::string_view sql, const QueryLimits& limits = {});

  // Writes the statement's result to one of the writable paths, as Parquet.
  Status write_parquet(std::string_view sql, const std::string& path,
                       const QueryLimits& limits = {});

  struct TableName {
    std::string name;  // as SQL needs it: quoted, with its schema
    std::vector<std::string> columns;
  };
  const std::vector<TableName>& tables() const;

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// "name" with quotes doubled.
std::string quote_name(std::string_view name);
// 'text' with quotes doubled.
std::string quote_text(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_QUERY_DATABASE_H_
