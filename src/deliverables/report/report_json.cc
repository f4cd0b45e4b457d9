#include "analyses/common/executions.h"
#include "analyses/operators/user_ranges.h"
#include "base/json_text.h"
#include "deliverables/report/report.h"

namespace stepscope {
namespace {

// Keys of the report and the result tables behind them.
struct Key {
  std::string_view key;
  std::string_view table;
};
constexpr Key kKeys[] = {
    {"findings", "findings"},
    {"steps", "steps"},
    {"device_time", "device_time"},
    {"step_budget", "step_budget"},
    {"step_times", "step_times"},
    {"step_trace", "step_trace"},
    {"operators", "operators"},
    {"operator_types", "operator_types"},
    {"kernels", "kernels"},
    {"communication", "communication_operators"},
    {"communication_links", "communication_matrix"},
    {"late_ranks", "late_ranks"},
    {"ranks", "rank_comparison"},
    {"memory", "memory"},
    {"pipeline", "pipeline"},
    {"pipeline_stages", "pipeline_stages"},
    {"cpu", "cpu"},
    {"flops", "flops"},
    {"quality", "quality"},
};

}  // namespace

std::string report_json(RunAnalyses& run, const std::string& name) {
  std::string out = "{\"version\":1,\"run\":";
  append_json_text(out, name);
  if (const std::string line = executions_line(run.store()); !line.empty()) {
    out += ",\"executions\":";
    append_json_text(out, line);
  }
  std::string reasons;
  for (const auto& [key, table_name] : kKeys) {
    out += ",\n\"" + std::string(key) + "\":";
    const auto table = run.table(table_name);
    if (table) {
      append_json(out, *table);
    } else {
      out += "[]";
    }
    for (const Reason& reason : run.reasons(table_name)) {
      reasons += reasons.empty() ? "" : ",";
      reasons += JsonObject().add("table", key).add("why", reason.why).text();
    }
  }
  std::vector<UserRangeRow> ranges;
  for (const RankId& rank : run.ranks()) {
    for (const UserRangeRow& row : user_ranges(run.store(), rank)) ranges.push_back(row);
  }
  out += ",\n\"ranges\":";
  append_json(out, make_table("ranges", "", ranges, kUserRangeFields));
  return out + ",\n\"reasons\":[" + reasons + "]}\n";
}

}  // namespace stepscope
