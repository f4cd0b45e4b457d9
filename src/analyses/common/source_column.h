// Tables of the input that were kept as they are, by name.
#ifndef STEPSCOPE_ANALYSES_COMMON_SOURCE_COLUMN_H_
#define STEPSCOPE_ANALYSES_COMMON_SOURCE_COLUMN_H_

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "store/store_reader.h"

namespace stepscope {

// A column of a source table; none when the table has no such column.
class SourceColumnView {
 public:
  SourceColumnView() = default;
  SourceColumnView(const StoreReader& store, const SourceTableView::ColumnInfo& column)
      : store_(&store), column_(&column) {}

  bool found() const { return column_ != nullptr; }
  // NaN when it is NULL, text or not there.
  double number(uint64_t row) const;
  // "" when it is NULL, a number or not there.
  std::string_view text(uint64_t row) const;

 private:
  const StoreReader* store_ = nullptr;
  const SourceTableView::ColumnInfo* column_ = nullptr;
};

// nullptr when the rank has no such table.
const SourceTableView* find_source(const StoreReader& store, size_t rank, std::string_view name);
// The first of these names that the table has.
SourceColumnView find_source_column(const StoreReader& store, const SourceTableView& table,
                                    std::initializer_list<std::string_view> names);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_SOURCE_COLUMN_H_
