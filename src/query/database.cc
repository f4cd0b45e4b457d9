#include "query/database.h"

#include <unistd.h>

#include <algorithm>

#include "base/parallel.h"
#include "query/name_hint.h"
#include "query/query_state.h"
#include "query/scan_function.h"
#include "query/scan_table.h"
#include "query/statements.h"
#include "query/store_strings.h"

namespace stepscope {
namespace {

constexpr uint64_t kSmallestMemory = 64ull << 20;
// Bits of the keys that DuckDB aggregates in a plain array: 17 covers every two-byte ENUM.
constexpr int kPerfectHashBits = 17;

uint64_t half_of_memory() {
  const auto pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE)) / 2;
}

Error failed(std::string why) {
  return {ErrorCode::kBadInput, "the query failed", "", std::move(why), ""};
}

Error not_a_query() {
  return failed(
      "only statements that read are allowed: SELECT, WITH, FROM, VALUES, DESCRIBE, SHOW, "
      "SUMMARIZE, EXPLAIN");
}

Status execute(duckdb_connection connection, const std::string& sql) {
  duckdb_result result;
  const duckdb_state state = duckdb_query(connection, sql.c_str(), &result);
  std::string message;
  if (state != DuckDBSuccess) {
    const char* why = duckdb_result_error(&result);
    message = why != nullptr ? why : "unknown";
  }
  duckdb_destroy_result(&result);
  if (state == DuckDBSuccess) return {};
  return Error{ErrorCode::kUnsupported, "cannot prepare SQL", "", message, ""};
}

// How a column of DuckDB's type is read: as it is, or through a cast.
enum class Reading : uint8_t { kDirect, kAsDouble, kAsText };

Reading reading_of(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_ENUM:
      return Reading::kDirect;
    case DUCKDB_TYPE_DECIMAL:
      return Reading::kAsDouble;
    default:
      return Reading::kAsText;
  }
}

ValueType value_type(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      return ValueType::kBool;
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
      return ValueType::kInt64;
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
      return ValueType::kInt128;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
      return ValueType::kFloat64;
    default:
      return ValueType::kText;
  }
}

ColumnReader column_reader(duckdb_result& result, idx_t column) {
  ColumnReader reader;
  reader.type = duckdb_column_type(&result, column);
  if (reader.type != DUCKDB_TYPE_ENUM) return reader;
  duckdb_logical_type type = duckdb_column_logical_type(&result, column);
  reader.enum_storage = duckdb_enum_internal_type(type);
  const uint32_t count = duckdb_enum_dictionary_size(type);
  for (uint32_t i = 0; i < count; ++i) {
    char* member = duckdb_enum_dictionary_value(type, i);
    reader.members.emplace_back(member);
    duckdb_free(member);
  }
  duckdb_destroy_logical_type(&type);
  return reader;
}

std::string column_alias(idx_t column) {
  std::string name = std::to_string(column);
  name.insert(name.begin(), 'c');
  return name;
}

std::string column_name(duckdb_prepared_statement prepared, idx_t column) {
  const char* name = duckdb_prepared_statement_column_name(prepared, column);
  std::string copy = name != nullptr ? name : "";
  duckdb_free(const_cast<char*>(name));
  return copy;
}

// The statement inside another one that casts what ResultChunk cannot show; "" when there is
// nothing to cast.
std::string with_casts(duckdb_prepared_statement prepared, std::string_view sql) {
  std::string select;
  std::string names;
  bool any = false;
  const idx_t count = duckdb_prepared_statement_column_count(prepared);
  const bool describes = starts_with_word(sql, "describe") || starts_with_word(sql, "desc") ||
                         starts_with_word(sql, "show") || starts_with_word(sql, "summarize");
  for (idx_t i = 0; i < count; ++i) {
    const std::string name = column_alias(i);
    if (i > 0) select += ", ", names += ", ";
    const Reading reading = reading_of(duckdb_prepared_statement_column_type(prepared, i));
    const std::string title = column_name(prepared, i);
    // DESCRIBE writes every member of an ENUM into its column_type: hundreds of kernel names.
    const bool long_type = describes && title == "column_type";
    any |= reading != Reading::kDirect || long_type;
    names += name;
    select += long_type                     ? "regexp_replace(" + name + ", '^ENUM.*', 'ENUM', 's')"
              : reading == Reading::kDirect ? name
              : reading == Reading::kAsDouble ? "CAST(" + name + " AS DOUBLE)"
                                              : "CAST(" + name + " AS VARCHAR)";
  }
  if (!any) return {};
  return "SELECT " + select + " FROM (\n" + std::string(sql) + "\n) AS t(" + names + ")";
}

