#include "importers/native/device_tables.h"

#include <algorithm>
#include <array>

#include "json/json_members.h"

namespace stepscope {
namespace {

// CUPTI's numbers in the words that other profilers use.
constexpr std::array kCopyKinds = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                   "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array kMemoryKinds = {"Unknown", "Pageable", "Pinned",        "Device",
                                     "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::array kSyncTypes = {"Unknown Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                   "Context Sync"};

template <typename Words>
std::string_view word(const Words& words, int64_t number) {
  return words[number >= 0 && number < static_cast<int64_t>(words.size())
                   ? static_cast<size_t>(number)
                   : 0];
}

std::string_view overhead_word(int64_t kind) {
  switch (kind) {
    case 1:
      return "Driver Compiler";
    case 1 << 16:
      return "Buffer Flush";
    case 2 << 16:
      return "Instrumentation";
    case 3 << 16:
      return "Resource";
    case 4 << 16:
      return "Runtime Triggered Module Loading";
    case 5 << 16:
      return "Lazy Function Loading";
    case 6 << 16:
      return "Command Buffer Full";
    case 7 << 16:
      return "Activity Buffer Request";
    default:
      return "Unknown";
  }
}

std::string three(const int64_t (&extents)[3]) {
  return "[" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]) + "]";
}

// The product of what a launch's extents say, or -1 when they say nonsense.
int64_t product(const int64_t (&extents)[3]) {
  __int128 result = 1;
  for (const int64_t extent : extents) {
    if (extent <= 0 || extent > (int64_t{1} << 32)) return -1;
    result *= extent;
  }
  return result > kLatestNs ? -1 : static_cast<int64_t>(result);
}

int32_t small(int64_t value) {
  return value < 0 || value > INT32_MAX ? -1 : static_cast<int32_t>(value);
}

}  // namespace

std::vector<const std::vector<int64_t>*> DeviceTables::columns(
    const RawTable& table, std::initializer_list<const char*> names) {
  std::vector<const std::vector<int64_t>*> found;
  for (const char* const name : names) {
    found.push_back(table.column(name));
    if (found.back() != nullptr) continue;
    run_.rank().quality.add(QualityCode::kUnparsableEvent,
                            "columns are missing in table " + std::string(table.name),
                            static_cast<int64_t>(table.rows));
    return {};
  }
  return found;
}

void DeviceTables::learn(const RawChunk& chunk) {
  for (const RawTable& table : chunk.tables) {
    if (table.name == "kernel_variants") {
      learn_variants(table);
    } else if (table.name == "runtime_calls" || table.name == "driver_calls") {
      has_calls_ = true;
    } else if (table.name == "contexts") {
      const auto column = columns(table, {"context", "device"});
      for (size_t row = 0; !column.empty() && row < table.rows; ++row)
        device_of_context_[(*column[0])[row]] = (*column[1])[row];
    }
  }
}

void DeviceTables::learn_variants(const RawTable& table) {
  const auto column =
      columns(table, {"variant", "name", "grid_x", "grid_y", "grid_z", "block_x", "block_y",
                      "block_z", "registers", "static_shared", "dynamic_shared"});
  for (size_t row = 0; !column.empty() && row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    Variant& variant = variants_[value(0)];
    variant.name = value(1);
    for (size_t axis = 0; axis < 3; ++axis) {
      variant.grid[axis] = value(2 + axis);
      variant.block[axis] = value(5 + axis);
    }
    variant.registers = value(8);
    variant.static_shared = value(9);
    variant.dynamic_shared = value(10);
  }
}

bool DeviceTables::read(const RawTable& table) {
  if (table.name == "kernels" || table.name == "graph_kernels") {
    read_kernels(table);
  } else if (table.name == "copies") {
    read_copies(table);
  } else if (table.name == "runtime_calls") {
    read_calls(table, "cuda_runtime");
  } else if (table.name == "driver_calls") {
    read_calls(table, "cuda_driver");
  } else if (table.name == "synchronizations") {
    read_synchronizations(table);
  } else if (table.name == "device_memory") {
    read_memory(table);
  } else if (table.name == "overheads") {
    read_overheads(table);
  } else {
    return table.name == "kernel_variants" || table.name == "contexts";
  }
  return true;
}

SliceRecord DeviceTables::slice(int64_t start_ticks, int64_t duration_ticks, StringId name,
                                std::string_view category) {
  ++records_;
  SliceRecord slice;
  slice.ts_ns = run_.clock().ns(start_ticks);
  slice.dur_ns = run_.clock().duration_ns(start_ticks, duration_ticks);
  slice.name = name;
  slice.cat = run_.rank().strings.intern(category);
  return slice;
}

void DeviceTables::link(SliceRecord& slice, int64_t correlation) {
  if (correlation == 0) return;
  // Without calls (tier `kernels`) the number leads nowhere: not every kernel's launch is missing.
  if (has_calls_) slice.correlation = run_.rank().pack_id(correlation);
}

