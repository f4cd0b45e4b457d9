#include "importers/ascend_db/sqlite_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <sqlite3.h>

#include "base/decimal.h"
#include "base/file.h"
#include "store/schema.h"

namespace stepscope {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
// Where SQLite puts its file locks: PENDING, RESERVED and 510 SHARED bytes.
constexpr off_t kLockStart = 0x40000000;
constexpr off_t kLockBytes = 512;
constexpr int kMostCellBytes = 64 << 20;  // a call stack is a few KiB
constexpr int kOperationsBetweenChecks = 100'000;

std::string uri_of(const std::string& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::strchr("/._-~", c) != nullptr) {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri + "?mode=ro&immutable=1";
}

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

// Immutable means that SQLite looks at no lock and no journal, so both are looked at here.
Status check_settled(const std::string& path) {
  const auto busy = [&](std::string why) {
    return Error{ErrorCode::kChanged, "cannot read the database", path, std::move(why),
                 "wait until the program that writes it has finished, or copy the folder and "
                 "import the copy"};
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    struct flock lock{};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kLockStart;
    lock.l_len = kLockBytes;
    const bool known = ::fcntl(descriptor, F_GETLK, &lock) == 0;
    ::close(descriptor);
    if (known && lock.l_type != F_UNLCK) {
      return busy("process " + std::to_string(lock.l_pid) + " has locked it for writing");
    }
  }
  if (const auto wal = stamp_file(path + "-wal"); wal.ok() && wal->bytes > 0) {
    return busy("it has changes that are not in it yet (the -wal file beside it)");
  }
  if (auto journal = InputFile::open(path + "-journal"); journal.ok()) {
    char head[8] = {};
    const auto read = journal->read_at(0, head, sizeof(head));
    if (read.ok() && std::string_view(head, *read) == kJournalMagic) {
      return busy("a transaction on it was not finished (the -journal file beside it)");
    }
  }
  return {};
}

Status check_is_database(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) return std::move(file.error());
  const auto bad = [&](std::string why) {
    return Error{ErrorCode::kBadInput, "cannot read the database", path, std::move(why),
                 "export the recording again; the program that wrote it probably stopped early"};
  };
  if (file->size() == 0) return bad("it is empty");
  char head[16] = {};
  const auto read = file->read_at(0, head, sizeof(head));
  if (!read) return read.error();
  if (std::string_view(head, *read) != kMagic) return bad("it is not an SQLite database");
  return {};
}

int stop_when_cancelled(void* progress) {
  return static_cast<const Progress*>(progress)->cancelled() ? 1 : 0;
}

void restrict_connection(sqlite3* database, const Progress* progress) {
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMostCellBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 16);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 1000);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 20);
  sqlite3_limit(database, SQLITE_LIMIT_COMPOUND_SELECT, 3);
  sqlite3_limit(database, SQLITE_LIMIT_VDBE_OP, 100'000);
  sqlite3_limit(database, SQLITE_LIMIT_FUNCTION_ARG, 8);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
  for (const int off : {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                        SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION}) {
    sqlite3_db_config(database, off, 0, nullptr);
  }
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const char* pragma : {"PRAGMA trusted_schema=OFF", "PRAGMA query_only=ON",
                             "PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0"}) {
    sqlite3_exec(database, pragma, nullptr, nullptr, nullptr);
  }
  if (progress != nullptr) {
    sqlite3_progress_handler(database, kOperationsBetweenChecks, stop_when_cancelled,
                             const_cast<Progress*>(progress));
  }
}

}  // namespace

Result<SqliteFile> SqliteFile::open(const std::string& path, const Progress* progress) {
  if (auto status = check_is_database(path); !status) return std::move(status.error());
  if (auto status = check_settled(path); !status) return std::move(status.error());
  SqliteFile file;
  file.path_ = path;
  const int code =
      sqlite3_open_v2(uri_of(path).c_str(), &file.database_,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) return file.error(sqlite3_errmsg(file.database_));
  restrict_connection(file.database_, progress);
  if (auto status = file.load_schema(); !status) return std::move(status.error());
  return file;
}

SqliteFile::SqliteFile(SqliteFile&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)),
      path_(std::move(other.path_)),
      columns_(std::move(other.columns_)) {}

SqliteFile& SqliteFile::operator=(SqliteFile&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(path_, other.path_);
  std::swap(columns_, other.columns_);
  return *this;
}

SqliteFile::~SqliteFile() { sqlite3_close_v2(database_); }

Error SqliteFile::error(std::string why) const {
  return {ErrorCode::kBadInput, "cannot read the database", path_, std::move(why),
          "export the recording again, or repair a copy with: sqlite3 copy.db .recover"};
}

