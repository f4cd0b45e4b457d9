// MindsporeInbox: the folders of MindSpore's windows between the training program, which hands them
// over at step ends, and whoever reads them.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_INBOX_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_INBOX_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "collector/clock.h"

namespace stepscope {

// How the files begin that MindSpore writes into a window's folder; the names end in a rank that
// only MindSpore knows.
inline constexpr std::string_view kMindsporeOperatorFile = "cpu_op_execute_timestamp_";
inline constexpr std::string_view kMindsporeLaunchFile = "cpu_framework_";
inline constexpr std::string_view kMindsporeMemoryFile = "cpu_ms_memory_record_";

struct MindsporeFolder {
  std::string path;
  int64_t from_ns = 0;  // CLOCK_REALTIME
  int64_t to_ns = 0;
  bool shapes = false;
  bool memory = false;
  ClockSample clock;  // when it was handed over
};

// Calls visit(beginning, path) for the files in it that MindSpore wrote.
void visit_mindspore_files(
    const std::string& folder,
    const std::function<void(std::string_view beginning, const std::string& path)>& visit);

// Removes the files that MindSpore wrote, and the folder if nothing else is in it.
void remove_mindspore_folder(const std::string& path);

// Bounded: when the writer has given up (a full disk), the training program's windows must not pile
// up.
class MindsporeInbox {
 public:
  static constexpr size_t kMostFolders = 64;

  // False when it is full: the folder is removed and counted.
  bool put(MindsporeFolder folder);
  // The oldest one.
  std::optional<MindsporeFolder> take();
  size_t size();
  // Removes all folders that wait.
  void clear();
  // How many since the last call.
  int64_t turned_away();
  // Returns when `enough` says so of the number of folders: asked at once, when a folder comes and
  // at wake().
  void wait_until(const std::function<bool(size_t folders)>& enough);
  void wake();
  // For fork(): no other thread may hold the lock while the process is copied.
  std::mutex& mutex() { return mutex_; }
  // In a forked child, whose parent reads them.
  void forget();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<MindsporeFolder> folders_;
  int64_t turned_away_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_INBOX_H_
