#include "analyses/common/source_column.h"

#include <bit>
#include <cmath>

namespace stepscope {

double SourceColumnView::number(uint64_t row) const {
  if (column_ == nullptr || row >= column_->values.rows()) return std::nan("");
  const int64_t value = column_->values.at(row);
  if (value == kNull || column_->type == Type::kText) return std::nan("");
  return column_->type == Type::kFloat64 ? std::bit_cast<double>(value)
                                         : static_cast<double>(value);
}

std::string_view SourceColumnView::text(uint64_t row) const {
  if (column_ == nullptr || row >= column_->values.rows() || column_->type != Type::kText)
    return {};
  const int64_t value = column_->values.at(row);
  return value == kNull ? std::string_view() : store_->string(value);
}

const SourceTableView* find_source(const StoreReader& store, size_t rank, std::string_view name) {
  for (const SourceTableView& table : store.source_tables(rank)) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

SourceColumnView find_source_column(const StoreReader& store, const SourceTableView& table,
                                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    for (const SourceTableView::ColumnInfo& column : table.columns) {
      if (column.name == name) return {store, column};
    }
  }
  return {};
}

}  // namespace stepscope
