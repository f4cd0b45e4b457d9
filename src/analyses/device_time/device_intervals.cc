#include "analyses/device_time/device_intervals.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analyses/common/merging.h"
#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

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
  return result;
}

// Operators have no flags of their own: what importers mark as implausible is longer than this.
constexpr int64_t kLongestNs = int64_t{7} * 24 * 3600 * 1'000'000'000;

bool usable(int64_t dur_ns, int64_t flags) {
  return dur_ns != kNull && dur_ns >= 0 && dur_ns <= kLongestNs && (flags & kFlagImpossible) == 0;
}

// Old Ascend timelines name the device of collectives but not of other tasks.
void give_a_device(std::map<int64_t, Work>& devices) {
  auto without = devices.extract(kNull);
  if (without.empty() || without.mapped().events == 0) return;
  Work& from = without.mapped();
  Work& to = devices.size() == 1 ? devices.begin()->second : devices[0];
  to.compute.add(from.compute);
  to.communication.add(from.communication);
  to.memory.add(from.memory);
  to.events += from.events;
  to.left_out += from.left_out;
}

// MindInsight's step trace has collectives of the device that are not among its tasks.
void add_collectives(const StoreReader& store, size_t rank, Work& work) {
  for_each_row<3>(store, Table::kCommunications, rank, {"ts", "dur", "level"},
                  [&](const auto& row) {
                    const auto [ts_ns, dur_ns, level] = row;
                    if (store.string(level) != "op") return;
                    ++work.events;
                    if (usable(dur_ns, 0)) {
                      work.communication.add(ts_ns, ts_ns + dur_ns);
                    } else {
                      ++work.left_out;
                    }
                  });
}

// Work of a rank without a device. An operator that is a collective, or waits in one on its own
// thread, communicates during that time and does not compute.
Work host_work(const StoreReader& store, size_t rank) {
  Work work;
  std::map<int64_t, Merging> collectives;  // by track
  std::map<int64_t, Merging> operators;
  for_each_row<3>(store, Table::kCommunications, rank, {"ts", "dur", "track"},
                  [&](const auto& row) {
                    const auto [ts_ns, dur_ns, track] = row;
                    ++work.events;
                    if (!usable(dur_ns, 0)) {
                      ++work.left_out;
                      return;
                    }
                    work.communication.add(ts_ns, ts_ns + dur_ns);
                    collectives[track].add(ts_ns, ts_ns + dur_ns);
                  });
  // Nested operators lie inside their outermost one, so merging makes no difference.
  for_each_row<3>(store, Table::kOps, rank, {"ts", "dur", "track"}, [&](const auto& row) {
    const auto [ts_ns, dur_ns, track] = row;
    ++work.events;
    if (!usable(dur_ns, 0)) {
      ++work.left_out;
      return;
    }
    operators[track].add(ts_ns, ts_ns + dur_ns);
  });
  for (auto& [track, intervals] : operators) {
    for (const Interval& part : subtract_intervals(intervals.take(), collectives[track].take())) {
      work.compute.add(part.start_ns, part.end_ns);
    }
  }
  return work;
}

}  // namespace

int64_t DeviceIntervals::busy_ns() const {
  const std::vector<Interval> rest = unite_intervals(communication, memory);
  return total_length_ns(compute) + total_length_ns(rest) -
         total_length_ns(intersect_intervals(compute, rest));
}

std::vector<Interval> DeviceIntervals::busy() const {
  return unite_intervals(compute, unite_intervals(communication, memory));
}

int64_t DeviceIntervals::span_ns() const {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (const auto* list : {&compute, &communication, &memory}) {
    if (list->empty()) continue;
    first_ns = std::min(first_ns, list->front().start_ns);
    last_ns = std::max(last_ns, list->back().end_ns);
  }
  return last_ns > first_ns ? last_ns - first_ns : 0;
}

std::vector<DeviceIntervals> device_intervals(const StoreReader& store, size_t rank) {
  std::map<int64_t, Work> devices;
  bool communicates = false;
  for_each_row<5>(
      store, Table::kKernels, rank, {"ts", "dur", "flags", "device", "class"},
      [&, communication = int64_t{kNull}, memory = int64_t{kNull}](const auto& row) mutable {
        const auto [ts_ns, dur_ns, flags, device, work_class] = row;
        Work& work = devices[device];
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
        communicates |= work_class == communication;
        Merging& intervals = work_class == communication ? work.communication
                             : work_class == memory      ? work.memory
                                                         : work.compute;
        intervals.add(ts_ns, ts_ns + dur_ns);
      });
  if (!devices.empty() && !communicates) add_collectives(store, rank, devices[kNull]);
  give_a_device(devices);
  std::vector<DeviceIntervals> results;
  for (auto& [device, work] : devices) results.push_back(finish(device, work));
  if (results.empty()) {
    Work host = host_work(store, rank);
    if (host.events > 0) results.push_back(finish(kHostDevice, host));
  }
  return results;
}

}  // namespace stepscope
