#include "deliverables/chrome_rank.h"

#include <algorithm>

namespace stepscope {
namespace {

// As Kineto chooses it: a whole number of quarters of a year, so that a double still holds ns.
constexpr int64_t kBaseStepNs = 7'889'238LL * 1'000'000'000;
// Times of the input's own, small enough to be written as they are.
constexpr int64_t kSmallNs = 1'000'000'000'000'000;

}  // namespace

ChromeRank::ChromeRank(const StoreReader& store, size_t rank, const ChromeTraceOptions& options)
    : store_(store),
      rank_(rank),
      track_(store.column(Table::kSlices, "track", rank)),
      ts_(store.column(Table::kSlices, "ts", rank)),
      dur_(store.column(Table::kSlices, "dur", rank)),
      name_(store.column(Table::kSlices, "name", rank)),
      cat_(store.column(Table::kSlices, "cat", rank)),
      step_(store.column(Table::kSlices, "step", rank)),
      correlation_(store.column(Table::kSlices, "correlation", rank)),
      external_id_(store.column(Table::kSlices, "external_id", rank)),
      flags_(store.column(Table::kSlices, "flags", rank)),
      kernel_id_(store.column(Table::kKernels, "id", rank)),
      kernel_type_(store.column(Table::kKernels, "type", rank)),
      from_ns_(options.from_ns),
      to_ns_(options.to_ns),
      steps_from_ns_(options.from_ns),
      steps_to_ns_(options.to_ns),
      steps_(options.steps.begin(), options.steps.end()) {
  if (!steps_.empty()) {
    int64_t first = std::numeric_limits<int64_t>::max();
    int64_t last = std::numeric_limits<int64_t>::min();
    for (uint64_t row = 0; row < rows(Table::kSteps); ++row) {
      if (!steps_.contains(number(Table::kSteps, "step", row))) continue;
      const int64_t ts_ns = number(Table::kSteps, "ts", row);
      first = std::min(first, ts_ns);
      last = std::max(last, ts_ns + number(Table::kSteps, "dur", row));
    }
    steps_from_ns_ = std::max(steps_from_ns_, first);
    steps_to_ns_ = std::min(steps_to_ns_, last);
  }
  base_ns_ = number(Table::kRanks, "clock_base_ns");
  if (base_ns_ == kNull) base_ns_ = 0;
  const int64_t first_ns = number(Table::kRanks, "first_ns");
  if (base_ns_ == 0 && first_ns != kNull && first_ns > kSmallNs)
    base_ns_ = first_ns / kBaseStepNs * kBaseStepNs;
}

ChromeSlice ChromeRank::slice(uint64_t row) const {
  ChromeSlice slice{};
  slice.row = row;
  slice.ts_ns = ts_.at(row);
  slice.dur_ns = dur_.at(row);
  slice.track = static_cast<uint32_t>(track_.at(row));
  slice.flags = flags_.at(row);
  const bool possible = (slice.flags & (kFlagImpossible | kFlagInstant)) == 0 && slice.dur_ns > 0;
  slice.end_ns = possible ? slice.ts_ns + slice.dur_ns : slice.ts_ns;
  return slice;
}

std::string_view ChromeRank::kernel_type(uint64_t row) const {
  const auto id = static_cast<int64_t>(row);  // the column counts from the rank's first slice
  uint64_t first = 0;
  uint64_t end = kernel_id_.rows();
  while (first < end) {
    const uint64_t middle = first + (end - first) / 2;
    if (kernel_id_.at(middle) < id) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  const bool found = first < kernel_id_.rows() && kernel_id_.at(first) == id;
  return found ? store_.string(kernel_type_.at(first)) : std::string_view();
}

bool ChromeRank::chosen(uint64_t row) const {
  if (!steps_.empty() && !steps_.contains(step_.at(row))) return false;
  const int64_t ts_ns = ts_.at(row);
  return ts_ns <= to_ns_ && ts_ns + std::max<int64_t>(dur_.at(row), 0) >= from_ns_;
}

bool ChromeRank::chosen_time(int64_t ts_ns) const {
  return ts_ns >= steps_from_ns_ && ts_ns <= steps_to_ns_;
}

uint32_t ChromeRank::idle_host_track(int64_t ts_ns) const {
  const auto lanes = store_.lanes(rank_);
  for (uint32_t track = 0; track < rows(Table::kTracks); ++track) {
    if (text(Table::kTracks, "kind", track) != "host") continue;
    const auto outermost = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) {
      return lane.track == track && lane.depth == 0;
    });
    if (outermost == lanes.end() || !covers(*outermost, ts_ns)) return track;
  }
  return 0;
}

bool ChromeRank::covers(const Lane& lane, int64_t ts_ns) const {
  uint64_t first = lane.first_row;
  uint64_t end = lane.first_row + lane.rows;
  while (first < end) {  // to the first slice that starts after ts_ns
    const uint64_t middle = first + (end - first) / 2;
    if (ts_.at(middle) <= ts_ns) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first > lane.first_row && slice(first - 1).end_ns >= ts_ns;
}

}  // namespace stepscope
