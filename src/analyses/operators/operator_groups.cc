#include "analyses/operators/operator_groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

auto type_key(const OperatorKind& kind) { return std::tie(kind.category, kind.type); }
auto operator_key(const OperatorKind& kind) {
  return std::tie(kind.category, kind.type, kind.name);
}
auto shape_key(const OperatorKind& kind) {
  return std::tie(kind.category, kind.type, kind.name, kind.shapes, kind.types);
}

double share_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

template <class Row>
void set_spread(Row& row, const DurationSpread& spread) {
  row.mean_ns = spread.mean_ns;
  row.min_ns = spread.min_ns;
  row.max_ns = spread.max_ns;
  row.stddev_ns = spread.stddev_ns;
  row.median_ns = spread.median_ns;
  row.p90_ns = spread.p90_ns;
  row.p99_ns = spread.p99_ns;
}

// Shares within a category, and the largest first within a category.
template <class Row>
void rank_rows(std::vector<Row>& rows) {
  struct Sums {
    int64_t self_ns = 0;
    int64_t device_ns = 0;
  };
  std::map<std::string_view, Sums> sums;
  for (const Row& row : rows) {
    add_saturated(sums[row.category].self_ns, row.self_ns);
    add_saturated(sums[row.category].device_ns, row.device_self_ns);
  }
  for (Row& row : rows) {
    row.share = share_of(row.self_ns, sums[row.category].self_ns);
    row.device_share = share_of(row.device_self_ns, sums[row.category].device_ns);
  }
}

// The largest first: host operators that launch device work by that work.
template <class Row>
void order_rows(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.category, -a.device_self_ns, -a.self_ns) <
           std::tuple(b.category, -b.device_self_ns, -b.self_ns);
  });
}

}  // namespace

void OperatorKind::add_call(int64_t dur_ns) {
  min_ns = count == 0 ? dur_ns : std::min(min_ns, dur_ns);
  max_ns = count == 0 ? dur_ns : std::max(max_ns, dur_ns);
  add_saturated(length_ns, dur_ns);
  ++count;
}

OperatorGroups::OperatorGroups(const StoreReader& store, std::vector<OperatorKind> kinds)
    : store_(store), kinds_(std::move(kinds)), order_(kinds_.size()), operator_of_(kinds_.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(),
            [&](uint32_t a, uint32_t b) { return shape_key(kinds_[a]) < shape_key(kinds_[b]); });
  uint32_t number = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    if (i > 0 && operator_key(kinds_[order_[i]]) != operator_key(kinds_[order_[i - 1]])) ++number;
    operator_of_[order_[i]] = number;
  }
}

void OperatorGroups::begin_durations() {
  std::vector<int64_t> counts(order_.empty() ? 0 : operator_of_[order_.back()] + 1);
  for (size_t kind = 0; kind < kinds_.size(); ++kind)
    counts[operator_of_[kind]] += kinds_[kind].count;
  durations_.emplace(counts);
}

OperatorRow OperatorGroups::make_operator(const RankId& rank, size_t first, size_t last) {
  const OperatorKind& any = kinds_[order_[first]];
  OperatorRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.category = any.category;
  row.name = any.name;
  row.type = any.type;
  std::set<int64_t> modules;
  std::set<std::pair<int64_t, int64_t>> inputs;
  for (size_t i = first; i < last; ++i) {
    const OperatorKind& kind = kinds_[order_[i]];
    if (kind.count == 0) continue;
    if (kind.module != kNull) modules.insert(kind.module);
    if (kind.shapes != kNull || kind.types != kNull) inputs.insert({kind.shapes, kind.types});
    row.count += kind.count;
    add_saturated(row.total_ns, kind.total_ns);
    add_saturated(row.self_ns, kind.self_ns);
    add_saturated(row.runtime_ns, kind.runtime_ns);
    row.launches += kind.launches;
    add_saturated(row.device_self_ns, kind.device_self_ns);
    add_saturated(row.device_total_ns, kind.device_total_ns);
  }
  row.modules = static_cast<int64_t>(modules.size());
  if (modules.size() == 1) row.module = store_.string(*modules.begin());
  row.shapes = static_cast<int64_t>(inputs.size());
  if (inputs.size() == 1) {
    if (inputs.begin()->first != kNull) row.input_shapes = store_.string(inputs.begin()->first);
    if (inputs.begin()->second != kNull) row.input_types = store_.string(inputs.begin()->second);
  }
  const uint32_t number = operator_of_[order_[first]];
  set_spread(row, durations_->spread(number, number + 1));
  return row;
}

