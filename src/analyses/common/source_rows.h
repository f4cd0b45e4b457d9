// The rows of a table that an importer kept as the input has it (StoreReader::source_tables), read
// by column name. A table or a column that is not there reads as NULL everywhere.
#ifndef STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_
#define STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

class SourceColumn {
 public:
  SourceColumn() = default;
  SourceColumn(const StoreReader& store, const SourceTableView::ColumnInfo& column)
      : store_(&store), column_(&column) {}

  bool found() const { return column_ != nullptr; }
  // kNull for NULL, and for values that are no whole numbers.
  int64_t integer(uint64_t row) const;
  // NaN for NULL and for text.
  double number(uint64_t row) const;
  // The id of a text, and the text; kNull and "" for NULL and for numbers.
  int64_t text_id(uint64_t row) const;
  std::string_view text(uint64_t row) const;

 private:
  // kNull also where there is no such row or column.
  int64_t value(uint64_t row) const;

  const StoreReader* store_ = nullptr;
  const SourceTableView::ColumnInfo* column_ = nullptr;
};

class SourceRows {
 public:
  SourceRows(const StoreReader& store, size_t rank, std::string_view table);

  bool exists() const { return table_ != nullptr; }
  uint64_t rows() const { return table_ == nullptr ? 0 : table_->rows; }

  // The first of these names that the table has.
  SourceColumn column(std::initializer_list<std::string_view> names) const;
  int64_t integer(uint64_t row, std::string_view name) const { return column({name}).integer(row); }
  std::string_view text(uint64_t row, std::string_view name) const {
    return column({name}).text(row);
  }

 private:
  const StoreReader& store_;
  const SourceTableView* table_ = nullptr;
};

// The whole numbers in a text such as "[1, 2]", in their order; what is no number separates them.
std::vector<int64_t> integers_in(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_
