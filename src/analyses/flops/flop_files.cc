#include "analyses/flops/flop_files.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "analyses/common/saturated.h"
#include "analyses/common/source_rows.h"
#include "analyses/flops/flop_scopes.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// Old tables have one set of columns, those of 2.x one for the cube and one for the vector unit.
struct UnitColumns {
  std::string_view kind;
  SourceColumn mega_flops;
  SourceColumn giga_rate;
  SourceColumn percent;
};

void read_operators(const StoreReader& store, const RankId& rank, FlopResults& results) {
  const SourceRows table(store, rank.position, "flops");
  if (!table.exists()) return;
  const auto column = [&](std::initializer_list<std::string_view> names) {
    return table.column(names);
  };
  const SourceColumn name = column({"full_kernel_name", "op_full_name"});
  const UnitColumns units[] = {
      {"cube", column({"FLOPs", "MFLOPs(10^6)", "MFLOPs(10^6 cube)"}),
       column({"FLOPS_2", "GFLOPS(10^9)", "GFLOPS(10^9 cube)"}),
       column({"FLOPS utilization", "FLOPS utilization(cube)"})},
      {"vector", column({"MFLOPs(10^6 vector)"}), column({"GFLOPS(10^9 vector)"}),
       column({"FLOPS utilization(vec)"})},
  };
  ScopeTree scopes;
  for (uint64_t line = 0; line < table.rows(); ++line) {
    for (const UnitColumns& unit : units) {
      const double flops = unit.mega_flops.number(line) * kMega;
      if (name.text(line).empty() || !std::isfinite(flops)) continue;
      FlopRow row;
      row.rank = rank.rank;
      row.window = rank.window;
      row.category = "AI_CORE";
      row.name = name.text(line);
      row.kind = unit.kind;
      row.data_type = data_type_name(DataType::kUnknown);
      row.source = kFromFile;
      row.count = 1;
      row.flops = flops;
      row.flops_per_second = finite(unit.giga_rate.number(line) * kGiga);
      row.utilisation = finite(unit.percent.number(line) / 100);
      if (row.flops_per_second && *row.flops_per_second > 0)
        row.time_ns =
            static_cast<int64_t>(std::llround(std::min(flops / *row.flops_per_second * 1e9, 9e18)));
      if (const size_t end = row.name.rfind('/'); end != std::string_view::npos) {
        row.module = row.name.substr(0, end);
        scopes.add(scopes.at_path(*row.module), flops);
      }
      results.operators.push_back(row);
    }
  }
  results.scopes = scopes.rows(rank);
}

// {"links": [{"source", "target", "value"}]} in millions; it replaces what the operators add up to,
// since it was made from all of them.
void read_scopes(const StoreReader& store, const RankId& rank, FlopResults& results) {
  const SourceRows table(store, rank.position, "flops_scope");
  if (!table.exists() || table.rows() == 0) return;
  const SourceColumn data = table.column({"data"});
  const auto json = json_tree(data.text(0));
  if (!json.is_object() || !json.contains("links") || !json["links"].is_array()) return;
  std::vector<FlopScopeRow> rows;
  for (const auto& link : json["links"]) {
    if (!link.is_object()) continue;
    const auto source = link.find("source");
    const auto target = link.find("target");
    const auto value = link.find("value");
    if (source == link.end() || target == link.end() || value == link.end() ||
        !source->is_string() || !target->is_string() || !value->is_number())
      continue;
    FlopScopeRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.level = kNull;
    row.source = source->get<std::string>();
    row.target = target->get<std::string>();
    row.name = row.target;
    row.flops = value->get<double>() * kMega;
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) results.scopes = std::move(rows);
}

void read_summary(const StoreReader& store, const RankId& rank, FlopResults& results) {
  const SourceRows table(store, rank.position, "flops_summary");
  if (!table.exists() || table.rows() == 0) return;
  const auto number = [&](std::initializer_list<std::string_view> names) {
    return table.column(names).number(0);
  };
  FlopSummaryRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.source = kFromFile;
  // Names differ in case only, so the store tells them apart by a number.
  const double flops = number({"FLOPs_2", "FLOPs"}) * kMega;
  row.flops = std::isfinite(flops) ? flops : 0;
  row.matrix_flops = row.flops;
  row.covered = std::nan("");
  row.flops_per_second = finite(number({"FLOPS"}) * kGiga);
  row.mfu = finite(number({"FLOPS_Utilization"}) / 100);
  row.peak_source = kFromFile;
  results.summaries.push_back(std::move(row));
}

// Of the operators, where the input has no summary.
void add_up(const RankId& rank, FlopResults& results) {
  if (results.operators.empty() || !results.summaries.empty()) return;
  FlopSummaryRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.source = kFromFile;
  row.peak_source = kFromFile;
  row.covered = std::nan("");
  for (const FlopRow& one : results.operators) {
    row.flops += one.flops;
    if (one.kind == "cube") row.matrix_flops += one.flops;
    add_saturated(row.time_ns, one.time_ns);
  }
  row.span_ns = row.time_ns;
  if (row.time_ns > 0) row.flops_per_second = row.flops * 1e9 / static_cast<double>(row.time_ns);
  results.summaries.push_back(std::move(row));
}

}  // namespace

FlopResults flops_from_files(const StoreReader& store, const RankId& rank) {
  FlopResults results;
  read_operators(store, rank, results);
  read_scopes(store, rank, results);
  read_summary(store, rank, results);
  add_up(rank, results);
  return results;
}

}  // namespace stepscope
