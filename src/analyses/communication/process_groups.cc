#include "analyses/communication/process_groups.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

std::vector<int64_t> numbers(const json& list) {
  std::vector<int64_t> values;
  if (!list.is_array()) return values;
  for (const json& item : list) {
    if (!item.is_number_integer()) return {};
    values.push_back(item.get<int64_t>());
  }
  return values;
}

const json& member_of(const json& object, const char* key) {
  static const json kNothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found == object.end() ? kNothing : *found;
}

}  // namespace

ProcessGroups::ProcessGroups(std::string_view parallel) {
  const json tree = json_tree(parallel);
  // Ascend: {"parallel_group_info": {ID: {"global_ranks": [...]}}}; events name the ID's hash.
  for (const auto& [id, about] : member_of(tree, "parallel_group_info").items()) {
    auto ranks = numbers(member_of(about, "global_ranks"));
    if (ranks.empty()) continue;
    groups_[std::to_string(group_name_hash(id))] = ranks;
    groups_[id] = std::move(ranks);
  }
  // Kineto: {"pg_config": [{"pg_name": ..., "ranks": [...]}]}
  const json& list = member_of(tree, "pg_config");
  if (!list.is_array()) return;
  for (const json& about : list) {
    const json& name = member_of(about, "pg_name");
    auto ranks = numbers(member_of(about, "ranks"));
    if (name.is_string() && !ranks.empty()) groups_[name.get<std::string>()] = std::move(ranks);
  }
}

const std::vector<int64_t>& ProcessGroups::members(std::string_view group) const {
  static const std::vector<int64_t> kUnknown;
  const auto found = groups_.find(group);
  return found == groups_.end() ? kUnknown : found->second;
}

int64_t ProcessGroups::global_rank(std::string_view group, int64_t member) const {
  const auto& ranks = members(group);
  if (member < 0 || static_cast<size_t>(member) >= ranks.size()) return member;
  return ranks[static_cast<size_t>(member)];
}

}  // namespace stepscope
