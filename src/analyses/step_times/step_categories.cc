#include "analyses/step_times/step_categories.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analyses/common/interval_index.h"
#include "analyses/common/merging.h"
#include "analyses/common/names.h"

namespace stepscope {
namespace {

enum Class : size_t { kKernel, kMemcpy, kMemset, kCommunication, kRuntime, kDataLoader, kCpu };
constexpr size_t kClasses = 7;

enum NameBit : uint8_t { kStepMark = 1, kDataFetch = 2, kCollectiveCall = 4 };
enum CategoryBit : uint8_t { kRuntimeCall = 1, kPython = 2 };

struct Classes {
  std::array<Merging, kClasses> intervals;
  // Of the host's events and the device work they launched.
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();

  void cover(int64_t start_ns, int64_t end_ns) {
    first_ns = std::min(first_ns, start_ns);
    last_ns = std::max(last_ns, end_ns);
  }
};

// Events of one thread, lane by lane from the outermost in: what lies inside an event of its own
// class is dropped at once, and each lane is in order, so that nothing needs sorting.
class ThreadEvents {
 public:
  void start_lane() {
    for (size_t i = 0; i < kClasses; ++i) {
      if (!fresh_[i].empty()) {
        merged_[i] = unite_intervals(merged_[i], merge_intervals(std::move(fresh_[i])));
        fresh_[i].clear();
      }
      at_[i] = 0;
    }
  }
  void add(Class which, int64_t start_ns, int64_t end_ns) {
    const auto& merged = merged_[which];
    size_t& at = at_[which];
    while (at < merged.size() && merged[at].end_ns <= start_ns) ++at;
    if (at < merged.size() && merged[at].start_ns <= start_ns && end_ns <= merged[at].end_ns)
      return;
    fresh_[which].push_back({start_ns, end_ns});
  }
  // Hands everything on and starts anew.
  void finish(Classes& classes) {
    start_lane();
    for (size_t i = 0; i < kClasses; ++i) {
      for (const Interval& interval : merged_[i])
        classes.intervals[i].add(interval.start_ns, interval.end_ns);
      merged_[i].clear();
    }
  }

