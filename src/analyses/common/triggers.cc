#include "analyses/common/triggers.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "analyses/common/rank_rows.h"
#include "json/json_members.h"
#include "json/json_tree.h"

namespace stepscope {

std::vector<RunTrigger> run_triggers(const StoreReader& store) {
  std::vector<RunTrigger> triggers;
  for (size_t position = 0; position < store.rank_count(); ++position) {
    const std::string_view text = text_at(store, Table::kRanks, "versions", position);
    if (text.find("\"triggers\"") == std::string_view::npos) continue;  // most runs
    const nlohmann::json versions = json_tree(text);
    if (!versions.is_object() || !versions.contains("triggers")) continue;
    for (const nlohmann::json& entry : versions["triggers"]) {
      if (!entry.is_object()) continue;
      RunTrigger& trigger = triggers.emplace_back();
      trigger.rank = store.rank_number(position);
      trigger.window = store.column(Table::kRanks, "window", position).at(0);
      trigger.kind = text_in(entry, "kind");
      trigger.what = text_in(entry, "what");
      trigger.step = integer_in(entry, "step", kNull);
      trigger.ts_ns = integer_in(entry, "realtime_ns", kNull);
    }
  }
  return triggers;
}

std::vector<std::string> trigger_lines(const std::vector<RunTrigger>& triggers, size_t most) {
  std::vector<std::string> lines;
  const bool several = std::any_of(triggers.begin(), triggers.end(), [&](const auto& trigger) {
    return trigger.rank != triggers.front().rank;
  });
  for (const RunTrigger& trigger : triggers) {
    if (lines.size() + 1 >= most && triggers.size() > most) {
      lines.push_back("and " + std::to_string(triggers.size() - lines.size()) + " more");
      break;
    }
    const std::string rank = several ? "rank " + std::to_string(trigger.rank) + ": " : "";
    lines.push_back(rank + trigger.kind + ": " + trigger.what);
  }
  return lines;
}

}  // namespace stepscope