Status SqliteFile::load_schema() {
  sqlite3_stmt* statement = nullptr;
  const char* kTables =
      "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite\\_%' "
      "ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'";
  int code = sqlite3_prepare_v2(database_, kTables, -1, &statement, nullptr);
  std::vector<std::string> names;
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code != SQLITE_ROW) break;
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    if (text != nullptr) names.emplace_back(text);
  }
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE) return error(sqlite3_errmsg(database_));
  for (const std::string& name : names) {
    auto& columns = columns_[name];
    const std::string sql = "PRAGMA table_info(" + sql_name(name) + ")";
    if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) continue;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 1));
      if (text != nullptr) columns.emplace_back(text);
    }
    sqlite3_finalize(statement);
  }
  return {};
}

std::vector<std::string> SqliteFile::tables() const {
  std::vector<std::string> names;
  for (const auto& [name, columns] : columns_) names.push_back(name);
  return names;
}

bool SqliteFile::has_table(std::string_view table) const {
  return columns_.find(table) != columns_.end();
}

bool SqliteFile::has_column(std::string_view table, std::string_view column) const {
  const auto& names = columns(table);
  return std::find(names.begin(), names.end(), column) != names.end();
}

const std::vector<std::string>& SqliteFile::columns(std::string_view table) const {
  static const std::vector<std::string> kNone;
  const auto found = columns_.find(table);
  return found == columns_.end() ? kNone : found->second;
}

TableScan::TableScan(const SqliteFile& file, std::string_view table,
                     std::initializer_list<std::string_view> columns, QualityReport& quality)
    : file_(file), quality_(quality), table_(table) {
  prepare(table, std::vector<std::string>(columns.begin(), columns.end()));
}

TableScan::TableScan(const SqliteFile& file, std::string_view table,
                     const std::vector<std::string>& columns, QualityReport& quality)
    : file_(file), quality_(quality), table_(table) {
  prepare(table, columns);
}

void TableScan::prepare(std::string_view table, const std::vector<std::string>& columns) {
  names_ = columns;
  if (!file_.has_table(table)) return;
  std::string sql = "SELECT ";
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) sql += ',';
    sql += file_.has_column(table, columns[i]) ? sql_name(columns[i]) : "NULL";
  }
  sql += " FROM " + sql_name(table);
  if (sqlite3_prepare_v2(file_.database_, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
    failure_ = sqlite3_errmsg(file_.database_);
  }
}

TableScan::~TableScan() {
  sqlite3_finalize(statement_);
  if (failure_.empty()) return;
  quality_.add(QualityCode::kTruncatedInput, file_.path() + " table " + table_ + " after " +
                                                 std::to_string(rows_) + " rows: " + failure_);
}

bool TableScan::next() {
  if (statement_ == nullptr || !failure_.empty()) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) {
    ++rows_;
    return true;
  }
  if (code != SQLITE_DONE) failure_ = sqlite3_errmsg(file_.database_);
  return false;
}

TableScan::Cell TableScan::type(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return Cell::kInteger;
    case SQLITE_FLOAT:
      return Cell::kReal;
    case SQLITE_TEXT:
      return sqlite3_column_bytes(statement_, column) == 0 ? Cell::kMissing : Cell::kText;
    case SQLITE_BLOB:
      return Cell::kBytes;
    default:
      return Cell::kMissing;
  }
}

bool TableScan::is_null(int column) const { return type(column) == Cell::kMissing; }

int64_t TableScan::integer(int column) const {
  switch (type(column)) {
    case Cell::kMissing:
      return kNull;
    case Cell::kInteger:
      return sqlite3_column_int64(statement_, column);
    case Cell::kReal: {
      const double value = std::round(sqlite3_column_double(statement_, column));
      if (std::abs(value) < 9.2e18) return static_cast<int64_t>(value);
      break;
    }
    case Cell::kText:
      if (const auto value = parse_integer(text(column))) return *value;
      if (text(column) == "N/A") return kNull;
      break;
    case Cell::kBytes:
      break;
  }
  quality_.add(QualityCode::kBadNumber, table_ + "." + names_[static_cast<size_t>(column)] +
                                            " row " + std::to_string(rows_));
  return kNull;
}

int64_t TableScan::integer_or(int column, int64_t fallback) const {
  const int64_t value = integer(column);
  return value == kNull ? fallback : value;
}

std::optional<double> TableScan::number(int column) const {
  const Cell cell = type(column);
  if (cell == Cell::kMissing || cell == Cell::kBytes) return std::nullopt;
  if (cell == Cell::kText && !parse_scaled(text(column), 3)) return std::nullopt;
  const double value = sqlite3_column_double(statement_, column);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string_view TableScan::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace stepscope
