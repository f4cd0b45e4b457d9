#include "importers/kineto/trace_properties.h"

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

// A whole number that may be written as a number or as text; kNull otherwise.
int64_t whole(const json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_string()) {
    if (const auto number = parse_integer(value.get_ref<const std::string&>())) return *number;
  }
  return kNull;
}

// On-demand traces write the list of ranks as text ("[0, 1]").
json tidy_groups(json info) {
  if (!info.contains("pg_config") || !info["pg_config"].is_array()) return info;
  for (json& group : info["pg_config"]) {
    if (!group.is_object() || !group.contains("ranks") || !group["ranks"].is_string()) continue;
    json ranks = json_tree(group["ranks"].get_ref<const std::string&>());
    if (ranks.is_array()) group["ranks"] = std::move(ranks);
  }
  return info;
}

void apply_distributed(const json& info, RankInfo& rank) {
  rank.parallel_json = write_json(tidy_groups(info));
  if (info.contains("rank")) {
    if (const int64_t number = whole(info["rank"]); number != kNull) {
      rank.rank = number;
      rank.rank_inferred = false;
    }
  }
  if (info.contains("world_size")) rank.world_size = whole(info["world_size"]);
}

// libkineto's log lines, which older versions wrote into the trace: the only place where a loss of
// records is said.
void note_losses(const json& lines, QualityReport& quality) {
  if (!lines.is_array()) return;
  for (const json& line : lines) {
    if (!line.is_string()) continue;
    const auto& text = line.get_ref<const std::string&>();
    const bool loss = text.find("ropped") != std::string::npos ||
                      text.find("topped early") != std::string::npos ||
                      text.find("ut-of-range") != std::string::npos;
    if (loss) quality.add(QualityCode::kDroppedRecords, text.substr(0, 120));
  }
}

}  // namespace

void apply_properties(const json& properties, RankBuilder& rank) {
  if (!properties.is_object()) return;
  json rest = json::object();
  for (const auto& [key, value] : properties.items()) {
    if (key == "distributedInfo" && value.is_object()) {
      apply_distributed(value, rank.info);
    } else if (key == "baseTimeNanoseconds") {
      if (const int64_t base = whole(value); base != kNull) rank.info.clock_base_ns = base;
    } else if (key == "host_name" && value.is_string()) {
      rank.info.host = value.get<std::string>();
    } else {
      rest[key] = value;
      if (key == "WARNING" || key == "ERROR") note_losses(value, rank.quality);
      if (key != "deviceProperties" || !value.is_array()) continue;
      // Devices differ rarely; the first one that has work is named in describe_device when there
      // are several.
      for (const json& device : value) {
        if (device.is_object() && device.contains("name") && device["name"].is_string()) {
          rank.info.device_name = device["name"].get<std::string>();
          break;
        }
      }
    }
  }
  rank.info.versions_json = write_json(rest);
}

void describe_device(RankBuilder& rank) {
  std::set<std::string_view> categories;
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    const TrackInfo& track = rank.track(id);
    if (track.kind == TrackKind::kHost && rank.info.pid == kNull) {
      if (const auto pid = parse_integer(rank.strings.view(track.pid))) rank.info.pid = *pid;
    }
    if (track.kind != TrackKind::kDevice) continue;
    StringId last = kNoString;
    for (const SliceRecord& slice : rank.slices(id)) {
      if (slice.cat == last) continue;
      last = slice.cat;
      categories.insert(rank.strings.view(slice.cat));
    }
  }
  if (!rank.info.device_kind.empty()) return;
  const std::string& properties = rank.info.versions_json;
  const bool amd = properties.find("hip_runtime_version") != std::string::npos ||
                   rank.info.device_name.find("AMD") != std::string::npos ||
                   rank.info.device_name.find("Instinct") != std::string::npos;
  if (categories.contains("mtia_ccp_events"))
    rank.info.device_kind = "MTIA";
  else if (categories.contains("kernel") || categories.contains("Kernel"))
    rank.info.device_kind = amd ? "AMD GPU" : "NVIDIA GPU";
  else if (categories.empty())
    rank.info.device_kind = "CPU";
  else
    rank.info.device_kind = "accelerator";
}

}  // namespace stepscope
