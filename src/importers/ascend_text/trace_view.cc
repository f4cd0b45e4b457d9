#include "importers/ascend_text/trace_view.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/decimal.h"
#include "importers/ascend_text/counter_names.h"
#include "importers/ascend_text/step_table.h"
#include "importers/common/ascend_words.h"

namespace stepscope {
namespace {

int64_t number_after(std::string_view text, std::string_view word) {
  const size_t at = text.find(word);
  if (at == std::string_view::npos) return kNull;
  text.remove_prefix(at + word.size());
  const size_t end = text.find_first_not_of("0123456789");
  return parse_integer(text.substr(0, end)).value_or(kNull);
}

}  // namespace

TraceView::Layer TraceView::layer_of(const TrackInfo& track) const {
  const std::string_view name = rank_.strings.view(track.process);
  if (is_step_lane(track, rank_)) return Layer::kAnalysis;
  if (name == "Ascend Hardware") return Layer::kHardware;
  if (name == "HCCL" || name == "Communication") return Layer::kCommunication;
  if (name == "CANN") return Layer::kRuntime;
  if (name == "OS Runtime API") return Layer::kHostCalls;
  for (const std::string_view unit : {"DPU", "CCU", "Block Detail", "Fusion Task"}) {
    if (name == unit) return Layer::kUnits;
  }
  if (name == "Overlap Analysis" || name.starts_with("Scope Layer")) return Layer::kAnalysis;
  for (const std::string_view framework : {"Python", "python", "MindSpore", "CPU OP"}) {
    if (name.starts_with(framework)) return Layer::kFramework;
  }
  return Layer::kOther;
}

void TraceView::classify_tracks() {
  layers_.resize(rank_.track_count(), Layer::kOther);
  // 2025 and later: process id = (os pid << 10) | (sort << 5) | device, device 31 on the host. Only
  // believed when two device-side processes agree on the upper part.
  std::map<int64_t, std::set<std::string_view>> parts;
  for (TrackId id = 0; id < rank_.track_count(); ++id) {
    const TrackInfo& track = rank_.track(id);
    layers_[id] = layer_of(track);
    const auto pid = parse_integer(rank_.strings.view(track.pid));
    if (pid && layers_[id] != Layer::kFramework) {
      parts[*pid >> 10].insert(rank_.strings.view(track.process));
    }
  }
  std::set<std::string_view> unknown;
  for (TrackId id = 0; id < rank_.track_count(); ++id) {
    TrackInfo& track = rank_.track(id);
    const std::string_view process = rank_.strings.view(track.process);
    const bool is_counter = track.kind == TrackKind::kCounter;
    int64_t device = device_;
    const auto pid = parse_integer(rank_.strings.view(track.pid));
    if (pid && *pid >> 10 > 0 && parts[*pid >> 10].size() > 1) {
      device = (*pid & 31) == 31 ? kNull : *pid & 31;
    }
    switch (layers_[id]) {
      case Layer::kFramework:
      case Layer::kRuntime:
      case Layer::kHostCalls:
        if (!is_counter) track.kind = TrackKind::kHost;
        break;
      case Layer::kHardware:
        track.device = device;
        track.stream = number_after(rank_.strings.view(track.thread), "Stream ");
        if (track.stream == kNull) {
          track.stream = parse_integer(rank_.strings.view(track.tid)).value_or(kNull);
        }
        if (!is_counter) track.kind = TrackKind::kDevice;
        break;
      case Layer::kUnits:
        track.device = device;
        if (!is_counter) track.kind = TrackKind::kDevice;
        break;
      case Layer::kCommunication:
        track.device = device;
        if (!is_counter) track.kind = TrackKind::kCommunication;
        break;
      case Layer::kAnalysis:
        track.device = process == "Overlap Analysis" ? device : kNull;
        if (!is_counter) track.kind = TrackKind::kAnalysis;
        break;
      case Layer::kOther:
        if (is_counter_process(process)) {  // its slices, if any, stay as they are
          if (track.device == kNull) track.device = device;
        } else if (!rank_.slices(id).empty()) {
          track.kind = TrackKind::kOther;
          unknown.insert(process);
        }
        break;
    }
  }
  for (const std::string_view process : unknown) {
    rank_.quality.add(QualityCode::kUnknownProcess, process);
  }
}

void TraceView::finish_framework(TrackId track) {
  const std::string_view process = rank_.strings.view(rank_.track(track).process);
  const bool is_mindspore = !process.starts_with("Python") && !process.starts_with("python");
  const bool all_ops = process.starts_with("CPU OP");
  const StringId marked = rank_.strings.intern("marked");
  for (SliceRecord& slice : rank_.slices(track)) {
    const std::string_view name = rank_.strings.view(slice.name);
    if (const auto step = profiler_step_number(name)) {
      if (slice.kind == SliceKind::kOp) slice.detail = kNoDetail;
      slice.kind = SliceKind::kAnnotation;
      rank_.steps.push_back({*step, slice.ts_ns, slice.dur_ns, marked, track, slice.name, true});
      continue;
    }
    if (slice.kind == SliceKind::kOp) {
      if (slice.detail == kNoDetail) continue;
      OpDetail detail = rank_.op(slice.detail);  // shared with other slices, so a copy
      if (detail.sequence != kNull && detail.sequence < 0) detail.sequence = kNull;
      if (detail.forward_thread == 0) detail.forward_thread = kNull;
      slice.detail = rank_.add_op(detail);
    } else if (slice.kind == SliceKind::kOther) {
      slice.detail = kNoDetail;
      slice.correlation = kNoId;  // numbers the task queue's entries, not launches
      const bool launch = name.find("KernelLaunch") != std::string_view::npos ||
                          name.find("LaunchTask") != std::string_view::npos;
      if (is_mindspore && (all_ops || launch)) slice.kind = SliceKind::kOp;
    }
  }
}

void TraceView::finish_runtime(TrackId track) {
  for (SliceRecord& slice : rank_.slices(track)) {
    slice.detail = kNoDetail;
    slice.kind = SliceKind::kLaunchCall;
  }
}

void TraceView::use_row(const KernelRow& row, KernelDetail& detail) const {
  const int64_t bytes = detail.bytes;
  const uint32_t communication = detail.communication;
  const StringId scheduler_type = detail.type;
  detail = row.detail;
  detail.bytes = bytes;
  detail.communication = communication;
  if (detail.type == kNoString) detail.type = scheduler_type;
}

void TraceView::finish_hardware(TrackId track) {
  const bool has_table = !kernels_.empty();
  for (SliceRecord& slice : rank_.slices(track)) {
    if (slice.kind != SliceKind::kOther) continue;
    KernelDetail detail;  // those of slices may be shared, so a copy
    if (slice.detail != kNoDetail) detail = rank_.kernel(slice.detail);
    slice.detail = kNoDetail;
    detail.communication = kNoDetail;
    const std::string_view name = rank_.strings.view(slice.name);
    const std::string_view type =
        detail.type == kNoString ? std::string_view() : rank_.strings.view(detail.type);
    if (slice.cat == kEmptyString && detail.type != kNoString) slice.cat = detail.type;
    if (KernelRow* row = kernels_.take(slice.ts_ns, name, rank_.strings)) {
      use_row(*row, detail);
      slice.kind = SliceKind::kKernel;
    } else if (is_copy_task(name) || is_copy_task(type)) {
      detail.work_class = WorkClass::kMemory;
      detail.type = slice.name;
      slice.kind = SliceKind::kKernel;
    } else if (!has_table && is_compute_task_type(type)) {
      slice.kind = SliceKind::kKernel;
    }
    // Events, notifies and the transfers of collectives stay plain slices.
    if (slice.kind == SliceKind::kKernel) slice.detail = rank_.add_kernel(detail);
  }
}

// async_npu arrows join the operator and the device work it caused: both get the same external id.
void TraceView::link_operators() {
  const StringId kind = rank_.strings.find("async_npu");
  if (kind == kNoString) return;
  struct Ends {
    const FlowRecord* start = nullptr;
    std::vector<const FlowRecord*> ends;
  };
  std::unordered_map<uint64_t, Ends> arrows;
  for (const FlowRecord& flow : rank_.flows) {
    if (flow.kind != kind) continue;
    Ends& ends = arrows[flow.id];
    if (flow.phase == FlowPhase::kStart) {
      ends.start = &flow;
    } else {
      ends.ends.push_back(&flow);
    }
  }
  // Slices by start, per lane that an arrow touches.
  std::unordered_map<TrackId, std::unordered_map<int64_t, uint32_t>> by_start;
  const auto slice_at = [&](TrackId track, int64_t ts_ns, SliceKind wanted) -> SliceRecord* {
    auto [index, added] = by_start.try_emplace(track);
    auto& slices = rank_.slices(track);
    if (added) {
      for (uint32_t i = 0; i < slices.size(); ++i) {
        if (slices[i].kind == wanted) index->second.try_emplace(slices[i].ts_ns, i);
      }
    }
    const auto found = index->second.find(ts_ns);
    return found == index->second.end() ? nullptr : &slices[found->second];
  };
  int64_t next_id = 1;
  for (const FlowRecord& flow : rank_.flows) {  // in the order of the file, so that ids are stable
    if (flow.kind != kind || flow.phase != FlowPhase::kStart) continue;
    const Ends& ends = arrows[flow.id];
    SliceRecord* op = slice_at(flow.track, flow.ts_ns, SliceKind::kOp);
    if (op == nullptr || ends.start != &flow) continue;
    for (const FlowRecord* end : ends.ends) {
      SliceRecord* kernel = slice_at(end->track, end->ts_ns, SliceKind::kKernel);
      if (kernel == nullptr) continue;
      if (op->external_id == kNoId) op->external_id = rank_.pack_id(next_id++);
      kernel->external_id = op->external_id;
    }
  }
}

void TraceView::add_unmatched_kernels() {
  int64_t missing = 0;
  std::string example;
  const bool has_timeline =
      std::find(layers_.begin(), layers_.end(), Layer::kHardware) != layers_.end();
  std::map<std::pair<int64_t, int64_t>, TrackId> lanes;
  for (const KernelRow& row : kernels_.rows()) {
    if (row.taken) continue;
    if (missing++ == 0) {
      example = std::string(rank_.strings.view(row.name).substr(0, 60)) + " at " +
                std::to_string(row.start_ns) + " ns";
    }
    if (has_timeline) continue;
    // No timeline at all: the table is the only place where the kernels are.
    const int64_t stream = row.is_communication ? -1 : row.stream;
    const int64_t device = row.device == kNull ? device_ : row.device;
    const auto [lane, added] = lanes.try_emplace({device, stream}, 0);
    if (added) {
      TrackInfo track;
      track.device = device;
      track.kind = row.is_communication ? TrackKind::kCommunication : TrackKind::kDevice;
      track.process =
          rank_.strings.intern(row.is_communication ? "Communication" : "Ascend Hardware");
      if (stream >= 0) {
        track.stream = stream;
        track.thread = rank_.strings.intern("Stream " + std::to_string(stream));
      }
      lane->second = rank_.add_track(track);
    }
    SliceRecord slice;
    slice.ts_ns = row.start_ns;
    slice.dur_ns = row.dur_ns;
    slice.name = row.name;
    slice.kind = SliceKind::kKernel;
    KernelDetail detail = row.detail;
    if (row.is_communication) {
      CommunicationDetail communication;
      communication.level = rank_.strings.intern("op");
      describe_collective(row.name, communication, rank_);
      detail.communication = rank_.add_communication(communication);
      detail.work_class = WorkClass::kCommunication;
    }
    slice.detail = rank_.add_kernel(detail);
    rank_.add_slice(lane->second, slice);
  }
  if (has_timeline) {
    rank_.quality.add(QualityCode::kInconsistentCounts,
                      "kernels of the table that are not in the timeline: " + example, missing);
  }
}

void TraceView::add_steps() {
  if (!rank_.steps.empty()) return;
  struct Range {
    int64_t start_ns;
    int64_t end_ns;
  };
  std::map<int64_t, Range> ranges;
  for (const KernelRow& row : kernels_.rows()) {
    if (row.step == kNull) continue;
    const int64_t end_ns = bounded_sum(row.start_ns, row.dur_ns);
    const auto [found, added] = ranges.try_emplace(row.step, Range{row.start_ns, end_ns});
    if (added) continue;
    found->second.start_ns = std::min(found->second.start_ns, row.start_ns);
    found->second.end_ns = std::max(found->second.end_ns, end_ns);
  }
  const StringId source = rank_.strings.intern("file");
  for (const auto& [step, range] : ranges) {
    StepRecord record;
    record.step = step;
    record.ts_ns = range.start_ns;
    record.dur_ns = bounded_sum(range.end_ns, -range.start_ns);
    record.source = source;
    rank_.steps.push_back(record);
  }
}

void TraceView::finish() {
  classify_tracks();
  name_counters(rank_);
  for (TrackId track = 0; track < layers_.size(); ++track) {
    if (layers_[track] == Layer::kFramework) finish_framework(track);
    if (layers_[track] == Layer::kRuntime) finish_runtime(track);
    if (layers_[track] == Layer::kHardware) finish_hardware(track);
  }
  finish_communication();
  link_operators();
  add_unmatched_kernels();
  add_steps();
}

}  // namespace stepscope
