#include "importers/native/host_tables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "json/json_members.h"
#include "json/json_tree.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

struct RangeWord {
  std::string_view category;
  SliceKind kind;
};

// The category words are those of the other formats where they have one.
RangeWord range_word(int64_t kind) {
  switch (kind) {
    case STEPSCOPE_USER:
      return {"user_annotation", SliceKind::kAnnotation};
    case STEPSCOPE_OPERATOR:
      return {"cpu_op", SliceKind::kOp};
    case STEPSCOPE_MODULE:
      return {"module", SliceKind::kAnnotation};
    case STEPSCOPE_PYTHON:
      return {"python_function", SliceKind::kPython};
    case STEPSCOPE_PIPELINE:
      return {"pipeline", SliceKind::kOther};
    case STEPSCOPE_RUNTIME:
      return {"runtime", SliceKind::kLaunchCall};
    case STEPSCOPE_COLLECTIVE:
      return {"collective", SliceKind::kCommunication};
    default:
      return {"other", SliceKind::kOther};
  }
}

}  // namespace

bool HostTables::read(const RawTable& table) {
  if (table.name == "samples") {
    read_samples(table);
    return true;
  }
  const bool with_values = table.name == "values";
  if (!with_values && table.name != "ranges") return false;
  const auto* kind = table.column("kind");
  const auto* start = table.column("start_ticks");
  const auto* duration = table.column("duration_ticks");
  const auto* name = table.column("name");
  const auto* value1 = table.column("value1");
  const auto* value2 = table.column("value2");
  if (kind == nullptr || start == nullptr || duration == nullptr || name == nullptr ||
      (with_values && (value1 == nullptr || value2 == nullptr))) {
    run_.rank().quality.add(QualityCode::kUnparsableEvent,
                            "columns are missing in table " + std::string(table.name),
                            static_cast<int64_t>(table.rows));
    return true;
  }
  const TrackId track = run_.thread_track(table.key);
  task_ = table.key;
  for (size_t row = 0; row < table.rows; ++row) {
    if (with_values && (*kind)[row] == STEPSCOPE_STACK_NODE) {
      stacks_.add_node((*value1)[row], (*value2)[row], (*name)[row]);
      continue;
    }
    if (with_values && (*kind)[row] == STEPSCOPE_STACK) {
      stacks_.add_sample((*value2)[row], run_.clock().ns((*start)[row]), (*value1)[row]);
      ++records_;
      continue;
    }
    read_row(track, {(*kind)[row], (*start)[row], (*duration)[row], (*name)[row],
                     with_values ? (*value1)[row] : 0, with_values ? (*value2)[row] : 0});
  }
  return true;
}

// Series of the system source: the name is the key, values are the bits of a double.
void HostTables::read_samples(const RawTable& table) {
  const auto* when = table.column("when_ticks");
  const auto* value = table.column("value");
  if (when == nullptr || value == nullptr) {
    run_.rank().quality.add(QualityCode::kUnparsableEvent, "columns are missing in table samples",
                            static_cast<int64_t>(table.rows));
    return;
  }
  const TrackId track = run_.counter_track(run_.name(table.key));
  for (size_t row = 0; row < table.rows; ++row) {
    CounterRecord counter;
    counter.ts_ns = run_.clock().ns((*when)[row]);
    counter.value = std::bit_cast<double>((*value)[row]);
    counter.track = track;
    run_.rank().counters.push_back(counter);
  }
  records_ += static_cast<int64_t>(table.rows);
}

