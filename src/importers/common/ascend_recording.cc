#include "importers/common/ascend_recording.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/decimal.h"
#include "base/file.h"
#include "base/own_files.h"
#include "importers/discover.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

// format/raw_file.h, in run directories and in folders that C programs chose
constexpr std::string_view kHostRecordings[] = {"/FRAMEWORK/stepscope.raw", "/stepscope.raw"};

// CSV and JSON names that nothing but these profilers writes.
constexpr std::array<std::string_view, 10> kTellingNames = {
    "kernel_details",   "op_statistic",        "step_trace_time", "api_statistic",
    "operator_memory",  "npu_module_mem",      "op_summary",      "task_time",
    "operator_details", "communication_matrix"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view base_name(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path.substr(path.find_last_of('/') + 1);
}

std::string parent_of(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  auto text = error ? std::filesystem::path(path) : absolute;
  if (!text.has_filename()) text = text.parent_path();
  return text.parent_path().string();
}

bool between(std::string_view text, std::string_view first, std::string_view last) {
  return text.size() >= first.size() + last.size() && text.starts_with(first) &&
         text.ends_with(last);
}

// The folder around a folder, spelt as the walk of the user's path spells it.
std::string folder_around(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool holds_host_recording(const std::string& run) {
  std::error_code ignored;
  return std::any_of(std::begin(kHostRecordings), std::end(kHostRecordings), [&](auto recorded) {
    return std::filesystem::is_regular_file(run + std::string(recorded), ignored);
  });
}

// The number between `first` and `last` in a file name: profiler_info_12.json.
std::optional<int64_t> number_between(std::string_view name, std::string_view first,
                                      std::string_view last) {
  if (!between(name, first, last)) return std::nullopt;
  const auto text = name.substr(first.size(), name.size() - first.size() - last.size());
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  return parse_integer(text);
}

void sort_files(const std::string& path, const std::vector<std::string>& names,
                AscendRecording& recording) {
  for (const std::string& name : names) {
    const std::string file = path + "/" + name;
    const std::string table = ascend_table_name(name);
    const bool telling =
        std::find(kTellingNames.begin(), kTellingNames.end(), table) != kTellingNames.end();
    if (name.ends_with(".csv")) {
      recording.tables.push_back(file);
      recording.has_tables_of_ascend |= telling;
    } else if (name == "trace_view.json" || (table == "msprof" && name.ends_with(".json"))) {
      recording.traces.push_back(file);
    } else if (name.starts_with("profiler_info") || name == "profiler_metadata.json") {
      continue;
    } else if (name.ends_with(".json")) {
      recording.summaries.push_back(file);
      recording.has_tables_of_ascend |= telling;
    } else if (name == "analysis.db" || name == "communication_analyzer.db") {
      recording.analyses.push_back(file);
    } else if (name.ends_with(".db") &&
               (name.starts_with("ascend_") || name.starts_with("msprof"))) {
      recording.databases.push_back(file);
    } else {
      recording.others.push_back(file);
    }
  }
}

void note_metadata(const std::string& path, const std::vector<std::string>& names,
                   AscendRecording& recording) {
  for (const std::string& name : names) {
    if (between(name, "profiler_info", ".json") && recording.info_file.empty()) {
      recording.info_file = path + "/" + name;
      if (const auto rank = number_between(name, "profiler_info_", ".json")) recording.rank = *rank;
    }
    if (name == "profiler_metadata.json" && recording.metadata_file.empty()) {
      recording.metadata_file = path + "/" + name;
    }
  }
}

// info.json, info.json.0 and the like: what the collector knows about host, devices and clocks.
void note_collection(const std::string& path, const std::vector<std::string>& names,
                     AscendRecording& recording) {
  for (const std::string& name : names) {
    for (const std::string_view word : {"info.json", "start_info", "end_info"}) {
      if (name == word || number_between(name, std::string(word) + ".", "")) {
        recording.collection_files.push_back(path + "/" + name);
      }
    }
  }
}

// The rank that every info.json of the recording names; kNull when they differ or there is none.
int64_t rank_of_collection(const AscendRecording& recording) {
  int64_t rank = kNull;
  for (const std::string& path : recording.collection_files) {
    if (!base_name(path).starts_with("info.json")) continue;
    const auto info = read_json_file(path);
    if (!info.ok() || !info->is_object()) continue;
    const auto id = info->find("rank_id");
    if (id == info->end() || !id->is_number_integer()) continue;
    const auto number = id->get<int64_t>();
    if (rank != kNull && rank != number) return kNull;
    rank = number;
  }
  return rank;
}

void find_rank(AscendRecording& recording) {
  if (recording.rank == kNull && !recording.info_file.empty()) {
    const auto info = read_json_file(recording.info_file);
    if (info.ok() && info->is_object()) {
      for (const auto& where : {*info, info->value("ms_profiler_info", nlohmann::json::object())}) {
        const auto id = where.is_object() ? where.find("rank_id") : where.end();
        if (!where.is_object() || id == where.end()) continue;
        if (id->is_number_integer()) recording.rank = id->get<int64_t>();
        if (id->is_string()) {
          if (const auto rank = parse_integer(id->get_ref<const std::string&>()))
            recording.rank = *rank;
        }
      }
    }
  }
  for (const std::string& path : recording.databases) {
    if (recording.rank != kNull) break;
    for (const std::string_view first :
         {"ascend_pytorch_profiler_", "ascend_mindspore_profiler_"}) {
      if (const auto rank = number_between(base_name(path), first, ".db")) {
        recording.rank = *rank;
        recording.rank_inferred = true;
      }
    }
  }
  if (recording.rank == kNull) recording.rank = rank_of_collection(recording);
  if (recording.rank != kNull && recording.rank < 0) recording.rank = kNull;
}

// step_trace_*.json and its like hold parts of what msprof_*.json holds: read where that is
// missing.
void use_partial_timelines(AscendRecording& recording) {
  if (!recording.traces.empty()) return;
  std::erase_if(recording.summaries, [&](const std::string& path) {
    const bool is_part = is_partial_timeline(path);
    if (is_part) recording.traces.push_back(path);
    return is_part;
  });
}

}  // namespace

bool is_partial_timeline(std::string_view path) {
  const std::string table = ascend_table_name(path);
  return path.ends_with(".json") &&
         (table == "step_trace" || table == "hccl" || table == "task_time" || table == "msprof_tx");
}

Folder list_folder(const std::string& path) {
  Folder folder;
  folder.path = path;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    auto name = at->path().filename().string();
    if (at->is_directory(ignored)) {
      folder.folders.push_back(std::move(name));
    } else if (at->is_regular_file(ignored) && !is_own_store(name)) {
      folder.files.push_back(std::move(name));
    }
  }
  std::sort(folder.files.begin(), folder.files.end());
  std::sort(folder.folders.begin(), folder.folders.end());
  return folder;
}

