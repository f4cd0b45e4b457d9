// Host side of an Ascend database: framework calls, CANN calls, marks, steps and the arrows between
// them.
#include <algorithm>
#include <string_view>
#include <utility>

#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_words.h"

namespace stepscope {

void DbReader::read_connections() {
  known_tables_.insert("CONNECTION_IDS");
  TableScan row(file_, "CONNECTION_IDS", {"id", "connectionId"}, rank_.quality);
  while (row.next()) {
    const int64_t id = row.integer(0);
    const int64_t connection = row.integer(1);
    if (id != kNull && connection != kNull) connections_[id].push_back(connection);
  }
  rows_ += row.rows();
}

void DbReader::read_launch_calls() {
  known_tables_.insert("CANN_API");
  TableScan row(file_, "CANN_API",
                {"startNs", "endNs", "type", "globalTid", "connectionId", "name"}, rank_.quality);
  while (row.next()) {
    SliceRecord slice;
    if (!span(row, 0, 1, slice, "CANN_API")) continue;
    slice.kind = SliceKind::kLaunchCall;
    slice.name = string(row.integer(5));
    const StringId level = enumerated("ENUM_API_TYPE", row.integer(2));
    slice.cat = level == kNoString ? kEmptyString : level;
    const TrackId track = host_track("CANN", row.integer(3));
    const int64_t connection = row.integer(4);
    if (connection != kNull) {
      slice.correlation = rank_.pack_id(connection);
      launches_.try_emplace(connection, track, slice.ts_ns);
    }
    rank_.add_slice(track, slice);
  }
  rows_ += row.rows();
}

void DbReader::read_stacks() {
  known_tables_.insert("PYTORCH_CALLCHAINS");
  struct Frame {
    int64_t chain;
    int64_t depth;
    StringId text;
  };
  std::vector<Frame> frames;
  TableScan row(file_, "PYTORCH_CALLCHAINS", {"id", "stack", "stackDepth"}, rank_.quality);
  while (row.next()) frames.push_back({row.integer(0), row.integer(2), string(row.integer(1))});
  rows_ += row.rows();
  std::stable_sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
    return a.chain != b.chain ? a.chain < b.chain : a.depth < b.depth;
  });
  for (size_t first = 0; first < frames.size();) {
    std::string text;
    size_t at = first;
    for (; at < frames.size() && frames[at].chain == frames[first].chain; ++at) {
      if (at > first) text += ";\n";
      text += rank_.strings.view(frames[at].text);
    }
    stacks_[frames[first].chain] = rank_.strings.intern(text);
    first = at;
  }
}

namespace {

// "2,3;3,4" and the like; empty ones too.
bool may_be_shapes(std::string_view text) {
  return text.find_first_not_of("0123456789,;-[]()\" \r\n\t") == std::string_view::npos;
}

}  // namespace

