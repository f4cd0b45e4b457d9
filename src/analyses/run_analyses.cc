#include "analyses/run_analyses.h"

#include <iterator>
#include <mutex>
#include <utility>

#include "base/parallel.h"

namespace stepscope {
namespace {

// A result that is computed when it is first needed.
template <class T>
class Once {
 public:
  template <class Compute>
  const T& get(Compute&& compute) {
    std::call_once(flag_, [&] { value_ = compute(); });
    return value_;
  }

 private:
  std::once_flag flag_;
  T value_;
};

using MakeTable = ResultTable (*)(RunAnalyses&);
struct NamedTable {
  std::string_view name;
  MakeTable make;
};

constexpr NamedTable kTables[] = {
    {"cpu",
     [](RunAnalyses& run) {
       return make_table("cpu", "Processor use of the machine, the process and its parts.",
                         run.cpu(), kCpuFields);
     }},
    {"cpu_samples",
     [](RunAnalyses& run) {
       return make_table("cpu_samples", "Processor use over time.", run.cpu_samples(),
                         kCpuSampleFields);
     }},
    {"device_time",
     [](RunAnalyses& run) {
       return make_table("device_time", "Where the time of each device went.", run.device_time(),
                         kDeviceTimeFields);
     }},
    {"memory",
     [](RunAnalyses& run) {
       return make_table<MemoryRow>("memory",
                                    "Memory pools of the devices: totals, peaks, reserve, growth.",
                                    run.memory().overview, kMemoryFields);
     }},
    {"memory_curve",
     [](RunAnalyses& run) {
       return make_table<MemoryPoint>("memory_curve",
                                      "Memory over time and over the order of execution.",
                                      run.memory_curve(), kMemoryPointFields);
     }},
    {"memory_leaks",
     [](RunAnalyses& run) {
       return make_table<MemoryLeakRow>("memory_leaks",
                                        "Operators whose blocks pile up from step to step.",
                                        run.memory().leaks, kMemoryLeakFields);
     }},
    {"memory_operators",
     [](RunAnalyses& run) {
       return make_table<MemoryOperatorRow>("memory_operators", "Allocations by operator.",
                                            run.memory_operators(), kMemoryOperatorFields);
     }},
    {"memory_owners",
     [](RunAnalyses& run) {
       return make_table<MemoryOwnerRow>("memory_owners", "The largest blocks at each pool's peak.",
                                         run.memory().owners, kMemoryOwnerFields);
     }},
    {"memory_peak",
     [](RunAnalyses& run) {
       return make_table<MemoryOwnerRow>("memory_peak",
                                         "Who holds each pool's peak, by operator and module.",
                                         run.memory().peak, kMemoryOwnerFields);
     }},
    {"memory_steps",
     [](RunAnalyses& run) {
       return make_table<MemoryStepRow>("memory_steps", "Memory by step.", run.memory().steps,
                                        kMemoryStepFields);
     }},
    {"pipeline",
     [](RunAnalyses& run) {
       return make_table("pipeline", "Whether data preparation holds the training up, and where.",
                         run.pipeline().verdicts, kPipelineFields);
     }},
    {"pipeline_batches",
     [](RunAnalyses& run) {
       return make_table("pipeline_batches", "Batches as they went through the queues.",
                         run.pipeline().batches, kPipelineBatchFields);
     }},
    {"pipeline_stages",
     [](RunAnalyses& run) {
       return make_table("pipeline_stages", "Stages of data preparation and their queues.",
                         run.pipeline().stages, kPipelineStageFields);
     }},
    {"pipeline_steps",
     [](RunAnalyses& run) {
       return make_table("pipeline_steps", "Waiting for data and empty queues, by step.",
                         run.pipeline().steps, kPipelineStepFields);
     }},
};

}  // namespace

struct RunAnalyses::Results {
  Once<RunCpuSeries> cpu_series;
  Once<std::vector<CpuRow>> cpu;
  Once<std::vector<CpuSampleRow>> cpu_samples;
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  Once<std::vector<MemoryScan>> memory_scans;
  Once<MemoryResult> memory;
  Once<std::vector<MemoryPoint>> memory_curve;
  Once<std::vector<MemoryOperatorRow>> memory_operators;
  Once<PipelineResult> pipeline;

