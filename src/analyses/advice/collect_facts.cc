#include "analyses/advice/collect_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyses/advice/checks.h"
#include "analyses/flops/tensors.h"
#include "analyses/operators/device_properties.h"
#include "analyses/operators/kernel_names.h"
#include "analyses/run_analyses.h"
#include "analyses/steps/steps.h"

namespace stepscope {
namespace {

constexpr int64_t StepBudgetRow::* kParts[] = {
    &StepBudgetRow::step_ns,
    &StepBudgetRow::compute_ns,
    &StepBudgetRow::exposed_communication_ns,
    &StepBudgetRow::exposed_copy_ns,
    &StepBudgetRow::idle_ns,
    &StepBudgetRow::queued_ns,
    &StepBudgetRow::input_ns,
    &StepBudgetRow::sync_ns,
    &StepBudgetRow::gc_ns,
    &StepBudgetRow::host_ns,
    &StepBudgetRow::host_stall_ns,
    &StepBudgetRow::other_ns,
    &StepBudgetRow::input_wait_ns,
    &StepBudgetRow::device_wait_ns,
    &StepBudgetRow::device_waits,
    &StepBudgetRow::allocator_ns,
};

struct Means {
  int64_t count = 0;
  StepBudgetRow sum;
  StepBudgetRow longest;
  std::optional<Place> longest_stall;
};

// The budget of the rank's busiest device, summed over the steps that averages are made of.
Means budget_of_rank(const RankId& rank, const std::vector<StepBudgetRow>& rows) {
  std::map<int64_t, Means> devices;
  for (const StepBudgetRow& row : rows) {
    if (row.rank != rank.rank || row.window != rank.window || !row.averaged) continue;
    Means& means = devices[row.device];
    ++means.count;
    StepBudgetRow& sum = means.sum;
    for (const auto part : kParts) sum.*part += row.*part;
    if (row.step_ns > means.longest.step_ns) means.longest = row;
    if (row.longest_idle_ns > sum.longest_idle_ns) {
      sum.longest_idle_ns = row.longest_idle_ns;
      sum.longest_idle_at_ns = row.longest_idle_at_ns;
      sum.step = row.step;
    }
    if (row.longest_stall_ns > sum.longest_stall_ns) {
      sum.longest_stall_ns = row.longest_stall_ns;
      means.longest_stall = {rank.rank, row.step, row.longest_stall_at_ns,
                             row.longest_stall_at_ns + row.longest_stall_ns};
    }
  }
  Means busiest;
  for (const auto& [device, means] : devices) {
    if (busiest.count == 0 || means.sum.compute_ns > busiest.sum.compute_ns) {
      busiest = means;
      busiest.sum.device = device;
    }
  }
  return busiest;
}

void take_budget(const Means& means, RankFacts& facts) {
  facts.steps = means.count;
  if (means.count == 0) return;
  const auto mean = [&](int64_t sum) { return sum / means.count; };
  const StepBudgetRow& sum = means.sum;
  facts.has_device = sum.device != kHostDevice;
  facts.step_ns = mean(sum.step_ns);
  facts.compute_ns = mean(sum.compute_ns);
  facts.exposed_communication_ns = mean(sum.exposed_communication_ns);
  facts.exposed_copy_ns = mean(sum.exposed_copy_ns);
  facts.idle_ns = mean(sum.idle_ns);
  facts.idle_queued_ns = mean(sum.queued_ns);
  facts.idle_input_ns = mean(sum.input_ns);
  facts.idle_sync_ns = mean(sum.sync_ns);
  facts.idle_gc_ns = mean(sum.gc_ns);
  facts.idle_host_ns = mean(sum.host_ns - sum.host_stall_ns);
  facts.idle_stall_ns = mean(sum.host_stall_ns);
  facts.idle_other_ns = mean(sum.other_ns);
  facts.input_wait_ns = mean(sum.input_wait_ns);
  facts.device_wait_ns = mean(sum.device_wait_ns);
  facts.device_waits = static_cast<double>(sum.device_waits) / static_cast<double>(means.count);
  facts.allocator_ns = mean(sum.allocator_ns);
  facts.longest_idle_ns = sum.longest_idle_ns;
  facts.longest_idle_at_ns = sum.longest_idle_at_ns;
  facts.longest_idle_step = sum.step;
  facts.longest_stall = means.longest_stall;
  if (means.count < 2) return;
  for (const auto part : kParts) {
    const int64_t of_others = (sum.*part - means.longest.*part) / (means.count - 1);
    facts.longest_step_more.*part = means.longest.*part - of_others;
  }
}

void take_kernel_steps(const RankId& rank, const std::vector<StepBudgetRow>& rows,
                       RankFacts& facts) {
  for (const StepBudgetRow& row : rows) {
    if (row.rank == rank.rank && row.window == rank.window && row.compute_ns > 0)
      facts.kernel_steps.push_back(row.step);
  }
  auto& steps = facts.kernel_steps;  // once for each device so far
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
}

void take_step_lengths(std::span<const StepRow> steps, RankFacts& facts) {
  std::vector<int64_t> lengths;
  for (const StepRow& step : steps) {
    if (!step.averaged) continue;
    lengths.push_back(step.work_dur_ns);
    if (facts.longest_step_ns == kNull || step.work_dur_ns > facts.longest_step_ns) {
      facts.longest_step_ns = step.work_dur_ns;
      facts.longest_step = step.step;
    }
  }
  if (lengths.empty()) return;
  const auto middle = lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  facts.median_step_ns = *middle;
}

// Of the rank's first device that says it.
int64_t compute_capability(const StoreReader& store, size_t rank) {
  for (const DeviceProperties& device : device_properties(store, rank)) {
    if (device.compute_capability > 0) return device.compute_capability;
  }
  return kNull;
}

// Shares of the computing time of the whole recording: more of it is more to judge by.
void take_tensor_cores(RunAnalyses& run, const RankId& rank, RankFacts& facts) {
  int64_t compute_ns = 0;
  int64_t matrix_ns = 0;
  int64_t tensor_ns = 0;
  bool tensor_known = false;
  for (const KernelTotalRow& row : run.kernels().kernels) {
    if (row.rank != rank.rank || row.window != rank.window || row.work_class != "compute") continue;
    compute_ns += row.total_ns;
    if (row.tensor_cores.has_value()) {
      tensor_known = true;
      if (*row.tensor_cores) tensor_ns += row.total_ns;
    }
    // Who computes in double precision needs it.
    if (row.tensor_cores.value_or(false) ||
        ((row.kind == "gemm" || row.kind == "convolution" || row.kind == "attention") &&
         !is_double_precision(row.name)))
      matrix_ns += row.total_ns;
  }
  if (!tensor_known || compute_ns <= 0) return;
  facts.tensor_core_share = static_cast<double>(tensor_ns) / static_cast<double>(compute_ns);
  facts.tensor_core_eligible = static_cast<double>(matrix_ns) / static_cast<double>(compute_ns);
}

// Whether a matrix has a size that its units cannot take whole.
bool is_unaligned(const FlopRow& row, int64_t unit) {
  if (!row.input_shapes) return false;
  for (const Tensor& tensor : parse_tensors(*row.input_shapes, row.input_types.value_or(""))) {
    if (tensor.dims.size() < 2) continue;
    if (tensor.dims.back() % unit != 0 || tensor.dims[tensor.dims.size() - 2] % unit != 0)
      return true;
  }
  return false;
}

// Shares of the computing time by what the kernels and the matrix work look like.
void take_shapes(RunAnalyses& run, const RankId& rank, RankFacts& facts) {
  const auto mine = [&](const auto& row) {
    return row.rank == rank.rank && row.window == rank.window;
  };
  double compute_ns = 0;
  double small_ns = 0;
  bool grids_known = false;
  for (const KernelTotalRow& row : run.kernels().kernels) {
    if (!mine(row) || row.work_class != "compute") continue;
    compute_ns += static_cast<double>(row.total_ns);
    grids_known |= row.blocks_per_sm.has_value();
    if (row.blocks_per_sm.value_or(1) < 0.5) small_ns += static_cast<double>(row.total_ns);
  }
  if (compute_ns <= 0) return;
  if (grids_known) facts.small_grid_share = small_ns / compute_ns;
  double matrix_ns = 0;
  double unaligned_ns = 0;
  for (const FlopRow& row : run.flops().operators) {
    if (!mine(row) || row.kind != "matmul") continue;
    matrix_ns += static_cast<double>(row.time_ns);
    if (is_unaligned(row, facts.is_ascend ? 16 : 8))
      unaligned_ns += static_cast<double>(row.time_ns);
  }
  if (matrix_ns > 0) facts.unaligned_matrix_share = unaligned_ns / compute_ns;
}

void take_flops(RunAnalyses& run, const RankId& rank, RankFacts& facts) {
  for (const FlopSummaryRow& row : run.flops().summaries) {
    if (row.rank != rank.rank || row.window != rank.window) continue;
    facts.mfu = row.mfu.value_or(facts.mfu);
    facts.flops_coverage = row.covered;
    facts.flops_per_step = row.flops_per_step.value_or(facts.flops_per_step);
    if (row.time_ns > 0) facts.computing_rate = row.flops * 1e9 / static_cast<double>(row.time_ns);
    facts.half_precision_share = row.low_precision_share.value_or(facts.half_precision_share);
  }
}

void take_memory(RunAnalyses& run, const RankId& rank, RankFacts& facts) {
  const MemoryRow* largest = nullptr;
  for (const MemoryRow& row : run.memory().overview) {
    if (row.rank != rank.rank || row.window != rank.window || row.peak_bytes == kNull) continue;
    // Device pools count before the host's.
    const auto weight = [](const MemoryRow& pool) {
      return std::pair(pool.device != kNull && pool.device >= 0, pool.peak_bytes);
    };
    if (largest == nullptr || weight(row) > weight(*largest)) largest = &row;
  }
  if (largest == nullptr) return;
  facts.peak_allocated_bytes = largest->peak_bytes;
  facts.peak_reserved_bytes = largest->peak_reserved_bytes;
  facts.device_memory_bytes = largest->capacity_bytes;
  if (largest->leak_suspected && largest->growth_bytes_per_step != kNull) {
    facts.leak_bytes_per_step = largest->growth_bytes_per_step;
    facts.leak_share_of_steps = largest->growing_share;
  }
}

void take_slow_rank(RunAnalyses& run, Facts& facts) {
  const auto slow = slow_rank(run.rank_comparison());
  if (!slow) return;
  facts.slow_rank = slow->rank;
  facts.slow_rank_own_ns = std::llround(slow->own_ns);
  facts.other_ranks_own_ns = std::llround(slow->others_own_ns);
}

void take_pipeline(RunAnalyses& run, Facts& facts) {
  for (const PipelineRow& row : run.pipeline().verdicts) {
    if (facts.data_verdict.empty() && row.slow_stage != "none") facts.data_verdict = row.slow_stage;
    if (row.host_batches != kNull && row.host_batches > 0 && row.host_empty != kNull)
      facts.empty_queue_share =
          static_cast<double>(row.host_empty) / static_cast<double>(row.host_batches);
    if (!std::isnan(row.wait_share)) {
      facts.is_input_measured = true;
      for (RankFacts& rank : facts.ranks) {
        if (rank.rank != row.rank || rank.window != row.window || rank.step_ns == kNull) continue;
        const auto in_steps_ns = static_cast<double>(row.step_ns - row.before_steps_ns);
        if (in_steps_ns <= 0) continue;
        const double iteration_ns =
            static_cast<double>(rank.step_ns) * static_cast<double>(row.step_ns) / in_steps_ns;
        rank.before_step_ns = std::llround(iteration_ns) - rank.step_ns;
        rank.input_wait_ns =
            std::max(rank.input_wait_ns, static_cast<int64_t>(row.wait_share * iteration_ns));
      }
    }
  }
  for (const PipelineStageRow& stage : run.pipeline().stages) {
    if (!stage.is_bottleneck) continue;
    StageFacts fact;
    fact.name = stage.stage;
    fact.type = stage.op_type;
    fact.queue_share = stage.usage;
    facts.bottleneck_stages.push_back(std::move(fact));
  }
  // Of the busiest machine: ranks may run on several.
  for (const CpuRow& row : run.cpu()) {
    if (row.scope == "machine" && !std::isnan(row.busy))
      facts.cpu_busy_share = std::fmax(facts.cpu_busy_share, row.busy);
  }
}

int64_t missing_ranks(RunAnalyses& run) {
  std::set<int64_t> present;
  int64_t world_size = 0;
  for (const RankId& rank : run.ranks()) {
    present.insert(rank.rank);
    for_each_row<1>(run.store(), Table::kRanks, rank.position, {"world_size"},
                    [&](const auto& row) { world_size = std::max(world_size, row[0]); });
  }
  if (world_size == 0) return kNull;
  return std::max<int64_t>(0, world_size - static_cast<int64_t>(present.size()));
}

}  // namespace

Facts collect_facts(RunAnalyses& run) {
  Facts facts;
  const StoreReader& store = run.store();
  for (const RankId& rank : run.ranks()) {
    RankFacts one;
    one.rank = rank.rank;
    one.window = rank.window;
    const std::string_view kind = text_at(store, Table::kRanks, "device_kind", rank.position);
    one.is_nvidia = kind.find("NVIDIA") != std::string_view::npos;
    one.is_ascend = kind.find("Ascend") != std::string_view::npos;
    one.compute_capability = compute_capability(store, rank.position);
    take_budget(budget_of_rank(rank, run.step_budget()), one);
    if (one.longest_stall) one.stall_code = host_code_in(store, rank, *one.longest_stall);
    take_kernel_steps(rank, run.step_budget(), one);
    const std::span<const StepRow> steps = run.steps(rank.position);
    take_step_lengths(steps, one);
    collect_device_work(store, rank, steps, one);
    take_tensor_cores(run, rank, one);
    take_flops(run, rank, one);
    take_shapes(run, rank, one);
    take_memory(run, rank, one);
    collect_host_calls(store, rank, steps, one);
    collect_settings(store, rank, one, facts);
    facts.ranks.push_back(std::move(one));
  }
  facts.missing_ranks = missing_ranks(run);
  for (const StepTraceRow& row : run.step_trace()) {
    if (row.step != kNull) continue;  // the averages
    for (RankFacts& rank : facts.ranks) {
      if (rank.rank != row.rank || rank.window != row.window || row.iteration_interval_ns == kNull)
        continue;
      rank.interval_ns = row.iteration_interval_ns;
      // Points that the device recorded: the interval is its waiting for the next batch.
      if (row.points == "file") {
        rank.input_wait_ns = std::max(rank.input_wait_ns, row.iteration_interval_ns);
        rank.idle_input_ns = std::max(rank.idle_input_ns, row.iteration_interval_ns);
      }
    }
  }
  take_slow_rank(run, facts);
  collect_communication(run, facts);
  take_pipeline(run, facts);
  collect_places(run, facts);
  return facts;
}

}  // namespace stepscope
