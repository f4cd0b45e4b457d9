// What RunAnalyses keeps, and what its parts share: the run_*_analyses.cc only.
#ifndef STEPSCOPE_ANALYSES_RUN_RESULTS_H_
#define STEPSCOPE_ANALYSES_RUN_RESULTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/advice/facts.h"
#include "analyses/common/all_ranks.h"
#include "analyses/run_analyses.h"
#include "base/parallel.h"

namespace stepscope {

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

// Steps of all ranks in one list, and where each rank's begin.
struct RunSteps {
  std::vector<StepRow> rows;
  std::vector<size_t> first;  // by position of the rank, and the end
};

// Of the steps of one rank and window: all of it, and where nothing explains the devices' idling.
struct UnexplainedSum {
  int64_t other_ns = 0;
  int64_t step_ns = 0;
};

// A reason of one rank.
inline std::string of_rank(const RankId& rank, std::string_view why) {
  return "rank " + std::to_string(rank.rank) +
         (rank.window == 0 ? "" : " window " + std::to_string(rank.window)) + ": " +
         std::string(why);
}

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  Once<RunSteps> steps;
  Once<std::vector<StepTimeRow>> step_times;
  Once<RankStepTrace> step_trace;
  Once<std::vector<StepBudgetRow>> step_budget;
  Once<std::map<std::pair<int64_t, int64_t>, UnexplainedSum>> unexplained;  // by rank and window
  Once<std::vector<StepCategoryRow>> step_categories;
  Once<std::vector<std::vector<OverlapLanes>>> overlap_lanes;
  Once<std::vector<OverlapRow>> overlap;
  Once<std::vector<IdleRow>> idle;
  Once<CriticalPaths> critical_paths;
  Once<RunCpuSeries> cpu_series;
  Once<std::vector<CpuRow>> cpu;
  Once<std::vector<CpuSampleRow>> cpu_samples;
  Once<std::vector<MemoryScan>> memory_scans;
  Once<MemoryResult> memory;
  Once<std::vector<MemoryPoint>> memory_curve;
  Once<std::vector<MemoryOperatorRow>> memory_operators;
  Once<std::vector<ModuleRow>> modules;
  Once<PipelineResult> pipeline;
  std::once_flag operators_walked;
  OperatorResults operators;
  FlopResults flops;
  Once<KernelResults> kernels;
  Once<Communication> communication;
  Once<std::vector<RankComparisonRow>> rank_comparison;
  Once<std::vector<TimelineLane>> timeline;
  Once<std::vector<QualityRow>> quality;
  Once<Facts> facts;
  Once<std::vector<FindingRow>> findings;

  std::mutex reasons_mutex;
  std::vector<Reason> reasons;

  void add_reason(std::string_view table, std::string why) {
    const std::scoped_lock lock(reasons_mutex);
    reasons.push_back({std::string(table), std::move(why)});
  }
  void add_reasons(std::vector<Reason> more) {
    const std::scoped_lock lock(reasons_mutex);
    append_rows(reasons, std::move(more));
  }
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_RUN_RESULTS_H_
