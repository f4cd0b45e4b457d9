#include "analyses/step_times/step_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/common/interval_index.h"
#include "analyses/common/merging.h"
#include "analyses/common/names.h"
#include "analyses/communication/send_receive_kinds.h"

namespace stepscope {
namespace {

StepTimeRow split(const OverlapLanes& lanes, const IntervalIndex& receives, int64_t start_ns,
                  int64_t end_ns) {
  StepTimeRow row;
  row.start_ns = start_ns;
  row.dur_ns = end_ns - start_ns;
  row.computing_ns = lanes.computing.length_in(start_ns, end_ns);
  row.communication_ns = lanes.communication.length_in(start_ns, end_ns);
  row.communication_not_overlapped_ns =
      lanes.communication_not_overlapped.length_in(start_ns, end_ns);
  row.overlapped_ns = row.communication_ns - row.communication_not_overlapped_ns;
  row.bubble_ns = receives.length_in(start_ns, end_ns);
  Interval stage;
  if (!lanes.working.bounds_in(start_ns, end_ns, stage)) {
    row.free_ns = row.dur_ns;
    return row;
  }
  row.preparing_ns = stage.start_ns - start_ns;
  row.tail_ns = end_ns - stage.end_ns;
  const int64_t span_ns = stage.end_ns - stage.start_ns;
  row.stage_ns = span_ns - row.bubble_ns;
  row.memory_not_overlapped_ns =
      lanes.memory_not_overlapped.length_in(stage.start_ns, stage.end_ns);
  row.free_ns = span_ns - row.computing_ns - row.communication_not_overlapped_ns -
                row.memory_not_overlapped_ns;
  return row;
}

// Merged intervals of receives, by device.
std::map<int64_t, IntervalIndex> receive_intervals(const StoreReader& store, size_t rank,
                                                   const std::vector<OverlapLanes>& devices) {
  std::map<int64_t, IntervalIndex> result;
  const bool communicates = std::any_of(
      devices.begin(), devices.end(),
      [](const OverlapLanes& device) { return !device.communication.intervals().empty(); });
  if (!communicates) return result;
  const int64_t only_device = devices.size() == 1 ? devices.front().device : 0;
  const std::vector<uint8_t> classes = classify_strings(store, is_receive_name);
  const auto told = send_receive_kinds(store, rank);
  const auto is_receive = [&](int64_t slice, int64_t name) {
    if (class_of(classes, name) == 0) return false;
    const auto found = told.find(slice);
    return found == told.end() || found->second == CollectiveKind::kReceive ||
           found->second == CollectiveKind::kSendReceive;
  };
  std::map<int64_t, Merging> receives;
  for_each_row<6>(
      store, Table::kKernels, rank, {"ts", "dur", "flags", "device", "name", "id"},
      [&](const auto& row) {
        const auto [ts_ns, dur_ns, flags, device, name, id] = row;
        if (dur_ns == kNull || dur_ns < 0 || (flags & kFlagImpossible) || !is_receive(id, name)) {
          return;
        }
        receives[device == kNull ? only_device : device].add(ts_ns, ts_ns + dur_ns);
      });
  for (auto& [device, intervals] : receives)
    result.emplace(device, IntervalIndex(intervals.take()));
  return result;
}

}  // namespace

std::vector<StepTimeRow> step_times(const StoreReader& store, const RankId& rank,
                                    const std::vector<OverlapLanes>& devices,
                                    std::span<const StepRow> steps) {
  std::vector<StepTimeRow> rows;
  auto receives = receive_intervals(store, rank.position, devices);
  for (const OverlapLanes& lanes : devices) {
    const auto add = [&](StepTimeRow row, int64_t step, bool complete) {
      row.rank = rank.rank;
      row.window = rank.window;
      row.device = lanes.device;
      row.step = step;
      row.complete = complete;
      rows.push_back(row);
    };
    const IntervalIndex& received = receives[lanes.device];
    for (const StepRow& step : steps)
      add(split(lanes, received, step.work_start_ns, step.work_end_ns()), step.step, step.complete);
    const auto busy = lanes.busy.intervals();
    if (steps.empty() && !busy.empty())
      add(split(lanes, received, busy.front().start_ns, busy.back().end_ns), kNull, true);
  }
  return rows;
}

}  // namespace stepscope