OperatorShapeRow OperatorGroups::make_shape(const RankId& rank, size_t first, size_t last) const {
  const OperatorKind& any = kinds_[order_[first]];
  OperatorShapeRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.category = any.category;
  row.name = any.name;
  row.type = any.type;
  if (any.shapes != kNull) row.input_shapes = store_.string(any.shapes);
  if (any.types != kNull) row.input_types = store_.string(any.types);
  double sum_ns = 0;
  for (size_t i = first; i < last; ++i) {
    const OperatorKind& kind = kinds_[order_[i]];
    if (kind.count == 0) continue;
    row.min_ns = row.count == 0 ? kind.min_ns : std::min(row.min_ns, kind.min_ns);
    row.max_ns = std::max(row.max_ns, kind.max_ns);
    row.count += kind.count;
    add_saturated(row.total_ns, kind.total_ns);
    add_saturated(row.self_ns, kind.self_ns);
    row.launches += kind.launches;
    add_saturated(row.device_self_ns, kind.device_self_ns);
    add_saturated(row.device_total_ns, kind.device_total_ns);
    sum_ns += static_cast<double>(kind.length_ns);
  }
  row.mean_ns = row.count > 0 ? sum_ns / static_cast<double>(row.count) : 0;
  return row;
}

OperatorTypeRow OperatorGroups::make_type(const RankId& rank, size_t first, size_t last) {
  OperatorTypeRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.category = kinds_[order_[first]].category;
  row.type = kinds_[order_[first]].type;
  for (size_t i = first; i < last; ++i) {
    const OperatorKind& kind = kinds_[order_[i]];
    row.count += kind.count;
    add_saturated(row.total_ns, kind.total_ns);
    add_saturated(row.self_ns, kind.self_ns);
    add_saturated(row.device_self_ns, kind.device_self_ns);
  }
  const uint32_t first_operator = operator_of_[order_[first]];
  const uint32_t last_operator = operator_of_[order_[last - 1]] + 1;
  row.operators = last_operator - first_operator;
  set_spread(row, durations_->spread(first_operator, last_operator));
  return row;
}

OperatorTables OperatorGroups::finish(const RankId& rank) {
  OperatorTables tables;
  const auto for_each_run = [&](auto&& key, auto&& use) {
    for (size_t first = 0; first < order_.size();) {
      size_t last = first + 1;
      while (last < order_.size() && key(kinds_[order_[first]]) == key(kinds_[order_[last]]))
        ++last;
      use(first, last);
      first = last;
    }
  };
  for_each_run(operator_key, [&](size_t first, size_t last) {
    if (!kinds_[order_[first]].is_operator) return;
    OperatorRow row = make_operator(rank, first, last);
    if (row.count > 0) tables.operators.push_back(std::move(row));
  });
  for_each_run(shape_key, [&](size_t first, size_t last) {
    if (!kinds_[order_[first]].is_operator) return;
    OperatorShapeRow row = make_shape(rank, first, last);
    if (row.count > 0) tables.shapes.push_back(std::move(row));
  });
  for_each_run(type_key, [&](size_t first, size_t last) {
    OperatorTypeRow row = make_type(rank, first, last);
    if (row.count > 0) tables.types.push_back(std::move(row));
  });
  rank_rows(tables.operators);
  rank_rows(tables.types);
  order_rows(tables.operators);
  order_rows(tables.types);
  order_rows(tables.shapes);
  return tables;
}

}  // namespace stepscope
