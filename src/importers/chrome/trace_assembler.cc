#include "importers/chrome/trace_assembler.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/utf8.h"
#include "importers/chrome/categories.h"

namespace stepscope {
namespace {

// "stream 7 " and "Stream 108" -> the number, kNull for other names.
int64_t stream_in_name(std::string_view name) {
  if (!name.starts_with("stream ") && !name.starts_with("Stream ")) return kNull;
  name.remove_prefix(7);
  size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') ++digits;
  const auto number = parse_integer(name.substr(0, digits));
  return number ? *number : kNull;
}

int64_t number_or_null(std::string_view text) {
  const auto number = parse_integer(text);
  return number ? *number : kNull;
}

}  // namespace

uint32_t TraceAssembler::find_lane(const Lane& lane) {
  const LaneKey key{lane.pid, lane.tid, lane.counter, lane.on_device, lane.is_async};
  const auto [found, added] = lane_index_.try_emplace(key, static_cast<uint32_t>(lanes_.size()));
  if (added) lanes_.push_back(lane);
  return found->second;
}

TrackId TraceAssembler::track_of(uint32_t index) {
  Lane& lane = lanes_[index];
  if (lane.track != kNoDetail) return lane.track;
  TrackInfo info;
  info.pid = lane.pid;
  info.tid = lane.tid;
  info.kind = lane.counter != kNoString ? TrackKind::kCounter
              : lane.is_async           ? TrackKind::kAsync
              : lane.on_device          ? TrackKind::kDevice
                                        : TrackKind::kHost;
  if (lane.counter != kNoString) info.thread = lane.counter;
  lane.track = rank_.add_track(info);
  return lane.track;
}

// The track an arrow's end means: the host's lane when it has slices, else the device's of the same
// ids.
TrackId TraceAssembler::bound_track(uint32_t index) {
  if (lanes_[index].track != kNoDetail) return lanes_[index].track;
  const Lane& lane = lanes_[index];
  const auto twin = lane_index_.find({lane.pid, lane.tid, kNoString, true, false});
  return twin == lane_index_.end() ? kNoDetail : lanes_[twin->second].track;
}

void TraceAssembler::learn(size_t number, const std::vector<std::string_view>& strings,
                           const std::vector<LocalTrack>& tracks) {
  Worker& worker = workers_[number];
  for (const std::string_view text : strings) {
    worker.strings.push_back(rank_.strings.intern(text));
    if (!is_utf8(text)) invalid_texts_.insert(worker.strings.back());
  }
  for (const LocalTrack& local : tracks) {
    const StringId tid = without_overlap(worker.text(local.tid));
    worker.lanes.push_back(find_lane({worker.text(local.pid), tid, worker.text(local.counter),
                                      local.on_device, local.is_async, kNoDetail}));
  }
}

// Our own export moves slices that overlap others to lanes "7 (overlap 1)"; they belong to lane 7.
StringId TraceAssembler::without_overlap(StringId tid) {
  if (tid == kNoString) return tid;
  const std::string_view text = rank_.strings.view(tid);
  const size_t at = text.rfind(" (overlap ");
  if (at == std::string_view::npos || !text.ends_with(')')) return tid;
  return rank_.strings.intern(std::string(text.substr(0, at)));
}

PackedId TraceAssembler::repack(PackedId id, const StagedChunk& chunk) {
  if (id == kNoId || !(id & 0x80000000u)) return id;
  return rank_.pack_id(chunk.wide_ids[id & 0x7FFFFFFFu]);
}

void TraceAssembler::take_details(const Worker& worker, StagedChunk& chunk) {
  const auto text = [&](StringId id) { return worker.text(id); };
  communication_map_.clear();
  for (CommunicationDetail& detail : chunk.communications) {
    for (StringId* id : {&detail.level, &detail.op, &detail.group, &detail.data_type,
                         &detail.algorithm, &detail.transport, &detail.link, &detail.of_name}) {
      *id = text(*id);
    }
    communication_map_.push_back(rank_.add_communication(detail));
  }
  kernel_map_.clear();
  for (KernelDetail& detail : chunk.kernels) {
    for (StringId* id : {&detail.type, &detail.op_type, &detail.input_shapes, &detail.input_types,
                         &detail.output_shapes, &detail.grid, &detail.block, &detail.counters}) {
      *id = text(*id);
    }
    if (detail.communication != kNoDetail)
      detail.communication = communication_map_[detail.communication];
    kernel_map_.push_back(rank_.add_kernel(detail));
  }
  op_map_.clear();
  for (OpDetail& detail : chunk.ops) {
    for (StringId* id :
         {&detail.type, &detail.input_shapes, &detail.input_types, &detail.stack, &detail.module}) {
      *id = text(*id);
    }
    if (detail.communication != kNoDetail)
      detail.communication = communication_map_[detail.communication];
    op_map_.push_back(rank_.add_op(detail));
  }
}

bool TraceAssembler::join_last_slice(const FlowRecord& flow) {
  if (last_lane_ == kNoDetail || flow.phase == FlowPhase::kStep ||
      !is_launch_flow(rank_.strings.view(flow.kind))) {
    return false;
  }
  if (rank_.launch_flow_kind != kNoString && rank_.launch_flow_kind != flow.kind) return false;
  const Lane& lane = lanes_[last_lane_];
  const Lane& wanted = lanes_[flow.track];
  SliceRecord& slice = rank_.slices(lane.track)[last_slice_];
  if (flow.id >= kNoId || slice.correlation != static_cast<PackedId>(flow.id) ||
      slice.ts_ns != flow.ts_ns || lane.pid != wanted.pid || lane.tid != wanted.tid ||
      (flow.phase == FlowPhase::kStart && slice.kind != SliceKind::kLaunchCall)) {
    return false;
  }
  rank_.launch_flow_kind = flow.kind;
  slice.flags |= flow.phase == FlowPhase::kStart ? kFlagFlowStart : kFlagFlowEnd;
  return true;
}

void TraceAssembler::unmark_flows(size_t number, StagedChunk& chunk, StringId kind) {
  for (StagedSlice& staged : chunk.slices) {
    SliceRecord& slice = staged.record;
    for (const auto& [flag, phase] :
         {std::pair{kFlagFlowStart, FlowPhase::kStart}, std::pair{kFlagFlowEnd, FlowPhase::kEnd}}) {
      if (!(slice.flags & flag)) continue;
      flows_.push_back(
          {slice.ts_ns, slice.correlation, kind, workers_[number].lanes[staged.track], phase});
    }
    slice.flags &= static_cast<uint16_t>(~(kFlagFlowStart | kFlagFlowEnd));
  }
}

void TraceAssembler::take_links(const StagedChunk& chunk, SliceRecord& slice) {
  slice.correlation = repack(slice.correlation, chunk);
  slice.external_id = repack(slice.external_id, chunk);
  if (slice.detail == kNoDetail) return;
  slice.detail = slice.kind == SliceKind::kOp ? op_map_[slice.detail] : kernel_map_[slice.detail];
}

void TraceAssembler::take_over(size_t number, StagedChunk& chunk) {
  const Worker& worker = workers_[number];
  const auto text = [&](StringId id) { return worker.text(id); };
  take_details(worker, chunk);
  for (auto& [slice, args] : chunk.own_args) {
    if (slice < chunk.slices.size()) chunk.slices[slice].record.args = rank_.add_args(args);
  }
  for (size_t at = 0; at < chunk.flows.size(); ++at) {
    FlowRecord flow = chunk.flows[at];
    flow.kind = text(flow.kind);
    if (flow.id & kTextFlowId) flow.id = kTextFlowId | text(static_cast<StringId>(flow.id));
    flow.track = worker.lanes[flow.track];
    if (at >= chunk.leading_flows || !join_last_slice(flow)) flows_.push_back(flow);
  }
  if (chunk.launch_flow_kind != kNoString) {
    const StringId kind = text(chunk.launch_flow_kind);
    if (rank_.launch_flow_kind == kNoString) rank_.launch_flow_kind = kind;
    if (rank_.launch_flow_kind != kind) unmark_flows(number, chunk, kind);
  }
  for (size_t at = 0; at < chunk.slices.size(); ++at) {
    StagedSlice& staged = chunk.slices[at];
    SliceRecord& slice = staged.record;
    slice.name = text(slice.name);
    slice.cat = text(slice.cat);
    take_links(chunk, slice);
    if (slice.flags & kFlagUnfinished) {
      rank_.quality.add(QualityCode::kUnfinishedOperation,
                        rank_.strings.view(slice.name).substr(0, 60));
    }
    const TrackId track = track_of(worker.lanes[staged.track]);
    if (at == chunk.last_slice) {
      last_lane_ = worker.lanes[staged.track];
      last_slice_ = rank_.slices(track).size();
    }
    rank_.add_slice(track, slice);
  }
  for (CounterRecord counter : chunk.counters) {
    counter.track = track_of(worker.lanes[counter.track]);
    rank_.counters.push_back(counter);
  }
  for (MemoryRecord memory : chunk.memory) {
    memory.device_kind = text(memory.device_kind);
    memory.track = track_of(worker.lanes[memory.track]);
    rank_.memory.push_back(memory);
  }
  for (StagedEdge edge : chunk.edges) {
    edge.record.name = text(edge.record.name);
    edge.record.cat = text(edge.record.cat);
    take_links(chunk, edge.record);
    edge.id = text(edge.id);
    edge.track = worker.lanes[edge.track];
    keep_edge(edge, chunk.edge_args);
  }
  for (const StagedMetadata& metadata : chunk.metadata) {
    const std::string_view name = rank_.strings.view(text(metadata.name));
    const StringId pid = text(metadata.pid);
    const StringId value = text(metadata.value);
    if (value == kNoString) continue;
    if (name == "thread_name")
      thread_names_[{pid, text(metadata.tid)}] = value;
    else if (name == "process_name")
      process_names_[pid] = value;
    else if (name == "process_labels")
      process_labels_[pid] = value;
  }
  for (const EventCount& count : chunk.counts) {
    counts_[{text(count.cat), count.phase}] += count.count;
    events_ += static_cast<uint64_t>(count.count);
  }
  rank_.quality.merge(chunk.quality);
}

void TraceAssembler::finish() {
  for (const StringId id : invalid_texts_)
    rank_.quality.add(QualityCode::kInvalidText, repair_utf8(rank_.strings.view(id).substr(0, 60)));
  finish_begin_end();
  finish_async();
  for (FlowRecord flow : flows_) {
    const TrackId track = bound_track(flow.track);
    if (track == kNoDetail) {
      rank_.quality.add(QualityCode::kFlowWithoutSlice,
                        std::string(rank_.strings.view(flow.kind)) + " on a lane without slices");
      continue;
    }
    flow.track = track;
    rank_.flows.push_back(flow);
  }
  flows_.release();
  name_tracks();
  keep_counts();
}

void TraceAssembler::name_tracks() {
  for (const Lane& lane : lanes_) {
    if (lane.track == kNoDetail) continue;
    TrackInfo& track = rank_.track(lane.track);
    if (const auto found = process_names_.find(lane.pid); found != process_names_.end())
      track.process = found->second;
    else if (lane.pid != kEmptyString)
      track.process = lane.pid;
    if (lane.counter != kNoString) continue;
    if (const auto found = thread_names_.find({lane.pid, lane.tid}); found != thread_names_.end()) {
      track.thread = found->second;
    } else if (lane.tid != kEmptyString) {
      track.thread = lane.tid;
    }
    if (!lane.on_device) continue;
    track.device = number_or_null(rank_.strings.view(lane.pid));
    track.stream = stream_in_name(rank_.strings.view(track.thread));
    if (track.stream == kNull) track.stream = stream_in_name(rank_.strings.view(lane.tid));
    if (track.stream == kNull) track.stream = number_or_null(rank_.strings.view(lane.tid));
  }
}

void TraceAssembler::keep_counts() {
  SourceTable table;
  table.name = "chrome_events";
  table.doc = "events of the file by phase and category";
  table.columns = {
      {"phase", Type::kText, {}}, {"cat", Type::kText, {}}, {"count", Type::kInt64, {}}};
  for (const auto& [key, count] : counts_) {
    const char phase = key.second;
    table.columns[0].values.push_back(
        rank_.strings.intern(std::string_view(&phase, phase == '\0' ? 0 : 1)));
    table.columns[1].values.push_back(key.first);
    table.columns[2].values.push_back(count);
  }
  rank_.source_tables.push_back(std::move(table));
}

}  // namespace stepscope
