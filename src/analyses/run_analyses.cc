#include "analyses/run_analyses.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "analyses/advice/collect_facts.h"
#include "analyses/advice/rules.h"
#include "analyses/steps/steps.h"
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

// Steps of all ranks in one list, and where each rank's begin.
struct RunSteps {
  std::vector<StepRow> rows;
  std::vector<size_t> first;  // by position of the rank, and the end
};

// Rows of all ranks, each made on its own, in the order of the ranks.
template <class Row, class Compute>
std::vector<Row> rows_of_ranks(size_t ranks, unsigned threads, Compute&& compute) {
  std::vector<std::vector<Row>> parts(ranks);
  parallel_for(ranks, threads, [&](size_t rank) { parts[rank] = compute(rank); });
  std::vector<Row> rows;
  for (std::vector<Row>& part : parts)
    rows.insert(rows.end(), std::make_move_iterator(part.begin()),
                std::make_move_iterator(part.end()));
  return rows;
}

std::string of_rank(const RankId& rank, std::string_view why) {
  return "rank " + std::to_string(rank.rank) +
         (rank.window == 0 ? "" : " window " + std::to_string(rank.window)) + ": " +
         std::string(why);
}

constexpr std::string_view kNoWork =
    "there are no operators and no device work: record with activities that include the CPU or the "
    "device";

}  // namespace

struct RunAnalyses::Results {
  Once<std::vector<std::vector<DeviceIntervals>>> device_intervals;
  Once<std::vector<DeviceTimeRow>> device_time;
  Once<RunSteps> steps;
  Once<std::vector<StepTimeRow>> step_times;
  Once<RankStepTrace> step_trace;
  Once<std::vector<StepBudgetRow>> step_budget;
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
  Once<PipelineResult> pipeline;
  std::once_flag operators_walked;
  OperatorResults operators;
  FlopResults flops;
  Once<KernelResults> kernels;
  Once<Communication> communication;
  Once<std::vector<RankComparisonRow>> rank_comparison;
  Once<std::vector<TimelineLane>> timeline;
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
    reasons.insert(reasons.end(), std::make_move_iterator(more.begin()),
                   std::make_move_iterator(more.end()));
  }
};

RunAnalyses::RunAnalyses(std::shared_ptr<const StoreReader> store, AnalysisOptions options)
    : store_(std::move(store)),
      options_(std::move(options)),
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

const std::vector<StepRow>& RunAnalyses::steps() {
  return results_->steps
      .get([&] {
        std::vector<RankSteps> ranks(ranks_.size());
        parallel_for(ranks_.size(), options_.threads,
                     [&](size_t rank) { ranks[rank] = rank_steps(*store_, ranks_[rank]); });
        RunSteps all;
        for (const RankId& rank : ranks_) {
          const RankSteps& steps = ranks[rank.position];
          all.first.push_back(all.rows.size());
          all.rows.insert(all.rows.end(), steps.rows.begin(), steps.rows.end());
          if (!steps.why.empty()) results_->add_reason("steps", of_rank(rank, steps.why));
        }
        all.first.push_back(all.rows.size());
        return all;
      })
      .rows;
}

std::span<const StepRow> RunAnalyses::steps(size_t rank_position) {
  const std::span<const StepRow> all = steps();
  const RunSteps& steps = results_->steps.get([] { return RunSteps(); });
  const size_t first = steps.first[rank_position];
  return all.subspan(first, steps.first[rank_position + 1] - first);
}

const std::vector<std::vector<OverlapLanes>>& RunAnalyses::overlap_lanes() {
  return results_->overlap_lanes.get([&] {
    const auto& intervals = device_intervals();
    std::vector<std::vector<OverlapLanes>> all(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      for (const DeviceIntervals& device : intervals[rank])
        all[rank].push_back(stepscope::overlap_lanes(device));
    });
    return all;
  });
}

const std::vector<OverlapRow>& RunAnalyses::overlap() {
  return results_->overlap.get([&] {
    std::vector<OverlapRow> rows;
    const auto& lanes = overlap_lanes();
    for (const RankId& rank : ranks_) {
      for (const OverlapLanes& device : lanes[rank.position]) add_overlap_rows(rank, device, rows);
      if (lanes[rank.position].empty()) results_->add_reason("overlap", of_rank(rank, kNoWork));
    }
    return rows;
  });
}

