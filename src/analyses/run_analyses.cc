#include "analyses/run_analyses.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "analyses/memory/allocation_places.h"
#include "analyses/memory/memory_operators.h"
#include "analyses/memory/memory_overview.h"
#include "analyses/memory/memory_owners.h"
#include "analyses/memory/memory_plan.h"
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
  Once<std::vector<std::vector<CpuSeries>>> cpu_series;
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

  void add_reason(std::string table, std::string why) {
    const std::scoped_lock lock(reasons_mutex);
    reasons.push_back({std::move(table), std::move(why)});
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

const std::vector<std::vector<CpuSeries>>& RunAnalyses::cpu_series() {
  return results_->cpu_series.get([&] {
    std::vector<std::vector<CpuSeries>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = stepscope::cpu_series(*store_, rank); });
    const auto has_none = [](const auto& series) { return series.empty(); };
    if (std::ranges::all_of(all, has_none)) {
      for (const char* table : {"cpu", "cpu_samples"}) {
        results_->add_reason(table,
                             "no samples of processor use: record with the system source, or with "
                             "data_process=True (MindSpore)");
      }
    }
    return all;
  });
}

std::vector<CpuRow> RunAnalyses::cpu_in(const StepRange& steps) {
  std::vector<CpuRow> rows;
  const auto& series = cpu_series();
  for (const RankId& rank : ranks_) {
    const auto one = cpu_rows(rank, series[rank.position], cpu_operators(*store_, rank.position),
                              processor_count(*store_, rank.position), steps);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

const std::vector<CpuRow>& RunAnalyses::cpu() {
  return results_->cpu.get([&] { return cpu_in({}); });
}

const std::vector<CpuSampleRow>& RunAnalyses::cpu_samples() {
  return results_->cpu_samples.get([&] {
    std::vector<CpuSampleRow> rows;
    const auto& series = cpu_series();
    for (const RankId& rank : ranks_) {
      const auto one = cpu_sample_rows(rank, series[rank.position]);
      rows.insert(rows.end(), one.begin(), one.end());
    }
    return rows;
  });
}

const std::vector<MemoryScan>& RunAnalyses::memory_scans() {
  return results_->memory_scans.get([&] {
    std::vector<MemoryScan> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { all[rank] = scan_memory(*store_, rank); });
    return all;
  });
}

const MemoryResult& RunAnalyses::memory() {
  return results_->memory.get([&] {
    const auto& scans = memory_scans();
    std::vector<MemoryResult> each(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t position) {
      each[position] = stepscope::memory(*store_, ranks_[position], scans[position]);
    });
    MemoryResult all;
    for (MemoryResult& one : each) all.append(std::move(one));
    explain_memory(all);
    return all;
  });
}

void RunAnalyses::explain_memory(const MemoryResult& found) {
  if (found.overview.empty()) {
    for (const char* table : {"memory", "memory_curve", "memory_leaks", "memory_operators",
                              "memory_owners", "memory_peak", "memory_steps"}) {
      results_->add_reason(table, "no memory events: record with profile_memory=True");
    }
    return;
  }
  const auto is_sampled = [](const MemoryRow& row) { return row.source == "samples"; };
  if (std::ranges::all_of(found.overview, is_sampled)) {
    for (const char* table : {"memory_leaks", "memory_operators", "memory_owners", "memory_peak"})
      results_->add_reason(table, "the input has totals of the memory only, no allocations");
  } else if (found.leaks.empty()) {
    results_->add_reason("memory_leaks", "no operator leaves blocks behind in three or more steps");
  }
  if (found.steps.empty())
    results_->add_reason("memory_steps", "no steps are marked, or the memory is a plan");
}

const std::vector<MemoryPoint>& RunAnalyses::memory_curve() {
  return results_->memory_curve.get([&] { return memory_curve_in({}); });
}

std::vector<MemoryPoint> RunAnalyses::memory_curve_in(const CurveRange& range) {
  const auto& scans = memory_scans();
  std::vector<std::vector<MemoryPoint>> each(ranks_.size());
  parallel_for(ranks_.size(), options_.threads, [&](size_t position) {
    const RankId& rank = ranks_[position];
    each[position] = stepscope::memory_curve(*store_, rank, scans[position].steps, range);
    const auto plan = memory_plans(*store_, rank).curve;
    each[position].insert(each[position].end(), plan.begin(), plan.end());
  });
  std::vector<MemoryPoint> all;
  for (const auto& one : each) all.insert(all.end(), one.begin(), one.end());
  return all;
}

const std::vector<MemoryOperatorRow>& RunAnalyses::memory_operators() {
  return results_->memory_operators.get([&] {
    std::vector<std::vector<MemoryOperatorRow>> each(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t position) {
      each[position] = stepscope::memory_operators(*store_, ranks_[position]);
      const auto plan = memory_plans(*store_, ranks_[position]).operators;
      each[position].insert(each[position].end(), plan.begin(), plan.end());
    });
    std::vector<MemoryOperatorRow> all;
    for (const auto& one : each) all.insert(all.end(), one.begin(), one.end());
    return all;
  });
}

std::vector<MemoryOwnerRow> RunAnalyses::memory_owners_at(const MemoryRow& pool, int64_t moment,
                                                          size_t most) {
  const auto& scans = memory_scans();
  for (const RankId& rank : ranks_) {
    if (rank.rank != pool.rank || rank.window != pool.window) continue;
    if (pool.source == "plan") return plan_owners_at(*store_, rank, plan_graph_id(pool), moment);
    AllocationPlaces places(*store_, rank.position);
    const MemoryScan& scan = scans[rank.position];
    for (const MemoryPool& candidate : scan.pools) {
      const PoolName name = pool_name(*store_, rank, candidate);
      if (name.device_kind != pool.device_kind || name.device != pool.device ||
          name.component != pool.component)
        continue;
      return stepscope::memory_owners_at(*store_, rank, candidate, scan.steps, places, moment,
                                         allocated_at(*store_, rank.position, candidate, moment),
                                         most);
    }
  }
  return {};
}

const PipelineResult& RunAnalyses::pipeline() {
  return results_->pipeline.get([&] {
    const std::vector<CpuRow>& all_cpu = cpu();
    std::vector<PipelineResult> each(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t position) {
      const RankId& rank = ranks_[position];
      std::vector<CpuRow> cpu;
      std::ranges::copy_if(all_cpu, std::back_inserter(cpu), [&](const CpuRow& row) {
        return row.rank == rank.rank && row.window == rank.window;
      });
      each[position] = stepscope::pipeline(rank, pipeline_stages(*store_, position), cpu);
    });
    PipelineResult all;
    for (PipelineResult& one : each) all.append(std::move(one));
    if (all.verdicts.empty()) {
      for (const char* table :
           {"pipeline", "pipeline_batches", "pipeline_stages", "pipeline_steps"})
        results_->add_reason(
            table,
            "no data pipeline in the input: record with data_process=True, or wrap "
            "the loader (stepscope.pipeline)");
    } else if (all.batches.empty()) {
      for (const char* table : {"pipeline_batches", "pipeline_steps"})
        results_->add_reason(table, "queues were sampled in time, without batches");
    }
    return all;
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
