// CSV as profilers write it: quoted cells with doubled quotes and line breaks inside, CRLF or LF,
// numbers that end with a TAB, missing values as empty or N/A, and headers that differ from version
// to version. Columns are found by name.
#ifndef STEPSCOPE_IMPORTERS_COMMON_CSV_READER_H_
#define STEPSCOPE_IMPORTERS_COMMON_CSV_READER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/quality.h"
#include "store/rank_builder.h"

namespace stepscope {

class CsvReader {
 public:
  // Takes the whole file into memory (limit 4 GiB). The first record is the header; a UTF-8 mark is
  // skipped. Fails on a file without a header.
  static Result<CsvReader> open(const std::string& path);
  static Result<CsvReader> from_text(std::string text, std::string path);

  const std::vector<std::string>& header() const { return header_; }
  // The column with the first of these names that exists, or npos.
  size_t column(std::initializer_list<std::string_view> names) const;
  static constexpr size_t npos = static_cast<size_t>(-1);

  // Advances to the next record; false at the end. Rows with fewer or more cells than the header
  // are counted as ragged and padded or cut.
  bool next(QualityReport& quality);
  // Cell of the current record without surrounding blanks and TABs; "" when the column does not
  // exist.
  std::string_view cell(size_t column) const;
  // Same, but nullopt when it is missing (empty, N/A, or no such column).
  std::optional<std::string_view> value(size_t column) const;
  uint64_t line() const { return line_; }
  uint64_t rows_read() const { return rows_; }
  const std::string& path() const { return path_; }
  uint64_t bytes() const { return text_.size(); }

  // Number times 10^shift, or times a factor; kNull when missing; counts bad numbers.
  int64_t scaled(size_t column, int shift, QualityReport& quality) const;
  int64_t times(size_t column, int64_t factor, QualityReport& quality) const;
  int64_t us_as_ns(size_t column, QualityReport& quality) const {
    return scaled(column, 3, quality);
  }
  int64_t integer(size_t column, QualityReport& quality) const {
    return scaled(column, 0, quality);
  }

 private:
  CsvReader() = default;
  bool read_record(std::vector<std::string_view>& cells);

  std::string path_;
  std::string text_;
  std::string unquoted_;  // cells that had doubled quotes, for the current record
  size_t at_ = 0;
  uint64_t line_ = 0;
  uint64_t next_line_ = 1;
  uint64_t rows_ = 0;
  std::vector<std::string> header_;
  std::vector<std::string_view> cells_;
};

// The whole CSV as a table that is kept as it is: columns whose cells are all integers become
// kInt64, all numbers kFloat64 (when a double holds them: epoch microseconds stay text), else text.
// Adds the table and the file to `rank`.
Status keep_csv(const std::string& path, std::string_view table_name, RankBuilder& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_CSV_READER_H_