  std::mutex reasons_mutex;
  std::vector<Reason> reasons;

  void add_reasons(std::vector<Reason> more) {
    const std::scoped_lock lock(reasons_mutex);
    reasons.insert(reasons.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  }
};

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(options),
      ranks_(rank_ids(*store_)),
      results_(std::make_unique<Results>()) {
  if (options_.threads == 0) options_.threads = available_cpus();
}

RunAnalyses::~RunAnalyses() = default;

const std::vector<std::vector<DeviceIntervals>>& RunAnalyses::device_intervals() {
  return results_->device_intervals.get([&] {
    std::vector<std::vector<DeviceIntervals>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = stepscope::device_intervals(*store_, rank); });
    return all;
  });
}

const std::vector<DeviceTimeRow>& RunAnalyses::device_time() {
  return results_->device_time.get([&] {
    std::vector<DeviceTimeRow> rows;
    const auto& intervals = device_intervals();
    for (const RankId& rank : ranks_) {
      for (const DeviceIntervals& device : intervals[rank.position])
        rows.push_back(stepscope::device_time(rank, device));
    }
    return rows;
  });
}

const RunCpuSeries& RunAnalyses::cpu_series() {
  return results_->cpu_series.get([&] {
    RunCpuSeries series = run_cpu_series(*store_, options_.threads);
    results_->add_reasons(cpu_reasons(series));
    return series;
  });
}

std::vector<CpuRow> RunAnalyses::cpu_in(const StepRange& steps) {
  return run_cpu(*store_, ranks_, cpu_series(), steps);
}

const std::vector<CpuRow>& RunAnalyses::cpu() {
  return results_->cpu.get([&] { return cpu_in({}); });
}

const std::vector<CpuSampleRow>& RunAnalyses::cpu_samples() {
  return results_->cpu_samples.get([&] { return run_cpu_samples(ranks_, cpu_series()); });
}

const std::vector<MemoryScan>& RunAnalyses::memory_scans() {
  return results_->memory_scans.get([&] { return run_memory_scans(*store_, options_.threads); });
}

const MemoryResult& RunAnalyses::memory() {
  return results_->memory.get([&] {
    MemoryResult found = run_memory(*store_, ranks_, memory_scans(), options_.threads);
    results_->add_reasons(memory_reasons(found));
    return found;
  });
}

const std::vector<MemoryPoint>& RunAnalyses::memory_curve() {
  return results_->memory_curve.get([&] {
    memory();  // says why there is nothing
    return memory_curve_in({});
  });
}

std::vector<MemoryPoint> RunAnalyses::memory_curve_in(const CurveRange& range) {
  return run_memory_curve(*store_, ranks_, memory_scans(), range, options_.threads);
}

const std::vector<MemoryOperatorRow>& RunAnalyses::memory_operators() {
  return results_->memory_operators.get([&] {
    memory();  // says why there is nothing
    return run_memory_operators(*store_, ranks_, options_.threads);
  });
}

std::vector<MemoryOwnerRow> RunAnalyses::memory_owners_at(const MemoryRow& pool, int64_t moment,
                                                          size_t most) {
  return run_memory_owners_at(*store_, ranks_, memory_scans(), pool, moment, most);
}

const PipelineResult& RunAnalyses::pipeline() {
  return results_->pipeline.get([&] {
    PipelineResult found =
        run_pipeline(*store_, ranks_, cpu(), device_intervals(), options_.threads);
    results_->add_reasons(pipeline_reasons(found));
    return found;
  });
}

std::span<const std::string_view> RunAnalyses::table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const NamedTable& table : kTables) all.push_back(table.name);
    return all;
  }();
  return names;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(*this);
  }
  std::string known;
  for (const NamedTable& table : kTables)
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  return Error{ErrorCode::kNotFound, "no analysis named \"" + std::string(name) + "\"", "", "",
               "there are: " + known};
}

std::vector<Reason> RunAnalyses::reasons(std::string_view table) {
  const std::scoped_lock lock(results_->reasons_mutex);
  std::vector<Reason> found;
  for (const Reason& reason : results_->reasons) {
    if (reason.table == table) found.push_back(reason);
  }
  return found;
}

}  // namespace stepscope
