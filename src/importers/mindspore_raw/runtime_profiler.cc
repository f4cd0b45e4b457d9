#include "importers/mindspore_raw/runtime_profiler.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "importers/common/checked_math.h"
#include "importers/common/op_timestamps.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"

namespace stepscope::mindspore_raw {
namespace {

struct Event {
  bool is_stage = false;
  std::string_view module;  // or stage
  std::string_view event;
  std::string_view op;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view printed_dur;
  std::string_view tid;
  std::string_view pid;
};

// Takes "KEYvalue" off the front of `rest`, up to `end`.
bool take(std::string_view& rest, std::string_view key, std::string_view end,
          std::string_view& value) {
  if (!rest.starts_with(key)) return false;
  rest.remove_prefix(key.size());
  const size_t at = end.empty() ? rest.size() : rest.find(end);
  if (at == std::string_view::npos) return false;
  value = rest.substr(0, at);
  rest.remove_prefix(at + end.size());
  return true;
}

// module:M, event:E, op:O, start_time:<ns>, end_time:<ns>, dur_time:,<ns>,ns, tid:T, pid:P
// O may hold anything, so the fields after it are looked for from the end.
std::optional<Event> parse_event(std::string_view line) {
  Event event;
  event.is_stage = line.starts_with("stage:");
  std::string_view rest = line;
  if (!take(rest, event.is_stage ? "stage:" : "module:", ", event:", event.module)) {
    return std::nullopt;
  }
  if (!take(rest, "", ", op:", event.event)) return std::nullopt;
  const size_t times = rest.rfind(", start_time:");
  if (times == std::string_view::npos) return std::nullopt;
  event.op = rest.substr(0, times);
  rest.remove_prefix(times + 2);
  std::string_view start;
  std::string_view end;
  if (!take(rest, "start_time:", ", ", start) || !take(rest, "end_time:", ", ", end) ||
      !take(rest, "dur_time:,", ",ns, ", event.printed_dur) ||
      !take(rest, "tid:", ", ", event.tid) || !take(rest, "pid:", "", event.pid)) {
    return std::nullopt;
  }
  const auto start_ns = parse_integer(start);
  const auto end_ns = parse_integer(end);
  if (!start_ns || !end_ns) return std::nullopt;
  event.start_ns = *start_ns;
  event.end_ns = *end_ns;
  return event;
}

struct Step {
  int64_t number = 0;
  int64_t time_ns = 0;
  int64_t module_total_ns = kNull;
  int64_t first_ns = kNull;
  int64_t events = 0;
};

// [Step:1 step_time:83782276ns, module_total_time:235217348ns]
std::optional<Step> parse_step(std::string_view line) {
  const auto number_after = [&](std::string_view key) -> std::optional<int64_t> {
    const size_t at = line.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view rest = line.substr(at + key.size());
    return parse_integer(rest.substr(0, rest.find_first_not_of("0123456789")));
  };
  const auto number = number_after("[Step:");
  const auto time_ns = number_after("step_time:");
  if (!number || !time_ns) return std::nullopt;
  return Step{*number, *time_ns, number_after("module_total_time:").value_or(kNull), kNull, 0};
}

class DetailReader {
 public:
  DetailReader(TextFile& file, RankBuilder& rank, const ToAxis& on_axis)
      : file_(file), rank_(rank), on_axis_(on_axis) {}

  int64_t read() {
    std::string_view line;
    while (file_.next(line)) {
      line = trim_blanks(line);
      if (line.empty()) continue;
      if (line.starts_with("[Step:")) {
        finish_step();
        step_ = parse_step(line);
        if (step_) continue;
      } else if (const auto event = parse_event(line)) {
        add(*event);
        continue;
      }
      rank_.quality.add(QualityCode::kUnparsableEvent, file_.place());
    }
    finish_step();
    return events_;
  }

 private:
  void finish_step() {
    if (!step_) return;
    TableBuilder table(rank_, "runtime_profiler_steps", file_.path(),
                       {{"step", Type::kInt64},
                        {"step_time_ns", Type::kInt64},
                        {"module_total_time_ns", Type::kInt64},
                        {"events", Type::kInt64}});
    table.row({step_->number, step_->time_ns, step_->module_total_ns, step_->events});
    if (on_axis_) {
      step_.reset();
      return;
    }
    if (step_->first_ns == kNull) {
      rank_.quality.add(QualityCode::kInconsistentCounts,
                        file_.place() + ": step " + std::to_string(step_->number) +
                            " has no events, so its time is not known");
    } else {
      StepRecord record;
      record.step = step_->number;
      record.ts_ns = step_->first_ns;
      record.dur_ns = step_->time_ns;
      record.source = rank_.strings.intern("marked");
      rank_.steps.push_back(record);
    }
    step_.reset();
  }

