// profiler_info_<rank>.json, profiler_metadata.json and the recording folder's name: who recorded
// what.
#include <algorithm>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/ascend_recording.h"
#include "importers/common/table_builder.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

// <host>_<process>_<time>_ascend_pt: the name that both frameworks give by default.
void read_folder_name(const std::string& path, RankInfo& info) {
  std::string_view name = path;
  while (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  name = name.substr(name.find_last_of('/') + 1);
  const size_t suffix = name.rfind("_ascend_");
  if (suffix == std::string_view::npos) return;
  name = name.substr(0, suffix);
  const size_t time = name.find_last_of('_');
  if (time == std::string_view::npos || time == 0) return;
  const size_t process = name.find_last_of('_', time - 1);
  if (process == std::string_view::npos || process == 0) return;
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view number = name.substr(process + 1, time - process - 1);
  if (!is_number(number) || !is_number(name.substr(time + 1))) return;
  if (info.host.empty()) info.host = name.substr(0, process);
  if (info.pid == kNull) info.pid = parse_integer(number).value_or(kNull);
}

json read_object(const std::string& path, std::string_view role, RankBuilder& rank) {
  if (path.empty()) return json::object();
  auto tree = read_json_file(path);
  auto stamp = stamp_file(path);
  if (!tree.ok() || !tree->is_object()) {
    rank.quality.add(QualityCode::kUnreadableFile,
                     tree.ok() ? path + ": not a JSON object" : tree.error().message());
    return json::object();
  }
  rank.sources.push_back({path, stamp.ok() ? *stamp : FileStamp{}, std::string(role), 1});
  return std::move(*tree);
}

}  // namespace

void read_ascend_metadata(const AscendRecording& recording, RankBuilder& rank) {
  RankInfo& info = rank.info;
  info.device_kind = "Ascend NPU";
  info.source_path = recording.folder;
  info.rank_inferred = recording.rank == kNull || recording.rank_inferred;
  if (recording.rank != kNull) info.rank = recording.rank;  // else what the caller has given it
  read_folder_name(recording.folder, info);

  json versions = json::object();
  for (const std::string& path : recording.collection_files) {
    const json about = read_object(path, "collection_info", rank);
    if (about.empty()) continue;
    const auto host = about.find("hostname");
    if (info.host.empty() && host != about.end() && host->is_string()) {
      info.host = host->get<std::string>();
    }
    if (info.pid == kNull) info.pid = json_integer(json_member(about, "pid"));
    // "info.json.0" or "device_0/info.json.0"
    const bool inside = path.starts_with(recording.folder + "/");
    versions[inside ? path.substr(recording.folder.size() + 1) : path] = about;
  }
  const json profiler = read_object(recording.info_file, "profiler_info", rank);
  const json metadata = read_object(recording.metadata_file, "profiler_metadata", rank);
  for (const auto& [key, value] : profiler.items()) versions[key] = value;
  json parallel = json::object();
  for (const auto& [key, value] : metadata.items()) {
    if (key == "distributed_args" || key == "parallel_group_info" || key == "pp_info") {
      parallel[key] = value;
    } else {
      versions[key] = value;
    }
  }
  if (!versions.empty()) info.versions_json = write_json(versions);
  if (!parallel.empty()) info.parallel_json = write_json(parallel);
  const int64_t world =
      json_integer(json_member(json_member(parallel, "distributed_args"), "world_size"));
  const int64_t rank_size = json_integer(json_member(profiler, "rank_size"));
  if (world != kNull) info.world_size = world;
  if (info.world_size == kNull) info.world_size = rank_size;
}

}  // namespace stepscope
