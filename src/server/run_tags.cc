#include "server/run_tags.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr size_t kMostTags = 20;
constexpr size_t kLongestTag = 60;  // bytes
constexpr uint64_t kLargestFile = 16 << 20;

Status check(const std::vector<std::string>& tags) {
  const auto bad = [](std::string where, std::string why) {
    return Error{ErrorCode::kBadInput, "cannot tag the run", std::move(where), std::move(why),
                 "{\"tags\": [\"word\", ...]}; see docs/api.md"};
  };
  if (tags.size() > kMostTags)
    return bad("", "a run has at most " + std::to_string(kMostTags) + " tags");
  for (const std::string& tag : tags) {
    if (tag.empty() || tag.size() > kLongestTag)
      return bad(tag.substr(0, kLongestTag),
                 "a tag has 1 to " + std::to_string(kLongestTag) + " bytes");
    const bool printable = is_utf8(tag) && std::none_of(tag.begin(), tag.end(), [](char c) {
                             return static_cast<unsigned char>(c) < 32 || c == 127;
                           });
    if (!printable || tag.front() == ' ' || tag.back() == ' ')
      return bad(
          "", "a tag is text without control characters, and does not begin or end with a space");
  }
  return {};
}

}  // namespace

RunTags::RunTags(const std::string& workspace)
    : path_(workspace.empty() ? "" : workspace + "/tags.json") {}

Status RunTags::refresh() {
  if (path_.empty()) return {};
  const auto stamp = stamp_file(path_);
  if (!stamp) {
    if (stamp.error().code != ErrorCode::kNotFound) return stamp.error();
    tags_.clear();
    seen_.reset();
    return {};
  }
  if (seen_ && *seen_ == *stamp) return {};
  auto text = read_file(path_, kLargestFile);
  if (!text) return std::move(text.error());
  const auto all = json_tree(*text);
  if (!all.is_object())
    return Error{ErrorCode::kBadInput, "cannot read the tags", path_, "it is no JSON object",
                 "repair or remove the file"};
  tags_.clear();
  for (const auto& [run, list] : all.items()) {
    if (!list.is_array()) continue;
    for (const auto& tag : list) {
      if (tag.is_string()) tags_[run].push_back(tag.get<std::string>());
    }
  }
  seen_ = *stamp;
  return {};
}

std::vector<std::string> RunTags::of(const std::string& run_path) {
  const std::scoped_lock lock(mutex_);
  (void)refresh();  // a list of runs without tags is better than none; set() says what is wrong
  const auto found = tags_.find(run_path);
  return found == tags_.end() ? std::vector<std::string>() : found->second;
}

Status RunTags::set(const std::string& run_path, std::vector<std::string> tags) {
  if (path_.empty())
    return Error{ErrorCode::kUnsupported, "cannot tag the run", "", "the server has no workspace",
                 "start it with --workspace FOLDER"};
  std::sort(tags.begin(), tags.end());
  tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
  if (auto status = check(tags); !status) return status;
  const std::scoped_lock lock(mutex_);
  if (auto status = refresh(); !status) return status;
  auto changed = tags_;
  if (tags.empty()) {
    changed.erase(run_path);
  } else {
    changed[run_path] = std::move(tags);
  }
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), problem);
  auto file = OutputFile::create(path_);
  if (!file) return std::move(file.error());
  const nlohmann::json all = changed;
  const auto text = write_json(all, 1) + "\n";
  if (auto status = file->append(text); !status) return status;
  if (auto status = file->commit(); !status) return status;
  tags_ = std::move(changed);
  seen_.reset();
  if (const auto stamp = stamp_file(path_); stamp) seen_ = *stamp;
  return {};
}

}  // namespace stepscope
