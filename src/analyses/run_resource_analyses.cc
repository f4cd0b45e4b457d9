// The part of RunAnalyses about operators, kernels, memory, processors and data preparation.
#include <map>
#include <utility>

#include "analyses/memory/memory_marks.h"
#include "analyses/pipeline/verdict.h"
#include "analyses/run_results.h"

namespace stepscope {

const RunCpuSeries& RunAnalyses::cpu_series() {
  return results_->cpu_series.get([&] {
    RunCpuSeries series = run_cpu_series(*store_, steps_by_rank(), options_.threads);
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
  return results_->memory_scans.get(
      [&] { return run_memory_scans(*store_, steps_by_rank(), options_.threads); });
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
  std::vector<MemoryPoint> points =
      run_memory_curve(*store_, ranks_, memory_scans(), range, options_.threads);
  if (points.empty()) return points;
  for (const RankId& rank : ranks_)
    mark_passes(*store_, rank, steps(rank.position), step_trace(), range, points);
  return points;
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
        run_pipeline(*store_, ranks_, cpu(), device_intervals(), steps_by_rank(), options_.threads);
    results_->add_reasons(pipeline_reasons(*store_, found));
    for (PipelineRow& row : found.verdicts) {
      if (row.input_bound == "not") mark_potential(unexplained_share(row.rank, row.window), row);
    }
    return found;
  });
}

// Of the steps that means are made of: the rank's devices stood still, and nothing was recorded.
double RunAnalyses::unexplained_share(int64_t rank, int64_t window) {
  const auto& sums = results_->unexplained.get([&] {
    std::map<std::pair<int64_t, int64_t>, UnexplainedSum> by_window;
    for (const StepBudgetRow& row : step_budget()) {
      if (!row.averaged || row.device == kHostDevice) continue;
      UnexplainedSum& sum = by_window[{row.rank, row.window}];
      sum.other_ns += row.other_ns;
      sum.step_ns += row.step_ns;
    }
    return by_window;
  });
  const auto found = sums.find({rank, window});
  if (found == sums.end() || found->second.step_ns <= 0) return 0;
  return static_cast<double>(found->second.other_ns) / static_cast<double>(found->second.step_ns);
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

}  // namespace stepscope
