// SystemSource: processor, memory, disk and network of the machine, of this process, of its threads
// and of the processes that it started (data-loader workers), sampled on a thread of its own; and
// the GPUs that NVIDIA's driver knows (nvml_sampler.h).
//
// A sample reads about ten files of /proc and one for each thread and worker: 0.2 ms for a usual
// training process, so 1 ms between samples costs a fifth of a processor and 1,000 ms nothing that
// can be measured.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "collector/source.h"
#include "collector/sources/system/nvml_sampler.h"
#include "collector/sources/system/proc_files.h"

namespace stepscope {

struct SystemSourceOptions {
  int64_t interval_ms = 1000;
  std::string proc_root = "/proc";
  int64_t pid = 0;  // 0: this process
};

// The rows of one series have its name as their key; values are the bits of a double.
inline constexpr std::string_view kSampleColumns[] = {"when_ticks", "value"};
inline constexpr RawTableLayout kSamplesTable{"samples", kSampleColumns};

class SystemSource final : public Source {
 public:
  explicit SystemSource(SystemSourceOptions options);
  ~SystemSource() override { stop(); }

  std::string_view name() const override { return "system"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override;

  // One sample now. The thread calls it; tests do too.
  void sample();

 private:
  struct Rate {
    int64_t last = 0;
    int64_t sample = 0;  // the number of the last one that had it
    bool known = false;
    // What was added since the last call; nothing at the first one.
    double added(int64_t total);
  };

  void run();
  void sample_machine(uint64_t ticks, double seconds);
  void sample_tasks(uint64_t ticks, double seconds);
  void add(uint64_t ticks, std::string series, double value);
  // Once in a recording, and the figures that are there go on.
  void say_once(bool& said, std::string sentence);
  // Adds total's rate of change; rates need two samples.
  void add_rate(uint64_t ticks, const std::string& series, int64_t total, double scale);

  SystemSourceOptions options_;
  ProcFiles files_;
  NvmlSampler gpus_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool has_given_up_ = false;
  std::vector<SystemValue> values_;
  std::vector<std::string> problems_;
  // The sampling thread's own.
  std::unordered_map<std::string, Rate> rates_;
  int64_t samples_ = 0;
  bool said_threads_ = false;
  bool said_workers_ = false;
  MachineTotals machine_;
  int64_t last_ns_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_
