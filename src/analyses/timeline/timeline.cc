#include "analyses/timeline/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/timeline/scope_layers.h"
#include "base/decimal.h"
#include "base/intervals.h"

namespace stepscope {
namespace {

constexpr std::string_view kOverlapProcess = "Op Overlap Analyse";

// Merged segments without what lies between them.
std::vector<Interval> gaps_of(const std::vector<Interval>& merged) {
  std::vector<Interval> gaps;
  for (size_t i = 1; i < merged.size(); ++i)
    gaps.push_back({merged[i - 1].end_ns, merged[i].start_ns});
  return gaps;
}

class Lanes {
 public:
  Lanes(const StoreReader& store, const RankId& rank, const std::vector<DeviceIntervals>& devices,
        std::span<const StepRow> steps)
      : store_(store), rank_(rank), devices_(devices), steps_(steps) {}

  std::vector<TimelineLane> make() {
    sort_tracks();
    const int64_t first = devices_.empty() ? kHostDevice : devices_[0].device;
    add_steps(device_name(first), first);
    add_scopes(device_name(first), first);
    for (auto& [device, tracks] : streams_) {
      for (const uint64_t track : tracks) add_track(track, device_name(device), LaneKind::kStream);
    }
    add_ai_cpu();
    for (const uint64_t track : communication_)
      add_track(track, "Communication Op", LaneKind::kCommunication);
    for (const uint64_t track : host_) add_track(track, "Host CPU Op", LaneKind::kHostCpu);
    for (const DeviceIntervals& device : devices_) add_overlap(device);
    for (const uint64_t track : other_) add_track(track, "", LaneKind::kOther);
    for (const uint64_t track : counters_) add_track(track, "", LaneKind::kCounter);
    return std::move(lanes_);
  }

 private:
  static std::string device_name(int64_t device) {
    return device == kHostDevice ? "Host" : "Device " + std::to_string(device);
  }
  std::string_view text(std::string_view column, uint64_t track) const {
    return text_at(store_, Table::kTracks, column, rank_.position, track);
  }
  int64_t number(std::string_view column, uint64_t track) const {
    return number_at(store_, Table::kTracks, column, rank_.position, track);
  }

  void sort_tracks() {
    for (uint64_t track = 0; track < store_.rows(Table::kTracks, rank_.position); ++track) {
      const std::string_view kind = text("kind", track);
      if (kind == "device") {
        const int64_t device = number("device", track);
        streams_[device == kNull ? 0 : device].push_back(track);
      } else if (kind == "communication") {
        communication_.push_back(track);
      } else if (kind == "host" || kind == "python") {
        host_.push_back(track);
      } else if (kind == "counter") {
        counters_.push_back(track);
      } else if (kind != "analysis") {  // those of the source are computed anew here
        other_.push_back(track);
      }
    }
    for (auto& [device, tracks] : streams_) {
      std::stable_sort(tracks.begin(), tracks.end(), [&](uint64_t a, uint64_t b) {
        return number("stream", a) < number("stream", b);
      });
    }
    // A group's operations and then its planes: their ids say so, and the first events of a file do
    // not.
    const auto place = [&](uint64_t track) {
      return std::pair(text("pid", track), parse_integer(text("tid", track)).value_or(-1));
    };
    std::stable_sort(communication_.begin(), communication_.end(),
                     [&](uint64_t a, uint64_t b) { return place(a) < place(b); });
  }

  TimelineLane& add(std::string process, std::string name, LaneKind kind) {
    TimelineLane& lane = lanes_.emplace_back();
    lane.rank = rank_.rank;
    lane.window = rank_.window;
    lane.position = static_cast<int64_t>(lanes_.size()) - 1;
    lane.process = std::move(process);
    lane.name = std::move(name);
    lane.kind = kind;
    lane.kind_name = lane_kind_name(kind);
    return lane;
  }

  void add_track(uint64_t track, std::string process, LaneKind kind) {
    std::string name(text("thread", track));
    const int64_t stream = number("stream", track);
    if (kind == LaneKind::kStream && stream != kNull) name = "Stream #" + std::to_string(stream);
    if (process.empty()) process = text("process", track);
    TimelineLane& lane = add(std::move(process), std::move(name), kind);
    lane.device = number("device", track);
    lane.track = static_cast<int64_t>(store_.row_base(Table::kTracks, rank_.position) + track);
    lane.count = number("slices", track);
  }

  static void finish(TimelineLane& lane) {
    lane.count = static_cast<int64_t>(lane.segments.size());
    for (const LaneSegment& segment : lane.segments)
      lane.busy_ns += segment.end_ns - segment.start_ns;
  }

  void add_steps(const std::string& process, int64_t device) {
    if (steps_.empty()) return;
    TimelineLane& lane = add(process, "Steps", LaneKind::kStep);
    lane.device = device;
    for (const StepRow& step : steps_) {
      // Under a device the device's steps, which run behind the marks on the host.
      const bool is_host = device == kHostDevice;
      lane.segments.push_back({is_host ? step.start_ns : step.work_start_ns,
                               is_host ? step.end_ns() : step.work_end_ns(),
                               {},
                               step.step});
      if (step.source != "inferred") step_starts_.push_back(step.start_ns);
    }
    std::sort(step_starts_.begin(), step_starts_.end());
    finish(lane);
  }

