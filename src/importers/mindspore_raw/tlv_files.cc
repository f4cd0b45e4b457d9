#include "importers/mindspore_raw/tlv_files.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindspore_raw/event_names.h"
#include "importers/mindspore_raw/tlv_reader.h"
#include "json/json_tree.h"

namespace stepscope::mindspore_raw {
namespace {

constexpr uint64_t kMostBytes = 4ull << 30;
constexpr uint64_t kNoFlow = ~uint64_t{0};
constexpr uint64_t kFreed = ~uint64_t{0};

template <size_t N>
std::string name_at(const std::string_view (&names)[N], uint16_t index, std::string_view kind,
                    QualityReport& quality) {
  if (index < N) return std::string(names[index]);
  const std::string word = std::string(kind) + " " + std::to_string(index);
  quality.add(QualityCode::kUnknownCategory, word);
  return word;
}

enum Field : uint16_t {
  kName = 13,
  kFullName = 14,
  kModuleGraph = 15,
  kEventGraph = 16,
  kCustomInfo = 17
};

std::map<uint16_t, std::string_view> read_fields(std::string_view bytes) {
  std::map<uint16_t, std::string_view> fields;
  TlvReader reader(bytes);
  uint16_t type = 0;
  std::string_view value;
  while (reader.next(type, value)) fields[type] = value;
  return fields;
}

void report_end(const TlvReader& reader, const std::string& path, RankBuilder& rank) {
  if (!reader.cut()) return;
  rank.quality.add(QualityCode::kTruncatedInput, path + " byte " + std::to_string(reader.offset()));
}

void report_short(const TlvReader& reader, const std::string& path, RankBuilder& rank) {
  rank.quality.add(QualityCode::kUnparsableEvent,
                   path + " byte " + std::to_string(reader.record_offset()));
}

class OpRangeReader {
 public:
  OpRangeReader(const std::string& path, const HostClock& clock, RankBuilder& rank)
      : path_(path),
        clock_(clock),
        rank_(rank),
        flow_kind_(rank.strings.intern("async_mindspore")) {}

  int64_t read(std::string_view bytes) {
    constexpr size_t kFixed = 5 * 8 + 4 + 3 * 2 + 1 + 3;
    TlvReader reader(bytes);
    uint16_t type = 0;
    std::string_view value;
    int64_t records = 0;
    while (reader.next(type, value)) {
      if (type != 0 || value.size() < kFixed) {
        report_short(reader, path_, rank_);
        continue;
      }
      add(value);
      ++records;
    }
    report_end(reader, path_, rank_);
    return records;
  }

 private:
  void add(std::string_view record) {
    FieldReader fixed(record);
    const auto thread = fixed.take<uint64_t>();
    const auto flow = fixed.take<uint64_t>();
    fixed.take<uint64_t>();  // step: 0 in practice, steps are marked by events
    const auto start = fixed.take<uint64_t>();
    const auto end = fixed.take<uint64_t>();
    const auto process = fixed.take<int32_t>();
    const auto module = fixed.take<uint16_t>();
    const auto event = fixed.take<uint16_t>();
    const auto stage = fixed.take<uint16_t>();
    fixed.take<int8_t>();  // level
    const bool is_graph_data = fixed.take<uint8_t>() != 0;
    const bool is_stage = fixed.take<uint8_t>() != 0;
    const bool is_stack = fixed.take<uint8_t>() != 0;
    if (start == 0) {
      rank_.quality.add(QualityCode::kUnparsableEvent, path_ + ": an event without a start");
      return;
    }
    auto fields = read_fields(fixed.rest());
    const TrackId track = track_of(thread, process);
    const int64_t start_ns = clock_.to_realtime_ns(start);
    const std::string_view own_name = fields[kName];
    if (own_name == "flow") {
      add_flow(flow, start_ns, track, FlowPhase::kStart);
      return;
    }
    SliceRecord slice;
    slice.ts_ns = start_ns;
    slice.dur_ns = minus_or_null(clock_.to_realtime_ns(end), start_ns);
    std::string name;
    if (is_stage) {
      name = name_at(kStages, stage, "stage", rank_.quality);
      slice.cat = rank_.strings.intern("stage");
    } else if (is_stack) {
      name = own_name;
      slice.cat = rank_.strings.intern("python_function");
      slice.kind = SliceKind::kPython;
    } else {
      const std::string module_name = is_graph_data
                                          ? std::string(fields[kModuleGraph])
                                          : name_at(kModules, module, "module", rank_.quality);
      const std::string event_name = is_graph_data
                                         ? std::string(fields[kEventGraph])
                                         : name_at(kEvents, event, "event", rank_.quality);
      name = module_name + "::" + event_name + "::" + std::string(own_name);
      slice.cat = rank_.strings.intern(module_name);
      if (event_name.find("KernelLaunch") != std::string::npos ||
          event_name.find("LaunchTask") != std::string::npos) {
        slice.kind = SliceKind::kOp;
        OpDetail detail;
        const std::string_view full = fields[kFullName].empty() ? own_name : fields[kFullName];
        detail.type = rank_.strings.intern(op_type_of(full));
        if (!op_module_of(full).empty()) detail.module = rank_.strings.intern(op_module_of(full));
        slice.detail = rank_.add_op(detail);
      }
    }
    slice.name = rank_.strings.intern(name);
    if (end == start) slice.flags |= kFlagInstant;
    if (end < start || slice.dur_ns == kNull) {
      slice.flags |= kFlagImpossible;
      slice.dur_ns = 0;
      rank_.quality.add(QualityCode::kEndBeforeStart, name);
    }
    if (!fields[kCustomInfo].empty()) {
      slice.args = rank_.add_args(
          write_json(nlohmann::json{{"custom_info", std::string(fields[kCustomInfo])}}));
    }
    add_flow(flow, start_ns, track, FlowPhase::kEnd);
    add_step(own_name, slice, track);
    rank_.add_slice(track, slice);
  }

