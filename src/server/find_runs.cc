#include "server/find_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/folder.h"
#include "importers/discover.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 4;  // folders of jobs below the base

// "start5_stop7" of "rank0_start5_stop7", as dynamic profiling names a rank's folder; "" of others.
std::string window_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  std::string_view rest = name;
  for (const std::string_view word : {"rank", "_start", "_stop"}) {
    if (!rest.starts_with(word)) return "";
    rest.remove_prefix(word.size());
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return "";
    rest.remove_prefix(digits);
  }
  return rest.empty() ? name.substr(name.find('_') + 1) : "";
}

// The name with every number as '*'. What profilers name by host, process and time keeps its end:
// ranks of one job may be on several hosts.
std::string pattern_of(const std::string& path) {
  std::string pattern;
  for (const char c : fs::path(path).filename().string()) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || !pattern.ends_with('*')) pattern += digit ? '*' : c;
  }
  for (const std::string_view end : {"_ascend_ms", "_ascend_pt"}) {
    if (pattern.ends_with("_*_*" + std::string(end))) return '*' + std::string(end);
  }
  for (const std::string_view end : {".pt.trace.json", ".pt.trace.json.gz"}) {
    if (pattern.ends_with("_*.*" + std::string(end))) return '*' + std::string(end);
  }
  return pattern;
}

// Of files and of the folders that profilers make, what their content says counts. Folders that
// people named say it themselves: job_0 and job_1 are two jobs, whatever ranks they recorded.
bool says_its_rank(const RankSource& source, const std::string& path) {
  const std::string pattern = pattern_of(path);
  for (const std::string_view word : {"rank*", "rank_*", "rank-*"}) {
    if (pattern.find(word) != std::string::npos) return true;
  }
  std::error_code ignored;
  return !source.chosen.rank_inferred &&
         (pattern.starts_with("*_ascend_") || fs::is_regular_file(path, ignored));
}

// Empty when they are not.
std::vector<RankSource> ranks_of_one_job(const std::vector<std::string>& paths) {
  std::set<int64_t> ranks;
  std::vector<RankSource> sources;
  for (const std::string& path : paths) {
    auto found = discover({path}, "");
    if (!found || found->size() != 1 || !says_its_rank(found->front(), path)) return {};
    if (!ranks.insert(found->front().chosen.rank).second) return {};
    sources.push_back(std::move(found->front()));
  }
  return sources;
}

// A folder where one rank was recorded by several jobs holds several runs: look into it.
bool holds_several_jobs(const std::vector<RankSource>& ranks, const std::string& folder) {
  std::set<std::string> children_of_repeats;
  bool repeats = false;
  for (const RankSource& rank : ranks) {
    repeats |= rank.window > 0;
    const std::string below = fs::path(rank.chosen.path).lexically_relative(folder).string();
    children_of_repeats.insert(below.substr(0, below.find('/')));
  }
  return repeats && children_of_repeats.size() > 1;
}

void look_into(const std::string& path, int depth, std::vector<FoundRun>& found) {
  std::error_code ignored;
  if (depth == 0 && is_own_store(path) && fs::is_regular_file(path, ignored)) {
    found.push_back({path, fs::file_size(path, ignored)});  // the store itself was named
    return;
  }
  const auto ranks = discover({path}, "");
  if (ranks.ok() &&
      !(fs::is_directory(path, ignored) && depth < kDeepest && holds_several_jobs(*ranks, path))) {
    uint64_t bytes = 0;
    for (const RankSource& rank : *ranks) bytes += rank.chosen.bytes;
    found.push_back({path, bytes});
    return;
  }
  if (!ranks.ok() || !fs::is_directory(path, ignored)) return;
  std::vector<std::string> children;
  for (const fs::path& child : paths_in(path, ignored)) children.push_back(child.string());
  for (const std::vector<std::string>& group : siblings(std::move(children))) {
    // The ranks of a window are one run, however many windows there are.
    if (const bool several = group.size() > 1 || !window_of(group[0]).empty(); several) {
      if (auto together = find_ranks(group)) {
        found.push_back(std::move(*together));
        continue;
      }
    }
    for (const std::string& child : group) look_into(child, depth + 1, found);
  }
}

}  // namespace

std::vector<std::vector<std::string>> siblings(std::vector<std::string> paths) {
  std::sort(paths.begin(), paths.end());
  std::map<std::string, std::vector<std::string>> groups;
  for (std::string& path : paths) {
    const std::string window = window_of(path);
    groups[window.empty() ? pattern_of(path) : window].push_back(std::move(path));
  }
  std::vector<std::vector<std::string>> all;
  for (auto& [pattern, group] : groups) all.push_back(std::move(group));
  return all;
}

std::optional<FoundRun> find_ranks(const std::vector<std::string>& paths) {
  const std::string window = window_of(paths[0]);
  auto ranks = window.empty() ? Result(ranks_of_one_job(paths)) : discover(paths, "");
  if (!ranks || ranks->empty()) return std::nullopt;
  FoundRun run{paths[0], 0, {paths.begin() + 1, paths.end()}, window};
  if (window.empty()) run.name = pattern_of(paths[0]);
  for (const RankSource& rank : *ranks) run.bytes += rank.chosen.bytes;
  return run;
}

std::vector<FoundRun> find_runs(const std::string& path) {
  std::vector<FoundRun> found;
  look_into(path, 0, found);
  return found;
}

}  // namespace stepscope
