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

}  // namespace stepscope