void DeviceTables::resolve(Variant& variant, int64_t device) {
  RankBuilder& rank = run_.rank();
  variant.name_id = run_.name(variant.name);
  variant.detail_device = device;
  KernelDetail detail;
  detail.type = rank.strings.intern("CUDA");
  detail.grid = rank.strings.intern(three(variant.grid));
  detail.block = rank.strings.intern(three(variant.block));
  detail.registers = small(variant.registers);
  const __int128 shared = static_cast<__int128>(variant.static_shared) + variant.dynamic_shared;
  detail.shared_memory = shared < 0 || shared > INT32_MAX ? -1 : static_cast<int32_t>(shared);
  LaunchShape launch;
  launch.blocks = product(variant.grid);
  launch.threads_per_block = product(variant.block);
  launch.registers_per_thread = detail.registers;
  launch.shared_bytes = detail.shared_memory;
  detail.occupancy = estimated_occupancy(limits_of(device), launch);
  if (rank.strings.view(variant.name_id).find("nccl") != std::string_view::npos) {
    detail.work_class = WorkClass::kCommunication;
    CommunicationDetail collective;
    collective.level = rank.strings.intern("op");
    detail.communication = rank.add_communication(collective);
  }
  variant.detail = rank.add_kernel(detail);
}

void DeviceTables::read_kernels(const RawTable& table) {
  const auto column =
      columns(table, {"start_ticks", "duration_ticks", "stream", "correlation", "variant"});
  if (column.empty()) return;
  const auto* const graph = table.column("graph");
  const auto* const node = table.column("graph_node");
  RankBuilder& rank = run_.rank();
  for (size_t row = 0; row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    const auto found = variants_.find(value(4));
    if (found == variants_.end()) {
      ++without_variant_;
      continue;
    }
    Variant& variant = found->second;
    // A collective's detail is its own: the store fills it in for each one.
    const bool shared = variant.detail != kNoDetail && variant.detail_device == table.key &&
                        rank.kernel(variant.detail).communication == kNoDetail;
    if (!shared) resolve(variant, table.key);
    SliceRecord kernel = slice(value(0), value(1), variant.name_id, "kernel");
    kernel.kind = SliceKind::kKernel;
    kernel.detail = variant.detail;
    link(kernel, value(3));
    if (graph != nullptr && node != nullptr) {
      kernel.args = rank.add_args("{\"graph id\":" + std::to_string((*graph)[row]) +
                                  ",\"graph node id\":" + std::to_string((*node)[row]) + "}");
    }
    rank.add_slice(stream_track(table.key, value(2)), kernel);
  }
}

void DeviceTables::read_copies(const RawTable& table) {
  const auto column = columns(table, {"start_ticks", "duration_ticks", "stream", "correlation",
                                      "bytes", "copy_kind", "from", "to"});
  RankBuilder& rank = run_.rank();
  for (size_t row = 0; !column.empty() && row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    const bool memset = value(5) == 0;
    std::string name = memset ? "Memset (" : "Memcpy ";
    if (!memset) name.append(word(kCopyKinds, value(5))).append(" (");
    if (!memset) name.append(word(kMemoryKinds, value(6))).append(" -> ");
    name.append(word(kMemoryKinds, value(7))).append(")");
    KernelDetail detail;
    detail.type = rank.strings.intern(memset ? "MEMSET" : "MEMCPY");
    detail.work_class = WorkClass::kMemory;
    if (value(4) >= 0) detail.bytes = value(4);
    SliceRecord copy =
        slice(value(0), value(1), rank.strings.intern(name), memset ? "gpu_memset" : "gpu_memcpy");
    copy.kind = SliceKind::kKernel;
    copy.detail = rank.add_kernel(detail);
    link(copy, value(3));
    rank.add_slice(stream_track(table.key, value(2)), copy);
  }
}

void DeviceTables::read_calls(const RawTable& table, std::string_view category) {
  const auto column = columns(table, {"start_ticks", "duration_ticks", "name", "correlation"});
  if (column.empty()) return;
  const TrackId track = run_.thread_track(table.key);
  for (size_t row = 0; row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    SliceRecord call = slice(value(0), value(1), run_.name(value(2)), category);
    call.kind = SliceKind::kLaunchCall;
    link(call, value(3));
    run_.rank().add_slice(track, call);
  }
}

void DeviceTables::read_synchronizations(const RawTable& table) {
  const auto column =
      columns(table, {"type", "start_ticks", "duration_ticks", "stream", "correlation"});
  if (column.empty()) return;
  RankBuilder& rank = run_.rank();
  const auto context = device_of_context_.find(table.key);
  const int64_t device = context == device_of_context_.end() ? 0 : context->second;
  for (size_t row = 0; row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    SliceRecord sync =
        slice(value(1), value(2), rank.strings.intern(word(kSyncTypes, value(0))), "cuda_sync");
    link(sync, value(4));
    rank.add_slice(sync_track(device, value(3)), sync);
  }
}

