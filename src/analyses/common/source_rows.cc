#include "analyses/common/source_rows.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace stepscope {

SourceRows::SourceRows(const StoreReader& store, size_t rank, std::string_view table)
    : store_(store) {
  for (const SourceTableView& candidate : store.source_tables(rank)) {
    if (candidate.name == table) table_ = &candidate;
  }
}

SourceColumn SourceRows::column(std::initializer_list<std::string_view> names) const {
  if (table_ == nullptr) return {};
  for (const std::string_view name : names) {
    for (const SourceTableView::ColumnInfo& column : table_->columns) {
      if (column.name == name) return {store_, column};
    }
  }
  return {};
}

int64_t SourceColumn::value(uint64_t row) const {
  return column_ == nullptr || row >= column_->values.rows() ? kNull : column_->values.at(row);
}

int64_t SourceColumn::integer(uint64_t row) const {
  const int64_t found = value(row);
  if (found == kNull || column_->type == Type::kInt64 || column_->type == Type::kBool) return found;
  if (column_->type == Type::kText) return kNull;
  const auto number = std::bit_cast<double>(found);
  return std::trunc(number) == number && std::abs(number) < 0x1p53 ? static_cast<int64_t>(number)
                                                                   : kNull;
}

double SourceColumn::number(uint64_t row) const {
  const int64_t found = value(row);
  if (found == kNull || column_->type == Type::kText)
    return std::numeric_limits<double>::quiet_NaN();
  return column_->type == Type::kFloat64 ? std::bit_cast<double>(found)
                                         : static_cast<double>(found);
}

int64_t SourceColumn::text_id(uint64_t row) const {
  return found() && column_->type == Type::kText ? value(row) : kNull;
}

std::string_view SourceColumn::text(uint64_t row) const {
  const int64_t id = text_id(row);
  return id == kNull ? std::string_view() : store_->string(id);
}

std::vector<int64_t> integers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = next > at ? next : at + 1;
  }
  return numbers;
}

}  // namespace stepscope
