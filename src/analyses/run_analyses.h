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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/critical_path/critical_path.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/device_time/device_time.h"
#include "analyses/overlap/idle.h"
#include "analyses/overlap/overlap_lanes.h"
#include "analyses/step_times/step_budget.h"
#include "analyses/step_times/step_times.h"
#include "analyses/step_trace/step_trace.h"
#include "analyses/steps/step_row.h"
#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

struct AnalysisOptions {
  unsigned threads = 0;  // 0 = all CPUs
  // Operators that begin the forward and end the backward pass; empty: found automatically. The
  // environment's PROFILING_FP_START and PROFILING_BP_END are read by the program, not here.
  std::string fp_start;
  std::string bp_end;
};

// Something that is missing, and why: "no memory events: record with profile_memory=True".
struct Reason {
  std::string table;
  std::string why;
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

  // By position of the rank, then by device.
  const std::vector<std::vector<OverlapLanes>>& overlap_lanes();
  const std::vector<OverlapRow>& overlap();
  const std::vector<IdleRow>& idle();

  // Of the step of middle length of each rank. For other steps and for what-if see CriticalPath.
  const std::vector<CriticalPathRow>& critical_path();
  const std::vector<PathSegment>& critical_path_segments();

  // Names of all result tables, and a table by name.
  static std::span<const std::string_view> table_names();
  Result<ResultTable> table(std::string_view name);
  // Why a table is empty or incomplete, as far as it was computed.
  std::vector<Reason> reasons(std::string_view table);

 private:
  struct Results;

  struct CriticalPaths {
    std::vector<CriticalPathRow> rows;
    std::vector<PathSegment> segments;
  };

  const RankStepTrace& step_trace_results();
  const CriticalPaths& critical_paths();

  std::shared_ptr<const StoreReader> store_;
  AnalysisOptions options_;
  std::vector<RankId> ranks_;
  std::unique_ptr<Results> results_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_RUN_ANALYSES_H_
