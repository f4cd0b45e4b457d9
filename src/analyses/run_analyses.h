// Every analysis of a run, each computed once, when it is first asked for. The report, the server,
// Python and the deliverable files all read these results: a number is defined in one place.
//
// An analysis is a folder with pure functions from the store's tables to rows. Ranks are
// independent of each other (`map`); what compares ranks takes their rows (`reduce`). A result that
// cannot be computed is empty and says why in `reasons()`.
//
// Thread-safe. Results live as long as this object.
#ifndef STEPSCOPE_ANALYSES_RUN_ANALYSES_H_
#define STEPSCOPE_ANALYSES_RUN_ANALYSES_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/advice/finding_rows.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/common/result_table.h"
#include "analyses/communication/communication.h"
#include "analyses/cpu/cpu.h"
#include "analyses/cpu/run_cpu.h"
#include "analyses/critical_path/critical_path.h"
#include "analyses/critical_path/what_if.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/device_time/device_time.h"
#include "analyses/flops/flops.h"
#include "analyses/memory/memory.h"
#include "analyses/memory/memory_curve.h"
#include "analyses/memory/run_memory.h"
#include "analyses/modules/modules.h"
#include "analyses/operators/rank_operators.h"
#include "analyses/overlap/idle.h"
#include "analyses/overlap/overlap_lanes.h"
#include "analyses/pipeline/pipeline.h"
#include "analyses/pipeline/run_pipeline.h"
#include "analyses/quality/quality.h"
#include "analyses/rank_comparison/rank_comparison.h"
#include "analyses/step_budget/step_budget.h"
#include "analyses/step_times/step_categories.h"
#include "analyses/step_times/step_times.h"
#include "analyses/step_trace/step_trace.h"
#include "analyses/steps/step_row.h"
#include "analyses/timeline/timeline.h"
#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

struct Facts;

struct AnalysisOptions {
  unsigned threads = 0;  // 0 = all CPUs
  // Operators that begin the forward and end the backward pass; empty: found automatically.
  // analysis_options() has what users say.
  std::string fp_start = {};
  std::string bp_end = {};
  // Peak rates of the devices, instead of those known for their names.
  std::optional<PeakRates> peaks = {};
};

class RunAnalyses {
 public:
  RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options);
  ~RunAnalyses();
  RunAnalyses(const RunAnalyses&) = delete;
  RunAnalyses& operator=(const RunAnalyses&) = delete;

  const StoreReader& store() const { return *store_; }
  const std::vector<RankId>& ranks() const { return ranks_; }

  // By position of the rank.
  const std::vector<std::vector<DeviceIntervals>>& device_intervals();
  const std::vector<DeviceTimeRow>& device_time();

  // Steps of all ranks, marked or inferred, and those of one rank by its position.
  const std::vector<StepRow>& steps();
  std::span<const StepRow> steps(size_t rank_position);
  const std::vector<StepTimeRow>& step_times();
  const std::vector<StepTraceRow>& step_trace();
  const std::vector<StepReduceRow>& step_reduces();
  const std::vector<StepBudgetRow>& step_budget();
  const std::vector<StepCategoryRow>& step_categories();

  // By position of the rank, then by device.
  const std::vector<std::vector<OverlapLanes>>& overlap_lanes();
  const std::vector<OverlapRow>& overlap();
  const std::vector<IdleRow>& idle();

  // Of the step of middle length of each rank, and of other steps; how long a step would be if
  // something in it changed.
  const std::vector<CriticalPathRow>& critical_path();
  const std::vector<PathSegment>& critical_path_segments();
  Result<std::vector<CriticalPathRow>> critical_path_of(const StepChoice& choice);
  Result<std::vector<PathSegment>> critical_path_segments_of(const StepChoice& choice);
  Result<std::vector<WhatIfRow>> what_if(const WhatIf& change, const StepChoice& choice);

  // Processor use, over all samples or over those of a range of steps.
  const std::vector<CpuRow>& cpu();
  std::vector<CpuRow> cpu_in(const StepRange& steps);
  const std::vector<CpuSampleRow>& cpu_samples();

  // Memory: pools, who holds their peaks, steps and suspected leaks; the curves; the operators.
  const MemoryResult& memory();
  const std::vector<MemoryPoint>& memory_curve();
  const std::vector<MemoryOperatorRow>& memory_operators();
  // The curve of a part of the recording.
  std::vector<MemoryPoint> memory_curve_in(const CurveRange& range);
  // Who holds the memory at a moment: `pool` is a row of memory() with events. Of a plan, the
  // moment is the position of a node.
  std::vector<MemoryOwnerRow> memory_owners_at(const MemoryRow& pool, int64_t moment, size_t most);

  const std::vector<ModuleRow>& modules();

  // Tables operators, operator_types, operator_shapes and operator_steps.
  const OperatorResults& operators();
  // Tables flops, flops_scopes, flops_steps and flops_summary.
  const FlopResults& flops();
  // Tables kernels, kernel_variants, device_use, launches and copies.
  const KernelResults& kernels();

  const Communication& communication();
  const std::vector<RankComparisonRow>& rank_comparison();
  // Lanes of all ranks, and those of one rank by its position.
  const std::vector<TimelineLane>& timeline();
  std::span<const TimelineLane> timeline(size_t rank_position);

  // Data preparation: verdicts, stages, batches and steps.
  const PipelineResult& pipeline();

  // The data-quality report of the importers, and what the analyses add to it.
  const std::vector<QualityRow>& quality();

  // What the advice is made from, and the advice: most to gain first.
  const Facts& facts();
  const std::vector<FindingRow>& findings();

  // What result tables there are, without rows, and a table by name.
  static std::vector<ResultTable> descriptions();
  Result<ResultTable> table(std::string_view name);
  // Why a table is empty or incomplete, as far as it was computed.
  std::vector<Reason> reasons(std::string_view table);

 private:
  struct Results;

  struct CriticalPaths {
    std::vector<CriticalPathRow> rows;
    std::vector<PathSegment> segments;
  };

  std::vector<std::span<const StepRow>> steps_by_rank();
  // What the advice is made of.
  void compute_side_by_side();
  const RankStepTrace& step_trace_results();
  const CriticalPaths& critical_paths();
  struct ChosenStep;
  Result<std::vector<ChosenStep>> chosen_steps(const StepChoice& choice);
  template <class Row, class Make>
  Result<std::vector<Row>> rows_of_paths(const StepChoice& choice, Make&& make);
  // Operators and FLOPs come from one walk over the operators.
  void walk_operators();
  const RunCpuSeries& cpu_series();
  double unexplained_share(int64_t rank, int64_t window);
  const std::vector<MemoryScan>& memory_scans();

  std::shared_ptr<const StoreReader> store_;
  AnalysisOptions options_;
  std::vector<RankId> ranks_;
  std::unique_ptr<Results> results_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_RUN_ANALYSES_H_