  void add_scopes(const std::string& process, int64_t device) {
    const auto layers = scope_layers(scoped_operators(store_, rank_.position), step_starts_);
    for (size_t level = 0; level < layers.size(); ++level) {
      TimelineLane& lane =
          add(process, "Scope Name " + std::to_string(level + 1), LaneKind::kScope);
      lane.level = static_cast<int64_t>(level) + 1;
      lane.device = device;
      for (const ScopeSegment& segment : layers[level])
        lane.segments.push_back({segment.start_ns, segment.end_ns, segment.name, kNull});
      finish(lane);
    }
  }

  void add_ai_cpu() {
    std::map<int64_t, std::vector<LaneSegment>> found;  // by device
    std::map<int64_t, bool> types;
    for_each_row<6>(store_, Table::kKernels, rank_.position,
                    {"ts", "dur", "name", "type", "device", "flags"}, [&](const auto& row) {
                      const auto [ts_ns, dur_ns, name, type, device, flags] = row;
                      if (type == kNull || dur_ns == kNull || dur_ns < 0) return;
                      if ((flags & kFlagImpossible) != 0) return;
                      const auto [is_ai_cpu, added] = types.try_emplace(type, false);
                      if (added) is_ai_cpu->second = store_.string(type) == "AI_CPU";
                      if (!is_ai_cpu->second) return;
                      found[device].push_back({ts_ns, ts_ns + dur_ns, store_.string(name), kNull});
                    });
    for (auto& [device, segments] : found) {
      TimelineLane& lane = add("AI CPU Op", "AI CPU", LaneKind::kAiCpu);
      lane.device = device;
      lane.segments = std::move(segments);
      std::stable_sort(
          lane.segments.begin(), lane.segments.end(),
          [](const LaneSegment& a, const LaneSegment& b) { return a.start_ns < b.start_ns; });
      finish(lane);
    }
  }

  void add_overlap(const DeviceIntervals& device) {
    // On the host a collective is an operator like others, and waiting in it is no computation.
    const auto computation = device.device == kHostDevice
                                 ? subtract_intervals(device.compute, device.communication)
                                 : device.compute;
    std::vector<Interval> working = computation;
    working.insert(working.end(), device.communication.begin(), device.communication.end());
    const std::string suffix =
        devices_.size() > 1 ? " (device " + std::to_string(device.device) + ")" : "";
    const auto add_lane = [&](std::string_view name, std::string_view segment, LaneKind kind,
                              const std::vector<Interval>& intervals) {
      TimelineLane& lane = add(std::string(kOverlapProcess), std::string(name) + suffix, kind);
      lane.device = device.device;
      for (const Interval& interval : intervals)
        lane.segments.push_back({interval.start_ns, interval.end_ns, segment, kNull});
      finish(lane);
    };
    add_lane("Merged Computation Op", "computation_op", LaneKind::kMergedComputation, computation);
    add_lane("Pure Communication Op", "communication_not_overlapped", LaneKind::kPureCommunication,
             subtract_intervals(device.communication, computation));
    add_lane("Merged Communication Op", "communication", LaneKind::kMergedCommunication,
             device.communication);
    add_lane("Free Time", "free_time", LaneKind::kFree,
             gaps_of(merge_intervals(std::move(working))));
  }

  const StoreReader& store_;
  const RankId& rank_;
  const std::vector<DeviceIntervals>& devices_;
  std::span<const StepRow> steps_;
  std::map<int64_t, std::vector<uint64_t>> streams_;
  std::vector<uint64_t> communication_;
  std::vector<uint64_t> host_;
  std::vector<uint64_t> counters_;
  std::vector<uint64_t> other_;
  std::vector<int64_t> step_starts_;
  std::vector<TimelineLane> lanes_;
};

}  // namespace

std::string_view lane_kind_name(LaneKind kind) {
  constexpr std::string_view kNames[] = {"step",
                                         "scope",
                                         "stream",
                                         "ai_cpu",
                                         "communication",
                                         "host_cpu",
                                         "merged_computation",
                                         "pure_communication",
                                         "merged_communication",
                                         "free",
                                         "counter",
                                         "other"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<TimelineLane> timeline(const StoreReader& store, const RankId& rank,
                                   const std::vector<DeviceIntervals>& devices,
                                   std::span<const StepRow> steps) {
  return Lanes(store, rank, devices, steps).make();
}

std::vector<const TimelineLane*> with_scope_levels(const std::vector<TimelineLane>& lanes,
                                                   int64_t levels) {
  std::vector<const TimelineLane*> chosen;
  for (const TimelineLane& lane : lanes) {
    if (lane.kind != LaneKind::kScope || lane.level <= levels) chosen.push_back(&lane);
  }
  return chosen;
}

}  // namespace stepscope