std::optional<AscendRecording> find_ascend_recording(const std::string& folder_path) {
  return find_ascend_recording(list_folder(folder_path));
}

std::optional<AscendRecording> find_ascend_recording(const Folder& folder) {
  AscendRecording recording;
  recording.folder = folder.path;
  const auto take = [&](const std::string& path) {
    sort_files(path, list_folder(path).files, recording);
  };
  if (folder.has_folder(kProfilerOutputFolder)) {
    take(folder.path + "/" + std::string(kProfilerOutputFolder));
    note_metadata(folder.path, folder.files, recording);
    recording.is_host_run = holds_host_recording(folder.path);
    std::error_code ignored;
    const std::string marker =
        folder.path + "/" + std::string(kProfilerOutputFolder) + "/" + std::string(kOutputMarker);
    if (recording.is_host_run && std::filesystem::exists(marker, ignored)) {
      recording.made_here = true;
      // Copies of what CANN's folders beside it hold.
      recording.databases.clear();
      recording.analyses.clear();
    }
  } else if (folder.has_folder("mindstudio_profiler_output") || folder.has_folder("timeline")) {
    for (const std::string_view inside : {"mindstudio_profiler_output", "timeline", "summary"}) {
      if (folder.has_folder(inside)) take(folder.path + "/" + std::string(inside));
    }
    if (folder.has_folder("analyze")) {
      const std::string analyze = folder.path + "/analyze";
      for (const std::string& name : list_folder(analyze).files) {
        if (name.starts_with("communication")) sort_files(analyze, {name}, recording);
      }
    }
    for (const std::string& name : folder.files) {
      if (between(name, "msprof", ".db")) recording.databases.push_back(folder.path + "/" + name);
    }
    note_collection(folder.path, folder.files, recording);
    for (const std::string& name : folder.folders) {
      if (name != "host" && !number_between(name, "device_", "")) continue;
      const std::string inside = folder.path + "/" + name;
      note_collection(inside, list_folder(inside).files, recording);
    }
    use_partial_timelines(recording);
    const std::string run = folder_around(folder.path);
    if (holds_host_recording(run)) recording.host_run = run;
  } else {
    for (const std::string& name : folder.files) {
      const bool database = name.ends_with(".db") || name == "trace_view.json";
      if (database || name.ends_with(".csv") || between(name, "msprof_", ".json") ||
          name.starts_with("communication")) {
        sort_files(folder.path, {name}, recording);
      }
    }
    note_metadata(folder.path, folder.files, recording);
    const std::string_view name = base_name(folder.path);
    if (name == kProfilerOutputFolder || name == "mindstudio_profiler_output") {
      recording.folder = parent_of(folder.path);
    }
  }
  // A trace or summary alone could be anybody's; with only that the folder must say more.
  const bool sure =
      recording.has_tables_of_ascend || recording.has_database() || !recording.info_file.empty() ||
      folder.has_folder(kProfilerOutputFolder) || base_name(folder.path) == kProfilerOutputFolder ||
      std::any_of(recording.traces.begin(), recording.traces.end(),
                  [](const auto& path) { return base_name(path) != "trace_view.json"; });
  if (!sure || (!recording.has_text() && !recording.has_database())) return std::nullopt;
  if (recording.info_file.empty()) {
    const std::string parent = parent_of(folder.path);
    note_metadata(parent, list_folder(parent).files, recording);
  }
  recording.is_mindspore =
      base_name(recording.folder).ends_with("_ascend_ms") ||
      std::any_of(recording.databases.begin(), recording.databases.end(),
                  [](const auto& path) { return base_name(path).starts_with("ascend_mindspore"); });
  find_rank(recording);
  return recording;
}