  TrackId track_of(const Event& event) {
    auto [track, is_new] =
        tracks_.try_emplace({std::string(event.pid), std::string(event.tid)}, TrackId{0});
    if (is_new) {
      TrackInfo info;
      info.process = rank_.strings.intern("MindSpore");
      info.thread = rank_.strings.intern("Thread " + std::string(event.tid));
      info.pid = rank_.strings.intern(event.pid);
      info.tid = rank_.strings.intern(event.tid);
      info.kind = TrackKind::kHost;
      track->second = rank_.add_track(info);
      const auto pid = parse_integer(event.pid);
      if (rank_.info.pid == kNull && pid) rank_.info.pid = *pid;
    }
    return track->second;
  }

  StringId name_of(const Event& event) {
    name_ = event.module;
    if (!event.is_stage) {
      name_.append("::").append(event.event).append("::").append(event.op);
    } else if (event.event != "Default") {
      name_.append("::").append(event.event);
    }
    return rank_.strings.intern(name_);
  }

  void add(const Event& event) {
    ++events_;
    if (step_) {
      ++step_->events;
      if (step_->first_ns == kNull || event.start_ns < step_->first_ns) {
        step_->first_ns = event.start_ns;
      }
    }
    SliceRecord slice;
    slice.ts_ns = on_axis_ ? on_axis_(event.start_ns) : event.start_ns;
    slice.dur_ns = minus_or_null(event.end_ns, event.start_ns);
    slice.name = name_of(event);
    slice.cat = rank_.strings.intern(event.is_stage ? "stage" : event.module);
    if (slice.dur_ns < 0) {
      slice.dur_ns = 0;
      if (event.op == "flow") {
        slice.flags |= kFlagInstant;
      } else {
        slice.flags |= kFlagImpossible;
        rank_.quality.add(QualityCode::kEndBeforeStart, file_.place());
      }
    } else if (parse_integer(event.printed_dur) != slice.dur_ns) {
      rank_.quality.add(QualityCode::kInconsistentCounts,
                        file_.place() + ": the duration is not end minus start");
    }
    // What runs an operator: the graph executor's launches and those of PyNative mode.
    if (!on_axis_ && (event.event == "KernelLaunch" || event.event == "LaunchTask" ||
                      event.event == "PyNativeLaunchTask")) {
      slice.kind = SliceKind::kOp;
      OpDetail detail;
      detail.type = rank_.strings.intern(op_type_of(event.op));
      const std::string_view module = op_module_of(event.op);
      if (!module.empty()) detail.module = rank_.strings.intern(module);
      slice.detail = rank_.add_op(detail);
    } else if (event.event == "PythonObserved") {
      slice.kind = SliceKind::kAnnotation;
    }
    rank_.add_slice(track_of(event), slice);
  }

  TextFile& file_;
  RankBuilder& rank_;
  const ToAxis& on_axis_;
  std::optional<Step> step_;
  std::map<std::pair<std::string, std::string>, TrackId> tracks_;
  std::string name_;
  int64_t events_ = 0;
};

}  // namespace

int64_t read_runtime_detail(const std::string& path, RankBuilder& rank, const ToAxis& on_axis) {
  auto file = TextFile::open(path);
  if (!file) {
    add_unreadable(rank, path, file.error());
    return 0;
  }
  const int64_t events = DetailReader(*file, rank, on_axis).read();
  add_source(rank, path, "runtime_profiler_detail", events);
  return events;
}

void keep_runtime_summary(const std::string& path, RankBuilder& rank) {
  auto file = TextFile::open(path);
  if (!file) return add_unreadable(rank, path, file.error());
  TableBuilder table(rank, "runtime_profiler_summary", path,
                     {{"step", Type::kInt64},
                      {"kind", Type::kText},
                      {"name", Type::kText},
                      {"total_time_ns", Type::kInt64},
                      {"count", Type::kInt64}});
  int64_t step = kNull;
  int64_t rows = 0;
  std::string_view line;
  while (file->next(line)) {
    std::string_view rest = trim_blanks(line);
    if (rest.starts_with("[Step:")) {
      const auto parsed = parse_step(rest);
      step = parsed ? parsed->number : kNull;
      continue;
    }
    const size_t colon = rest.find(':');
    const size_t total_at = rest.find(", total_time:");
    if (colon == std::string_view::npos || total_at == std::string_view::npos) continue;
    const std::string_view kind = rest.substr(0, colon);
    const std::string_view name = rest.substr(colon + 1, total_at - colon - 1);
    rest.remove_prefix(total_at);
    std::string_view total;
    std::string_view average;
    if (!take(rest, ", total_time:", "ns", total)) continue;
    take(rest, ", average_time:", "ns", average);
    int64_t count = kNull;
    if (rest.starts_with(", total_count:")) {
      rest.remove_prefix(14);
      count = parse_integer(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(kNull);
    }
    // Totals that include a mark of an arrow have wrapped around 2^64.
    const auto total_ns = parse_integer(total);
    if (!total_ns) rank.quality.add(QualityCode::kWideInteger, file->place());
    table.row({step, table.text(kind), table.text(name), total_ns.value_or(kNull), count});
    ++rows;
  }
  add_source(rank, path, "runtime_profiler_summary", rows);
}

}  // namespace stepscope::mindspore_raw
