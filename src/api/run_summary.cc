#include "api/run_summary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "analyses/common/executions.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/saturated.h"
#include "analyses/operators/op_tree.h"
#include "store/schema.h"

namespace stepscope {
namespace {

constexpr size_t kNamesShown = 8;

// A row of a result, read column by column.
class Row {
 public:
  Row(const QueryResult& result, const ResultChunk& chunk, size_t row)
      : result_(result), chunk_(chunk), row_(row) {}

  int64_t integer(size_t column, int64_t missing = kNull) const {
    if (chunk_.is_null(column, row_)) return missing;
    switch (result_.columns()[column].type) {
      case ValueType::kInt128:
        return static_cast<int64_t>(chunk_.wide_integers(column)[row_]);
      case ValueType::kFloat64:
        return static_cast<int64_t>(chunk_.floats(column)[row_]);
      case ValueType::kText:
        return missing;
      default:
        return chunk_.integers(column)[row_];
    }
  }
  std::string text(size_t column) const {
    return chunk_.is_null(column, row_) ? std::string() : std::string(chunk_.texts(column)[row_]);
  }

 private:
  const QueryResult& result_;
  const ResultChunk& chunk_;
  size_t row_;
};

Status each_row(Database& database, const QueryLimits& limits, const std::string& sql,
                const std::function<void(const Row&)>& use) {
  auto result = database.query(sql, limits);
  if (!result) return std::move(result.error());
  while (true) {
    auto chunk = (*result)->next();
    if (!chunk) return std::move(chunk.error());
    if (*chunk == nullptr) return {};
    for (size_t row = 0; row < (*chunk)->rows(); ++row) use(Row(**result, **chunk, row));
  }
}

Status read_ranks(Database& database, const QueryLimits& limits, RunSummary& summary) {
  return each_row(
      database, limits,
      "select rank, \"window\", host, pid, device_kind, device_name, device_count, world_size, "
      "source_format, source_path, rank_inferred, first_ns, last_ns from ranks "
      "order by rank, \"window\"",
      [&](const Row& row) {
        RankSummary& rank = summary.ranks.emplace_back();
        rank.rank = row.integer(0);
        rank.window = row.integer(1);
        rank.host = row.text(2);
        rank.pid = row.integer(3);
        rank.device_kind = row.text(4);
        rank.device_name = row.text(5);
        rank.device_count = row.integer(6, 0);
        rank.world_size = row.integer(7);
        rank.format = row.text(8);
        rank.path = row.text(9);
        rank.rank_inferred = row.integer(10, 0) != 0;
        rank.first_ns = row.integer(11);
        rank.last_ns = row.integer(12);
      });
}

// From the store: the table `steps` does not say in which window of its rank a step was recorded.
void read_own_steps(const StoreReader& store, size_t position, RankSummary& rank) {
  const auto& lengths_ns = store.column(Table::kSteps, "dur", position);
  const auto& complete = store.column(Table::kSteps, "complete", position);
  rank.steps = static_cast<int64_t>(lengths_ns.rows());
  double sum_ns = 0;
  int64_t count = 0;
  for (uint64_t row = 0; row < lengths_ns.rows(); ++row) {
    if (complete.at(row) == 0) continue;
    sum_ns += static_cast<double>(lengths_ns.at(row));
    ++count;
  }
  if (count > 0) rank.mean_step_ns = static_cast<int64_t>(sum_ns / static_cast<double>(count));
}

Status read_steps(Database& database, const QueryLimits& limits, RunSummary& summary) {
  StepsSummary& steps = summary.steps;
  return each_row(
      database, limits,
      "select count(distinct step), min(step), max(step), "
      "count(*) filter (where not complete), min(dur) filter (where complete), "
      "median(dur) filter (where complete), max(dur) filter (where complete) from steps",
      [&](const Row& row) {
        steps.count = row.integer(0, 0);
        steps.first = row.integer(1);
        steps.last = row.integer(2);
        steps.incomplete = row.integer(3, 0);
        steps.min_ns = row.integer(4);
        steps.median_ns = row.integer(5);
        steps.max_ns = row.integer(6);
      });
}

Status read_names(Database& database, const QueryLimits& limits, RunSummary& summary) {
  if (auto status = each_row(
          database, limits,
          "select cat, sum(count), sum(total) as time from totals_by_name group by cat "
          "order by time desc, cat",
          [&](const Row& row) {
            summary.categories.push_back({row.text(0), row.integer(1, 0), row.integer(2, 0)});
          });
      !status) {
    return status;
  }
  return each_row(database, limits,
                  "select name, class, count(*), sum(dur) as time from kernels where "
                  "flags & 1 = 0 group by name, class order by time desc, name limit " +
                      std::to_string(kNamesShown),
                  [&](const Row& row) {
                    summary.device_names.push_back(
                        {row.text(0), row.text(1), row.integer(2, 0), row.integer(3, 0)});
                  });
}

// As the table `operators` of the analyses has them: impossible ones are left out, and the time of
// an operator includes calls of the same one inside of it.
void add_operators(const StoreReader& store, size_t rank, std::map<int64_t, NameSummary>& sums) {
  const OpTree tree = build_op_tree(store, rank);
  const auto name_of = [&](uint32_t op) {
    return tree.kind[op] == kNoGroup ? kNull : tree.kinds.key(tree.kind[op])[OpTree::kName];
  };
  uint32_t op = 0;
  for_each_row<1>(store, Table::kOps, rank, {"dur"}, [&](const auto& row) {
    const uint32_t own = op++;
    const int64_t name = name_of(own);
    if (name == kNull) return;
    NameSummary& sum = sums[name];
    ++sum.count;
    for (uint32_t at = tree.caller[own]; at != kNoOp; at = tree.caller[at]) {
      if (name_of(at) == name) return;
    }
    add_saturated(sum.total_ns, row[0]);
  });
}

void read_operators(const StoreReader& store, RunSummary& summary) {
  std::map<int64_t, NameSummary> sums;
  for (size_t rank = 0; rank < store.rank_count(); ++rank) add_operators(store, rank, sums);
  for (auto& [name, sum] : sums) {
    sum.name = store.string(name);
    summary.op_names.push_back(std::move(sum));
  }
  std::sort(summary.op_names.begin(), summary.op_names.end(),
            [](const NameSummary& a, const NameSummary& b) {
              return std::tie(b.total_ns, a.name) < std::tie(a.total_ns, b.name);
            });
  if (summary.op_names.size() > kNamesShown) summary.op_names.resize(kNamesShown);
}

Status read_quality(Database& database, const QueryLimits& limits, RunSummary& summary) {
  return each_row(
      database, limits,
      "select code, severity, sum(count) as n, count(distinct rank), "
      "first(example order by rank), any_value(meaning), bool_or(excluded) from quality "
      "group by code, severity order by case severity when 'loss' then 0 when 'suspect' then 1 "
      "else 2 end, "
      "n desc, code",
      [&](const Row& row) {
        summary.quality.push_back({row.text(0), row.text(1), row.integer(2, 0), row.integer(3, 0),
                                   row.text(4), row.text(5), row.integer(6, 0) != 0});
      });
}

}  // namespace

Result<RunSummary> summarise_run(const StoreReader& store, Database& database,
                                 const QueryLimits& limits) {
  RunSummary summary;
  summary.store_path = store.path();
  summary.store_bytes = store.file_bytes();
  for (const auto read : {read_ranks, read_steps, read_names, read_quality}) {
    if (auto status = read(database, limits, summary); !status) return std::move(status.error());
  }
  read_operators(store, summary);
  summary.executions = executions_line(store);
  summary.triggers = run_triggers(store);
  for (size_t position = 0; position < store.rank_count(); ++position) {
    const int64_t window = store.column(Table::kRanks, "window", position).at(0);
    for (RankSummary& rank : summary.ranks) {
      if (rank.rank != store.rank_number(position) || rank.window != window) continue;
      rank.slices = static_cast<int64_t>(store.rows(Table::kSlices, position));
      rank.kernels = static_cast<int64_t>(store.rows(Table::kKernels, position));
      read_own_steps(store, position, rank);
    }
  }
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto rows = static_cast<int64_t>(store.rows(static_cast<Table>(i)));
    summary.tables.push_back({std::string(tables()[i].name), rows});
  }
  for (const Database::TableName& table : database.tables()) {
    if (!table.name.starts_with("source.")) continue;
    auto status = each_row(
        database, limits, "select count(*) from " + table.name,
        [&](const Row& row) { summary.tables.push_back({table.name, row.integer(0, 0)}); });
    if (!status) return std::move(status.error());
  }
  return summary;
}

}  // namespace stepscope