  void add_flow(uint64_t id, int64_t ts_ns, TrackId track, FlowPhase phase) {
    if (id == kNoFlow) return;
    FlowRecord flow;
    flow.ts_ns = ts_ns;
    flow.id = id;
    if (id & kTextFlowId) flow.id = kTextFlowId | rank_.strings.intern(std::to_string(id));
    flow.kind = flow_kind_;
    flow.track = track;
    flow.phase = phase;
    rank_.flows.push_back(flow);
  }

  void add_step(std::string_view name, const SliceRecord& slice, TrackId track) {
    constexpr std::string_view kMark = "ProfilerStep#";
    const size_t at = name.find(kMark);
    if (at == std::string_view::npos) return;
    const auto number = parse_integer(name.substr(at + kMark.size()));
    if (!number) {
      rank_.quality.add(QualityCode::kBadNumber, std::string(name));
      return;
    }
    StepRecord step;
    step.step = *number;
    step.ts_ns = slice.ts_ns;
    step.dur_ns = slice.dur_ns;
    step.source = rank_.strings.intern("marked");
    step.track = track;
    step.name = slice.name;
    rank_.steps.push_back(step);
  }

  TrackId track_of(uint64_t thread, int32_t process) {
    auto [track, is_new] = tracks_.try_emplace(thread, TrackId{0});
    if (is_new) {
      TrackInfo info;
      info.process = rank_.strings.intern("MindSpore");
      info.thread = rank_.strings.intern("Thread " + std::to_string(thread));
      info.pid = rank_.strings.intern(std::to_string(process));
      info.tid = rank_.strings.intern(std::to_string(thread));
      info.kind = TrackKind::kHost;
      track->second = rank_.add_track(info);
      if (rank_.info.pid == kNull) rank_.info.pid = process;
    }
    return track->second;
  }

  const std::string& path_;
  const HostClock& clock_;
  RankBuilder& rank_;
  StringId flow_kind_;
  std::unordered_map<uint64_t, TrackId> tracks_;
};

}  // namespace

int64_t read_op_range(const std::string& path, const HostClock& clock, RankBuilder& rank) {
  auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  const int64_t records = OpRangeReader(path, clock, rank).read(*bytes);
  if (!clock.known && records > 0) {
    rank.quality.add(QualityCode::kClockCoarse,
                     path + ": times are the host's raw counter; no PROF_*/host tells its clock");
  }
  add_source(rank, path, "op_range", records);
  return records;
}

int64_t read_memory_usage(const std::string& path, RankBuilder& rank) {
  auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  constexpr size_t kFixed = 4 + 11 * 8 + 4 + 4;
  TlvReader reader(*bytes);
  uint16_t type = 0;
  std::string_view value;
  int64_t records = 0;
  std::unordered_map<uint64_t, int64_t> live_bytes;
  while (reader.next(type, value)) {
    if (value.size() < kFixed) {
      report_short(reader, path, rank);
      continue;
    }
    FieldReader fixed(value);
    MemoryRecord record;
    record.device = fixed.take<int32_t>();
    fixed.take<uint64_t>();  // thread
    fixed.take<uint64_t>();  // process
    record.ts_ns = static_cast<int64_t>(fixed.take<uint64_t>());
    const auto address = fixed.take<uint64_t>();
    const auto size = fixed.take<uint64_t>();
    const auto used = fixed.take<uint64_t>();
    fixed.take<uint64_t>();  // peak
    const auto pool = fixed.take<uint64_t>();
    record.address = static_cast<int64_t>(address);
    if (size == kFreed) {
      const auto live = live_bytes.find(address);
      // A release of something allocated before the recording: its size is not known.
      if (live != live_bytes.end()) {
        record.bytes = -live->second;
        live_bytes.erase(live);
      }
    } else {
      record.bytes = static_cast<int64_t>(size);
      live_bytes[address] = record.bytes;
    }
    record.total_allocated = static_cast<int64_t>(used);
    record.total_active = static_cast<int64_t>(used);
    record.total_reserved = static_cast<int64_t>(pool);
    record.device_kind = rank.strings.intern("NPU");
    record.component = rank.strings.intern("MindSpore");
    auto fields = read_fields(value.substr(kFixed));
    if (!fields[kName].empty()) record.name = rank.strings.intern(fields[kName]);
    rank.memory.push_back(record);
    ++records;
  }
  report_end(reader, path, rank);
  add_source(rank, path, "memory_usage", records);
  return records;
}

int64_t read_record_shapes(const std::string& path, RankBuilder& rank) {
  auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  TableBuilder table(rank, "record_shapes", path,
                     {{"name", Type::kText}, {"shapes", Type::kText}, {"types", Type::kText}});
  TlvReader reader(*bytes);
  uint16_t type = 0;
  std::string_view value;
  int64_t records = 0;
  while (reader.next(type, value)) {
    auto fields = read_fields(value);
    if (type != 3 || fields.empty()) {
      report_short(reader, path, rank);
      continue;
    }
    table.row(
        {table.text(fields[0]), table.text_or_null(fields[1]), table.text_or_null(fields[2])});
    ++records;
  }
  report_end(reader, path, rank);
  add_source(rank, path, "record_shapes", records);
  return records;
}

}  // namespace stepscope::mindspore_raw