 private:
  std::array<std::vector<Interval>, kClasses> merged_;
  std::array<std::vector<Interval>, kClasses> fresh_;  // of this lane
  std::array<size_t, kClasses> at_{};
};

void add_device_work(const StoreReader& store, size_t rank, Classes& classes) {
  const auto words = classify_strings(
      store, [](std::string_view word) { return word == "communication"; },
      [](std::string_view word) { return word == "memory"; },
      [](std::string_view word) { return word == "MEMSET"; });
  for_each_row<6>(store, Table::kKernels, rank,
                  {"ts", "dur", "flags", "class", "type", "queue_delay"}, [&](const auto& row) {
                    const auto [ts_ns, dur_ns, flags, work_class, type, delay_ns] = row;
                    if (dur_ns == kNull || dur_ns < 0 || (flags & kFlagImpossible)) return;
                    const uint8_t word = class_of(words, work_class);
                    const Class which = (word & 1u) != 0                    ? kCommunication
                                        : (word & 2u) == 0                  ? kKernel
                                        : (class_of(words, type) & 4u) != 0 ? kMemset
                                                                            : kMemcpy;
                    classes.intervals[which].add(ts_ns, ts_ns + dur_ns);
                    if (delay_ns != kNull) classes.cover(ts_ns, ts_ns + dur_ns);
                  });
}

// By row of the rank's tracks.
struct HostTrack {
  bool is_host = false;
  bool is_runtime = false;
};
std::vector<HostTrack> host_tracks(const StoreReader& store, size_t rank) {
  std::vector<HostTrack> tracks;
  for_each_row<2>(store, Table::kTracks, rank, {"kind", "process"}, [&](const auto& row) {
    tracks.push_back({store.string(row[0]) == "host", store.string(row[1]) == "CANN"});
  });
  return tracks;
}

void add_host_events(const StoreReader& store, size_t rank, Classes& classes) {
  const auto names =
      classify_strings(store, is_step_mark_name, is_data_fetch_name, is_collective_call_name);
  const auto categories =
      classify_strings(store, is_runtime_category, [](std::string_view category) {
        return category == "python_function" || category == "Python" || category == "trace";
      });
  const std::vector<HostTrack> tracks = host_tracks(store, rank);
  const auto base = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  ThreadEvents thread;
  int64_t last_track = kNull;
  int64_t last_start_ns = 0;
  for_each_row<6>(store, Table::kSlices, rank, {"track", "ts", "dur", "flags", "name", "cat"},
                  [&](const auto& row) {
                    const auto [track, ts_ns, dur_ns, flags, name, category] = row;
                    const auto place = static_cast<uint64_t>(track - base);
                    if (place >= tracks.size()) return;  // a damaged store
                    const HostTrack& where = tracks[place];
                    if (!where.is_host || dur_ns == kNull || dur_ns < 0) return;
                    if ((flags & (kFlagImpossible | kFlagInstant)) != 0) return;
                    const uint8_t name_bits = class_of(names, name);
                    const uint8_t category_bits = class_of(categories, category);
                    if ((name_bits & kStepMark) || (category_bits & kPython)) return;
                    if (track != last_track) thread.finish(classes);
                    if (track != last_track || ts_ns < last_start_ns) thread.start_lane();
                    last_track = track;
                    last_start_ns = ts_ns;
                    classes.cover(ts_ns, ts_ns + dur_ns);
                    const Class which = where.is_runtime || (category_bits & kRuntimeCall)
                                            ? kRuntime
                                        : (name_bits & kDataFetch)      ? kDataLoader
                                        : (name_bits & kCollectiveCall) ? kCommunication
                                                                        : kCpu;
                    thread.add(which, ts_ns, ts_ns + dur_ns);
                  });
  thread.finish(classes);
}

// Every moment goes to the first class that has it.
std::array<IntervalIndex, kClasses> by_priority(Classes& classes) {
  std::array<IntervalIndex, kClasses> own;
  std::vector<Interval> taken;
  for (size_t i = 0; i < kClasses; ++i) {
    std::vector<Interval> intervals = classes.intervals[i].take();
    own[i] = IntervalIndex(subtract_intervals(intervals, taken));
    if (i + 1 < kClasses) taken = unite_intervals(taken, intervals);
  }
  return own;
}

}  // namespace

std::vector<StepCategoryRow> step_categories(const StoreReader& store, const RankId& rank,
                                             std::span<const StepRow> steps) {
  Classes classes;
  add_device_work(store, rank.position, classes);
  add_host_events(store, rank.position, classes);
  const auto own = by_priority(classes);
  std::vector<StepCategoryRow> rows;
  const auto add = [&](int64_t step, int64_t start_ns, int64_t end_ns, bool complete) {
    StepCategoryRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.step = step;
    row.start_ns = start_ns;
    row.total_ns = end_ns - start_ns;
    row.complete = complete;
    int64_t* const parts[kClasses] = {
        &row.kernel_ns,  &row.memcpy_ns,      &row.memset_ns, &row.communication_ns,
        &row.runtime_ns, &row.data_loader_ns, &row.cpu_ns};
    row.other_ns = row.total_ns;
    for (size_t i = 0; i < kClasses; ++i) {
      *parts[i] = own[i].length_in(start_ns, end_ns);
      row.other_ns -= *parts[i];
    }
    rows.push_back(row);
  };
  for (const StepRow& step : steps)
    add(step.step, step.work_start_ns, step.work_end_ns(), step.complete);
  if (!steps.empty()) return rows;
  if (classes.first_ns > classes.last_ns) {  // no host events: all of the device's
    for (const IntervalIndex& work : own) {
      if (!work.intervals().empty())
        classes.cover(work.intervals().front().start_ns, work.intervals().back().end_ns);
    }
  }
  if (classes.first_ns <= classes.last_ns) add(kNull, classes.first_ns, classes.last_ns, true);
  return rows;
}

}  // namespace stepscope
