#include "importers/chrome/event_mapper.h"

#include "importers/chrome/arg_keys.h"
#include "importers/chrome/fast_number.h"
#include "importers/chrome/json_text.h"

namespace stepscope {
namespace {

constexpr std::string_view kMemoryName = "[memory]";

uint64_t count_key(StringId category, char phase) {
  return static_cast<uint64_t>(category) << 8 | static_cast<unsigned char>(phase);
}

}  // namespace

void StagedChunk::clear() {
  slices.clear();
  kernels.clear();
  ops.clear();
  communications.clear();
  flows.clear();
  leading_flows = 0;
  last_slice = kNoSlice;
  counters.clear();
  memory.clear();
  edges.clear();
  metadata.clear();
  own_args.clear();
  edge_args.clear();
  counts.clear();
  wide_ids.clear();
  quality = {};
  launch_flow_kind = kNoString;
  end = ChunkEnd::kComplete;
  used_bytes = 0;
}

void EventMapper::start_chunk(StagedChunk& chunk, uint64_t text_offset, const char* text) {
  chunk_ = &chunk;
  text_offset_ = text_offset;
  text_ = text;
  chunk.last_slice = StagedChunk::kNoSlice;
  count_index_.clear();
}

std::string EventMapper::where(const ChromeEvent& event) const {
  return "byte " + std::to_string(event.offset) + ": " + std::string(event.name.substr(0, 60));
}

StringId EventMapper::text(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return strings.intern(raw);
  return strings.intern(unescape(raw));
}

StringId EventMapper::text_value(std::string_view raw) { return text(unquote(raw)); }

PackedId EventMapper::pack(int64_t id) {
  if (id == kNull) return kNoId;
  if (id >= 0 && id < kNoId) return static_cast<PackedId>(id);
  chunk_->wide_ids.push_back(id);
  return static_cast<PackedId>(0x80000000u | (chunk_->wide_ids.size() - 1));
}

const EventMapper::Category& EventMapper::category(std::string_view word) {
  if (!categories_.empty() && word == last_category_word_) return categories_[last_category_];
  const StringId id = text(word);
  last_category_word_ = word;
  if (category_of_string_.size() <= id) category_of_string_.resize(strings.size(), kNoDetail);
  if (category_of_string_[id] != kNoDetail) {
    last_category_ = category_of_string_[id];
    return categories_[last_category_];
  }
  last_category_ = categories_.size();
  category_of_string_[id] = static_cast<uint32_t>(last_category_);
  Category fresh;
  fresh.id = id;
  fresh.rule = find_category(strings.view(id));
  if (options_.ascend_args && fresh.rule == nullptr && strings.view(id) == "op")
    fresh.rule = find_category("cpu_op");  // an operator of a database, exported
  // Slices of an NPU that were exported have their task type as category. Some of these words
  // ("Memcpy", a transfer of a collective) are also words for a GPU's work.
  if (options_.ascend_args && fresh.rule != nullptr && fresh.rule->on_device) fresh.rule = nullptr;
  fresh.is_launch_flow = is_launch_flow(strings.view(id));
  if (fresh.rule != nullptr && !fresh.rule->kernel_type.empty()) {
    fresh.kernel_type = strings.intern(fresh.rule->kernel_type);
  }
  categories_.push_back(fresh);
  return categories_.back();
}

uint32_t EventMapper::track(std::string_view pid, std::string_view tid, bool on_device) {
  if (last_track_ != kNoDetail && on_device == last_on_device_ && tid == last_tid_ &&
      pid == last_pid_) {
    return last_track_;
  }
  last_track_ = find_track({text(pid), text(tid), kNoString, on_device, false});
  last_pid_ = pid;
  last_tid_ = tid;
  last_on_device_ = on_device;
  return last_track_;
}

uint32_t EventMapper::find_track(const LocalTrack& wanted) {
  const auto [found, added] =
      track_index_.try_emplace(wanted, static_cast<uint32_t>(tracks.size()));
  if (added) tracks.push_back(wanted);
  return found->second;
}

bool EventMapper::time(std::string_view value, const ChromeEvent& event, int64_t& ns) {
  const auto parsed = fast_us_as_ns(value);
  if (parsed && *parsed >= -kLatestNs && *parsed <= kLatestNs) {
    ns = *parsed;
    return true;
  }
  chunk_->quality.add(QualityCode::kBadNumber,
                      where(event) + " time " + std::string(value.substr(0, 40)));
  return false;
}

void EventMapper::keep_repaired_args(const ChromeEvent& event) {
  if (event.repaired && event.args.size() > 2)
    chunk_->own_args.emplace_back(chunk_->slices.size(), std::string(event.args));
}

uint64_t EventMapper::args_place(const ChromeEvent& event) const {
  if (event.args.size() <= 2 || event.repaired) return ArgsRef::kNone;
  const auto in_text = static_cast<uint64_t>(event.args.data() - text_);
  return ArgsRef::pack(options_.source, text_offset_ + in_text, event.args.size());
}

void EventMapper::count(const Category& category, char phase) {
  constexpr size_t kFewKinds = 64;  // a short list is faster than a map
  auto& counts = chunk_->counts;
  if (counts.size() <= kFewKinds) {
    for (EventCount& entry : counts) {
      if (entry.cat == category.id && entry.phase == phase) {
        ++entry.count;
        return;
      }
    }
    counts.push_back({category.id, phase, 1});
    return;
  }
  if (count_index_.empty()) {
    for (uint32_t i = 0; i < counts.size(); ++i)
      count_index_[count_key(counts[i].cat, counts[i].phase)] = i;
  }
  const auto [found, added] =
      count_index_.try_emplace(count_key(category.id, phase), static_cast<uint32_t>(counts.size()));
  if (added) counts.push_back({category.id, phase, 0});
  ++counts[found->second].count;
}

void EventMapper::map(const ChromeEvent& event) {
  const char phase = event.phase.size() == 1 ? event.phase[0] : '\0';
  const Category& cat = category(event.cat);
  count(cat, phase);
  switch (phase) {
    case 'X':
      map_slice(event, cat);
      return;
    case 's':
      map_flow(event, cat, FlowPhase::kStart);
      return;
    case 't':
      map_flow(event, cat, FlowPhase::kStep);
      return;
    case 'f':
      map_flow(event, cat, FlowPhase::kEnd);
      return;
    case 'i':
    case 'I':
    case 'R':
      map_instant(event, cat);
      return;
    case 'C':
      map_counter(event);
      return;
    case 'M':
      map_metadata(event);
      return;
    case 'B':
    case 'E':
      map_edge(event, cat, phase);
      return;
    case 'b':
    case 'S':
      map_edge(event, cat, 'b');
      return;
    case 'n':
    case 'T':
      map_edge(event, cat, 'n');
      return;
    case 'e':
    case 'F':
      map_edge(event, cat, 'e');
      return;
    default:
      chunk_->quality.add(
          event.phase.empty() ? QualityCode::kUnparsableEvent : QualityCode::kUnknownPhase,
          where(event) + " phase '" + std::string(event.phase.substr(0, 8)) + "'");
  }
}

void EventMapper::count_unknown(const ChromeEvent& event, const Category& cat) {
  if (cat.rule != nullptr) return;
  const bool wanted = chunk_->quality.wants_example(QualityCode::kUnknownCategory);
  chunk_->quality.add(QualityCode::kUnknownCategory,
                      wanted ? event.cat.substr(0, 40) : std::string_view());
}

void EventMapper::map_slice(const ChromeEvent& event, const Category& cat) {
  SliceRecord slice;
  if (!time(event.ts, event, slice.ts_ns)) {
    chunk_->quality.add(QualityCode::kUnparsableEvent, where(event) + " has no time");
    return;
  }
  if (event.dur.empty()) {
    chunk_->quality.add(QualityCode::kBadNumber, where(event) + " has no length");
    slice.flags |= kFlagImpossible;
  } else if (!time(event.dur, event, slice.dur_ns)) {
    slice.flags |= kFlagImpossible;
  }
  describe(event, cat, slice);
  keep_repaired_args(event);
  const bool on_device = cat.rule != nullptr && cat.rule->on_device;
  chunk_->last_slice = chunk_->slices.size();
  chunk_->slices.push_back({slice, track(event.pid, event.tid, on_device)});
}

void EventMapper::describe(const ChromeEvent& event, const Category& cat, SliceRecord& slice) {
  const CategoryRule* rule = cat.rule;
  slice.name = text(event.name);
  slice.cat = cat.id;
  slice.args = args_place(event);
  slice.kind = rule == nullptr ? SliceKind::kOther : rule->kind;
  count_unknown(event, cat);
  const ArgsUse unknown = options_.ascend_args ? ArgsUse::kAscend : ArgsUse::kLinks;
  if (!event.args.empty() && event.args[0] == '{') {
    switch (rule == nullptr ? unknown : rule->args) {
      case ArgsUse::kNone:
        break;
      case ArgsUse::kLinks:
        read_links(event.args_walker, slice);
        break;
      case ArgsUse::kOp:
        read_op(event.args_walker, slice);
        break;
      case ArgsUse::kDevice:
        read_device(event.args_walker, slice, cat);
        break;
      case ArgsUse::kAscend:
        if (options_.ascend_args)
          read_ascend(event.args_walker, slice);
        else
          read_links(event.args_walker, slice);
        break;
    }
  } else if (slice.kind == SliceKind::kKernel) {
    read_device({}, slice, cat);
  }
}

void EventMapper::map_instant(const ChromeEvent& event, const Category& cat) {
  int64_t ts_ns = 0;
  if (!time(event.ts, event, ts_ns)) {
    chunk_->quality.add(QualityCode::kUnparsableEvent, where(event) + " has no time");
    return;
  }
  const bool on_device = cat.rule != nullptr && cat.rule->on_device;
  const uint32_t lane = track(event.pid, event.tid, on_device);
  if (event.name == stepscope::kMemoryName && !event.args.empty() && event.args[0] == '{') {
    map_memory(event, lane, ts_ns);
    return;
  }
  SliceRecord slice;
  slice.ts_ns = ts_ns;
  slice.name = text(event.name);
  slice.cat = cat.id;
  slice.args = args_place(event);
  slice.flags = kFlagInstant;
  count_unknown(event, cat);
  keep_repaired_args(event);
  chunk_->slices.push_back({slice, lane});
}

void EventMapper::map_flow(const ChromeEvent& event, const Category& cat, FlowPhase phase) {
  int64_t ts_ns = 0;
  if (!time(event.ts, event, ts_ns)) {
    chunk_->quality.add(QualityCode::kUnparsableEvent, where(event) + " has no time");
    return;
  }
  // Writers put a launch arrow right behind the slice it belongs to, with the slice's correlation
  // as id: then one bit on the slice says everything, and two thirds of all flow events cost no
  // memory.
  if (cat.is_launch_flow && chunk_->last_slice != StagedChunk::kNoSlice &&
      phase != FlowPhase::kStep) {
    StagedSlice& slice = chunk_->slices[chunk_->last_slice];
    const int64_t id = number_or_null(event.id);
    const LocalTrack& lane = tracks[slice.track];
    if (id != kNull && id < kNoId && slice.record.correlation == static_cast<PackedId>(id) &&
        slice.record.ts_ns == ts_ns && strings.view(lane.tid) == event.tid &&
        strings.view(lane.pid) == event.pid &&
        (chunk_->launch_flow_kind == kNoString || chunk_->launch_flow_kind == cat.id) &&
        (phase == FlowPhase::kEnd || slice.record.kind == SliceKind::kLaunchCall)) {
      chunk_->launch_flow_kind = cat.id;
      slice.record.flags |= phase == FlowPhase::kStart ? kFlagFlowStart : kFlagFlowEnd;
      return;
    }
  }
  // Lanes of devices and hosts are kept apart; an arrow does not say which it means, so it is bound
  // to the lane that exists, and to the host's when both do.
  FlowRecord flow;
  flow.ts_ns = ts_ns;
  flow.kind = cat.id;
  const auto number = fast_integer(event.id);
  flow.id = number && *number >= 0 ? static_cast<uint64_t>(*number) : kTextFlowId | text(event.id);
  flow.phase = phase;
  flow.track = find_track({text(event.pid), text(event.tid), kNoString, false, false});
  chunk_->flows.push_back(flow);
  if (chunk_->last_slice == StagedChunk::kNoSlice) chunk_->leading_flows = chunk_->flows.size();
}

void EventMapper::map_edge(const ChromeEvent& event, const Category& cat, char phase) {
  StagedEdge edge;
  if (!time(event.ts, event, edge.record.ts_ns)) {
    chunk_->quality.add(QualityCode::kUnparsableEvent, where(event) + " has no time");
    return;
  }
  edge.phase = phase;
  if (phase == 'B' || phase == 'b') {
    describe(event, cat, edge.record);
  } else {
    edge.record.name = text(event.name);
    edge.record.cat = cat.id;
    edge.record.args = args_place(event);
    if (phase == 'n') count_unknown(event, cat);
  }
  if (event.args.size() > 2) {
    edge.args_text = static_cast<uint32_t>(chunk_->edge_args.size());
    chunk_->edge_args.emplace_back(event.args);
  }
  if (phase == 'B' || phase == 'E') {
    // An end need not say its category: which lane it means is known by its begin.
    edge.track = track(event.pid, event.tid, cat.rule != nullptr && cat.rule->on_device);
  } else {
    edge.id = text(event.id);
    edge.track = find_track({text(event.pid), cat.id, kNoString, false, true});
  }
  chunk_->edges.push_back(edge);
}

void EventMapper::map_metadata(const ChromeEvent& event) {
  StagedMetadata metadata;
  metadata.name = text(event.name);
  metadata.pid = text(event.pid);
  metadata.tid = text(event.tid);
  if (!event.args.empty() && event.args[0] == '{') {
    ObjectWalker args = event.args_walker;
    std::string_view key;
    std::string_view value;
    while (args.next(key, value) == ObjectWalker::Step::kPair) metadata.value = text_value(value);
  }
  chunk_->metadata.push_back(metadata);
}

}  // namespace stepscope