void DbReader::read_framework_calls() {
  known_tables_.insert("PYTORCH_API");
  TableScan row(file_, "PYTORCH_API",
                {"startNs", "endNs", "globalTid", "connectionId", "name", "sequenceNumber",
                 "fwdThreadId", "inputDtypes", "inputShapes", "callchainId", "type"},
                rank_.quality);
  int64_t exchanged = 0;
  while (row.next()) {
    SliceRecord slice;
    if (!span(row, 0, 1, slice, "PYTORCH_API")) continue;
    slice.name = string(row.integer(4));
    const StringId type = enumerated("ENUM_API_TYPE", row.integer(10));
    slice.cat = type == kNoString ? kEmptyString : type;
    const std::string_view word = rank_.strings.view(slice.cat);
    const bool queue = word == "queue";
    const TrackId track = host_track("Python", row.integer(2));
    if (const auto step = profiler_step_number(rank_.strings.view(slice.name))) {
      slice.kind = SliceKind::kAnnotation;
      const bool complete = (slice.flags & kFlagUnfinished) == 0;
      step_marks_.try_emplace(*step,
                              StepMark{track, slice.ts_ns, slice.dur_ns, slice.name, complete});
    } else if (word == "op") {
      OpDetail detail;
      detail.sequence = row.integer(5);
      if (detail.sequence != kNull && detail.sequence < 0) detail.sequence = kNull;
      detail.forward_thread = row.integer(6);
      if (detail.forward_thread == 0) detail.forward_thread = kNull;
      detail.input_types = known_string(row.integer(7));
      detail.input_shapes = known_string(row.integer(8));
      // Some versions of torch_npu write each into the other's column.
      if (detail.input_shapes != kNoString && detail.input_types != kNoString &&
          !may_be_shapes(rank_.strings.view(detail.input_shapes)) &&
          may_be_shapes(rank_.strings.view(detail.input_types))) {
        std::swap(detail.input_types, detail.input_shapes);
        ++exchanged;
      }
      if (const auto stack = stacks_.find(row.integer(9)); stack != stacks_.end()) {
        detail.stack = stack->second;
      }
      slice.kind = SliceKind::kOp;
      slice.detail = rank_.add_op(detail);
    } else if (word == "trace") {
      slice.kind = SliceKind::kPython;
    } else if (word == "mstx") {
      slice.kind = SliceKind::kAnnotation;
    }
    if (const int64_t id = row.integer(3); id != kNull) {
      framework_calls_.try_emplace(id, track, slice.ts_ns);
      const auto links = connections_.find(id);
      bool launches = false;
      if (links != connections_.end()) {
        for (const int64_t link : links->second) {
          if (launches_.contains(link)) {
            launches = true;
            framework_of_launch_.try_emplace(link, id);
          } else {
            host_links_[link].push_back({track, slice.ts_ns, queue});
          }
        }
      }
      if (launches && slice.kind == SliceKind::kOp) slice.external_id = rank_.pack_id(id);
    }
    rank_.add_slice(track, slice);
    if (row.rows() % 65536 == 0 && progress_.cancelled()) break;
  }
  if (exchanged > 0) {
    rank_.quality.add(QualityCode::kRepairedEvent,
                      "PYTORCH_API: inputDtypes and inputShapes stand in each other's column",
                      exchanged);
  }
  rows_ += row.rows();
}

// Links that are no launches join two host calls: the earlier one is where the arrow starts.
void DbReader::join_host_arrows() {
  const StringId queue = rank_.strings.intern("async_task_queue");
  const StringId backward = rank_.strings.intern("fwdbwd");
  for (auto& [link, ends] : host_links_) {
    std::sort(ends.begin(), ends.end(),
              [](const Link& a, const Link& b) { return a.ts_ns < b.ts_ns; });
    FlowRecord arrow;
    arrow.id = next_arrow_++;
    arrow.phase = FlowPhase::kStart;
    for (const Link& end : ends) {
      arrow.ts_ns = end.ts_ns;
      arrow.kind = end.queue ? queue : backward;
      arrow.track = end.track;
      rank_.flows.push_back(arrow);
      arrow.phase = FlowPhase::kEnd;
    }
  }
}

void DbReader::read_marks() {
  known_tables_.insert("MSTX_EVENTS");
  TableScan row(file_, "MSTX_EVENTS",
                {"startNs", "endNs", "eventType", "message", "globalTid", "connectionId"},
                rank_.quality);
  while (row.next()) {
    SliceRecord slice;
    if (!span(row, 0, 1, slice, "MSTX_EVENTS")) continue;
    slice.kind = SliceKind::kAnnotation;
    slice.name = string(row.integer(3));
    const StringId type = enumerated("ENUM_MSTX_EVENT_TYPE", row.integer(2));
    slice.cat = type == kNoString ? rank_.strings.intern("mstx") : type;
    if (slice.dur_ns == 0) slice.flags |= kFlagInstant;
    rank_.add_slice(host_track("MSTX", row.integer(4)), slice);
  }
  rows_ += row.rows();
}

