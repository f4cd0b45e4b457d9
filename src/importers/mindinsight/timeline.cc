#include "importers/mindinsight/timeline.h"

#include "base/decimal.h"
#include "base/file.h"
#include "importers/chrome/chrome_reader.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/text_file.h"

namespace stepscope::mindinsight {
namespace {

struct Lane {
  std::string_view process;
  TrackKind kind;
};

// Process numbers of MindInsight's own; any other is a device.
std::optional<Lane> special_process(int64_t pid) {
  switch (pid) {
    case 9000:
      return Lane{"AI CPU", TrackKind::kDevice};
    case 10000:
      return Lane{"Communication", TrackKind::kCommunication};
    case 11000:
      return Lane{"Host CPU", TrackKind::kHost};
    case 12000:
      return Lane{"Overlap Analysis", TrackKind::kAnalysis};
    case 13000:
      return Lane{"CUDA Activity", TrackKind::kHost};
    default:
      return std::nullopt;
  }
}

std::string_view special_thread(int64_t tid) {
  switch (tid) {
    case 7997:
      return "Receive alone";
    case 7998:
      return "AllReduce alone";
    case 7999:
      return "Merged computation";
    case 8000:
      return "Pure communication";
    case 8001:
      return "Merged communication";
    case 8002:
      return "Free time";
    case 100000:
      return "Steps";
    case 100001:
      return "Scope Name";
    case 100002:
      return "GpuOps";
    case 100003:
      return "HostCpuOps";
    default:
      return "";
  }
}

class TimelineNamer {
 public:
  TimelineNamer(const OperatorInfos& infos, DeviceTracks& tracks, RankBuilder& rank)
      : infos_(infos), tracks_(tracks), rank_(rank) {}

  void name(TrackId id, DisplayedTimeline& timeline) {
    TrackInfo& info = rank_.track(id);
    const int64_t pid = parse_integer(rank_.strings.view(info.pid)).value_or(kNull);
    const std::string tid_text(rank_.strings.view(info.tid));
    const int64_t tid = parse_integer(tid_text).value_or(kNull);
    const auto count = static_cast<int64_t>(rank_.slices(id).size());
    if (const auto lane = special_process(pid)) {
      info.process = rank_.strings.intern(lane->process);
      info.kind = lane->kind;
      name_thread(info, tid, "Stream ");
      if (lane->kind == TrackKind::kCommunication) {
        info.stream = tid;
        make_communications(id);
        timeline.communication_slices += count;
      } else if (lane->kind == TrackKind::kDevice) {
        info.device = tracks_.device();
        make_kernels(id, "AI_CPU");
      }
      return;
    }
    info.process = rank_.strings.intern("Device " + std::string(rank_.strings.view(info.pid)));
    const std::string_view known = special_thread(tid);
    if (known == "Steps" || known == "Scope Name") {
      info.kind = TrackKind::kAnalysis;
      info.thread = rank_.strings.intern(known);
      return;
    }
    if (tid == kNull || !known.empty()) {  // "Ops", GpuOps, HostCpuOps
      info.kind = TrackKind::kHost;
      if (!known.empty()) info.thread = rank_.strings.intern(known);
      make_operators(id);
      return;
    }
    info.kind = TrackKind::kDevice;
    info.device = pid;
    info.stream = tid;
    name_thread(info, tid, "Stream ");
    tracks_.know(tid, id);
    make_kernels(id, "AI_CORE");
    timeline.device_slices += count;
  }

 private:
  void name_thread(TrackInfo& info, int64_t tid, std::string_view prefix) {
    const std::string_view known = special_thread(tid);
    const std::string text = !known.empty()
                                 ? std::string(known)
                                 : std::string(prefix) + std::string(rank_.strings.view(info.tid));
    info.thread = rank_.strings.intern(text);
  }

  void make_kernels(TrackId id, std::string_view type) {
    for (SliceRecord& slice : rank_.slices(id)) {
      const std::string_view name = rank_.strings.view(slice.name);
      KernelDetail detail;
      detail.type = rank_.strings.intern(type);
      detail.op_type = rank_.strings.intern(op_type_of(name));
      if (const OperatorInfo* info = infos_.find(name)) {
        if (info->type != kNoString) detail.op_type = info->type;
        detail.input_shapes = info->input_shapes;
        detail.input_types = info->input_types;
        detail.output_shapes = info->output_shapes;
      }
      slice.kind = SliceKind::kKernel;
      slice.detail = rank_.add_kernel(detail);
    }
  }

  void make_operators(TrackId id) {
    for (SliceRecord& slice : rank_.slices(id)) {
      const std::string_view name = rank_.strings.view(slice.name);
      OpDetail detail;
      detail.type = rank_.strings.intern(op_type_of(name));
      if (!op_module_of(name).empty()) detail.module = rank_.strings.intern(op_module_of(name));
      slice.kind = SliceKind::kOp;
      slice.detail = rank_.add_op(detail);
    }
  }

  void make_communications(TrackId id) {
    for (SliceRecord& slice : rank_.slices(id)) {
      CommunicationDetail detail;
      detail.level = rank_.strings.intern("op");
      slice.kind = SliceKind::kCommunication;
      slice.detail = rank_.add_communication(detail);
    }
  }

  const OperatorInfos& infos_;
  DeviceTracks& tracks_;
  RankBuilder& rank_;
};

}  // namespace

std::optional<int64_t> read_first_cycle_ns(const std::string& path, RankBuilder& rank) {
  const auto text = read_file(path, 4096);
  if (!text) {
    add_unreadable(rank, path, text.error());
    return std::nullopt;
  }
  const auto first_ns = parse_scaled(trim_blanks(*text), 1);
  if (!first_ns) rank.quality.add(QualityCode::kBadNumber, path);
  add_source(rank, path, "min_cycle_counter", first_ns ? 1 : 0);
  return first_ns;
}

Result<DisplayedTimeline> read_timeline_display(const std::string& path, int64_t offset_ns,
                                                const OperatorInfos& infos, DeviceTracks& tracks,
                                                const ImportContext& context, RankBuilder& rank) {
  ChromeOptions options;
  options.ascend_args = true;
  auto trace = read_chrome_trace(path, options, context, rank);
  if (!trace) return std::move(trace.error());
  shift_times(rank, offset_ns);
  DisplayedTimeline timeline;
  timeline.events = static_cast<int64_t>(trace->events);
  TimelineNamer namer(infos, tracks, rank);
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    if (rank.track(id).kind != TrackKind::kCounter) namer.name(id, timeline);
  }
  return timeline;
}

void clear_device_slices(RankBuilder& rank) {
  for (TrackId id = 0; id < rank.track_count(); ++id) {
    if (rank.track(id).kind == TrackKind::kDevice && rank.track(id).stream != kNull) {
      rank.slices(id).clear();
    }
  }
}

}  // namespace stepscope::mindinsight
