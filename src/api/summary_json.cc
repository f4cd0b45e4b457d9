#include <nlohmann/json.hpp>

#include "api/run_summary.h"
#include "json/json_tree.h"
#include "store/schema.h"

namespace stepscope {
namespace {

nlohmann::ordered_json or_null(int64_t value) {
  return value == kNull ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

nlohmann::ordered_json or_null(const std::string& value) {
  return value.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

}  // namespace

std::string summary_json(const RunSummary& summary) {
  nlohmann::ordered_json out;
  out["store"] = summary.store_path;
  out["store_bytes"] = summary.store_bytes;
  out["schema_version"] = kSchemaVersion;
  out["ranks"] = nlohmann::ordered_json::array();
  for (const RankSummary& rank : summary.ranks) {
    out["ranks"].push_back({{"rank", rank.rank},
                            {"window", or_null(rank.window)},
                            {"host", or_null(rank.host)},
                            {"pid", or_null(rank.pid)},
                            {"device_kind", or_null(rank.device_kind)},
                            {"device_name", or_null(rank.device_name)},
                            {"device_count", rank.device_count},
                            {"world_size", or_null(rank.world_size)},
                            {"source_format", or_null(rank.format)},
                            {"source_path", or_null(rank.path)},
                            {"rank_inferred", rank.rank_inferred},
                            {"first_ns", or_null(rank.first_ns)},
                            {"last_ns", or_null(rank.last_ns)},
                            {"slices", rank.slices},
                            {"kernels", rank.kernels},
                            {"steps", rank.steps},
                            {"mean_step_ns", or_null(rank.mean_step_ns)}});
  }
  const StepsSummary& steps = summary.steps;
  out["steps"] = {{"count", steps.count},
                  {"first", or_null(steps.first)},
                  {"last", or_null(steps.last)},
                  {"incomplete", steps.incomplete},
                  {"min_ns", or_null(steps.min_ns)},
                  {"median_ns", or_null(steps.median_ns)},
                  {"max_ns", or_null(steps.max_ns)}};
  if (!summary.executions.empty()) out["executions"] = summary.executions;
  if (!summary.triggers.empty()) out["triggers"] = nlohmann::ordered_json::array();
  for (const RunTrigger& trigger : summary.triggers) {
    out["triggers"].push_back({{"rank", trigger.rank},
                               {"window", trigger.window},
                               {"kind", trigger.kind},
                               {"what", trigger.what},
                               {"step", or_null(trigger.step)},
                               {"realtime_ns", or_null(trigger.ts_ns)}});
  }
  out["categories"] = nlohmann::ordered_json::array();
  for (const CategorySummary& category : summary.categories) {
    out["categories"].push_back(
        {{"cat", category.category}, {"slices", category.slices}, {"total_ns", category.total_ns}});
  }
  const auto names = [](const std::vector<NameSummary>& entries) {
    auto list = nlohmann::ordered_json::array();
    for (const NameSummary& entry : entries) {
      nlohmann::ordered_json item = {
          {"name", entry.name}, {"count", entry.count}, {"total_ns", entry.total_ns}};
      if (!entry.group.empty()) item["class"] = entry.group;
      list.push_back(std::move(item));
    }
    return list;
  };
  out["device_work"] = names(summary.device_names);
  out["operators"] = names(summary.op_names);
  out["quality"] = nlohmann::ordered_json::array();
  for (const QualitySummary& entry : summary.quality) {
    out["quality"].push_back({{"code", entry.code},
                              {"severity", entry.severity},
                              {"count", entry.count},
                              {"ranks", entry.ranks},
                              {"example", or_null(entry.example)},
                              {"meaning", entry.meaning},
                              {"excluded", entry.excluded}});
  }
  out["tables"] = nlohmann::ordered_json::object();
  for (const TableSummary& table : summary.tables) out["tables"][table.name] = table.rows;
  return write_json(out, 2) + "\n";
}

}  // namespace stepscope