std::optional<RecordingAround> ascend_recording_around(const std::string& file, bool as_database) {
  const std::string folder = parent_of(file);
  const auto recording = find_ascend_recording(folder);
  if (!recording) return std::nullopt;
  const std::string path = folder + "/" + std::string(base_name(file));
  const auto has = [&](const std::vector<std::string>& files) {
    return std::find(files.begin(), files.end(), path) != files.end();
  };
  RecordingAround around;
  around.folder = recording->folder;
  if (as_database) {
    if (!has(recording->databases) && !has(recording->analyses)) return std::nullopt;
    around.read_whole = has(recording->analyses) || recording->databases.size() == 1;
  } else {
    const bool metadata = path == recording->info_file || path == recording->metadata_file;
    const bool table = has(recording->tables) || has(recording->summaries) || metadata;
    if (!recording->has_text() || (!table && !has(recording->traces))) return std::nullopt;
    around.read_whole = table || recording->traces.size() == 1;
  }
  // As the importer of that form will see it: the folder above may have more than the file's.
  const auto whole = find_ascend_recording(recording->folder);
  const AscendRecording& all = whole ? *whole : *recording;
  size_t files = all.traces.size() + all.tables.size() + all.summaries.size();
  if (as_database) files += all.databases.size() + all.analyses.size() - all.traces.size();
  files += all.info_file.empty() ? 0 : 1;
  files += all.metadata_file.empty() ? 0 : 1;
  around.other_files = std::max<size_t>(files, 1) - 1;
  return around;
}

std::string ascend_table_name(std::string_view path) {
  std::string_view name = base_name(path);
  name = name.substr(0, name.find_last_of('.'));
  for (bool again = true; again;) {
    again = false;
    const size_t line = name.find_last_of('_');
    if (line == std::string_view::npos || line == 0) break;
    const std::string_view last = name.substr(line + 1);
    if (last == "slice" || (!last.empty() && std::all_of(last.begin(), last.end(), is_digit))) {
      name = name.substr(0, line);
      again = true;
    }
  }
  std::string table;
  for (const char c : name) {
    const bool word = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (word) {
      table += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    } else if (!table.empty() && table.back() != '_') {
      table += '_';
    }
  }
  return table;
}

uint64_t total_bytes(const std::vector<std::string>& files) {
  uint64_t bytes = 0;
  for (const std::string& path : files) {
    if (const auto stamp = stamp_file(path); stamp.ok()) bytes += stamp->bytes;
  }
  return bytes;
}

}  // namespace stepscope
