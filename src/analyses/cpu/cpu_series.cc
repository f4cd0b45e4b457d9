#include "analyses/cpu/cpu_series.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/source_rows.h"

namespace stepscope {
namespace {

using Metric = double CpuSample::*;

struct MetricName {
  std::string_view name;
  Metric metric;
  double scale;
};
constexpr double kPercent = 0.01;
// Older files say runable_processes, newer ones runnable_process.
constexpr MetricName kMinddata[] = {
    {"user_utilization", &CpuSample::user, kPercent},
    {"sys_utilization", &CpuSample::system, kPercent},
    {"io_utilization", &CpuSample::io_wait, kPercent},
    {"idle_utilization", &CpuSample::idle, kPercent},
    {"runnable_process", &CpuSample::runnable, 1},
    {"runable_processes", &CpuSample::runnable, 1},
    {"context_switch_count", &CpuSample::context_switches, 1},
};
constexpr MetricName kNative[] = {
    {"machine cpu user %", &CpuSample::user, kPercent},
    {"machine cpu system %", &CpuSample::system, kPercent},
    {"machine cpu iowait %", &CpuSample::io_wait, kPercent},
    {"machine cpu idle %", &CpuSample::idle, kPercent},
    {"machine runnable processes", &CpuSample::runnable, 1},
};
constexpr std::string_view kSwitchesPerSecond = "machine context switches/s";

// What a counter's lane stands for.
struct CpuLane {
  CpuScope scope = CpuScope::kMachine;
  int64_t id = kNull;
  std::string_view name;
  Metric metric = &CpuSample::busy;
  double scale = kPercent;
  bool is_rate = false;      // per second: to be made a count
  bool is_minddata = false;  // its first sample means nothing
};

template <size_t N>
bool take_metric(const MetricName (&names)[N], std::string_view name, CpuLane& lane) {
  for (const MetricName& known : names) {
    if (known.name != name) continue;
    lane.metric = known.metric;
    lane.scale = known.scale;
    return true;
  }
  return false;
}

// "12 rest" -> 12, rest
bool take_number(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<CpuLane> minddata_lane(std::string_view name) {
  CpuLane lane;
  lane.is_minddata = true;
  if (take_prefix(name, "device ")) {
    lane.scope = CpuScope::kMachine;
  } else if (take_prefix(name, "process ")) {
    lane.scope = CpuScope::kProcess;
  } else if (take_prefix(name, "op ") && take_number(name, lane.id)) {
    if (lane.id < 0) return std::nullopt;  // -1: threads that belong to no operator
    lane.scope = CpuScope::kOperator;
  } else {
    return std::nullopt;
  }
  if (!take_metric(kMinddata, name, lane)) return std::nullopt;
  return lane;
}

std::optional<CpuLane> native_lane(std::string_view name) {
  CpuLane lane;
  if (take_metric(kNative, name, lane)) return lane;
  if (name == kSwitchesPerSecond) {
    lane.metric = &CpuSample::context_switches;
    lane.scale = 1;
    lane.is_rate = true;
    return lane;
  }
  if (name == "process cpu %") {
    lane.scope = CpuScope::kProcess;
    return lane;
  }
  if (take_prefix(name, "thread cpu % ")) {
    lane.scope = CpuScope::kThread;
  } else if (take_prefix(name, "worker cpu % ")) {
    lane.scope = CpuScope::kWorker;
  } else {
    return std::nullopt;
  }
  if (!take_number(name, lane.id)) return std::nullopt;
  lane.name = name;
  return lane;
}

std::optional<CpuLane> lane_of(const StoreReader& store, size_t rank, uint64_t track) {
  if (text_at(store, Table::kTracks, "kind", rank, track) != "counter") return std::nullopt;
  const std::string_view name = text_at(store, Table::kTracks, "thread", rank, track);
  const std::string_view process = text_at(store, Table::kTracks, "process", rank, track);
  CpuLane of_stage;  // a lane that is named after the stage of the data pipeline
  of_stage.scope = CpuScope::kOperator;
  of_stage.name = process;
  if (name == "cpu %") return of_stage;  // one of its tasks
  if (take_metric(kMinddata, name, of_stage)) {
    of_stage.is_minddata = true;
    const size_t last = process.rfind('_');  // "MapOp_1"
    std::string_view id =
        process.substr(last == std::string_view::npos ? process.size() : last + 1);
    if (!take_number(id, of_stage.id)) of_stage.id = kNull;
    return of_stage;
  }
  return process == "minddata" ? minddata_lane(name) : native_lane(name);
}

// Brings the samples of a series, which came metric by metric, into one row for each moment; what
// several workers of a stage used at a moment is added up.
void merge_moments(std::vector<CpuSample>& samples) {
  const auto earlier = [](const CpuSample& a, const CpuSample& b) { return a.ts_ns < b.ts_ns; };
  std::stable_sort(samples.begin(), samples.end(), earlier);
  size_t kept = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (kept == 0 || samples[kept - 1].ts_ns != samples[i].ts_ns) {
      samples[kept++] = samples[i];
      continue;
    }
    for (const Metric metric :
         {&CpuSample::user, &CpuSample::system, &CpuSample::io_wait, &CpuSample::idle,
          &CpuSample::busy, &CpuSample::runnable, &CpuSample::context_switches}) {
      double& sum = samples[kept - 1].*metric;
      if (!std::isnan(samples[i].*metric))
        sum = std::isnan(sum) ? samples[i].*metric : sum + samples[i].*metric;
    }
  }
  samples.resize(kept);
}

void complete(CpuSeries& series) {
  for (CpuSample& sample : series.samples) {
    if (!std::isnan(sample.busy)) continue;
    // Interrupts and stolen time are in neither user nor system: busy is what is not idle.
    sample.busy = series.scope == CpuScope::kMachine && !std::isnan(sample.idle)
                      ? 1 - sample.idle - (std::isnan(sample.io_wait) ? 0 : sample.io_wait)
                      : sample.user + sample.system;
  }
}

struct StepStart {
  int64_t ts_ns;
  int64_t step;
};

class StepLabels {
 public:
  StepLabels(const StoreReader& store, size_t rank, std::span<const StepRow> steps) {
    for_each_row<3>(store, Table::kQueues, rank, {"stage", "ts", "batch"}, [&](const auto& row) {
      const auto [stage, ts_ns, batch] = row;
      if (ts_ns <= 0 || batch < 0) return;
      const std::string_view name = store.string(stage);
      if (name == "device_queue" || name == "dataset_iterator") starts_.push_back({ts_ns, batch});
    });
    std::ranges::sort(starts_, {}, &StepStart::ts_ns);
    // Batches between marked steps have their clock, so the steps themselves can be taken.
    const bool one_clock = std::ranges::any_of(starts_, [&](const StepStart& batch) {
      return !steps.empty() && batch.ts_ns >= steps.front().start_ns &&
             batch.ts_ns <= steps.back().end_ns();
    });
    if (one_clock) starts_.clear();
    if (!starts_.empty()) {
      first_label_ = 0;
      const int64_t first = std::ranges::min(starts_, {}, &StepStart::step).step;
      for (StepStart& start : starts_) start.step = bounded_minus(start.step, first - 1);
      return;
    }
    for (const StepRow& step : steps) starts_.push_back({step.start_ns, step.step});
  }

