#include "collector/sources/cupti/activity_decoder.h"

#include <cstdio>
#include <cstring>

#include "base/json_text.h"
#include "collector/record_tables.h"
#include "collector/sources/cupti/device_tables.h"
#include "stepscope/record.h"

namespace stepscope::cupti {
namespace {

constexpr size_t kMostOpenMarkers = 1 << 16;

template <typename Record>
const Record& as(const Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

// CUPTI leaves the times of work that it could not time at zero.
bool has_time(uint64_t start, uint64_t end) { return start != 0 && end >= start; }

// CUPTI writes "none" as all ones.
int64_t id_or_none(uint32_t id) { return id == UINT32_MAX ? -1 : static_cast<int64_t>(id); }

}  // namespace

// Rows of one table come mostly with one key, a few at a time: the last table of each kind is
// remembered.
struct ActivityDecoder::Tables {
  struct Remembered {
    RawTableBuilder* table = nullptr;
    int64_t key = 0;
  };
  SourceOutput& output;
  Remembered kernels;
  Remembered graph_kernels;
  Remembered copies;
  Remembered runtime_calls;
  Remembered driver_calls;

  RawTableBuilder& get(Remembered& last, const RawTableLayout& layout, int64_t key) const {
    if (last.table == nullptr || last.key != key) last = {&output.chunk.table(layout, key), key};
    return *last.table;
  }
};

void DeviceClock::sample(uint64_t cupti_ns, uint64_t ticks) {
  if (first_ns_ == 0) {
    first_ns_ = cupti_ns;
    first_ticks_ = ticks;
  } else if (cupti_ns > first_ns_) {
    ticks_per_ns_ =
        static_cast<double>(ticks - first_ticks_) / static_cast<double>(cupti_ns - first_ns_);
  }
}

ActivityDecoder::ActivityDecoder(const CuptiLibrary& library, DeviceClock clock, uint64_t began,
                                 bool copies)
    : library_(library), clock_(clock), began_(began), copies_(copies), calls_(library) {}

void ActivityDecoder::decode(std::span<uint8_t> records, SourceOutput& output) {
  Tables tables{output, {}, {}, {}, {}, {}};
  Activity* record = nullptr;
  buffer_ = {};
  while (library_.next_record(records.data(), records.size(), &record) == kSuccess &&
         record != nullptr) {
    decode_one(*record, tables);
  }
  counts_.elsewhere += buffer_.untimed_copies;
}

void ActivityDecoder::decode_one(const Activity& record, Tables& tables) {
  switch (record.kind) {
    case kConcurrentKernel:
      return add_kernel(as<KernelRecord>(record), tables);
    case kRuntimeApi:
    case kDriverApi:
      return add_call(as<ApiRecord>(record), tables);
    case kMemcpy:
      return add_copy(as<MemcpyRecord>(record), tables);
    case kMemcpyPeer:
      return add_peer_copy(as<MemcpyPeerRecord>(record), tables);
    case kMemset:
      return add_memset(as<MemsetRecord>(record), tables);
    case kMarker:
      return add_marker(as<MarkerRecord>(record), tables);
    case kDevice:
      return add_device(as<DeviceRecord>(record), tables);
    case kMemory: {
      const auto& memory = as<MemoryRecord>(record);
      const auto bytes = static_cast<int64_t>(memory.bytes);
      tables.output.chunk.table(kDeviceMemoryTable, id_or_none(memory.device))
          .add({clock_.ticks(memory.timestamp), memory.operation == 2 ? -bytes : bytes,
                static_cast<int64_t>(memory.address), memory.memory_kind, id_or_none(memory.stream),
                memory.correlation});
      break;
    }
    case kOverhead: {
      const auto& overhead = as<OverheadRecord>(record);
      const bool of_thread = overhead.object_kind == kThreadObject;
      if (of_thread) name_thread(overhead.thread, tables);
      tables.output.chunk.table(kOverheadsTable, of_thread ? overhead.thread : 0)
          .add({clock_.ticks(overhead.start),
                clock_.ticks(overhead.end) - clock_.ticks(overhead.start), overhead.overhead_kind});
      break;
    }
    case kContext: {
      const auto& context = as<ContextRecord>(record);
      tables.output.lasting.add(kContextsTable, 0, {context.context, context.device});
      return;
    }
    default:
      ++counts_.unknown;
      return;
  }
  ++counts_.other;
  ++tables.output.events;
}

void ActivityDecoder::place_untimed_copies() {
  int64_t& count = buffer_.has_work_of_ours ? counts_.without_time : counts_.elsewhere;
  count += buffer_.untimed_copies;
  buffer_ = {true, 0};
}

bool ActivityDecoder::is_copy_of_ours(uint64_t start, uint64_t end) {
  if (!copies_) {
    ++counts_.unknown;
    return false;
  }
  const bool timed = has_time(start, end);
  if (timed && end >= began_) {
    place_untimed_copies();
    return true;
  }
  ++(timed ? counts_.elsewhere : buffer_.untimed_copies);
  return false;
}

void ActivityDecoder::add_kernel(const KernelRecord& record, Tables& tables) {
  const bool timed = has_time(record.start, record.end);
  if (timed && record.end < began_) {
    ++counts_.elsewhere;
    ++counts_.late_kernels;
    return;
  }
  place_untimed_copies();
  if (!timed) {
    ++counts_.without_time;
    return;
  }
  const int64_t start = clock_.ticks(record.start);
  const int64_t duration = clock_.ticks(record.end) - start;
  const int64_t variant = variants_.number(record, tables.output);
  ++tables.output.events;
  ++counts_.kernels;
  if (record.graph == 0 && record.graph_node == 0) {
    tables.get(tables.kernels, kKernelsTable, record.device)
        .add({start, duration, record.stream, record.context, record.correlation, variant});
    return;
  }
  ++counts_.graph_kernels;
  tables.get(tables.graph_kernels, kGraphKernelsTable, record.device)
      .add({start, duration, record.stream, record.context, record.correlation, variant,
            record.graph, static_cast<int64_t>(record.graph_node)});
}

void ActivityDecoder::add_copy(const MemcpyRecord& record, Tables& tables) {
  if (!is_copy_of_ours(record.start, record.end)) return;
  const int64_t start = clock_.ticks(record.start);
  tables.get(tables.copies, kCopiesTable, record.device)
      .add({start, clock_.ticks(record.end) - start, record.stream, record.context,
            record.correlation, static_cast<int64_t>(record.bytes), record.copy_kind, record.from,
            record.to, 0, record.graph_node == 0 ? 0 : static_cast<int64_t>(record.graph),
            static_cast<int64_t>(record.graph_node)});
  ++tables.output.events;
  ++counts_.copies;
}

void ActivityDecoder::add_peer_copy(const MemcpyPeerRecord& record, Tables& tables) {
  if (!is_copy_of_ours(record.start, record.end)) return;
  const int64_t start = clock_.ticks(record.start);
  const uint32_t other =
      record.from_device == record.device ? record.to_device : record.from_device;
  tables.get(tables.copies, kCopiesTable, record.device)
      .add({start, clock_.ticks(record.end) - start, record.stream, record.context,
            record.correlation, static_cast<int64_t>(record.bytes), record.copy_kind, record.from,
            record.to, static_cast<int64_t>(other) + 1,
            record.graph_node == 0 ? 0 : static_cast<int64_t>(record.graph),
            static_cast<int64_t>(record.graph_node)});
  ++tables.output.events;
  ++counts_.copies;
}

void ActivityDecoder::add_memset(const MemsetRecord& record, Tables& tables) {
  if (!is_copy_of_ours(record.start, record.end)) return;
  const int64_t start = clock_.ticks(record.start);
  tables.get(tables.copies, kCopiesTable, record.device)
      .add({start, clock_.ticks(record.end) - start, record.stream, record.context,
            record.correlation, static_cast<int64_t>(record.bytes), 0, 0, record.memory_kind, 0,
            record.graph_node == 0 ? 0 : static_cast<int64_t>(record.graph),
            static_cast<int64_t>(record.graph_node)});
  ++tables.output.events;
  ++counts_.copies;
}

void ActivityDecoder::add_call(const ApiRecord& record, Tables& tables) {
  const bool runtime = record.kind == kRuntimeApi;
  const ApiCalls::Call& call =
      calls_.call(runtime ? kRuntimeDomain : kDriverDomain, record.id, tables.output.names);
  if (!call.wanted) {
    ++counts_.unwanted_calls;
    return;
  }
  const int64_t start = clock_.ticks(record.start);
  Tables::Remembered& last = runtime ? tables.runtime_calls : tables.driver_calls;
  if (last.table == nullptr || last.key != record.thread) name_thread(record.thread, tables);
  tables.get(last, runtime ? kRuntimeCallsTable : kDriverCallsTable, record.thread)
      .add({start, clock_.ticks(record.end) - start, call.name, record.correlation});
  // Records of synchronisations would say which stream, but cost every launch more than it does.
  if (call.waits_for != SyncType::kNothing) {
    tables.output.chunk.table(kSynchronizationsTable, -1)
        .add({static_cast<int64_t>(call.waits_for), start, clock_.ticks(record.end) - start, -1,
              record.correlation, -1});
  }
  ++tables.output.events;
  ++counts_.calls;
}

// NVTX ranges: their two ends come as two records with one id.
void ActivityDecoder::add_marker(const MarkerRecord& record, Tables& tables) {
  if ((record.flags & kMarkerStart) != 0) {
    // A program that never ends its ranges must not fill the memory; those to come may end.
    if (open_markers_.size() >= kMostOpenMarkers) {
      counts_.forgotten_ranges += static_cast<int64_t>(open_markers_.size());
      open_markers_.clear();
    }
    OpenMarker& open = open_markers_[record.id];
    open.start = record.timestamp;
    open.thread = record.object_kind == kThreadObject ? record.thread : 0;
    open.name = tables.output.names.intern(record.name == nullptr ? "" : record.name);
    open.collective = record.domain != nullptr && std::strcmp(record.domain, "NCCL") == 0;
    return;
  }
  int64_t kind = STEPSCOPE_MARK;
  int64_t start = clock_.ticks(record.timestamp);
  int64_t duration = 0;
  uint32_t thread = record.object_kind == kThreadObject ? record.thread : 0;
  uint32_t name = 0;
  if ((record.flags & kMarkerEnd) != 0) {
    const auto open = open_markers_.find(record.id);
    if (open == open_markers_.end()) return;  // began before the recording, or is forgotten
    kind = open->second.collective ? STEPSCOPE_COLLECTIVE : STEPSCOPE_USER;
    duration = start - clock_.ticks(open->second.start);
    start -= duration;
    thread = open->second.thread;
    name = open->second.name;
    open_markers_.erase(open);
  } else {
    name = tables.output.names.intern(record.name == nullptr ? "" : record.name);
  }
  name_thread(thread, tables);
  tables.output.chunk.table(kRangesTable, thread).add({kind, start, duration, name});
  ++tables.output.events;
  ++counts_.other;
}

void ActivityDecoder::add_device(const DeviceRecord& record, Tables& tables) {
  if (!devices_.insert(record.id).second) return;
  std::string json = "{\"id\":" + std::to_string(record.id) + ",\"name\":";
  append_json_text(json, record.name == nullptr ? "" : record.name);
  const auto add = [&](const char* key, uint64_t value) {
    json.append(",\"").append(key).append("\":").append(std::to_string(value));
  };
  add("compute_major", record.compute_major);
  add("compute_minor", record.compute_minor);
  add("multiprocessors", record.multiprocessors);
  add("memory_bytes", record.memory_bytes);
  add("memory_bandwidth_kb_s", record.memory_bandwidth);
  add("core_clock_khz", record.core_clock_khz);
  add("l2_bytes", record.l2_bytes);
  add("threads_per_warp", record.threads_per_warp);
  add("warps_per_multiprocessor", record.warps_per_multiprocessor);
  add("blocks_per_multiprocessor", record.blocks_per_multiprocessor);
  add("shared_per_multiprocessor", record.shared_per_multiprocessor);
  add("registers_per_multiprocessor", record.registers_per_multiprocessor);
  tables.output.lasting.add_note("device", json + "}");
}

void ActivityDecoder::name_thread(uint32_t thread, Tables& tables) {
  if (thread == 0 || !named_threads_.insert(thread).second) return;
  char path[64];
  char name[32] = {};
  std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
  std::FILE* const file = std::fopen(path, "r");
  if (file == nullptr) return;  // it has ended; its lane is called by its number
  const size_t length = std::fread(name, 1, sizeof name - 1, file);
  std::fclose(file);
  const std::string_view text(name, length);
  tables.output.lasting.add(
      kThreadsTable, 0,
      {thread, static_cast<int64_t>(tables.output.names.intern(text.substr(0, text.find('\n'))))});
}

}  // namespace stepscope::cupti
