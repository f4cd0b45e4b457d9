#include "importers/native/mindspore_tables.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "base/folder.h"
#include "importers/common/checked_math.h"
#include "importers/common/minddata.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/text_file.h"
#include "importers/mindspore_raw/runtime_profiler.h"
#include "json/json_members.h"

namespace stepscope {
namespace {

constexpr std::string_view kNoModule = "Default";  // stands in front of every path, and alone

// "[[128, 64], []]" -> 8192: the elements of the first input.
int64_t elements_of(std::string_view shapes) {
  const size_t end = shapes.find(']');
  if (!shapes.starts_with("[[") || end == std::string_view::npos) return kNull;
  int64_t elements = 1;
  for (const std::string_view text : split_text(shapes.substr(2, end - 2), ',')) {
    const auto size = parse_integer(text);
    elements = size && *size >= 0 ? times_or_null(elements, *size) : kNull;
    if (elements == kNull) return kNull;
  }
  return elements;
}

// "window3.pipeline_profiling_0.json" -> 3, and the name that minddata gave. The first window's
// files, and those of older versions, have no number.
int64_t take_window(std::string_view& name) {
  constexpr std::string_view kWindow = "window";
  const size_t dot = name.find('.');
  if (!name.starts_with(kWindow) || dot == std::string_view::npos) return 1;
  const auto number = parse_integer(name.substr(kWindow.size(), dot - kWindow.size()));
  if (!number) return 1;
  name.remove_prefix(dot + 1);
  return *number;
}

}  // namespace

bool MindsporeTables::read(const RawTable& table) {
  if (table.name == "mindspore_ops") {
    read_operators(table);
  } else if (table.name == "mindspore_memory") {
    read_memory(table);
  } else {
    return false;
  }
  return true;
}

void MindsporeTables::read_operators(const RawTable& table) {
  RankBuilder& rank = run_.rank();
  const auto* start = table.column("start_ns");
  const auto* duration = table.column("duration_ns");
  const auto* name = table.column("name");
  const auto* shapes = table.column("input_shapes");
  if (start == nullptr || duration == nullptr || name == nullptr || shapes == nullptr) {
    rank.quality.add(QualityCode::kUnparsableEvent, "columns are missing in table mindspore_ops",
                     static_cast<int64_t>(table.rows));
    return;
  }
  if (track_ == kNoDetail) track_ = run_.named_track("MindSpore CPU operators");
  SliceRecord slice;
  slice.cat = rank.strings.intern("cpu_op");
  slice.kind = SliceKind::kOp;
  for (size_t row = 0; row < table.rows; ++row) {
    slice.ts_ns = run_.clock().from_realtime((*start)[row]);
    slice.dur_ns = (*duration)[row];
    slice.name = run_.name((*name)[row]);
    slice.detail = detail_of((*name)[row], (*shapes)[row]);
    rank.add_slice(track_, slice);
  }
  records_ += static_cast<int64_t>(table.rows);
}

uint32_t MindsporeTables::detail_of(int64_t name, int64_t input_shapes) {
  const uint64_t key = static_cast<uint64_t>(name) << 32 ^ static_cast<uint64_t>(input_shapes);
  const auto [known, is_new] = details_.try_emplace(key);
  if (!is_new) return known->second;
  RankBuilder& rank = run_.rank();
  const std::string_view full_name = rank.strings.view(run_.name(name));
  const std::string_view type = op_type_of(full_name);
  const std::string_view module = op_module_of(full_name);
  const std::string_view collective = collective_of(type);
  OpDetail detail;
  detail.type = rank.strings.intern(type);
  if (!module.empty() && module != kNoModule) detail.module = rank.strings.intern(module);
  if (input_shapes != 0) detail.input_shapes = run_.name(input_shapes);
  if (!collective.empty()) {
    CommunicationDetail communication;
    communication.level = rank.strings.intern("op");
    communication.op = rank.strings.intern(collective);
    communication.group_size = rank.info.world_size;
    if (input_shapes != 0)
      communication.elements = elements_of(rank.strings.view(detail.input_shapes));
    detail.communication = rank.add_communication(communication);
  }
  known->second = rank.add_op(detail);
  return known->second;
}

void MindsporeTables::read_memory(const RawTable& table) {
  RankBuilder& rank = run_.rank();
  const auto* when = table.column("when_ns");
  const auto* allocated = table.column("allocated_bytes");
  const auto* reserved = table.column("reserved_bytes");
  const auto* active = table.column("active_bytes");
  if (when == nullptr || allocated == nullptr || reserved == nullptr || active == nullptr) {
    rank.quality.add(QualityCode::kUnparsableEvent, "columns are missing in table mindspore_memory",
                     static_cast<int64_t>(table.rows));
    return;
  }
  MemoryRecord record;
  record.device_kind = rank.strings.intern("CPU");
  record.component = rank.strings.intern("MindSpore");
  for (size_t row = 0; row < table.rows; ++row) {
    record.ts_ns = run_.clock().from_realtime((*when)[row]);
    record.total_allocated = (*allocated)[row];
    record.total_reserved = (*reserved)[row];
    record.total_active = (*active)[row];
    rank.memory.push_back(record);
  }
  records_ += static_cast<int64_t>(table.rows);
}

void MindsporeTables::finish(const std::string& folder, Ending ending) {
  if (track_ != kNoDetail) {
    add_module_ranges();
    if (ending != Ending::kStopped) mark_steps_without_operators(ending);
  }
  read_files(folder, ending);
  read_note();
}

// Operators come in windows of whole steps. What a killed program had not handed over is lost, and
// the steps behind say nothing about where their time goes.
void MindsporeTables::mark_steps_without_operators(Ending ending) {
  RankBuilder& rank = run_.rank();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (const SliceRecord& op : rank.slices(track_))
    last_ns = std::max(last_ns, op.ts_ns + op.dur_ns);
  int64_t count = 0;
  for (StepRecord& step : rank.steps) {
    if (!step.complete || step.ts_ns < last_ns) continue;
    step.complete = false;
    ++count;
  }
  if (count == 0) return;
  rank.quality.add(
      ending == Ending::kBrokeOff ? QualityCode::kDroppedRecords : QualityCode::kWindowCut,
      "steps behind the last MindSpore operators that were written", count);
}

// Operators that run one after the other in the same module are one range of it.
void MindsporeTables::add_module_ranges() {
  RankBuilder& rank = run_.rank();
  PodVector<SliceRecord>& operators = rank.slices(track_);
  std::stable_sort(operators.begin(), operators.end(),
                   [](const SliceRecord& a, const SliceRecord& b) { return a.ts_ns < b.ts_ns; });
  struct Open {
    StringId module;
    int64_t start_ns;
    int64_t end_ns;
  };
  std::vector<Open> open;
  TrackId track = kNoDetail;
  const StringId category = rank.strings.intern("module");
  const auto close_to = [&](size_t depth) {
    while (open.size() > depth) {
      const Open last = open.back();
      open.pop_back();
      if (!open.empty()) open.back().end_ns = std::max(open.back().end_ns, last.end_ns);
      SliceRecord slice;
      slice.ts_ns = last.start_ns;
      slice.dur_ns = last.end_ns - last.start_ns;
      slice.name = last.module;
      slice.cat = category;
      slice.kind = SliceKind::kAnnotation;
      if (track == kNoDetail) track = run_.named_track("MindSpore modules");
      rank.add_slice(track, slice);
    }
  };
  size_t step = 0;
  for (const SliceRecord& op : operators) {
    for (; step < rank.steps.size() && rank.steps[step].ts_ns <= op.ts_ns; ++step) close_to(0);
    const std::vector<StringId>& path = path_of(rank.op(op.detail).module);
    size_t common = 0;
    while (common < open.size() && common < path.size() && open[common].module == path[common])
      ++common;
    close_to(common);
    for (size_t at = common; at < path.size(); ++at) open.push_back({path[at], op.ts_ns, op.ts_ns});
    if (!open.empty()) open.back().end_ns = std::max(open.back().end_ns, op.ts_ns + op.dur_ns);
  }
  close_to(0);
}

const std::vector<StringId>& MindsporeTables::path_of(StringId module) {
  const auto [known, is_new] = paths_.try_emplace(module);
  if (is_new && module != kNoString) {
    // A copy: interning may move the pool's texts.
    const std::string path(run_.rank().strings.view(module));
    for (const std::string_view part : split_text(path, '/')) {
      if (!part.empty() && part != kNoModule)
        known->second.push_back(run_.rank().strings.intern(part));
    }
  }
  return known->second;
}

// Whether a window that asked for the pipeline has begun and not ended: those of a program that
// `stepscope record` started are noted at both ends, a recording of its own is one window.
bool MindsporeTables::pipeline_was_lost() const {
  size_t begun = 0;
  size_t ended = 0;
  bool asked_for = false;
  for (const auto& [name, note] : run_.notes()) {
    if (name == "profiler_window") ++ended;
    if (name != "parameters") continue;
    ++begun;
    asked_for = note.is_object() && note.value("data_process", nlohmann::json()) == true;
  }
  return asked_for && begun > ended;
}

void MindsporeTables::read_files(const std::string& folder, Ending ending) {
  RankBuilder& rank = run_.rank();
  std::map<int64_t, MinddataFiles> windows;
  std::vector<std::string> runtime;
  std::error_code ignored;
  for (const std::filesystem::path& path : paths_in(folder, ignored)) {
    const std::string name = path.filename().string();
    std::string_view own_name = name;
    const int64_t window = take_window(own_name);
    if (minddata_rank(own_name)) windows[window].take(own_name, path.string());
    if (number_in_name(name, "RuntimeProfilerDetail", ".csv")) runtime.push_back(path.string());
  }
  // minddata writes its files when a recording stops.
  const bool is_mindspore = track_ != kNoDetail;
  if (is_mindspore && ending == Ending::kBrokeOff && pipeline_was_lost())
    rank.quality.add(QualityCode::kSourceLeftOut,
                     "mindspore pipeline: what minddata had recorded was lost with the program, "
                     "which did not stop the recording");
  std::vector<MinddataFiles> pipelines;
  for (auto& [window, files] : windows) pipelines.push_back(std::move(files));
  // The pipeline's times are of the steady clock.
  records_ +=
      read_minddata(pipelines, run_.clock().from_monotonic(0), MinddataCpu::kOperators, rank);
  std::sort(runtime.begin(), runtime.end());
  for (const std::string& path : runtime) {
    records_ += mindspore_raw::read_runtime_detail(
        path, rank, [this](int64_t ns) { return run_.clock().from_realtime(ns); });
  }
}

void MindsporeTables::read_note() {
  QualityReport& quality = run_.rank().quality;
  // The last note has the whole recording's figures.
  nlohmann::json note;
  for (const auto& [name, json] : run_.notes()) {
    if (name == "mindspore") note = json;
  }
  if (const int64_t count = integer_in(note, "unreadable", 0); count > 0)
    quality.add(QualityCode::kUnparsableEvent, "in the text files of MindSpore's profiler", count);
  const int64_t lost = integer_in(note, "left_out", 0);
  if (lost > 0) quality.add(QualityCode::kDroppedRecords, "MindSpore operators or memory", lost);
  const int64_t windows = integer_in(note, "windows_turned_away", 0);
  if (windows > 0)
    quality.add(QualityCode::kDroppedRecords, "windows of MindSpore operators", windows);
  const int64_t without = integer_in(note, "without_shapes", 0);
  if (without > 0) {
    quality.add(
        QualityCode::kNotHonoured,
        "record_shapes: MindSpore tells no input shapes for most operators of PyNative mode",
        without);
  }
}

}  // namespace stepscope
