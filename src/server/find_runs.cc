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
  std::sort(children.begin(), children.end());
  // The ranks of a window are one run, however many windows there are.
  std::map<std::string, std::vector<std::string>> windows;
  for (const std::string& child : children) {
    if (const std::string window = window_of(child); !window.empty())
      windows[window].push_back(child);
    else
      look_into(child, depth + 1, found);
  }
  for (auto& [window, paths] : windows) {
    const auto together = discover(paths, "");
    if (!together) continue;
    FoundRun one{paths[0], 0, {paths.begin() + 1, paths.end()}, window};
    for (const RankSource& rank : *together) one.bytes += rank.chosen.bytes;
    found.push_back(std::move(one));
  }
}

}  // namespace

std::vector<FoundRun> find_runs(const std::string& path) {
  std::vector<FoundRun> found;
  look_into(path, 0, found);
  return found;
}

}  // namespace stepscope