void HostTables::read_row(TrackId track, const Row& row) {
  ++records_;
  RankBuilder& rank = run_.rank();
  const int64_t ts_ns = run_.clock().ns(row.start_ticks);
  last_ns_ = std::max(last_ns_, ts_ns);
  switch (row.kind) {
    case STEPSCOPE_MARK: {
      SliceRecord slice;
      slice.ts_ns = ts_ns;
      slice.name = run_.name(row.name);
      slice.cat = rank.strings.intern("mark");
      slice.flags = kFlagInstant;
      rank.add_slice(track, slice);
      return;
    }
    case STEPSCOPE_COUNTER: {
      CounterRecord counter;
      counter.ts_ns = ts_ns;
      std::memcpy(&counter.value, &row.value1, sizeof counter.value);
      counter.track = run_.counter_track(run_.name(row.name));
      rank.counters.push_back(counter);
      return;
    }
    case STEPSCOPE_FLOW_START:
    case STEPSCOPE_FLOW_END: {
      FlowRecord flow;
      flow.ts_ns = ts_ns;
      flow.id = static_cast<uint64_t>(row.value1);
      if (flow.id & kTextFlowId)
        flow.id = kTextFlowId | rank.strings.intern(std::to_string(flow.id));
      flow.kind = run_.name(row.name);
      flow.track = track;
      flow.phase = row.kind == STEPSCOPE_FLOW_START ? FlowPhase::kStart : FlowPhase::kEnd;
      rank.flows.push_back(flow);
      return;
    }
    case STEPSCOPE_STEP:
      if (row.value1 == kNull) {
        rank.quality.add(QualityCode::kUnparsableEvent,
                         "a step of number " + std::to_string(kNull) + ", which stands for none");
        return;
      }
      steps_.push_back({ts_ns, row.value1, track, row.value2 == 1});
      return;
    case STEPSCOPE_STEP_END:
      steps_.push_back({ts_ns, kNull, track, false});
      return;
    case STEPSCOPE_MEMORY:
      allocators_.add({track, ts_ns, row.name, row.value1, row.value2, row.duration_ticks});
      return;
    case STEPSCOPE_QUEUE_SIZE:
    case STEPSCOPE_QUEUE_GET:
    case STEPSCOPE_QUEUE_PUT: {
      const int64_t waited_ns = run_.clock().duration_ns(row.start_ticks, row.duration_ticks);
      last_ns_ = std::max(last_ns_, ts_ns + waited_ns);
      pipeline_.add(track, {row.kind, ts_ns, waited_ns, row.name, row.value1, row.value2});
      return;
    }
    case STEPSCOPE_MEMORY_RESERVED:
      allocators_.add_reserved(track, ts_ns, row.name, row.value1);
      return;
    default:
      add_range(track, row, ts_ns);
  }
}

void HostTables::add_range(TrackId track, const Row& row, int64_t ts_ns) {
  RankBuilder& rank = run_.rank();
  const RangeWord word = range_word(row.kind);
  if (word.category == "other")
    rank.quality.add(QualityCode::kUnknownCategory, "kind " + std::to_string(row.kind));
  SliceRecord slice;
  slice.ts_ns = ts_ns;
  slice.dur_ns = run_.clock().duration_ns(row.start_ticks, row.duration_ticks);
  slice.name = run_.name(row.name);
  if (row.kind == STEPSCOPE_PIPELINE && row.name == 0) {
    // A worker that was not told its stage's id.
    const StringId stage = run_.stage_of_task(task_);
    slice.name = stage != kNoString ? stage : rank.strings.intern("item");
  }
  slice.cat = rank.strings.intern(word.category);
  slice.kind = word.kind;
  const int64_t args = row.value1;  // the id of their text
  if (args != 0) {
    const auto [known, added] = args_places_.try_emplace(args, ArgsRef::kNone);
    if (added) known->second = rank.add_args(rank.strings.view(run_.name(args)));
    slice.args = known->second;
  }
  if (word.kind == SliceKind::kOp) slice.detail = operator_detail(track, row, ts_ns);
  if (word.kind == SliceKind::kCommunication) slice.detail = collective_detail(slice.name);
  last_ns_ = std::max(last_ns_, slice.ts_ns + slice.dur_ns);
  rank.add_slice(track, slice);
}

uint32_t HostTables::collective_detail(StringId name) {
  const auto [known, added] = collectives_.try_emplace(name, kNoDetail);
  if (added) {
    RankBuilder& rank = run_.rank();
    CommunicationDetail collective;
    collective.level = rank.strings.intern("op");
    collective.op = name;
    collective.group_size = rank.info.world_size;
    known->second = rank.add_communication(collective);
  }
  return known->second;
}

