// Watch: what turns a recording into a flight recorder. Nothing is written; the last seconds are
// kept in memory, and when something happens (a trigger) they go into a new run's folder, with what
// is recorded for some steps or seconds more: a capture. Then it goes on keeping.
//
// Decides; the recorder does. trigger() and captures_json() are for any thread, everything else is
// the writer thread's, which is also the watchdog: it needs nothing of the threads that it watches.
#ifndef STEPSCOPE_COLLECTOR_WATCH_H_
#define STEPSCOPE_COLLECTOR_WATCH_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/kept_chunks.h"
#include "collector/record_tables.h"
#include "collector/watch_rules.h"
#include "stepscope/record.h"

namespace stepscope {

struct WatchOptions {
  std::string output;  // captures' folders go there
  int64_t keep_ns = 10'000'000'000;
  uint64_t keep_bytes = 64 << 20;  // packed
  int64_t capture_steps = 5;       // a capture ends with the first of the two
  int64_t capture_ns = 30'000'000'000;
  double slow_factor = 0;  // times the median; 0: steps may take as long as they do
  int64_t slow_steps = 3;
  int64_t no_progress_ns = 0;  // 0: never
  uint32_t signals = 0;        // bit n: signal n
  size_t most_captures = 3;
  int64_t within_ns = 3'600'000'000'000;
  stepscope_stacks_function stacks = nullptr;
};

// Why there is a capture.
struct TriggerCause {
  std::string kind;  // slow_step, no_progress, allocation_failure, signal, or the caller's word
  std::string what;  // a sentence
  std::optional<int64_t> step;
  double seconds = 0;  // measured, and what it may be; 0: not said
  double threshold_s = 0;
  double median_s = 0;
  int signal = 0;
  bool wants_stacks = false;

  std::string to_json(int64_t realtime_ns, int64_t not_captured_before) const;
};

// How ticks are turned into the monotonic clock, good for moments near `ticks`.
struct TickRate {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
  double ns_per_tick = 1;

  int64_t ns(uint64_t moment) const {
    const auto apart = static_cast<double>(static_cast<int64_t>(moment - ticks));
    return monotonic_ns + static_cast<int64_t>(apart * ns_per_tick);
  }
};

class Watch {
 public:
  explicit Watch(WatchOptions options);

  const WatchOptions& options() const { return options_; }
  KeptChunks& kept() { return kept_; }

  // Something happened that only the program knows.
  void trigger(TriggerCause cause);
  // What was captured so far, the last hundred: [{"folder", "kind", "what", "complete",
  // "stopped_by", "not_recorded"}, ...]. One that a limit or the disk ended is never complete.
  std::string captures_json() const;

  // Steps that came with the records, in any order; they are gone afterwards.
  void see(std::vector<StepMark>& marks, const TickRate& rate);
  // Before the rings are read, so that the steps behind a trigger's are not taken for its own and
  // none of those before it is missing.
  void hear();
  // What has happened until the last time that it heard.
  std::vector<TriggerCause> causes(int64_t now_ns);
  // Within the limit? Signals always are: there is no later.
  bool may_capture(const TriggerCause& cause, int64_t now_ns);
  int64_t take_not_captured() { return limit_.take_refused(); }
  // What is older need not be kept. Seconds before the last step count, not before now: of a
  // program that hangs the last steps are worth more than silence.
  int64_t keep_since_ns(int64_t now_ns) const;
  // The thread that marks the steps; 0: none does.
  int64_t step_thread() const { return step_thread_; }

  void capture_begins(const std::string& folder, const TriggerCause& cause, int64_t now_ns);
  bool is_capturing() const { return capturing_; }
  bool capture_is_complete(int64_t now_ns) const;
  // `stopped_by` is empty when it ended as it should.
  void capture_ends(const std::string& stopped_by, int64_t not_recorded);

 private:
  struct OpenStep {
    int64_t number;
    int64_t began_ns;
  };
  struct Capture {
    std::string folder;
    std::string kind;
    std::string what;
    bool complete = false;
    std::string stopped_by;
    int64_t not_recorded = 0;
  };
  void complete_step(int64_t end_ns);

  const WatchOptions options_;
  KeptChunks kept_;
  SlowSteps slow_;
  Progress progress_;
  RateLimit limit_;
  std::optional<OpenStep> open_;
  std::optional<int64_t> last_step_;
  uint64_t last_ticks_ = 0;
  int64_t step_thread_ = 0;
  int64_t completed_steps_ = 0;
  std::vector<TriggerCause> found_;  // by the steps
  std::vector<TriggerCause> heard_;
  bool capturing_ = false;
  int64_t capture_began_ns_ = 0;
  int64_t capture_began_at_step_ = 0;

  mutable std::mutex mutex_;
  std::vector<TriggerCause> told_;
  std::vector<Capture> captures_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_WATCH_H_
