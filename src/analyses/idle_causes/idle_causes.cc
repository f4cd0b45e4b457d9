#include "analyses/idle_causes/idle_causes.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

namespace stepscope {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_collection(std::string_view name) {
  const std::string text = lower(name);
  return text == "gc" || text.find("garbage collect") != std::string::npos;
}

enum class Wait : uint8_t { kUnknown, kNone, kInput, kDevice, kCollection };

Wait wait_of(std::string_view name) {
  if (is_input_wait(name)) return Wait::kInput;
  if (is_device_wait(name)) return Wait::kDevice;
  if (is_collection(name)) return Wait::kCollection;
  return Wait::kNone;
}

// The merged interval that holds `at`, ends included: a wait for the device ends after the device
// did, and clocks of host and device may differ by a tick.
bool holds(const std::vector<Interval>& merged, int64_t at_ns) {
  auto after = std::upper_bound(merged.begin(), merged.end(), at_ns,
                                [](int64_t at, const Interval& i) { return at < i.start_ns; });
  return after != merged.begin() && std::prev(after)->end_ns >= at_ns;
}

}  // namespace

bool is_input_wait(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.starts_with("enumerate(DataPipe)") ||
         name.starts_with("DataLoader.next") || name.starts_with("stepscope.pipeline.wait") ||
         name.find("GetNext") != std::string_view::npos;
}

bool is_device_wait(std::string_view name) {
  if (name == "aten::item" || name == "aten::_local_scalar_dense") return true;
  return lower(name).find("synchronize") != std::string::npos;
}

HostActivity host_activity(const StoreReader& store, size_t rank) {
  // What a name means is decided once for each name.
  std::vector<Wait> meaning(store.string_count(), Wait::kUnknown);
  std::vector<bool> host_track;
  const uint64_t first_track = store.row_base(Table::kTracks, rank);
  for_each_row<1>(store, Table::kTracks, rank, {"kind"}, [&](const auto& row) {
    const std::string_view kind = store.string(row[0]);
    host_track.push_back(kind == "host" || kind == "python");
  });
  std::vector<int64_t> step_marks;  // drawn around everything a step does: no activity of its own
  for_each_row<1>(store, Table::kSteps, rank, {"slice"}, [&](const auto& row) {
    if (row[0] != kNull) step_marks.push_back(row[0]);
  });
  std::sort(step_marks.begin(), step_marks.end());
  HostActivity host;
  for_each_row<7>(store, Table::kSlices, rank,
                  {"track", "ts", "dur", "name", "depth", "flags", "id"}, [&](const auto& row) {
                    const auto [track, ts_ns, dur_ns, name, depth, flags, id] = row;
                    const auto lane = static_cast<uint64_t>(track) - first_track;
                    if (lane >= host_track.size() || !host_track[lane]) return;
                    if (dur_ns == kNull || dur_ns <= 0 || (flags & kFlagImpossible) != 0) return;
                    if (name < 0 || static_cast<size_t>(name) >= meaning.size()) return;
                    Wait& wait = meaning[static_cast<size_t>(name)];
                    if (wait == Wait::kUnknown) wait = wait_of(store.string(name));
                    const Interval interval{ts_ns, ts_ns + dur_ns};
                    if (wait == Wait::kInput) host.input.push_back(interval);
                    if (wait == Wait::kDevice) host.sync.push_back(interval);
                    if (wait == Wait::kCollection) host.gc.push_back(interval);
                    // Slices inside the step mark are one deeper than the others.
                    if (depth <= 1 && !std::binary_search(step_marks.begin(), step_marks.end(), id))
                      host.any.push_back(interval);
                  });
  host.input = merge_intervals(std::move(host.input));
  host.sync = merge_intervals(std::move(host.sync));
  host.gc = merge_intervals(std::move(host.gc));
  host.any = merge_intervals(std::move(host.any));
  return host;
}

std::vector<IdleCausesRow> idle_causes(const RankId& rank, const DeviceIntervals& device,
                                       const HostActivity& host,
                                       const std::vector<StepWindow>& steps) {
  std::vector<IdleCausesRow> rows;
  for (const StepWindow& step : steps) {
    IdleCausesRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.device = device.device;
    row.step = step.step;
    row.step_ns = step.end_ns - step.start_ns;
    const std::vector<Interval> idle = subtract_intervals(
        {{step.start_ns, step.end_ns}}, clip_intervals(device.busy, step.start_ns, step.end_ns));
    row.idle_ns = total_length_ns(idle);

    std::vector<Interval> rest;
    std::vector<Interval> drained;
    for (const Interval& piece : idle) {
      if (piece.end_ns - piece.start_ns > row.longest_ns) {
        row.longest_ns = piece.end_ns - piece.start_ns;
        row.longest_at_ns = piece.start_ns;
      }
      (holds(host.sync, piece.start_ns) ? drained : rest).push_back(piece);
    }
    // Waiting for input comes first: a device that was waited for and then lacked its batch.
    const auto take = [&](std::vector<Interval>& from, const std::vector<Interval>& cause) {
      const int64_t before = total_length_ns(from);
      from = subtract_intervals(from, clip_intervals(cause, step.start_ns, step.end_ns));
      return before - total_length_ns(from);
    };
    row.input_ns = take(rest, host.input) + take(drained, host.input);
    row.gc_ns = take(rest, host.gc) + take(drained, host.gc);
    row.sync_ns = total_length_ns(drained);
    row.host_ns = take(rest, host.any);
    row.other_ns = total_length_ns(rest);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace stepscope
