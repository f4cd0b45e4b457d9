// SystemSource: processor, memory, disk and network of the machine, of this process, of its threads
// and of the processes that it started (data-loader workers), sampled on a thread of its own; and
// the GPUs that NVIDIA's driver knows (nvml_sampler.h).
//
// Processor time of this process and its threads is exact at any interval. The kernel counts the
// machine's and the workers' in ticks of 10 ms, so theirs are over about 100 ms or more.
//
// A sample reads about ten files of /proc and one for each thread and worker: 0.2 ms for a usual
// training process, so 1 ms between samples costs a fifth of a processor and 1,000 ms nothing that
// can be measured.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  // Tests have a clock of their own; empty: the monotonic one.
  std::function<int64_t()> now_ns = nullptr;
  // Values that are kept between two looks of the writer: far more than it leaves, unless its disk
  // hangs. Some 100 MB and 6 MB.
  size_t most_waiting = 1 << 20;
  size_t most_waiting_of_gpus = 1 << 16;
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

  // One sample now. The thread calls it; tests do too. At the last one a series without a figure
  // gets one over whatever time there was.
  void sample(bool last = false);

 private:
  struct Rate {
    int64_t last = 0;
    int64_t last_ns = 0;  // when that was; of processor time only
    int64_t sample = 0;   // the number of the last one that had it
    bool known = false;
    bool has_figure = false;
    // What was added since the last call; nothing at the first one.
    double added(int64_t total);
  };
  using Rates = std::unordered_map<std::string, Rate>;
  // What a thread or process has had of the processors until a moment.
  struct CpuTime {
    int64_t total_ns = 0;
    int64_t when_ns = 0;
    int64_t most = 1;   // processors that it can have at once
    bool waits = true;  // for a longer time than a sample's: the kernel adds to it tick by tick
  };

  void run();
  void sample_machine(uint64_t ticks, double seconds);
  void sample_processors(uint64_t ticks, const MachineTotals& now);
  void sample_process(uint64_t ticks);
  void sample_workers(uint64_t ticks);
  // Whether the time since then is enough for a figure of what is counted in ticks.
  bool is_due(int64_t since_ns, bool has_figure) const;
  int64_t now_ns() const;
  // Adds the percentage of one processor since the series' last figure.
  void add_cpu(uint64_t ticks, Rates& rates, const std::string& series, const CpuTime& now);
  void add(uint64_t ticks, std::string series, double value);
  // Once in a recording, and the figures that are there go on.
  void say_once(bool& said, std::string sentence);
  void hand_over(const WaitingValues& waiting, SourceOutput& output);
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
  WaitingValues waiting_;
  std::vector<std::string> problems_;
  bool said_not_kept_ = false;  // the writer's own
  // The sampling thread's own.
  Rates rates_;
  Rates worker_rates_;  // which are not in every sample
  int64_t samples_ = 0;
  bool is_last_ = false;
  bool said_threads_ = false;
  bool said_workers_ = false;
  bool has_clocks_ = false;  // the kernel's exact ones, of the process that is sampled
  MachineTotals machine_;    // at the last figure
  int64_t machine_ns_ = 0;
  bool has_machine_figure_ = false;
  int64_t processors_ = 1;
  int64_t workers_ns_ = 0;
  bool has_workers_figure_ = false;
  int64_t sample_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_SYSTEM_SYSTEM_SOURCE_H_
