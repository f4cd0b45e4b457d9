#include "importers/mindspore_raw/raw_folder.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/text_file.h"
#include "importers/discover.h"

namespace stepscope::mindspore_raw {
namespace {

struct NumberedKind {
  std::string_view prefix;
  std::string_view suffix;
  std::string RankFiles::* place;
};
constexpr NumberedKind kNumbered[] = {
    {"cpu_op_execute_timestamp_", ".txt", &RankFiles::op_timestamps},
    {"cpu_framework_", ".txt", &RankFiles::op_inputs},
    {"cpu_op_detail_info_", ".csv", &RankFiles::op_details},
    {"cpu_op_type_info_", ".csv", &RankFiles::op_types},
    {"cpu_ms_memory_record_", ".txt", &RankFiles::memory},
    {"op_range_", "", &RankFiles::op_range},
    {"parallel_strategy_", ".json", &RankFiles::parallel_strategy},
};

struct PlainKind {
  std::string_view name;
  std::string RankFiles::* place;
};
constexpr PlainKind kPlain[] = {
    {"mindspore.op_range", &RankFiles::op_range},
    {"mindspore.memory_usage", &RankFiles::memory_usage},
    {"mindspore.record_shapes", &RankFiles::record_shapes},
    {"mindspore.py_stack", &RankFiles::python_stack},
};

bool take_runtime_file(std::string_view name, const std::string& path, RankFiles& files) {
  if (number_in_name(name, "RuntimeProfilerDetail", ".csv")) {
    files.runtime_details.push_back(path);
  } else if (number_in_name(name, "RuntimeProfilerSummary", ".csv")) {
    files.runtime_summaries.push_back(path);
  } else if (number_in_name(name, "RuntimeProfilerJson", ".json")) {
    files.ignored.push_back(path);  // the same events, with times rounded to 0.25 us
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool RankFiles::any() const {
  return has_cpu_operators() || has_binary() || !memory.empty() || !runtime_details.empty() ||
         minddata.any();
}

uint64_t RankFiles::bytes() const {
  uint64_t sum = 0;
  const auto add = [&](const std::string& path) {
    if (path.empty()) return;
    const auto stamp = stamp_file(path);
    if (stamp) sum += stamp->bytes;
  };
  for (const NumberedKind& kind : kNumbered) add(this->*kind.place);
  add(memory_usage);
  add(record_shapes);
  for (const std::string& path : runtime_details) add(path);
  for (const std::string& path : runtime_summaries) add(path);
  add(minddata.pipeline);
  add(minddata.cpu);
  add(minddata.iterator);
  add(minddata.device_queue);
  return sum;
}

const RankFiles* RawFolder::files_for(int64_t rank) const {
  const auto found = ranks.find(rank);
  if (found != ranks.end()) return &found->second;
  return ranks.size() == 1 ? &ranks.begin()->second : nullptr;
}

RawFolder sort_files(const std::string& folder, const std::vector<std::string>& names) {
  RawFolder sorted;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    bool taken = false;
    for (const NumberedKind& kind : kNumbered) {
      const auto number = number_in_name(name, kind.prefix, kind.suffix);
      if (!number) continue;
      sorted.ranks[*number].*kind.place = path;
      taken = true;
    }
    if (taken) continue;
    if (const auto number = minddata_rank(name)) {
      sorted.ranks[*number].minddata.take(name, path);
      continue;
    }
    for (const PlainKind& kind : kPlain) {
      if (name != kind.name) continue;
      sorted.ranks[kNull].*kind.place = path;
      taken = true;
    }
    if (taken) continue;
    RankFiles runtime;
    if (take_runtime_file(name, path, runtime)) {
      take_runtime_file(name, path, sorted.ranks[kNull]);
      continue;
    }
    if (!is_own_store(name)) sorted.unknown.push_back(path);
  }
  // Files without a number belong to the folder's only rank.
  const auto unnumbered = sorted.ranks.find(kNull);
  if (unnumbered != sorted.ranks.end() && sorted.ranks.size() == 2) {
    const int64_t rank = sorted.ranks.rbegin()->first;
    RankFiles& files = sorted.ranks[rank];
    RankFiles& extra = unnumbered->second;
    if (files.op_range.empty()) files.op_range = extra.op_range;
    files.memory_usage = extra.memory_usage;
    files.record_shapes = extra.record_shapes;
    files.python_stack = extra.python_stack;
    files.runtime_details = extra.runtime_details;
    files.runtime_summaries = extra.runtime_summaries;
    files.ignored = extra.ignored;
    sorted.ranks.erase(kNull);
  }
  std::erase_if(sorted.ranks, [](const auto& entry) { return !entry.second.any(); });
  return sorted;
}

RawFolder list_raw_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code kind_error;
    if (at->is_regular_file(kind_error)) names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return sort_files(folder, names);
}

std::optional<WindowName> parse_window_name(std::string_view name) {
  constexpr std::string_view kEnd = "_ascend_ms";
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const size_t time_at = name.rfind('_');
  if (time_at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(time_at + 1);
  if (digits.size() != 17 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto part = [&](size_t at, size_t count) {
    return static_cast<int>(*parse_integer(digits.substr(at, count)));
  };
  const std::chrono::year_month_day day{std::chrono::year(part(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(part(4, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(6, 2)))};
  if (!day.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  const int64_t seconds = ((days * 24 + part(8, 2)) * 60 + part(10, 2)) * 60 + part(12, 2);
  WindowName window;
  window.start_ns = (seconds * 1000 + part(14, 3)) * 1'000'000;
  const std::string_view worker = name.substr(0, time_at);
  const size_t pid_at = worker.rfind('_');
  window.host = worker.substr(0, pid_at);
  if (pid_at != std::string_view::npos) {
    const auto pid = parse_integer(worker.substr(pid_at + 1));
    if (pid) window.pid = *pid;
  }
  return window;
}

}  // namespace stepscope::mindspore_raw
