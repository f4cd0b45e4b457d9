#include "importers/mindspore_raw/mindspore_raw_importer.h"

#include <algorithm>
#include <filesystem>

#include "base/own_files.h"
#include "importers/common/profiler_names.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindspore_raw/cpu_files.h"
#include "importers/mindspore_raw/raw_folder.h"
#include "importers/mindspore_raw/runtime_profiler.h"
#include "importers/mindspore_raw/tlv_files.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using mindspore_raw::RankFiles;
using mindspore_raw::RawFolder;

constexpr std::string_view kFramework = "FRAMEWORK";

// The folder of the recording window: the parent of FRAMEWORK/, else the folder itself.
std::string window_folder_of(const std::string& path) {
  return file_name_of(path) == kFramework ? folder_of(path) : path;
}

// Files without a rank in their name: profiler_info_R.json beside FRAMEWORK/, or rank_R in the
// path.
int64_t rank_from_place(const std::string& window, bool& inferred) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(window, error), end; !error && at != end;
       at.increment(error)) {
    const auto number = number_in_name(at->path().filename().string(), "profiler_info_", ".json");
    if (number) return *number;
  }
  inferred = true;
  std::string path = window;
  for (int up = 0; up < 3; ++up) {
    const std::string_view name = file_name_of(path);
    for (const std::string_view prefix : {"rank_", "rank-", "rank"}) {
      if (!name.starts_with(prefix)) continue;
      const std::string_view rest = name.substr(prefix.size());
      const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      if (const auto number = number_in_name(rest.substr(0, digits), "", "")) return *number;
    }
    path = folder_of(path);
  }
  return kNull;
}

// An NPU's raw data or what was made of it lies beside FRAMEWORK/.
bool ran_on_npu(const std::string& window) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(window, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().filename().string().starts_with("PROF_")) return true;
  }
  return std::filesystem::exists(window + "/ASCEND_PROFILER_OUTPUT/kernel_details.csv", error);
}

void add_candidates(const Importer& importer, const std::string& path, const RawFolder& folder,
                    std::vector<Candidate>& found) {
  // Beside a raw file of ours they are parts of that recording, not another form of it.
  std::error_code ignored;
  if (std::filesystem::exists(path + "/" + std::string(kRawFileName), ignored)) return;
  const std::string window = window_folder_of(path);
  for (const auto& [rank, files] : folder.ranks) {
    Candidate candidate;
    candidate.importer = &importer;
    candidate.path = path;
    candidate.unit = folder.ranks.size() == 1 ? window : window + "#rank" + std::to_string(rank);
    candidate.rank = rank;
    if (rank == kNull) candidate.rank = rank_from_place(window, candidate.rank_inferred);
    candidate.richness = files.has_binary() || ran_on_npu(window)
                             ? MindsporeRawImporter::kHostOfNpuRichness
                             : MindsporeRawImporter::kCpuRichness;
    candidate.bytes = files.bytes();
    // A window is seen twice when discovery shows both its folder and FRAMEWORK/.
    const bool known = std::any_of(found.begin(), found.end(), [&](const Candidate& other) {
      return other.importer == &importer && other.unit == candidate.unit;
    });
    if (!known) found.push_back(candidate);
  }
}

// What the recording says about itself, beside the data.
void read_window_info(const std::string& window, RankBuilder& rank) {
  nlohmann::json versions = nlohmann::json::object();
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(window, error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const bool metadata = name == "profiler_metadata.json";
    if (!metadata && !number_in_name(name, "profiler_info_", ".json")) continue;
    const std::string path = window + "/" + name;
    auto tree = read_json_file(path);
    if (!tree) {
      add_unreadable(rank, path, tree.error());
      continue;
    }
    versions[metadata ? "metadata" : "profiler_info"] = std::move(*tree);
    add_source(rank, path, metadata ? "profiler_metadata" : "profiler_info", 1);
  }
  if (!versions.empty()) rank.info.versions_json = write_json(versions);
}

void read_parallel_strategy(const std::string& path, RankBuilder& rank) {
  if (auto kept = keep_json(path, "parallel_strategy", rank); !kept) {
    return add_unreadable(rank, path, kept.error());
  }
  const auto tree = read_json_file(path);
  if (!tree) return;
  const auto& config = json_member(*tree, "config");
  if (config.is_object()) rank.info.parallel_json = write_json(config);
}

