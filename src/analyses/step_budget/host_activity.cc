#include "analyses/step_budget/host_activity.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "analyses/common/merging.h"
#include "analyses/common/rank_rows.h"

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

enum class Wait : uint8_t { kUnknown, kNone, kInput, kDevice, kItem, kCollection, kAllocator };

bool is_allocator_call(std::string_view name) {
  for (const std::string_view call :
       {"cudaMalloc", "cudaFree", "cuMemAlloc", "cuMemFree", "cuMemCreate", "cuMemMap", "hipMalloc",
        "hipFree", "aclrtMalloc", "aclrtFree", "aclMallocMemInner"}) {
    if (name.starts_with(call) || name.starts_with("AscendCL@" + std::string(call))) return true;
  }
  return false;
}

bool is_item(std::string_view name) {
  return name == "aten::item" || name == "aten::_local_scalar_dense";
}

Wait wait_of(std::string_view name) {
  if (is_input_wait(name)) return Wait::kInput;
  if (is_item(name)) return Wait::kItem;
  if (is_device_wait(name)) return Wait::kDevice;
  if (is_collection(name)) return Wait::kCollection;
  if (is_allocator_call(name)) return Wait::kAllocator;
  return Wait::kNone;
}

}  // namespace

bool is_input_wait(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)") || name.starts_with("enumerate(DataPipe)") ||
         name.starts_with("DataLoader.next") || name.starts_with("stepscope.pipeline.wait") ||
         name.find("GetNext") != std::string_view::npos;
}

bool is_device_wait(std::string_view name) {
  if (is_item(name)) return true;
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
  // Taking from a queue is waiting for input where the training does it, not between stages.
  std::vector<bool> trains(host_track.size());
  for (const int64_t mark : step_marks) {
    const auto row = static_cast<uint64_t>(mark) - store.row_base(Table::kSlices, rank);
    const auto track = static_cast<uint64_t>(number_at(store, Table::kSlices, "track", rank, row));
    if (track < trains.size()) trains[track] = true;
  }
  // Categories are few and repeat: the word is compared when it changes.
  int64_t last_category = kNull;
  bool takes_from_queue = false;
  HostActivity host;
  std::vector<Interval> items;
  Merging any;
  for_each_row<8>(store, Table::kSlices, rank,
                  {"track", "ts", "dur", "name", "depth", "flags", "id", "cat"},
                  [&](const auto& row) {
                    const auto [track, ts_ns, dur_ns, name, depth, flags, id, category] = row;
                    const auto lane = static_cast<uint64_t>(track) - first_track;
                    if (lane >= host_track.size() || !host_track[lane]) return;
                    if (dur_ns == kNull || dur_ns <= 0 || (flags & kFlagImpossible) != 0) return;
                    if (name < 0 || static_cast<size_t>(name) >= meaning.size()) return;
                    Wait& wait = meaning[static_cast<size_t>(name)];
                    if (wait == Wait::kUnknown) wait = wait_of(store.string(name));
                    const Interval interval{ts_ns, ts_ns + dur_ns};
                    if (category != last_category) {
                      last_category = category;
                      takes_from_queue = store.string(category) == "pipeline_get";
                    }
                    if (wait == Wait::kInput || (takes_from_queue && trains[lane]))
                      host.input.push_back(interval);
                    if (wait == Wait::kDevice) host.sync.push_back(interval);
                    if (wait == Wait::kItem) items.push_back(interval);
                    if (wait == Wait::kCollection) host.gc.push_back(interval);
                    if (wait == Wait::kAllocator) host.allocator.push_back(interval);
                    // Slices inside the step mark are one deeper than the others.
                    if (depth <= 1 && !std::binary_search(step_marks.begin(), step_marks.end(), id))
                      any.add(interval.start_ns, interval.end_ns);
                  });
  host.input = merge_intervals(std::move(host.input));
  // An item of the host's memory waits for nobody. Where calls of the runtime were recorded, they
  // tell it from one of the device; elsewhere every item may be one.
  host.sync = merge_intervals(std::move(host.sync.empty() ? items : host.sync));
  for (const Interval& wait : host.sync) host.sync_starts.push_back(wait.start_ns);
  host.gc = merge_intervals(std::move(host.gc));
  host.allocator = merge_intervals(std::move(host.allocator));
  host.any = any.take();
  return host;
}

}  // namespace stepscope
