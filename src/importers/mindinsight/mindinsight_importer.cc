#include "importers/mindinsight/mindinsight_importer.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "importers/common/ascend_recording.h"
#include "importers/common/profiler_names.h"
#include "importers/common/text_file.h"
#include "importers/mindinsight/device_reader.h"
#include "importers/mindinsight/folder_files.h"
#include "importers/mindinsight/hccl_trace.h"

namespace stepscope {
namespace {

using namespace mindinsight;  // NOLINT: the importer is the front of that folder
using enum FileKind;

uint64_t bytes_of(const DeviceFiles& files) {
  uint64_t bytes = 0;
  for (const KnownFile& file : files.files) {
    const auto stamp = stamp_file(file.path);
    if (stamp) bytes += stamp->bytes;
  }
  return bytes;
}

std::string device_kind(const DeviceFiles& files) {
  for (const KnownFile& file : files.files) {
    if (file_name_of(file.path).starts_with("gpu_")) return "NVIDIA GPU";
  }
  for (const KnownFile& file : files.files) {
    const std::string_view name = file_name_of(file.path);
    if (!name.starts_with("cpu_") && !name.starts_with("minddata_")) return "Ascend NPU";
  }
  return "CPU";
}

// Whether the folders inside are the profiler's as well; else discovery looks into them.
bool owns(const std::vector<std::string>& folders) {
  return std::ranges::none_of(folders, [](const std::string& name) {
    return name.starts_with("PROF_") || name.ends_with("_ascend_ms") || name == "FRAMEWORK";
  });
}

}  // namespace

bool MindinsightImporter::probe_folder(const Folder& folder, std::vector<Candidate>& found) const {
  if (!is_mindinsight_folder(folder.files)) return false;
  const ProfilerFolder files = sort_profiler_files(folder.path, folder.files);
  for (const auto& [device, device_files] : files.devices) {
    Candidate candidate;
    candidate.importer = this;
    candidate.path = folder.path;
    candidate.unit =
        files.devices.size() == 1 ? folder.path : folder.path + "#device" + std::to_string(device);
    candidate.rank = device;
    // The number is a rank on Ascend in later versions, a device elsewhere.
    candidate.rank_inferred = device_files.of(kProfilerInfo).empty();
    candidate.richness = kRichness;
    candidate.bytes = bytes_of(device_files);
    found.push_back(candidate);
  }
  return !files.devices.empty() && owns(folder.folders);
}

bool MindinsightImporter::probe_file(const std::string& path, std::string_view,
                                     std::vector<Candidate>& found) const {
  const std::string folder = folder_of(path);
  return std::ranges::any_of(found, [&](const Candidate& candidate) {
    return candidate.importer == this &&
           (candidate.path == folder || is_in_hccl_folder(path, candidate.path));
  });
}

Status MindinsightImporter::import(const Candidate& candidate, const ImportContext& context,
                                   RankBuilder& rank) const {
  const ProfilerFolder folder = list_profiler_folder(candidate.path);
  const DeviceFiles* files = folder.files_for(candidate.rank);
  if (files == nullptr) {
    return Error{
        ErrorCode::kNotFound, "cannot import", candidate.path,
        "there are no profiler files of device " + std::to_string(candidate.rank) + " any more",
        "check that the folder was not moved or cleaned up"};
  }
  rank.info.source_format = name();
  rank.info.source_path = candidate.path;
  rank.info.rank = candidate.rank;
  rank.info.rank_inferred = candidate.rank_inferred;
  rank.info.device_kind = device_kind(*files);
  const int64_t records = read_device(folder, *files, candidate, context, rank);
  for (const std::string& path : folder.unknown) {
    rank.quality.add(QualityCode::kIgnoredFile, path);
    add_source(rank, path, "ignored", 0);
  }
  const std::vector<std::string> inside = list_folder(candidate.path).folders;
  const std::vector<std::string> transfers = find_hccl_folders(candidate.path);
  const bool owns_inside = owns(inside);
  for (const std::string& name : inside) {
    const std::string path = candidate.path + "/" + name;
    const bool is_read =
        name == "msadvisor" || std::ranges::find(transfers, path) != transfers.end();
    if (owns_inside && !is_read) rank.quality.add(QualityCode::kIgnoredFile, path);
  }
  if (rank.info.rank_inferred) {
    rank.quality.add(QualityCode::kRankInferred,
                     "the number in the file names, " + std::to_string(rank.info.rank));
  }
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
               "profile again, or analyse the raw data again with the profiler that wrote it"};
}

}  // namespace stepscope