void DeviceTables::read_memory(const RawTable& table) {
  const auto column = columns(table, {"ticks", "bytes", "address", "memory_kind"});
  RankBuilder& rank = run_.rank();
  for (size_t row = 0; !column.empty() && row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    ++records_;
    MemoryRecord memory;
    memory.ts_ns = run_.clock().ns(value(0));
    memory.bytes = value(1);
    memory.address = value(2);
    memory.device = small(table.key);
    memory.device_kind = rank.strings.intern(word(kMemoryKinds, value(3)));
    memory.component = rank.strings.intern("CUDA");
    memory_.push_back(memory);
  }
}

void DeviceTables::read_overheads(const RawTable& table) {
  const auto column = columns(table, {"start_ticks", "duration_ticks", "kind"});
  RankBuilder& rank = run_.rank();
  for (size_t row = 0; !column.empty() && row < table.rows; ++row) {
    const auto value = [&](size_t at) { return (*column[at])[row]; };
    rank.add_slice(
        run_.thread_track(table.key),
        slice(value(0), value(1), rank.strings.intern(overhead_word(value(2))), "overhead"));
  }
}

TrackId DeviceTables::stream_track(int64_t device, int64_t stream) {
  const auto [found, added] = stream_tracks_.try_emplace({device, stream}, 0);
  if (!added) return found->second;
  StringPool& strings = run_.rank().strings;
  TrackInfo track;
  track.process = strings.intern("GPU " + std::to_string(device));
  track.thread = strings.intern("stream " + std::to_string(stream));
  track.pid = strings.intern(std::to_string(device));
  track.tid = strings.intern(std::to_string(stream));
  track.kind = TrackKind::kDevice;
  track.device = device;
  track.stream = stream;
  return found->second = run_.rank().add_track(track);
}

// Waits are the host's: beside the stream, not among its kernels.
TrackId DeviceTables::sync_track(int64_t device, int64_t stream) {
  const auto [found, added] = sync_tracks_.try_emplace({device, stream}, 0);
  if (!added) return found->second;
  StringPool& strings = run_.rank().strings;
  TrackInfo track;
  track.process = strings.intern("GPU " + std::to_string(device));
  track.thread =
      strings.intern(stream < 0 ? "device (sync)" : "stream " + std::to_string(stream) + " (sync)");
  track.pid = strings.intern(std::to_string(device));
  track.tid = strings.intern(std::to_string(stream) + " (sync)");
  track.kind = TrackKind::kOther;
  track.device = device;
  return found->second = run_.rank().add_track(track);
}

MultiprocessorLimits DeviceTables::limits_of(int64_t device) const {
  MultiprocessorLimits limits;
  for (const auto& [name, json] : run_.notes()) {
    if (name != "device" || integer_in(json, "id", -1) != device) continue;
    limits.multiprocessors = integer_in(json, "multiprocessors", 0);
    limits.threads_per_warp = integer_in(json, "threads_per_warp", 32);
    limits.warps = integer_in(json, "warps_per_multiprocessor", 0);
    limits.blocks = integer_in(json, "blocks_per_multiprocessor", 0);
    limits.registers = integer_in(json, "registers_per_multiprocessor", 0);
    limits.shared_bytes = integer_in(json, "shared_per_multiprocessor", 0);
    limits.compute_major = integer_in(json, "compute_major", 0);
  }
  return limits;
}

void DeviceTables::finish() {
  RankBuilder& rank = run_.rank();
  int64_t devices = 0;
  for (const auto& [name, json] : run_.notes()) {
    if (name != "device") continue;
    if (devices++ == 0) rank.info.device_name = text_in(json, "name");
  }
  if (devices > 0) rank.info.device_count = devices;
  if (devices > 0 || !stream_tracks_.empty()) rank.info.device_kind = "NVIDIA GPU";
  if (without_variant_ > 0) {
    rank.quality.add(QualityCode::kUnparsableEvent, "kernels whose name is not in the file",
                     without_variant_);
  }
  // Threads allocate at once, so that their records come in no order.
  std::stable_sort(memory_.begin(), memory_.end(),
                   [](const MemoryRecord& a, const MemoryRecord& b) { return a.ts_ns < b.ts_ns; });
  std::map<std::pair<int32_t, StringId>, int64_t> totals;
  for (MemoryRecord& memory : memory_) {
    int64_t& total = totals[{memory.device, memory.device_kind}];
    if (__builtin_add_overflow(total, memory.bytes, &total)) total = 0;
    memory.total_allocated = total;
    rank.memory.push_back(memory);
  }
}

}  // namespace stepscope
