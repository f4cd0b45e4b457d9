// The rows of a table that an importer kept as the input has it (StoreReader::source_tables), read
// by column name. A table or a column that is not there reads as NULL everywhere.
#ifndef STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_
#define STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/store_reader.h"

namespace stepscope {

class SourceRows {
 public:
  SourceRows(const StoreReader& store, size_t rank, std::string_view table);

  bool exists() const { return table_ != nullptr; }
  uint64_t rows() const { return table_ == nullptr ? 0 : table_->rows; }

  // kNull for NULL, and for values that are no whole numbers.
  int64_t integer(uint64_t row, std::string_view column) const;
  // NaN for NULL and for text.
  double real(uint64_t row, std::string_view column) const;
  // "" for NULL and for numbers.
  std::string_view text(uint64_t row, std::string_view column) const;

 private:
  const SourceTableView::ColumnInfo* find(std::string_view column) const;

  const StoreReader& store_;
  const SourceTableView* table_ = nullptr;
};

// The whole numbers in a text such as "[1, 2]", in their order; what is no number separates them.
std::vector<int64_t> integers_in(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_SOURCE_ROWS_H_