  int64_t at(int64_t ts_ns) const {
    if (starts_.empty()) return kNull;
    const auto after = std::ranges::upper_bound(starts_, ts_ns, {}, &StepStart::ts_ns);
    return after == starts_.begin() ? first_label_ : std::prev(after)->step;
  }

 private:
  std::vector<StepStart> starts_;
  int64_t first_label_ = kNull;  // before the first step
};

}  // namespace

std::string_view cpu_scope_name(CpuScope scope) {
  switch (scope) {
    case CpuScope::kMachine:
      return "machine";
    case CpuScope::kProcess:
      return "process";
    case CpuScope::kOperator:
      return "operator";
    case CpuScope::kWorker:
      return "worker";
    case CpuScope::kThread:
      return "thread";
  }
  return "";
}

std::vector<CpuSeries> cpu_series(const StoreReader& store, size_t rank,
                                  std::span<const StepRow> steps) {
  const uint64_t tracks = store.rows(Table::kTracks, rank);
  std::vector<std::optional<CpuLane>> lanes(tracks);
  bool any = false;
  for (uint64_t track = 0; track < tracks; ++track) {
    lanes[track] = lane_of(store, rank, track);
    any = any || lanes[track].has_value();
  }
  std::vector<CpuSeries> all;
  if (!any) return all;

  int64_t first_minddata_ns = std::numeric_limits<int64_t>::max();
  const auto first_track = static_cast<int64_t>(store.row_base(Table::kTracks, rank));
  const auto lane_at = [&](int64_t track) -> const std::optional<CpuLane>& {
    return lanes[static_cast<size_t>(track - first_track)];
  };
  for_each_row<2>(store, Table::kCounters, rank, {"track", "ts"}, [&](const auto& row) {
    const auto& lane = lane_at(row[0]);
    if (lane && lane->is_minddata) first_minddata_ns = std::min(first_minddata_ns, row[1]);
  });

  std::map<std::tuple<CpuScope, int64_t, std::string_view>, CpuSeries> series;
  int64_t last_track = kNull;
  int64_t last_ns = kNull;
  CpuSeries* into = nullptr;
  for_each_row<3>(store, Table::kCounters, rank, {"track", "ts", "value"}, [&](const auto& row) {
    const auto [track, ts_ns, bits] = row;
    const auto& lane = lane_at(track);
    if (!lane || bits == kNull) return;
    if (track != last_track) {
      into = &series[{lane->scope, lane->id, lane->name}];
      into->scope = lane->scope;
      into->id = lane->id;
      into->name = lane->name;
      last_ns = kNull;
    }
    last_track = track;
    const int64_t before_ns = std::exchange(last_ns, ts_ns);
    if (lane->is_minddata && ts_ns == first_minddata_ns) return;
    double value = std::bit_cast<double>(bits) * lane->scale;
    if (!std::isfinite(value)) return;
    if (lane->is_rate) {
      if (before_ns == kNull) return;
      value *= static_cast<double>(ts_ns - before_ns) * 1e-9;
    }
    CpuSample sample;
    sample.ts_ns = ts_ns;
    sample.step = kNull;
    sample.*(lane->metric) = value;
    into->samples.push_back(sample);
  });

  const StepLabels labels(store, rank, steps);
  for (auto& [key, one] : series) {
    merge_moments(one.samples);
    complete(one);
    for (CpuSample& sample : one.samples) sample.step = labels.at(sample.ts_ns);
    if (!one.samples.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::vector<CpuOperator> cpu_operators(const StoreReader& store, size_t rank) {
  std::vector<CpuOperator> operators;
  for (const std::string_view name : {"minddata_pipeline", "minddata_pipeline_raw"}) {
    const SourceRows table(store, rank, name);
    for (uint64_t row = 0; row < table.rows(); ++row) {
      const int64_t id = table.integer(row, "op_id");
      operators.push_back({id, std::string(table.text(row, "op_type")) + "_" + std::to_string(id),
                           table.integer(row, "num_workers")});
    }
    if (!operators.empty()) break;
  }
  return operators;
}

int64_t processor_count(const StoreReader& store, size_t rank) {
  const SourceRows about(store, rank, "minddata_cpu");
  const int64_t said = about.integer(0, "cpu_processor_num");
  if (said != kNull) return said;
  int64_t lane = kNull;
  for (uint64_t track = 0; track < store.rows(Table::kTracks, rank); ++track) {
    if (text_at(store, Table::kTracks, "thread", rank, track) == "machine processors")
      lane = static_cast<int64_t>(store.row_base(Table::kTracks, rank) + track);
  }
  int64_t most = kNull;  // processors may go offline and come back
  if (lane == kNull) return most;
  for_each_row<2>(store, Table::kCounters, rank, {"track", "value"}, [&](const auto& row) {
    if (row[0] != lane || row[1] == kNull) return;
    const auto value = std::bit_cast<double>(row[1]);
    if (value >= 1 && value < 1e6) most = std::max(most, static_cast<int64_t>(value));
  });
  return most;
}

}  // namespace stepscope
