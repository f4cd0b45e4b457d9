// When something is worth a capture: pure rules, fed with times, without clocks or threads of their
// own. Used by the writer thread; a step costs the thread that trains nothing.
#ifndef STEPSCOPE_COLLECTOR_WATCH_RULES_H_
#define STEPSCOPE_COLLECTOR_WATCH_RULES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace stepscope {

// The median of the last values, of an even number the lower of the two in the middle.
class RollingMedian {
 public:
  explicit RollingMedian(size_t most) : most_(most) {}
  void add(int64_t value);
  size_t count() const { return sorted_.size(); }
  // 0 without values.
  int64_t median() const { return sorted_.empty() ? 0 : sorted_[(sorted_.size() - 1) / 2]; }

 private:
  size_t most_;
  std::deque<int64_t> values_;   // in order of time
  std::vector<int64_t> sorted_;  // the same
};

// Steps that take more than `factor` times the median of the steps before, `steps` in a row.
//
// Slow steps count for the median too: a program that has become slower for good is reported once
// and then taken as it is. After a finding a step that is not slow must come before the next one.
class SlowSteps {
 public:
  static constexpr size_t kMedianOf = 63;
  static constexpr size_t kLeastBefore = 10;  // steps before any is judged

  struct Finding {
    int64_t step = 0;  // the slowest of the row
    int64_t duration_ns = 0;
    int64_t median_ns = 0;
    int64_t threshold_ns = 0;
    int64_t in_a_row = 0;
  };

  SlowSteps(double factor, int64_t steps) : factor_(factor), steps_(steps < 1 ? 1 : steps) {}
  std::optional<Finding> add(int64_t step, int64_t began_ns, int64_t duration_ns);
  // When the row of slow steps began that is not long enough yet.
  std::optional<int64_t> suspicious_since_ns() const;
  double factor() const { return factor_; }

 private:
  double factor_;
  int64_t steps_;
  RollingMedian median_{kMedianOf};
  int64_t in_a_row_ = 0;
  int64_t since_ns_ = 0;
  bool reported_ = false;
  Finding slowest_;
};

// No step has ended or begun for some time. Counts from the first step on: loading and compiling
// may take as long as they do. A stall is found once.
class Progress {
 public:
  explicit Progress(int64_t most_ns) : most_ns_(most_ns) {}
  void seen(int64_t now_ns);
  // How long it has been, when that is too long and has not been said yet.
  std::optional<int64_t> stalled_ns(int64_t now_ns);
  std::optional<int64_t> last_ns() const { return last_ns_; }

 private:
  int64_t most_ns_;
  std::optional<int64_t> last_ns_;
  bool reported_ = false;
};

// At most so many within so long.
class RateLimit {
 public:
  RateLimit(size_t most, int64_t within_ns) : most_(most), within_ns_(within_ns) {}
  bool allow(int64_t now_ns);
  // Refusals since the last call.
  int64_t take_refused();

 private:
  size_t most_;
  int64_t within_ns_;
  std::deque<int64_t> allowed_ns_;
  int64_t refused_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_WATCH_RULES_H_