const std::vector<IdleRow>& RunAnalyses::idle() {
  return results_->idle.get([&] {
    const auto& lanes = overlap_lanes();
    return rows_of_ranks<IdleRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      if (store_->rows(Table::kKernels, rank) == 0) {
        results_->add_reason("idle", of_rank(ranks_[rank],
                                             "no device work: record with activities that include "
                                             "the device"));
        return std::vector<IdleRow>();
      }
      return idle_rows(*store_, ranks_[rank], lanes[rank]);
    });
  });
}

const RunAnalyses::CriticalPaths& RunAnalyses::critical_paths() {
  return results_->critical_paths.get([&] {
    steps();
    std::vector<CriticalPaths> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      const StepRow* step = middle_step(steps(rank));
      if (step == nullptr) {
        results_->add_reason("critical_path",
                             of_rank(ranks_[rank], "no steps are known; see steps"));
        return;
      }
      const CriticalPath path(*store_, ranks_[rank], *step);
      ranks[rank].rows.push_back(path.summary());
      ranks[rank].segments = path.segments();
    });
    CriticalPaths all;
    for (const CriticalPaths& rank : ranks) {
      all.rows.insert(all.rows.end(), rank.rows.begin(), rank.rows.end());
      all.segments.insert(all.segments.end(), rank.segments.begin(), rank.segments.end());
    }
    return all;
  });
}

const std::vector<CriticalPathRow>& RunAnalyses::critical_path() { return critical_paths().rows; }

const std::vector<PathSegment>& RunAnalyses::critical_path_segments() {
  return critical_paths().segments;
}

const std::vector<StepTimeRow>& RunAnalyses::step_times() {
  return results_->step_times.get([&] {
    const auto& lanes = overlap_lanes();
    steps();
    return rows_of_ranks<StepTimeRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      if (lanes[rank].empty()) results_->add_reason("step_times", of_rank(ranks_[rank], kNoWork));
      return stepscope::step_times(*store_, ranks_[rank], lanes[rank], steps(rank));
    });
  });
}

const std::vector<StepBudgetRow>& RunAnalyses::step_budget() {
  return results_->step_budget.get([&] {
    const auto& intervals = device_intervals();
    steps();
    return rows_of_ranks<StepBudgetRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      std::vector<StepBudgetRow> rows;
      const HostActivity host = host_activity(*store_, rank);
      for (const DeviceIntervals& device : intervals[rank]) {
        auto of_device = stepscope::step_budget(ranks_[rank], device, host, steps(rank));
        rows.insert(rows.end(), of_device.begin(), of_device.end());
      }
      if (intervals[rank].empty())
        results_->add_reason("step_budget", of_rank(ranks_[rank], kNoWork));
      return rows;
    });
  });
}

const std::vector<StepCategoryRow>& RunAnalyses::step_categories() {
  return results_->step_categories.get([&] {
    steps();
    return rows_of_ranks<StepCategoryRow>(ranks_.size(), options_.threads, [&](size_t rank) {
      auto rows = stepscope::step_categories(*store_, ranks_[rank], steps(rank));
      if (rows.empty()) results_->add_reason("step_categories", of_rank(ranks_[rank], kNoWork));
      return rows;
    });
  });
}

const RankStepTrace& RunAnalyses::step_trace_results() {
  return results_->step_trace.get([&] {
    steps();
    const StepTraceOptions options{options_.fp_start, options_.bp_end};
    std::vector<RankStepTrace> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      ranks[rank] = rank_step_trace(*store_, ranks_[rank], steps(rank), options);
    });
    RankStepTrace all;
    for (const RankId& rank : ranks_) {
      const RankStepTrace& trace = ranks[rank.position];
      all.rows.insert(all.rows.end(), trace.rows.begin(), trace.rows.end());
      all.reduces.insert(all.reduces.end(), trace.reduces.begin(), trace.reduces.end());
      if (!trace.why.empty()) results_->add_reason("step_trace", of_rank(rank, trace.why));
      if (trace.reduces.empty()) {
        results_->add_reason("step_reduces",
                             of_rank(rank,
                                     "no collectives in the steps: one rank alone, or "
                                     "record with communication"));
      }
    }
    return all;
  });
}

