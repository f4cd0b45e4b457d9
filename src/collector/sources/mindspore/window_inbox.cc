#include "collector/sources/mindspore/window_inbox.h"

#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

namespace stepscope {
namespace {

constexpr std::string_view kWritten[] = {kMindsporeOperatorFile, kMindsporeLaunchFile,
                                         kMindsporeMemoryFile, "cpu_op_detail_info_",
                                         "cpu_op_type_info_"};

constexpr std::string_view kScratch = "stepscope-mindspore-";  // the Python side's word

}  // namespace

void visit_mindspore_files(
    const std::string& folder,
    const std::function<void(std::string_view beginning, const std::string& path)>& visit) {
  DIR* const entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* const entry = ::readdir(entries)) {
    for (const std::string_view beginning : kWritten) {
      if (std::string_view(entry->d_name).starts_with(beginning)) {
        visit(beginning, folder + "/" + entry->d_name);
      }
    }
  }
  ::closedir(entries);
}

void remove_mindspore_folder(const std::string& path) {
  std::vector<std::string> files;
  visit_mindspore_files(path,
                        [&](std::string_view, const std::string& file) { files.push_back(file); });
  for (const std::string& file : files) ::unlink(file.c_str());
  ::rmdir(path.c_str());
  // The folder of the windows goes with the last of them.
  const std::string parent = path.substr(0, path.rfind('/'));
  if (parent.substr(parent.rfind('/') + 1).starts_with(kScratch)) ::rmdir(parent.c_str());
}

bool MindsporeInbox::put(MindsporeFolder folder) {
  {
    const std::lock_guard lock(mutex_);
    if (folders_.size() < kMostFolders) {
      folders_.push_back(std::move(folder));
      changed_.notify_all();
      return true;
    }
    ++turned_away_;
  }
  remove_mindspore_folder(folder.path);
  return false;
}

std::optional<MindsporeFolder> MindsporeInbox::take() {
  const std::lock_guard lock(mutex_);
  if (folders_.empty()) return std::nullopt;
  MindsporeFolder folder = std::move(folders_.front());
  folders_.pop_front();
  return folder;
}

size_t MindsporeInbox::size() {
  const std::lock_guard lock(mutex_);
  return folders_.size();
}

void MindsporeInbox::clear() {
  while (const auto folder = take()) remove_mindspore_folder(folder->path);
}

int64_t MindsporeInbox::turned_away() {
  const std::lock_guard lock(mutex_);
  return std::exchange(turned_away_, 0);
}

void MindsporeInbox::wait_until(const std::function<bool(size_t folders)>& enough) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return enough(folders_.size()); });
}

void MindsporeInbox::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void MindsporeInbox::forget() {
  folders_.clear();
  // Whoever waited for it is not here.
  std::construct_at(&changed_);
}

}  // namespace stepscope
