// The clocks of a recording: events carry raw ticks, and now and then the ticks are sampled
// together with the system's clocks, so that a reader can put every event on either.
#ifndef STEPSCOPE_COLLECTOR_CLOCK_H_
#define STEPSCOPE_COLLECTOR_CLOCK_H_

#include <cstdint>
#include <optional>

namespace stepscope {

struct ClockSample {
  uint64_t ticks = 0;
  int64_t monotonic_ns = 0;
  int64_t realtime_ns = 0;
};

// The best of a few tries: the three are read within about 50 ns of each other unless the thread is
// interrupted in every one of them.
ClockSample sample_clocks();

int64_t monotonic_ns();
int64_t thread_cpu_ns();
// Of any thread of this process, and exact, where the files of /proc move only with the kernel's
// ticks (1 to 10 ms). Nothing when it has ended, or where the kernel does not tell.
std::optional<int64_t> thread_cpu_ns(int64_t thread);
// With threads that have ended. Those that run count as of when the kernel last looked at them: at
// its ticks, or as their own time was asked for.
int64_t process_cpu_ns();

// `value` has the low 48 bits of a moment: within about a day before `now`, or a second after it,
// as another processor's clock may be ahead, or its record come while a ring is read.
inline uint64_t widen_ticks(uint64_t value, uint64_t now) {
  constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;
  const uint64_t latest = now + (uint64_t{1} << 32);
  return latest - ((latest - value) & kMask);
}

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_CLOCK_H_
