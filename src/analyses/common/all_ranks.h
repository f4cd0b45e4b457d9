// Results of the ranks of a run, put together in their order.
#ifndef STEPSCOPE_ANALYSES_COMMON_ALL_RANKS_H_
#define STEPSCOPE_ANALYSES_COMMON_ALL_RANKS_H_

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "base/parallel.h"

namespace stepscope {

template <class Row>
void append_rows(std::vector<Row>& to, std::vector<Row>&& from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// compute(position) of every rank, side by side.
template <class Row, class Compute>
std::vector<Row> rows_of_ranks(size_t ranks, unsigned threads, Compute&& compute) {
  std::vector<std::vector<Row>> parts(ranks);
  parallel_for(ranks, threads, [&](size_t rank) { parts[rank] = compute(rank); });
  std::vector<Row> rows;
  for (std::vector<Row>& part : parts) append_rows(rows, std::move(part));
  return rows;
}

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_ALL_RANKS_H_