// DuckDB's parser says where the error is, and who calls it says so again.
std::string without_repeated_place(const std::string& message) {
  constexpr std::string_view kPlace = "\n\nLINE ";
  const size_t first = message.find(kPlace);
  if (first == std::string::npos) return message;
  const size_t second = message.find(kPlace, first + 1);
  if (second == std::string::npos ||
      message.substr(first, second - first) != message.substr(second))
    return message;
  return message.substr(0, second);
}

}  // namespace

std::string quote_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + '"';
}

std::string quote_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + '\'';
}

struct Database::State {
  std::shared_ptr<const StoreReader> store;
  StoreStrings strings;
  SliceEnums enums;
  std::vector<std::unique_ptr<ScanTable>> scans;
  std::vector<TableName> names;
  duckdb_database database = nullptr;

  explicit State(std::shared_ptr<const StoreReader> reader)
      : store(std::move(reader)), strings(*store) {}
  ~State() {
    if (database != nullptr) duckdb_close(&database);
  }

  Status open(const DatabaseOptions& options);
  Status add_view(duckdb_connection connection, const ScanTable& table, std::string_view schema);
  Status add_runs(duckdb_connection connection);
  Error explain(const std::string& message, std::string_view sql, const QueryWatch* watch,
                const QueryLimits& limits) const;
  // Opens a connection and prepares the statement, which must be one that only reads.
  Status prepare(std::string_view sql, QueryResult::State& state) const;
};

Status Database::State::open(const DatabaseOptions& options) {
  if (duckdb_vector_size() != kBlockRows) {
    return Error{ErrorCode::kUnsupported, "cannot prepare SQL", "DuckDB",
                 "its vectors do not have 2,048 rows", "use a DuckDB with default settings"};
  }
  const uint64_t memory = std::max(
      options.memory_bytes == 0 ? half_of_memory() : options.memory_bytes, kSmallestMemory);
  const unsigned threads = options.threads == 0 ? available_cpus() : options.threads;
  duckdb_config config;
  if (duckdb_create_config(&config) != DuckDBSuccess)
    return Error{ErrorCode::kUnsupported, "cannot prepare SQL", "DuckDB", "out of memory", ""};
  duckdb_set_config(config, "threads", std::to_string(threads).c_str());
  duckdb_set_config(config, "memory_limit", (std::to_string(memory >> 10) + "KiB").c_str());
  duckdb_set_config(config, "temp_directory", "");
  duckdb_set_config(config, "autoinstall_known_extensions", "false");
  duckdb_set_config(config, "autoload_known_extensions", "false");
  char* why = nullptr;
  const duckdb_state opened = duckdb_open_ext(nullptr, &database, config, &why);
  duckdb_destroy_config(&config);
  if (opened != DuckDBSuccess) {
    const std::string message = why != nullptr ? why : "it does not start";
    duckdb_free(why);
    return Error{ErrorCode::kUnsupported, "cannot prepare SQL", "DuckDB", message, ""};
  }
  Connection connection;
  if (!connection.open(database))
    return Error{ErrorCode::kUnsupported, "cannot prepare SQL", "DuckDB", "no connection", ""};

  enums = slice_enums(*store, strings);
  for (size_t i = 0; i < kTableCount; ++i) {
    scans.push_back(scan_schema_table(*store, strings, enums, static_cast<Table>(i)));
    if (auto status = add_view(connection.get(), *scans.back(), "main"); !status) return status;
  }
  if (auto status = add_runs(connection.get()); !status) return status;
  if (auto status = execute(connection.get(), "CREATE SCHEMA source"); !status) return status;
  for (auto& scan : scan_source_tables(*store, strings)) {
    scans.push_back(std::move(scan));
    if (auto status = add_view(connection.get(), *scans.back(), "source"); !status) return status;
  }

  std::string paths;
  for (const std::string& path : options.writable_paths) {
    if (!paths.empty()) paths += ", ";
    paths += quote_text(path);
  }
  for (const std::string& setting :
       {"SET GLOBAL perfect_ht_threshold = " + std::to_string(kPerfectHashBits),
        "SET GLOBAL allowed_paths = [" + paths + "]",
        std::string("SET GLOBAL enable_external_access = false"),
        std::string("SET GLOBAL lock_configuration = true")}) {
    if (auto status = execute(connection.get(), setting); !status) return status;
  }
  return {};
}

