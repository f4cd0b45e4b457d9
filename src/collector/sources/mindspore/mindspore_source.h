// MindsporeSource: the windows that MindSpore's CPU profiler wrote, read on the writer thread.
//
// The Python side stops and starts MindSpore's profiler at step ends and hands over the folder of
// each window (stepscope_import_mindspore_window). Here the folder becomes rows and is removed. One
// window of 10,000 operators takes 2 ms of the writer thread, with shapes 4.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_MINDSPORE_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_MINDSPORE_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collector/clock.h"
#include "collector/source.h"
#include "collector/sources/mindspore/window_files.h"

namespace stepscope {

// Times are CLOCK_REALTIME; names are ids of the strings sections, 0 where there is none.
inline constexpr std::string_view kMindsporeOpColumns[] = {"start_ns", "duration_ns", "name",
                                                           "input_shapes"};
inline constexpr RawTableLayout kMindsporeOpsTable{"mindspore_ops", kMindsporeOpColumns};

inline constexpr std::string_view kMindsporeMemoryColumns[] = {"when_ns", "allocated_bytes",
                                                               "reserved_bytes", "active_bytes"};
inline constexpr RawTableLayout kMindsporeMemoryTable{"mindspore_memory", kMindsporeMemoryColumns};

struct MindsporeFolder {
  std::string path;
  int64_t from_ns = 0;  // CLOCK_REALTIME
  int64_t to_ns = 0;
  bool shapes = false;
  bool memory = false;
  ClockSample clock;  // when it was handed over
};

// Removes the files that MindSpore wrote, and the folder if nothing else is in it.
void remove_mindspore_folder(const std::string& path);

// Folders that wait for the writer thread. Bounded: when the writer has given up (a full disk), the
// training program's windows must not pile up.
class MindsporeInbox {
 public:
  static constexpr size_t kMostFolders = 64;

  // False when it is full: the folder is removed and counted.
  bool put(MindsporeFolder folder);
  std::vector<MindsporeFolder> take();
  // How many since the last call.
  int64_t turned_away();
  // For fork(): no other thread may hold the lock while the process is copied.
  std::mutex& mutex() { return mutex_; }
  // In a forked child, whose parent reads them.
  void forget() { folders_.clear(); }

 private:
  std::mutex mutex_;
  std::vector<MindsporeFolder> folders_;
  int64_t turned_away_ = 0;
};

class MindsporeSource : public Source {
 public:
  explicit MindsporeSource(MindsporeInbox& inbox) : inbox_(inbox) {}
  ~MindsporeSource() override;

  std::string_view name() const override { return "mindspore"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override { stopping_ = true; }

 private:
  void read(const MindsporeFolder& folder, SourceOutput& output);
  void add_note(SourceOutput& output) const;

  MindsporeInbox& inbox_;
  std::atomic<bool> stopping_ = false;
  uint64_t memory_bytes_read_ = 0;
  int64_t windows_ = 0;
  int64_t operators_ = 0;
  int64_t memory_records_ = 0;
  int64_t unreadable_ = 0;
  int64_t left_out_ = 0;
  int64_t turned_away_ = 0;
  int64_t asked_shapes_ = 0;  // operators whose shapes were asked for
  int64_t without_shapes_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_MINDSPORE_SOURCE_H_
