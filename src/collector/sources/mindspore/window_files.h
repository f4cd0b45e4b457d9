// The text files that MindSpore's CPU profiler writes into a folder when it is stopped:
//
//   cpu_op_execute_timestamp_R.txt   name;HostCpuOps;start,duration,thread start,duration,...
//   cpu_framework_R.txt              a launch: type;name;graph;input_1:[2, 3];input_2:NoShape;
//   cpu_ms_memory_record_R.txt       a header, then time,allocated,reserved,active
//
// Starts are CLOCK_REALTIME nanoseconds, durations milliseconds with six significant digits. What
// cannot be read is counted, never guessed.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_FILES_H_
#define STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/string_pool.h"
#include "collector/name_table.h"

namespace stepscope {

struct MindsporeOperator {
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint32_t name = 0;          // of the recording's names
  StringId short_name = 0;    // of the window's own pool: the last part of the path
  uint32_t input_shapes = 0;  // of the recording's names; 0: not known
};

struct MindsporeMemory {
  int64_t when_ns = 0;
  int64_t allocated_bytes = 0;
  int64_t reserved_bytes = 0;
  int64_t active_bytes = 0;
};

// One window's content. A window is a few thousand operators; one that is larger than these bounds
// is cut, and what is missing is counted.
struct MindsporeWindow {
  static constexpr size_t kMostOperators = 2'000'000;
  static constexpr size_t kMostMemoryRecords = 4'000'000;

  std::vector<MindsporeOperator> operators;  // in order of their start
  std::vector<MindsporeMemory> memory;
  int64_t unreadable = 0;  // entries and lines
  int64_t left_out = 0;    // beyond the bounds
  int64_t without_shapes = 0;
};

void read_mindspore_operators(const std::string& path, NameTable& names, StringPool& short_names,
                              MindsporeWindow& window);

// Gives the operators their input shapes. Launches are in launch order and operators in order of
// their start, so the n-th of both belong together when their names agree; where they do not, a
// shape is still certain if all launches of that name have the same one.
void read_mindspore_shapes(const std::string& path, NameTable& names, StringPool& short_names,
                           MindsporeWindow& window);

// MindSpore never forgets a memory record: every window's file repeats those of all earlier ones.
// Takes the records from `from_ns` to `to_ns`; `skip_bytes` is how much of the file earlier windows
// had, 0 at first, and is advanced.
void read_mindspore_memory(const std::string& path, int64_t from_ns, int64_t to_ns,
                           uint64_t& skip_bytes, MindsporeWindow& window);

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_MINDSPORE_WINDOW_FILES_H_
