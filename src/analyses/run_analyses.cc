#include "analyses/run_analyses.h"

#include <algorithm>
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
