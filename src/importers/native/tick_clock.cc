#include "importers/native/tick_clock.h"

#include <algorithm>

#include "store/rank_builder.h"

namespace stepscope {
namespace {

// All times of a file are within these, so that differences do not overflow.
constexpr int64_t kMost = int64_t{1} << 62;

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

}  // namespace stepscope
