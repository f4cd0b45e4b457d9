#include "analyses/common/rank_rows.h"

namespace stepscope {

int64_t number_at(const StoreReader& store, Table table, std::string_view column, size_t rank,
                  uint64_t row) {
  return row < store.rows(table, rank) ? store.column(table, column, rank).at(row) : kNull;
}

std::string_view text_at(const StoreReader& store, Table table, std::string_view column,
                         size_t rank, uint64_t row) {
  return store.string(number_at(store, table, column, rank, row));
}

std::vector<RankId> rank_ids(const StoreReader& store) {
  std::vector<RankId> ids;
  for (size_t position = 0; position < store.rank_count(); ++position) {
    const int64_t window = number_at(store, Table::kRanks, "window", position);
    ids.push_back({position, store.rank_number(position), window == kNull ? 0 : window});
  }
  return ids;
}

}  // namespace stepscope
