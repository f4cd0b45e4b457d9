// A SQLite database that somebody else made, opened so that nothing on disk changes and nothing in
// it can run: read-only and immutable (no lock, journal or shared-memory file is ever created), no
// triggers, views, extensions or attached files, bounded lengths, cells checked.
//
// Cost: one sequential pass per TableScan; joins are made by the importer with hash maps, because
// these files have no indexes. Not thread-safe.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_DB_SQLITE_FILE_H_
#define STEPSCOPE_IMPORTERS_ASCEND_DB_SQLITE_FILE_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "store/quality.h"

struct sqlite3;
struct sqlite3_stmt;

namespace stepscope {

class SqliteFile {
 public:
  // Fails for a file that is missing, empty, not a database, damaged in its schema, or being
  // written by another program (locked, or with a transaction that was not finished). `progress`
  // stops long queries when cancelled; may be null.
  static Result<SqliteFile> open(const std::string& path, const Progress* progress);
  SqliteFile(SqliteFile&& other) noexcept;
  SqliteFile& operator=(SqliteFile&& other) noexcept;
  ~SqliteFile();

  // Real tables only (no views, virtual or internal tables), sorted by name.
  std::vector<std::string> tables() const;
  bool has_table(std::string_view table) const;
  bool has_column(std::string_view table, std::string_view column) const;
  // In the order of the table; empty when there is no such table.
  const std::vector<std::string>& columns(std::string_view table) const;
  const std::string& path() const { return path_; }

 private:
  friend class TableScan;
  SqliteFile() = default;
  Status load_schema();
  Error error(std::string why) const;

  sqlite3* database_ = nullptr;
  std::string path_;
  std::map<std::string, std::vector<std::string>, std::less<>> columns_;
};

// All rows of one table in storage order. Columns that the table does not have read as NULL.
class TableScan {
 public:
  TableScan(const SqliteFile& file, std::string_view table,
            std::initializer_list<std::string_view> columns, QualityReport& quality);
  TableScan(const SqliteFile& file, std::string_view table, const std::vector<std::string>& columns,
            QualityReport& quality);
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;
  // Adds a quality entry when the table could not be read to its end.
  ~TableScan();

  bool next();
  int64_t rows() const { return rows_; }

  bool is_null(int column) const;
  // kNull when missing. Text that holds an integer is read as one; anything else is a bad number.
  int64_t integer(int column) const;
  // Same, with `fallback` for missing cells.
  int64_t integer_or(int column, int64_t fallback) const;
  std::optional<double> number(int column) const;
  // Any type as text; "" when missing. Valid until the next row.
  std::string_view text(int column) const;
  enum class Cell : uint8_t { kMissing, kInteger, kReal, kText, kBytes };
  Cell type(int column) const;

 private:
  void prepare(std::string_view table, const std::vector<std::string>& columns);

  const SqliteFile& file_;
  QualityReport& quality_;
  std::string table_;
  std::vector<std::string> names_;
  sqlite3_stmt* statement_ = nullptr;
  int64_t rows_ = 0;
  std::string failure_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_DB_SQLITE_FILE_H_
