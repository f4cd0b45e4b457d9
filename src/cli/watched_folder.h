// A folder that the ranks of a training watch (stepscope.DynamicProfilerMonitor): the configuration
// that tells them which steps to record, and what each of them tells of itself.
//
//   profiler_config.json      who writes it chooses the steps
//   .stepscope/rank_N.json    rank N, written by it about once a second while it is busy
//   .stepscope/lock           held while the configuration is read and written again
#ifndef STEPSCOPE_CLI_WATCHED_FOLDER_H_
#define STEPSCOPE_CLI_WATCHED_FOLDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope {

// Steps, both included; 1 is the first.
struct StepWindow {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const StepWindow&) const = default;
};

struct WatchingRank {
  int64_t rank = 0;
  std::string host;
  int64_t process = 0;
  std::string state;  // watching, armed, recording, finished, missed, not chosen, ended
  std::optional<StepWindow> window;
  std::string request;  // what the state is about
  std::string taken;    // the request it has read last
  int64_t step = 0;     // that ended last
  double steps_per_second = 0;
  double age_seconds = 0;   // of what it tells
  double poll_seconds = 0;  // how long it may take to see a change; 0: at once
  std::string output;
  std::string error;
  bool alive = false;

  bool is_busy() const { return state == "armed" || state == "recording"; }
  bool is_done() const { return !is_busy() && state != "watching"; }
};

// What to write. `level` -1 leaves the choice to the profiler; no ranks are all of them.
struct CaptureRequest {
  std::string id;
  StepWindow steps;
  int level = -1;
  bool with_stack = false;
  bool analyse = false;
  std::vector<int64_t> ranks;
};

class WatchedFolder {
 public:
  // `path`: the folder, or the configuration file in it.
  explicit WatchedFolder(const std::string& path);

  // Sorted by rank. None is not an error; files that are no statuses are left out.
  Result<std::vector<WatchingRank>> ranks() const;
  // What the configuration asks for now; none when there is no file, or it asks for nothing.
  std::optional<StepWindow> asked() const;
  // Writes the request into the configuration, which keeps its other keys. Whole or not at all.
  // Only with a Lock.
  Status write(const CaptureRequest& request) const;

  const std::string& folder() const { return folder_; }
  const std::string& file() const { return file_; }

  // Held by one writer at a time, on any machine that shares the folder.
  class Lock {
   public:
    Lock(Lock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    friend class WatchedFolder;
    explicit Lock(int descriptor) : descriptor_(descriptor) {}
    int descriptor_;
  };
  // Waits some seconds for another writer.
  Result<Lock> lock() const;

 private:
  std::string folder_;
  std::string file_;
};

// Finds the folder that `target` names: a folder, a configuration file, a process of this machine
// or one of its ancestors, or the name of a job.
Result<WatchedFolder> find_watched_folder(const std::string& target);

// A step that all of the ranks can still begin after reading a configuration that is written now.
int64_t reachable_step(const std::vector<WatchingRank>& ranks);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_WATCHED_FOLDER_H_
