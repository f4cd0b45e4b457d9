#include "analyses/device_time/device_intervals.h"

#include <map>
#include <utility>

#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

// Collects intervals and merges them whenever they have doubled, so that memory follows what is
// left after merging: kernels of a busy stream touch each other.
class Merging {
 public:
  void add(int64_t start_ns, int64_t end_ns) {
    // In order and touching the last one is the usual case.
    if (!intervals_.empty() && start_ns >= intervals_.back().start_ns &&
        start_ns <= intervals_.back().end_ns) {
      intervals_.back().end_ns = std::max(intervals_.back().end_ns, end_ns);
      return;
    }
    if (intervals_.size() == merge_at_) {
      intervals_ = merge_intervals(std::move(intervals_));
      merge_at_ = std::max<size_t>(kMergeAt, 2 * intervals_.size());
    }
    intervals_.push_back({start_ns, end_ns});
  }
  std::vector<Interval> take() { return merge_intervals(std::move(intervals_)); }

 private:
  static constexpr size_t kMergeAt = 65536;
  std::vector<Interval> intervals_;
  size_t merge_at_ = kMergeAt;
};

struct Work {
  Merging compute;
  Merging communication;
  Merging memory;
  int64_t events = 0;
  int64_t left_out = 0;
};

DeviceIntervals finish(int64_t device, Work& work) {
  DeviceIntervals result;
  result.device = device;
  result.events = work.events;
  result.left_out = work.left_out;
  result.compute = work.compute.take();
  result.communication = work.communication.take();
  result.memory = work.memory.take();
  std::vector<Interval> all = result.compute;
  all.insert(all.end(), result.communication.begin(), result.communication.end());
  all.insert(all.end(), result.memory.begin(), result.memory.end());
  result.busy = merge_intervals(std::move(all));
  return result;
}

bool usable(int64_t dur_ns, int64_t flags) {
  return dur_ns != kNull && dur_ns >= 0 && (flags & kFlagImpossible) == 0;
}

Work host_work(const StoreReader& store, size_t rank) {
  Work work;
  // Nested operators lie inside their outermost one, so merging makes no difference.
  for_each_row<2>(store, Table::kOps, rank, {"ts", "dur"}, [&](const auto& row) {
    const auto [ts_ns, dur_ns] = row;
    ++work.events;
    if (!usable(dur_ns, 0)) {
      ++work.left_out;
      return;
    }
    work.compute.add(ts_ns, ts_ns + dur_ns);
  });
  for_each_row<2>(store, Table::kCommunications, rank, {"ts", "dur"}, [&](const auto& row) {
    const auto [ts_ns, dur_ns] = row;
    ++work.events;
    if (!usable(dur_ns, 0)) {
      ++work.left_out;
      return;
    }
    work.communication.add(ts_ns, ts_ns + dur_ns);
  });
  return work;
}

}  // namespace

std::vector<DeviceIntervals> device_intervals(const StoreReader& store, size_t rank) {
  std::map<int64_t, Work> devices;
  for_each_row<5>(
      store, Table::kKernels, rank, {"ts", "dur", "flags", "device", "class"},
      [&, communication = int64_t{kNull}, memory = int64_t{kNull}](const auto& row) mutable {
        const auto [ts_ns, dur_ns, flags, device, work_class] = row;
        Work& work = devices[device == kNull ? 0 : device];
        ++work.events;
        if (!usable(dur_ns, flags)) {
          ++work.left_out;
          return;
        }
        // Two words at most are compared as text, once each.
        if (work_class != communication && work_class != memory) {
          const std::string_view word = store.string(work_class);
          if (word == "communication") communication = work_class;
          if (word == "memory") memory = work_class;
        }
        Merging& intervals = work_class == communication ? work.communication
                             : work_class == memory      ? work.memory
                                                         : work.compute;
        intervals.add(ts_ns, ts_ns + dur_ns);
      });
  std::vector<DeviceIntervals> results;
  for (auto& [device, work] : devices) results.push_back(finish(device, work));
  if (results.empty()) {
    Work host = host_work(store, rank);
    if (host.events > 0) results.push_back(finish(kHostDevice, host));
  }
  return results;
}

}  // namespace stepscope
