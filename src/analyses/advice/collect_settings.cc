#include <algorithm>

#include <nlohmann/json.hpp>

#include "analyses/advice/collect_facts.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

json object_in(std::string_view text) {
  json tree = json_tree(text);
  return tree.is_object() ? tree : json::object();
}

// A member that is an object, also where it was kept as text.
json member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return json::object();
  if (found->is_string()) return object_in(found->get_ref<const std::string&>());
  return found->is_object() ? *found : json::object();
}

// Variables that make a program slower when they are set like this. What torch_npu's advisor asks
// for beyond that (caches, segments) is a matter of the program, and HCCL's variables of the
// network.
bool costs_time(std::string_view name, std::string_view value) {
  if (value.empty()) return false;
  if (name == "ASCEND_LAUNCH_BLOCKING" || name == "CUDA_LAUNCH_BLOCKING") return value == "1";
  return name == "ASCEND_GLOBAL_LOG_LEVEL" && value != "3" && value != "4";
}

void take_environment(const json& versions, RankFacts& facts) {
  const json variables = member(versions, "ENV_VARIABLES");
  for (const auto& [name, value] : variables.items()) {
    if (!value.is_string()) continue;
    const auto& text = value.get_ref<const std::string&>();
    if (costs_time(name, text)) facts.settings.push_back(name + "=" + text);
  }
}

// Medians of the steps with and without recording, as the recorder kept them.
std::optional<double> cost_of(const json& versions) {
  constexpr int64_t kFewSteps = 3;
  const json times = member(member(versions, "metadata"), "step_times");
  const auto median = [&](const char* name) {
    const json one = member(times, name);
    const auto steps = one.find("steps");
    const auto seconds = one.find("median_seconds");
    return steps != one.end() && steps->is_number_integer() && *steps >= kFewSteps &&
                   seconds != one.end() && seconds->is_number()
               ? seconds->get<double>()
               : 0.0;
  };
  const double with = median("with_recording");
  const double without = median("without_recording");
  if (with <= 0 || without <= 0) return std::nullopt;
  return with / without - 1;
}

// MindInsight's rule: the ranks of a job are dealt out to its stages in order.
void take_stage(const json& parallel, int64_t world_size, RankFacts& facts) {
  int64_t stages = 0;
  for (const json& place : {parallel, member(parallel, "distributed_args")}) {
    for (const char* name :
         {"stages", "stage_num", "pipeline_stages", "pipeline_model_parallel_size"}) {
      const auto found = place.find(name);
      if (found != place.end() && found->is_number_integer()) stages = found->get<int64_t>();
    }
  }
  if (stages < 2 || world_size == kNull || world_size < stages || facts.rank < 0) return;
  facts.stage = std::min(facts.rank / (world_size / stages), stages - 1);
}

json versions_of(const StoreReader& store, const RankId& rank) {
  return object_in(text_at(store, Table::kRanks, "versions", rank.position));
}

}  // namespace

std::optional<double> recording_cost(const StoreReader& store, const RankId& rank) {
  return cost_of(versions_of(store, rank));
}

void collect_settings(const StoreReader& store, const RankId& rank, RankFacts& rank_facts,
                      Facts& facts) {
  const json versions = versions_of(store, rank);
  take_environment(versions, rank_facts);
  if (const auto cost = cost_of(versions); cost && !(facts.profiler_cost_share >= *cost))
    facts.profiler_cost_share = *cost;
  take_stage(object_in(text_at(store, Table::kRanks, "parallel", rank.position)),
             number_at(store, Table::kRanks, "world_size", rank.position), rank_facts);
}

}  // namespace stepscope