const std::vector<StepTraceRow>& RunAnalyses::step_trace() { return step_trace_results().rows; }

const std::vector<StepReduceRow>& RunAnalyses::step_reduces() {
  return step_trace_results().reduces;
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

void RunAnalyses::walk_operators() {
  std::call_once(results_->operators_walked, [&] {
    steps();
    std::vector<OperatorResults> operators(ranks_.size());
    std::vector<FlopResults> flops(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      OpTree tree = build_op_tree(*store_, rank);
      operators[rank] = rank_operators(*store_, ranks_[rank], tree, steps(rank));
      flops[rank] = rank_flops(*store_, ranks_[rank], std::move(tree), steps(rank), options_.peaks);
    });
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      results_->operators.append(std::move(operators[rank]));
      results_->flops.append(std::move(flops[rank]));
    }
    results_->add_reasons(operator_reasons(results_->operators));
    results_->add_reasons(flop_reasons(results_->flops));
  });
}

const OperatorResults& RunAnalyses::operators() {
  walk_operators();
  return results_->operators;
}

const FlopResults& RunAnalyses::flops() {
  walk_operators();
  return results_->flops;
}

const KernelResults& RunAnalyses::kernels() {
  return results_->kernels.get([&] {
    std::vector<KernelResults> ranks(ranks_.size());
    parallel_for(ranks_.size(), options_.threads,
                 [&](size_t rank) { ranks[rank] = rank_kernels(*store_, ranks_[rank]); });
    KernelResults all;
    for (KernelResults& rank : ranks) all.append(std::move(rank));
    results_->add_reasons(kernel_reasons(all));
    return all;
  });
}

const Communication& RunAnalyses::communication() {
  return results_->communication.get([&] {
    Communication result = stepscope::communication(*store_, ranks_, options_.threads);
    for (const ResultTable& table : descriptions()) {
      if (!table.name().starts_with("communication_") && table.name() != "late_ranks") continue;
      for (const std::string& why : result.reasons) results_->add_reason(table.name(), why);
    }
    return result;
  });
}

const std::vector<RankComparisonRow>& RunAnalyses::rank_comparison() {
  return results_->rank_comparison.get([&] {
    std::vector<std::span<const StepRow>> by_rank;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) by_rank.push_back(steps(rank));
    return compare_ranks(ranks_, device_intervals(), by_rank, communication());
  });
}

const std::vector<TimelineLane>& RunAnalyses::timeline() {
  return results_->timeline.get([&] {
    const auto& intervals = device_intervals();
    steps();
    std::vector<std::vector<TimelineLane>> by_rank(ranks_.size());
    parallel_for(ranks_.size(), options_.threads, [&](size_t rank) {
      by_rank[rank] = stepscope::timeline(*store_, ranks_[rank], intervals[rank], steps(rank));
    });
    std::vector<TimelineLane> all;
    for (auto& lanes : by_rank) {
      all.insert(all.end(), std::make_move_iterator(lanes.begin()),
                 std::make_move_iterator(lanes.end()));
    }
    return all;
  });
}

std::span<const TimelineLane> RunAnalyses::timeline(size_t rank_position) {
  const auto& lanes = timeline();
  const auto of_rank = [&](const TimelineLane& lane) {
    return lane.rank == ranks_[rank_position].rank && lane.window == ranks_[rank_position].window;
  };
  const auto first = std::find_if(lanes.begin(), lanes.end(), of_rank);
  const auto last = std::find_if_not(first, lanes.end(), of_rank);
  return {first, last};
}

const Facts& RunAnalyses::facts() {
  return results_->facts.get([&] { return collect_facts(*this); });
}

const std::vector<FindingRow>& RunAnalyses::findings() {
  return results_->findings.get([&] {
    auto rows = finding_rows(find_causes(facts()));
    if (rows.empty()) {
      results_->add_reason("findings", facts().step_ns() == kNull
                                           ? "there are no complete steps to judge"
                                           : "no rule found anything worth changing");
    }
    return rows;
  });
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