Status Database::State::add_view(duckdb_connection connection, const ScanTable& table,
                                 std::string_view schema) {
  const std::string function = "scan_" + std::string(schema) + "_" + table.name();
  if (auto status = register_scan(connection, function, table); !status) return status;
  const std::string name =
      schema == "main" ? table.name() : std::string(schema) + "." + quote_name(table.name());
  TableName& entry = names.emplace_back(TableName{name, {}});
  for (const ScanColumn& column : table.columns()) entry.columns.push_back(column.name);
  return execute(connection, "CREATE VIEW " + std::string(schema) + "." + quote_name(table.name()) +
                                 " AS SELECT * FROM " + quote_name(function) + "()");
}

Status Database::State::add_runs(duckdb_connection connection) {
  names.push_back({"runs",
                   {"store", "store_bytes", "ranks", "tracks", "slices", "first_ns", "last_ns",
                    "schema_version", "info"}});
  const auto number = [&](Table table) { return std::to_string(store->rows(table)) + "::BIGINT"; };
  return execute(connection,
                 "CREATE VIEW main.runs AS SELECT " + quote_text(store->path()) + " AS store, " +
                     std::to_string(store->file_bytes()) + "::BIGINT AS store_bytes, " +
                     std::to_string(store->rank_count()) + "::BIGINT AS ranks, " +
                     number(Table::kTracks) + " AS tracks, " + number(Table::kSlices) +
                     " AS slices, min(first_ns) AS first_ns, max(last_ns) AS last_ns, " +
                     std::to_string(kSchemaVersion) + "::BIGINT AS schema_version, " +
                     quote_text(store->run_info_json()) + " AS info FROM ranks");
}

Error Database::State::explain(const std::string& message, std::string_view sql,
                               const QueryWatch* watch, const QueryLimits& limits) const {
  if (watch != nullptr && watch->cancelled())
    return {ErrorCode::kCancelled, "the query was cancelled", "", "", ""};
  if (watch != nullptr && watch->timed_out()) {
    std::string seconds = std::to_string(limits.seconds);
    seconds.erase(seconds.find_last_not_of('0') + 1);
    if (seconds.ends_with('.')) seconds.pop_back();
    return {ErrorCode::kLimit, "the query was stopped", "",
            "it took longer than its time limit of " + seconds + " s",
            "raise the limit or ask for less"};
  }
  if (message.starts_with("Out of Memory Error")) {
    return {
        ErrorCode::kLimit, "the query was stopped", "", "it needs more than its memory limit",
        "raise the limit or ask for less; DuckDB says: " + message.substr(0, message.find('\n'))};
  }
  const std::string hint = nearest_name_hint(message, sql, names);
  const std::string once = without_repeated_place(message);
  return failed(hint.empty() ? once : once + "\n" + hint);
}

