// MindsporeSource: the windows that MindSpore's CPU profiler wrote.
//
// The Python side stops and starts MindSpore's profiler at step ends and hands over the folder of
// each window (stepscope_import_mindspore_window). Here the folder becomes rows and is removed.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_MINDSPORE_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_MINDSPORE_SOURCE_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "collector/source.h"
#include "collector/sources/mindspore/window_inbox.h"
#include "collector/sources/mindspore/window_reader.h"

namespace stepscope {

// Times are CLOCK_REALTIME; names are ids of the strings sections, 0 where there is none.
inline constexpr std::string_view kMindsporeOpColumns[] = {"start_ns", "duration_ns", "name",
                                                           "input_shapes"};
inline constexpr RawTableLayout kMindsporeOpsTable{"mindspore_ops", kMindsporeOpColumns};

inline constexpr std::string_view kMindsporeMemoryColumns[] = {"when_ns", "allocated_bytes",
                                                               "reserved_bytes", "active_bytes"};
inline constexpr RawTableLayout kMindsporeMemoryTable{"mindspore_memory", kMindsporeMemoryColumns};

class MindsporeSource : public Source {
 public:
  MindsporeSource(MindsporeInbox& inbox, NameTable& names) : inbox_(inbox), reader_(inbox, names) {}
  ~MindsporeSource() override;

  std::string_view name() const override { return "mindspore"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override { stopping_ = true; }

 private:
  void add(const ReadWindow& window, SourceOutput& output);
  void add_note(SourceOutput& output) const;

  MindsporeInbox& inbox_;
  WindowReader reader_;
  std::atomic<bool> stopping_ = false;
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
