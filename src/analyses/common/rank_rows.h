// The rows of one rank of a table, with the columns an analysis needs: decoded block by block (1–2
// ns a value), so that memory does not grow with the number of rows.
//
//   for_each_row<3>(store, Table::kKernels, rank, {"ts", "dur", "flags"}, [&](const auto& row) {
//     const auto [ts, dur, flags] = row;
//   });
//
// Values are as in TableReader: integers, string ids, global ids of slices and tracks, kNull.
#ifndef STEPSCOPE_ANALYSES_COMMON_RANK_ROWS_H_
#define STEPSCOPE_ANALYSES_COMMON_RANK_ROWS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "store/schema.h"
#include "store/store_reader.h"
#include "store/table_reader.h"

namespace stepscope {

template <size_t N, class Use>
void for_each_row(const StoreReader& store, Table table, size_t rank,
                  const std::array<std::string_view, N>& columns, Use&& use) {
  const TableReader reader(store, table, rank);
  const TableSpec& spec = table_spec(table);
  std::array<size_t, N> places;
  for (size_t i = 0; i < N; ++i) places[i] = find_column(spec, columns[i]);
  std::vector<int64_t> values(N * kBlockRows);
  std::array<int64_t, N> row;
  for (const Morsel& morsel : reader.morsels()) {
    for (size_t i = 0; i < N; ++i) reader.read(morsel, places[i], &values[i * kBlockRows]);
    for (size_t r = 0; r < morsel.rows; ++r) {
      for (size_t i = 0; i < N; ++i) row[i] = values[i * kBlockRows + r];
      use(row);
    }
  }
}

// One value of a small table of the rank (`ranks`, `tracks`); kNull when the rank has no such row.
int64_t number_at(const StoreReader& store, Table table, std::string_view column, size_t rank,
                  uint64_t row = 0);
// The same as text, "" for NULL.
std::string_view text_at(const StoreReader& store, Table table, std::string_view column,
                         size_t rank, uint64_t row = 0);

// A rank of the run: its number, and the number of the recording window when there are several.
struct RankId {
  size_t position = 0;  // in the store
  int64_t rank = 0;
  int64_t window = 0;
};
std::vector<RankId> rank_ids(const StoreReader& store);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_RANK_ROWS_H_
