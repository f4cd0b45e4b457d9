// What /proc says about the machine, this process and its threads, as running totals. The root is a
// parameter so that tests can bring their own.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_PROC_FILES_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_PROC_FILES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// Clock ticks of all processors together since the machine started.
struct MachineTotals {
  int64_t user = 0;    // with nice
  int64_t system = 0;  // with interrupts
  int64_t idle = 0;
  int64_t iowait = 0;
  int64_t all = 0;
  int64_t context_switches = 0;
  int64_t runnable = 0;    // now, not a total
  int64_t processors = 0;  // likewise, those that are online
};

struct TaskTotals {
  int64_t id = 0;  // process or thread
  std::string name;
  int64_t cpu = 0;      // clock ticks, user and system
  int64_t threads = 0;  // of its process, now
  int64_t started = 0;  // clock ticks after the machine
};

struct ByteTotals {
  int64_t in = 0;   // read or received
  int64_t out = 0;  // written or sent
};

// Parsing, apart from reading. Nothing when the text is not as expected.
std::optional<MachineTotals> parse_machine(std::string_view stat);
std::optional<TaskTotals> parse_task(std::string_view stat);
// Whole disks only: partitions would count the same bytes again.
ByteTotals parse_disks(std::string_view diskstats);
// All interfaces but the loopback.
ByteTotals parse_network(std::string_view dev);

struct Descendants {
  std::vector<int64_t> found;
  bool complete = true;  // false: there are more, or more threads than are looked at for them
};

class ProcFiles {
 public:
  explicit ProcFiles(std::string root = "/proc") : root_(std::move(root)) {}

  std::optional<MachineTotals> machine() const;
  std::optional<TaskTotals> process(int64_t pid) const;
  // Resident bytes of a process.
  std::optional<int64_t> resident_bytes(int64_t pid) const;
  // Threads of a process, at most `most` of them.
  std::vector<TaskTotals> threads(int64_t pid, size_t most) const;
  // Processes that `pid` started, and those that they started, at most `most` of them.
  Descendants descendants(int64_t pid, size_t most) const;
  ByteTotals disks() const;
  ByteTotals network() const;

 private:
  // The text of a file; empty when it cannot be read. Files of /proc have no size to ask for.
  std::string read(const std::string& name) const;
  // Of a process, without the root.
  std::vector<std::string> thread_folders(int64_t pid, size_t most) const;

  std::string root_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_PROC_FILES_H_
