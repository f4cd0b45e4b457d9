#include "collector/clock.h"

#include <time.h>

#include "stepscope/record.h"

namespace stepscope {
namespace {

int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

ClockSample sample_clocks() {
  ClockSample best;
  uint64_t best_width = UINT64_MAX;
  for (int tries = 0; tries < 5; ++tries) {
    ClockSample sample;
    const uint64_t before = stepscope_ticks();
    sample.monotonic_ns = read_clock(CLOCK_MONOTONIC);
    sample.ticks = stepscope_ticks();
    sample.realtime_ns = read_clock(CLOCK_REALTIME);
    const uint64_t after = stepscope_ticks();
    if (after - before >= best_width) continue;
    best_width = after - before;
    best = sample;
  }
  return best;
}

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }

int64_t thread_cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

std::optional<int64_t> thread_cpu_ns(int64_t thread) {
  // Linux's numbering of such clocks, of which libc has only the part for a pthread_t: the inverted
  // number, then a bit for a thread's and two for the scheduler's own time.
  constexpr clockid_t kOfThread = 4;
  constexpr clockid_t kOfScheduler = 2;
  const auto clock = static_cast<clockid_t>(~static_cast<uint32_t>(thread) << 3);
  timespec now{};
  if (::clock_gettime(clock | kOfThread | kOfScheduler, &now) != 0) return std::nullopt;
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int64_t process_cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace stepscope
