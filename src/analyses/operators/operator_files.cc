#include "analyses/operators/operator_files.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/common/saturated.h"
#include "analyses/common/source_rows.h"

namespace stepscope {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr double kNsPerUs = 1e3;

struct TableNames {
  std::string_view category;
  std::string_view details;
  std::string_view types;
  double ns_per_unit;
};
constexpr TableNames kTables[] = {
    {"AI_CORE", "aicore_detail", "aicore_type", kNsPerMs},
    {"GPU", "gpu_op_detail_info", "gpu_op_type_info", kNsPerUs},
};

int64_t whole(double value) {
  if (std::isnan(value) || std::abs(value) > 9e18) return kNull;
  return static_cast<int64_t>(std::llround(value));
}

template <class Row>
void leave_out_spread(Row& row) {
  row.min_ns = row.max_ns = row.median_ns = row.p90_ns = row.p99_ns = kNull;
  row.stddev_ns = std::numeric_limits<double>::quiet_NaN();
}

template <class Row>
void set_shares(std::vector<Row>& rows) {
  std::map<std::string_view, int64_t> totals;
  for (const Row& row : rows) add_saturated(totals[row.category], row.self_ns);
  for (Row& row : rows) {
    const int64_t total = totals[row.category];
    row.share = total > 0 ? static_cast<double>(row.self_ns) / static_cast<double>(total) : 0;
    row.device_share = row.share;
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.category, -a.self_ns) < std::tuple(b.category, -b.self_ns);
  });
}

// Operator types by full name, from the table of the framework's operators.
std::unordered_map<std::string_view, std::string_view> framework_types(const StoreReader& store,
                                                                       size_t rank) {
  std::unordered_map<std::string_view, std::string_view> types;
  const SourceRows table(store, rank, "framework_raw");
  if (!table.exists()) return types;
  const SourceColumn name = table.column({"full_kernel_name", "full_op_name"});
  const SourceColumn type = table.column({"kernel_type", "op_type"});
  for (uint64_t row = 0; row < table.rows(); ++row)
    types.try_emplace(name.text(row), type.text(row));
  return types;
}

void add_details(const StoreReader& store, const RankId& rank, const TableNames& names,
                 OperatorTables& tables) {
  const SourceRows table(store, rank.position, names.details);
  if (!table.exists()) return;
  const auto known = framework_types(store, rank.position);
  // A writer of 2020 has a slip of the pen in its first column's name.
  const SourceColumn name =
      table.column({"full_kernel_name", "full_kernel_time", "full_op_name", "op_full_name"});
  const SourceColumn type = table.column({"op_type", "kernel_type"});
  const SourceColumn mean = table.column({"execution_time", "op_avg_time(us)"});
  const SourceColumn count = table.column({"execution_frequency", "op_occurrences"});
  for (uint64_t row = 0; row < table.rows(); ++row) {
    const double mean_ns = mean.number(row) * names.ns_per_unit;
    const int64_t calls = count.found() ? whole(count.number(row)) : 1;
    if (name.text(row).empty() || std::isnan(mean_ns) || calls == kNull) {
      ++tables.left_out;
      continue;
    }
    OperatorRow line;
    line.rank = rank.rank;
    line.window = rank.window;
    line.category = names.category;
    line.name = name.text(row);
    line.type = type.text(row);
    if (const auto found = known.find(line.name); line.type.empty() && found != known.end())
      line.type = found->second;
    if (line.type.empty()) line.type = operator_type_in(line.name);
    if (const size_t end = line.name.rfind('/'); end != std::string_view::npos) {
      line.module = line.name.substr(0, end);
      line.modules = 1;
    }
    line.count = calls;
    line.launches = calls;
    line.mean_ns = mean_ns;
    const int64_t total = whole(mean_ns * static_cast<double>(calls));
    line.total_ns = line.self_ns = line.device_self_ns = line.device_total_ns =
        total == kNull ? 0 : total;
    leave_out_spread(line);
    tables.operators.push_back(line);
  }
}

void add_types(const StoreReader& store, const RankId& rank, const TableNames& names,
               OperatorTables& tables) {
  const SourceRows table(store, rank.position, names.types);
  if (!table.exists()) return;
  const SourceColumn type = table.column({"kernel_type", "op_type"});
  const SourceColumn total = table.column({"total_time", "total_time(us)"});
  const SourceColumn count = table.column({"execution_frequency", "type_occurrences"});
  for (uint64_t row = 0; row < table.rows(); ++row) {
    const int64_t total_ns = whole(total.number(row) * names.ns_per_unit);
    const int64_t calls = whole(count.number(row));
    if (type.text(row).empty() || total_ns == kNull || calls == kNull) {
      ++tables.left_out;
      continue;
    }
    OperatorTypeRow line;
    line.rank = rank.rank;
    line.window = rank.window;
    line.category = names.category;
    line.type = type.text(row);
    line.operators = std::count_if(
        tables.operators.begin(), tables.operators.end(), [&](const OperatorRow& detail) {
          return detail.category == line.category && detail.type == line.type;
        });
    line.count = calls;
    line.total_ns = line.self_ns = line.device_self_ns = total_ns;
    line.mean_ns = calls > 0 ? static_cast<double>(total_ns) / static_cast<double>(calls) : 0;
    leave_out_spread(line);
    tables.types.push_back(line);
  }
}

}  // namespace

OperatorTables operators_from_files(const StoreReader& store, const RankId& rank) {
  OperatorTables tables;
  for (const TableNames& names : kTables) {
    add_details(store, rank, names, tables);
    add_types(store, rank, names, tables);
  }
  set_shares(tables.operators);
  set_shares(tables.types);
  return tables;
}

}  // namespace stepscope
