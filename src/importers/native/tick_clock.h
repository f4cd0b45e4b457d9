// TickClock: from the collector's ticks to nanoseconds since 1970.
//
// Between two samples ticks and the monotonic clock go in step. The calendar clock is used once, at
// the first sample: corrections of it during the run must not bend durations.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_TICK_CLOCK_H_
#define STEPSCOPE_IMPORTERS_NATIVE_TICK_CLOCK_H_

#include <cstdint>
#include <limits>
#include <vector>

namespace stepscope {

class TickClock {
 public:
  struct Sample {
    int64_t ticks;
    int64_t monotonic_ns;
    int64_t realtime_ns;
  };

  // In any order; samples that contradict the ones before them are left out and counted.
  void add(const Sample& sample) { samples_.push_back(sample); }
  // Call once after all samples. False when there are fewer than two, or they do not advance.
  bool finish();

  int64_t ns(int64_t ticks) const;
  // How long something of so many ticks takes that starts at `ticks`.
  int64_t duration_ns(int64_t ticks, int64_t duration) const {
    int64_t end = 0;
    if (__builtin_add_overflow(ticks, duration, &end))
      end =
          duration < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    return ns(end) - ns(ticks);
  }
  // For times of the monotonic clock.
  int64_t from_monotonic(int64_t monotonic_ns) const;
  // For times of the calendar clock, as it was when they were taken: a correction of that clock is
  // taken out again, to within the time between two samples. Where it was set back, a time may
  // stand for two moments; it is taken for the earlier one.
  int64_t from_realtime(int64_t realtime_ns) const;

  // What the calendar clock said at the last sample.
  int64_t last_realtime_ns() const { return samples_.empty() ? 0 : samples_.back().realtime_ns; }
  // By how much the calendar clock was corrected while recording.
  int64_t correction_ns() const { return correction_ns_; }
  int64_t contradictions() const { return contradictions_; }

 private:
  std::vector<Sample> samples_;
  int64_t correction_ns_ = 0;
  bool set_back_ = false;
  int64_t contradictions_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_TICK_CLOCK_H_