int64_t read_all(const RankFiles& files, const std::string& folder, const std::string& window,
                 const ImportContext& context, RankBuilder& rank) {
  const auto name = mindspore_raw::parse_window_name(file_name_of(window));
  if (name) {
    rank.info.host = name->host;
    rank.info.pid = name->pid;
  }
  int64_t records = 0;
  int64_t first_operator_ns = kNull;
  records += mindspore_raw::read_cpu_operators(files, rank, first_operator_ns);
  if (!files.memory.empty()) {
    records += mindspore_raw::read_cpu_memory(files.memory, name ? name->start_ns : kNull,
                                              first_operator_ns, rank);
  }
  if (context.progress.cancelled()) return records;
  for (const std::string& path : files.runtime_details) {
    records += mindspore_raw::read_runtime_detail(path, rank);
  }
  for (const std::string& path : files.runtime_summaries) {
    mindspore_raw::keep_runtime_summary(path, rank);
  }
  if (!files.op_range.empty()) {
    records +=
        mindspore_raw::read_op_range(files.op_range, mindspore_raw::find_host_clock(window), rank);
  }
  if (!files.memory_usage.empty()) {
    records += mindspore_raw::read_memory_usage(files.memory_usage, rank);
  }
  if (!files.record_shapes.empty()) {
    records += mindspore_raw::read_record_shapes(files.record_shapes, rank);
  }
  if (files.minddata.any()) {
    auto offset_ns = find_clock_offset_ns(folder);
    if (!offset_ns) offset_ns = find_clock_offset_ns(window);
    records += read_minddata({&files.minddata, 1}, offset_ns, MinddataCpu::kAll, rank);
  }
  if (!files.parallel_strategy.empty()) read_parallel_strategy(files.parallel_strategy, rank);
  if (!files.python_stack.empty()) {
    // MindSpore reserves the name, but its known versions write Python calls into op_range.
    rank.quality.add(QualityCode::kNotUnderstood,
                     files.python_stack + ": its records are not described anywhere");
    add_source(rank, files.python_stack, "ignored", 0);
  }
  for (const std::string& path : files.ignored) {
    rank.quality.add(QualityCode::kIgnoredFile, path);
    add_source(rank, path, "ignored", 0);
  }
  return records;
}

}  // namespace

bool MindsporeRawImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  if (is_mindinsight_folder(folder.files)) return false;  // those have the same files and more
  const RawFolder here = mindspore_raw::sort_files(folder.path, folder.files);
  if (here.any()) {
    // Made by us, of what lies elsewhere? (Listings leave the marker out.)
    std::error_code ignored;
    if (std::filesystem::exists(folder.path + "/" + std::string(kOutputMarker), ignored))
      return false;
    add_candidates(*this, folder.path, here, found);
    return folder.folders.empty();
  }
  if (folder.has_folder(kFramework)) {
    const std::string path = folder.path + "/" + std::string(kFramework);
    add_candidates(*this, path, mindspore_raw::list_raw_folder(path), found);
  }
  return false;  // ASCEND_PROFILER_OUTPUT and PROF_* are for others
}

bool MindsporeRawImporter::probe_file(const std::string& path, std::string_view,
                                      std::vector<Candidate>& found) const {
  const std::string_view name = file_name_of(path);
  if (!number_in_name(name, "RuntimeProfilerJson", ".json") && !minddata_rank(name)) return false;
  const std::string folder = folder_of(path);
  return std::any_of(found.begin(), found.end(), [&](const Candidate& candidate) {
    return candidate.importer == this && candidate.path == folder;
  });
}

Status MindsporeRawImporter::import(const Candidate& candidate, const ImportContext& context,
                                    RankBuilder& rank) const {
  const std::string window = window_folder_of(candidate.path);
  const RawFolder folder = mindspore_raw::list_raw_folder(candidate.path);
  const RankFiles* files = folder.files_for(candidate.rank);
  if (files == nullptr) {
    return Error{ErrorCode::kNotFound, "cannot import", candidate.path,
                 "there are no raw MindSpore files of this rank any more",
                 "check that the recording was not moved or cleaned up"};
  }
  rank.info.source_format = name();
  rank.info.source_path = window;
  if (candidate.rank != kNull) rank.info.rank = candidate.rank;
  rank.info.rank_inferred = candidate.rank_inferred;
  rank.info.device_kind = files->has_binary() ? "Ascend NPU" : "CPU";
  if (candidate.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred, "taken as rank " + std::to_string(rank.info.rank));
  }
  read_window_info(window, rank);
  // Outside FRAMEWORK/ raw files may lie among anything.
  if (file_name_of(candidate.path) == kFramework) {
    for (const std::string& path : folder.unknown) {
      rank.quality.add(QualityCode::kIgnoredFile, path);
      add_source(rank, path, "ignored", 0);
    }
  }
  const int64_t records = read_all(*files, candidate.path, window, context, rank);
  context.progress.add_done_bytes(candidate.bytes);
  if (context.progress.cancelled()) {
    return Error{ErrorCode::kCancelled, "import stopped", candidate.path, "cancelled", ""};
  }
  if (records > 0) return {};
  std::string why = "none of its files holds a readable record";
  for (const auto& [code, entry] : rank.quality.entries()) {
    if (!entry.example.empty()) why += "; " + entry.example;
  }
  return Error{ErrorCode::kBadInput, "cannot import", candidate.path, why,
               "record again and end the window with stop(), which writes these files"};
}

}  // namespace stepscope