// Tables of spans that need no more than a lane each.
void DbReader::read_extra_lanes() {
  known_tables_.insert({"GC_RECORD", "OSRT_API", "CCU", "DPU_TASK"});
  const auto host = [&](std::string_view table, std::string_view process, std::string_view name) {
    TableScan row(file_, table, {"startNs", "endNs", "globalTid", "name"}, rank_.quality);
    while (row.next()) {
      SliceRecord slice;
      if (!span(row, 0, 1, slice, table)) continue;
      slice.name = name.empty() ? string(row.integer(3)) : rank_.strings.intern(name);
      slice.cat = rank_.strings.intern(process);
      rank_.add_slice(host_track(process, row.integer(2)), slice);
    }
    rows_ += row.rows();
  };
  host("GC_RECORD", "Python GC", "GC");
  host("OSRT_API", "OS Runtime API", "");
  for (const bool dpu : {false, true}) {
    const std::string_view table = dpu ? "DPU_TASK" : "CCU";
    TableScan row(file_, table,
                  {"startNs", "endNs", dpu ? "dpuDeviceId" : "deviceId", dpu ? "opName" : "name",
                   dpu ? "streamId" : ""},
                  rank_.quality);
    while (row.next()) {
      SliceRecord slice;
      if (!span(row, 0, 1, slice, table)) continue;
      slice.name = row.type(3) == TableScan::Cell::kText ? rank_.strings.intern(row.text(3))
                                                         : string(row.integer(3));
      slice.cat = rank_.strings.intern(dpu ? "DPU" : "CCU");
      const int64_t stream = row.integer(4);
      const std::string thread = stream == kNull ? "" : "Stream " + std::to_string(stream);
      rank_.add_slice(lane(dpu ? "DPU" : "CCU", thread, TrackKind::kDevice, row.integer(2), stream),
                      slice);
    }
    rows_ += row.rows();
  }
}

// Written by the profiler from schema 1.2.0 on. Older databases have the table only when another
// viewer added it to the file; then the status table is there too, and the lanes are left out, so
// that a file gives the same result before and after that viewer opened it.
void DbReader::read_overlap_lanes() {
  if (file_.has_table("status_info") || file_.has_table("connectionCats")) {
    int64_t left = 0;
    for (const std::string_view table : {"OVERLAP_ANALYSIS", "status_info", "connectionCats"}) {
      left += file_.has_table(table);
      known_tables_.insert(std::string(table));
    }
    rank_.quality.add(QualityCode::kIgnoredFile,
                      file_.path() + ": tables that another viewer added to it", left);
    return;
  }
  known_tables_.insert("OVERLAP_ANALYSIS");
  TableScan row(file_, "OVERLAP_ANALYSIS", {"startNs", "endNs", "type", "deviceId"}, rank_.quality);
  while (row.next()) {
    static constexpr std::string_view kNames[] = {"Computing", "Communication",
                                                  "Communication(Not Overlapped)", "Free"};
    const int64_t type = row.integer(2);
    if (type < 0 || type > 3) continue;
    SliceRecord slice;
    if (!span(row, 0, 1, slice, "OVERLAP_ANALYSIS")) continue;
    slice.name = rank_.strings.intern(kNames[type]);
    rank_.add_slice(
        lane("Overlap Analysis", std::string(kNames[type]), TrackKind::kAnalysis, row.integer(3)),
        slice);
  }
  rows_ += row.rows();
}

void DbReader::note_cut_step(int64_t step) {
  rank_.quality.add(QualityCode::kWindowCut, "step " + std::to_string(step) + " has no end");
}

void DbReader::read_steps() {
  known_tables_.insert("STEP_TIME");
  const StringId marked = rank_.strings.intern("marked");
  const StringId from_file = rank_.strings.intern("file");
  TableScan row(file_, "STEP_TIME", {"id", "startNs", "endNs"}, rank_.quality);
  while (row.next()) {
    StepRecord step;
    step.step = row.integer(0);
    SliceRecord place;
    if (step.step == kNull || !span(row, 1, 2, place, "STEP_TIME")) continue;
    step.ts_ns = place.ts_ns;
    step.dur_ns = place.dur_ns;
    step.source = from_file;
    step.complete = (place.flags & kFlagUnfinished) == 0;
    if (!step.complete) note_cut_step(step.step);
    if (const auto mark = step_marks_.find(step.step);
        mark != step_marks_.end() && mark->second.ts_ns == step.ts_ns) {
      step.source = marked;
      step.track = mark->second.track;
      step.name = mark->second.name;
    }
    rank_.steps.push_back(step);
  }
  rows_ += row.rows();
  if (!rank_.steps.empty()) return;
  for (const auto& [number, mark] : step_marks_) {
    rank_.steps.push_back(
        {number, mark.ts_ns, mark.dur_ns, marked, mark.track, mark.name, mark.complete});
    if (!mark.complete) note_cut_step(number);
  }
}

}  // namespace stepscope
