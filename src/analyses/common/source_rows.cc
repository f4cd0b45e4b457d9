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

const SourceTableView::ColumnInfo* SourceRows::find(std::string_view column) const {
  if (table_ == nullptr) return nullptr;
  for (const SourceTableView::ColumnInfo& candidate : table_->columns) {
    if (candidate.name == column) return &candidate;
  }
  return nullptr;
}

int64_t SourceRows::integer(uint64_t row, std::string_view column) const {
  const auto* values = find(column);
  if (values == nullptr || row >= values->values.rows()) return kNull;
  const int64_t value = values->values.at(row);
  if (values->type == Type::kInt64 || values->type == Type::kBool || value == kNull) return value;
  if (values->type == Type::kText) return kNull;
  const auto number = std::bit_cast<double>(value);
  return std::trunc(number) == number && std::abs(number) < 0x1p53 ? static_cast<int64_t>(number)
                                                                   : kNull;
}

double SourceRows::real(uint64_t row, std::string_view column) const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const auto* values = find(column);
  if (values == nullptr || row >= values->values.rows()) return kNone;
  const int64_t value = values->values.at(row);
  if (value == kNull || values->type == Type::kText) return kNone;
  return values->type == Type::kFloat64 ? std::bit_cast<double>(value) : static_cast<double>(value);
}

std::string_view SourceRows::text(uint64_t row, std::string_view column) const {
  const auto* values = find(column);
  if (values == nullptr || values->type != Type::kText || row >= values->values.rows()) return {};
  const int64_t id = values->values.at(row);
  return id == kNull ? std::string_view() : store_.string(id);
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
