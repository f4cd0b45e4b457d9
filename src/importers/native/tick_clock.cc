#include "importers/native/tick_clock.h"

#include <algorithm>
#include <cstdlib>

#include "store/rank_builder.h"

namespace stepscope {
namespace {

// All times of a file are within these, so that differences do not overflow.
constexpr int64_t kMost = int64_t{1} << 62;
// The kernel slews a clock by 500 us a second; samples are at most about a second apart.
constexpr int64_t kSlewedNs = 2'000'000;

// Whether a calendar time can be of a moment between two samples, whenever between them the
// calendar was set.
bool may_hold(const TickClock::Sample& from, const TickClock::Sample& to, int64_t realtime_ns) {
  for (const TickClock::Sample& sample : {from, to}) {
    const int64_t moment_ns = realtime_ns - (sample.realtime_ns - sample.monotonic_ns);
    if (moment_ns >= from.monotonic_ns && moment_ns < to.monotonic_ns) return true;
  }
  return false;
}

bool plausible(const TickClock::Sample& sample) {
  for (const int64_t value : {sample.ticks, sample.monotonic_ns, sample.realtime_ns}) {
    if (value < 0 || value > kLatestNs) return false;
  }
  return true;
}

}  // namespace

bool TickClock::finish() {
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const Sample& a, const Sample& b) { return a.ticks < b.ticks; });
  std::vector<Sample> good;
  for (const Sample& sample : samples_) {
    const bool advances = good.empty() || (sample.ticks > good.back().ticks &&
                                           sample.monotonic_ns > good.back().monotonic_ns);
    if (plausible(sample) && advances) {
      set_back_ = set_back_ || (!good.empty() && sample.realtime_ns < good.back().realtime_ns);
      good.push_back(sample);
    } else {
      ++contradictions_;
    }
  }
  samples_ = std::move(good);
  if (samples_.size() < 2) return false;
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  correction_ns_ =
      (last.realtime_ns - first.realtime_ns) - (last.monotonic_ns - first.monotonic_ns);
  return true;
}

int64_t TickClock::ns(int64_t ticks) const {
  ticks = std::clamp(ticks, -kMost, kMost);
  // The segment that holds the moment; the first and the last go on beyond their ends.
  const auto after =
      std::upper_bound(samples_.begin() + 1, samples_.end() - 1, ticks,
                       [](int64_t value, const Sample& sample) { return value < sample.ticks; });
  const Sample& from = *(after - 1);
  const Sample& to = *after;
  const auto scaled = static_cast<__int128>(ticks - from.ticks) *
                      (to.monotonic_ns - from.monotonic_ns) / (to.ticks - from.ticks);
  const __int128 ns = scaled + from_monotonic(from.monotonic_ns);
  return static_cast<int64_t>(
      std::clamp(ns, -static_cast<__int128>(kLatestNs), static_cast<__int128>(kLatestNs)));
}

int64_t TickClock::from_monotonic(int64_t monotonic_ns) const {
  const Sample& first = samples_.front();
  return first.realtime_ns + (std::clamp(monotonic_ns, -kMost, kMost) - first.monotonic_ns);
}

int64_t TickClock::from_realtime(int64_t realtime_ns) const {
  realtime_ns = std::clamp(realtime_ns, -kMost, kMost);
  const auto offset = [](const Sample& sample) { return sample.realtime_ns - sample.monotonic_ns; };
  // Samples are in order of the steady clock, and nearly always of this one too.
  auto to = std::upper_bound(
      samples_.begin() + 1, samples_.end() - 1, realtime_ns,
      [](int64_t value, const Sample& sample) { return value < sample.realtime_ns; });
  if (set_back_) {
    to = samples_.begin() + 1;
    while (to != samples_.end() - 1 && !may_hold(*(to - 1), *to, realtime_ns)) ++to;
  }
  const Sample& from = *(to - 1);
  const int64_t before_ns = realtime_ns - offset(from);
  const int64_t after_ns = realtime_ns - offset(*to);
  if (before_ns <= from.monotonic_ns) return from_monotonic(before_ns);
  if (after_ns >= to->monotonic_ns) return from_monotonic(after_ns);
  // Slowly pulled along: in between by share. Set at once: on the side where the moment fits.
  const int64_t change_ns = offset(*to) - offset(from);
  if (std::abs(change_ns) <= kSlewedNs) {
    const auto share = static_cast<__int128>(change_ns) * (before_ns - from.monotonic_ns) /
                       (to->monotonic_ns - from.monotonic_ns);
    return from_monotonic(before_ns - static_cast<int64_t>(share));
  }
  return from_monotonic(before_ns <= to->monotonic_ns ? before_ns : after_ns);
}

}  // namespace stepscope