// value2 of an operator: its sequence number plus one, and above 48 bits the forward thread.
uint32_t HostTables::operator_detail(TrackId track, const Row& row, int64_t ts_ns) {
  RankBuilder& rank = run_.rank();
  const int64_t args = row.value1;
  if (args == 0 && row.value2 == 0) return kNoDetail;
  const auto [known, added] = known_args_.try_emplace(args);
  if (added && args != 0) {
    const auto json = json_tree(rank.strings.view(run_.name(args)));
    const auto field = [&](const char* key) {
      const auto at = json.is_object() ? json.find(key) : json.end();
      return at == json.end() ? kNoString : rank.strings.intern(write_json(*at));
    };
    known->second.input_shapes = field("Input Dims");
    known->second.input_types = field("Input type");
    known->second.module = field("Module");
  }
  OpDetail detail = known->second;
  const auto value = static_cast<uint64_t>(row.value2);
  if (const uint64_t sequence = value & 0xFFFFFFFFFFFFu; sequence != 0)
    detail.sequence = static_cast<int64_t>(sequence) - 1;
  if (const uint64_t thread = value >> 48; thread != 0)
    detail.forward_thread = static_cast<int64_t>(thread);
  if (detail.sequence != kNull)
    arrows_.add(track, ts_ns, detail.sequence,
                detail.forward_thread == kNull ? 0 : detail.forward_thread);
  return rank.add_op(detail);
}

void HostTables::finish(Ending ending) {
  stacks_.finish();
  RankBuilder& rank = run_.rank();
  arrows_.finish();
  // A step often begins at the very moment at which the one before it ends.
  std::stable_sort(steps_.begin(), steps_.end(), [](const StepMark& a, const StepMark& b) {
    return std::pair(a.ts_ns, a.number != kNull) < std::pair(b.ts_ns, b.number != kNull);
  });
  const StringId marked = rank.strings.intern("marked");
  std::unordered_set<int64_t> numbers;
  for (size_t at = 0; at < steps_.size(); ++at) {
    const StepMark& mark = steps_[at];
    if (mark.number == kNull) continue;
    last_step_ = mark.number;
    const bool has_end = at + 1 < steps_.size();
    const int64_t end_ns = has_end ? steps_[at + 1].ts_ns : std::max(last_ns_, mark.ts_ns);
    StepRecord step;
    step.step = mark.number;
    step.ts_ns = mark.ts_ns;
    step.dur_ns = end_ns - mark.ts_ns;
    step.source = marked;
    step.track = mark.track;
    step.name = rank.strings.intern("ProfilerStep#" + std::to_string(mark.number));
    step.complete = has_end;
    if (mark.unmarked) unmarked_steps_.push_back(rank.steps.size());
    rank.steps.push_back(step);
    SliceRecord slice;
    slice.ts_ns = step.ts_ns;
    slice.dur_ns = step.dur_ns;
    slice.name = step.name;
    slice.cat = rank.strings.intern("user_annotation");
    slice.kind = SliceKind::kAnnotation;
    rank.add_slice(mark.track, slice);
    if (!has_end) rank.quality.add(QualityCode::kWindowCut, rank.strings.view(step.name));
    // A program that trains twice counts from the start again.
    if (!numbers.insert(mark.number).second)
      rank.quality.add(QualityCode::kDuplicateId, rank.strings.view(step.name));
  }
  if (ending == Ending::kStopped) return;
  const bool goes_on = ending == Ending::kGoesOn;
  std::string how = goes_on ? "still recording at step " : "ended abnormally at step ";
  how = last_step_ == kNull ? "before the first step" : how + std::to_string(last_step_);
  std::string lacks = "; its last second may be missing";
  for (const auto& [name, json] : run_.notes()) {
    if (name == "written_until") lacks = "; all until " + text_in(json, "signal") + " is written";
  }
  rank.quality.add(goes_on ? QualityCode::kStillRecording : QualityCode::kEndedAbnormally,
                   goes_on ? how : how + lacks);
}

}  // namespace stepscope