Status Database::State::prepare(std::string_view sql, QueryResult::State& state) const {
  const auto statements = split_statements(sql);
  if (statements.empty()) return failed("there is no statement in it");
  if (statements.size() > 1) return failed("one statement at a time, please: this has several");
  if (sql.find('\0') != std::string_view::npos) return failed("it contains a zero byte");
  // DuckDB turns some PRAGMAs into SELECTs, which would hide them from the check below.
  if (starts_with_word(statements[0], "pragma")) return not_a_query();
  if (!state.connection.open(database)) return failed("DuckDB gives no connection");
  duckdb_connection connection = state.connection.get();
  if (auto status = execute(connection, "BEGIN TRANSACTION READ ONLY"); !status) return status;
  if (auto message = state.prepared.prepare(connection, std::string(statements[0]))) {
    for (const std::string_view word : {"insert", "update", "delete", "create", "drop", "alter",
                                        "truncate", "copy", "merge", "attach", "set"}) {
      if (starts_with_word(statements[0], word)) return not_a_query();
    }
    return explain(*message, sql, nullptr, state.limits);
  }
  const duckdb_statement_type type = duckdb_prepared_statement_type(state.prepared.get());
  if (type != DUCKDB_STATEMENT_TYPE_SELECT && type != DUCKDB_STATEMENT_TYPE_EXPLAIN)
    return not_a_query();
  return {};
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(std::shared_ptr<const StoreReader> store,
                                                 const DatabaseOptions& options) {
  auto state = std::make_unique<State>(std::move(store));
  if (auto status = state->open(options); !status) return std::move(status.error());
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

const std::vector<Database::TableName>& Database::tables() const { return state_->names; }

Result<std::unique_ptr<QueryResult>> Database::query(std::string_view sql,
                                                     const QueryLimits& limits) {
  auto state = std::make_unique<QueryResult::State>();
  state->limits = limits;
  if (auto status = state_->prepare(sql, *state); !status) return std::move(status.error());
  std::vector<ResultColumn> columns;
  const idx_t count = duckdb_prepared_statement_column_count(state->prepared.get());
  for (idx_t i = 0; i < count; ++i) {
    columns.push_back({column_name(state->prepared.get(), i), ValueType::kText});
  }
  const std::string cast = with_casts(state->prepared.get(), split_statements(sql)[0]);
  if (!cast.empty()) {
    if (auto message = state->prepared.prepare(state->connection.get(), cast))
      return state_->explain(*message, sql, nullptr, limits);
  }
  state->watch = std::make_unique<QueryWatch>(state->connection.get(), limits);
  auto* running = state.get();
  state->explain = [database = state_.get(), text = std::string(sql),
                    running](const std::string& message) {
    return database->explain(message, text, running->watch.get(), running->limits);
  };
  if (duckdb_execute_prepared_streaming(state->prepared.get(), &state->result) != DuckDBSuccess) {
    const char* message = duckdb_result_error(&state->result);
    return state->explain(message != nullptr ? message : "the statement could not be run");
  }
  for (idx_t i = 0; i < count; ++i) {
    state->readers.push_back(column_reader(state->result, i));
    columns[i].type = value_type(state->readers.back().type);
  }
  return std::unique_ptr<QueryResult>(new QueryResult(std::move(state), std::move(columns)));
}

Status Database::write_parquet(std::string_view sql, const std::string& path,
                               const QueryLimits& limits) {
  QueryResult::State state;
  state.limits = limits;
  if (auto status = state_->prepare(sql, state); !status) return status;
  // Parquet has no 128-bit integer, and DuckDB would write doubles: a sum that fits 64 bits is
  // written as it is, one that does not is an error.
  std::string select;
  std::string names;
  const idx_t count = duckdb_prepared_statement_column_count(state.prepared.get());
  for (idx_t i = 0; i < count; ++i) {
    const std::string own = column_alias(i);
    const bool wide =
        duckdb_prepared_statement_column_type(state.prepared.get(), i) == DUCKDB_TYPE_HUGEINT;
    if (i > 0) select += ", ", names += ", ";
    select += wide ? "CAST(" + own + " AS BIGINT)" : own;
    select += " AS ";
    select += quote_name(column_name(state.prepared.get(), i));
    names += own;
  }
  const std::string copy = "COPY (SELECT " + select + " FROM (\n" +
                           std::string(split_statements(sql)[0]) + "\n) AS t(" + names + ")) TO " +
                           quote_text(path) +
                           " (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)";
  if (auto message = state.prepared.prepare(state.connection.get(), copy))
    return state_->explain(*message, sql, nullptr, limits);
  QueryWatch watch(state.connection.get(), limits);
  if (duckdb_execute_prepared(state.prepared.get(), &state.result) == DuckDBSuccess) return {};
  const char* message = duckdb_result_error(&state.result);
  return state_->explain(message != nullptr ? message : "it could not be written", sql, &watch,
                         limits);
}

}  // namespace stepscope
