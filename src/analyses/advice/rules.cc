#include "analyses/advice/rules.h"

#include <algorithm>
#include <utility>

#include "analyses/advice/checks.h"

namespace stepscope {
namespace {

// Causes first, symptoms after them: these look at what no other rule explains.
constexpr Rule kRules[] = {
    {"slow_input",
     "devices that stand still, or a host that waits, because the next batch is not there", 0.05,
     "Give the data loader more workers (torch: num_workers, prefetch_factor, persistent_workers; "
     "MindSpore: num_parallel_workers, prefetch_size), move decoding and augmentation off the main "
     "process, or store the data in a form that is cheaper to read.",
     check_slow_input},
    {"input_stage", "the stage of the data pipeline that holds up the others", 0.05,
     "Raise num_parallel_workers of this stage or make its function cheaper; for a Python "
     "generator use "
     "a random-access or MindRecord source; for batching raise prefetch_size.",
     check_input_stage},
    {"machine_cpu_busy", "a machine whose CPUs are all in use", 0.8,
     "Take work off the CPUs (fewer or cheaper loader workers, operators on the device) or use "
     "more of "
     "them: data preparation and launching compete for them.",
     check_machine_cpu_busy},
    {"slow_rank",
     "a rank that computes longer than the others, who then wait for it in collectives",
     kSlowRankExcess,
     "Look at this rank's machine first: clocks and throttling, other processes, its data shard; "
     "move the "
     "rank to another device to tell the device from the data.",
     check_slow_rank},
    {"late_peer", "a rank outside of the recording that the recorded ranks wait for", 0.05,
     "Record that rank too and look at what it does before the collective.", check_late_peer,
     RuleKind::kCauseOfWork},
    {"slow_link", "a link whose bandwidth is far below that of its kind", 0.2,
     "Check cable, switch port and topology of this pair; move the ranks of a group closer "
     "together.",
     check_slow_link, RuleKind::kCauseOfWork},
    {"exposed_communication", "communication that no computation hides", 0.1,
     "Overlap it: larger gradient buckets with backward (DDP bucket_cap_mb, "
     "all_reduce_fusion_config), "
     "prefetching for sharded parameters; send less: 16-bit gradients, accumulation over several "
     "steps.",
     check_exposed_communication, RuleKind::kCauseOfWork},
    {"pipeline_receive", "stages of a pipeline that wait for the ones before them", 0.1,
     "Use more micro batches, give the slow stage fewer layers, and look at what it does while the "
     "others receive.",
     check_pipeline_receive, RuleKind::kCauseOfWork},
    {"stage_communication", "a stage of a pipeline whose collectives hold it up", 0.1,
     "Review how operators are sharded inside of the stage.", check_stage_communication},
    {"stage_balance", "a stage of a pipeline with more arithmetic than the others", 0.2,
     "Move layers from this stage to others.", check_stage_balance, RuleKind::kCauseOfWork},
    {"slow_device", "a rank whose device computes at a lower rate than those of others",
     kSlowDeviceShare,
     "Compare clocks, temperature and other processes of that device; give it less work if it "
     "is of "
     "another kind.",
     check_slow_device, RuleKind::kCauseOfWork},
    {"uneven_interval", "a rank that begins its steps later than the others", 0.2,
     "Look at the data preparation of this rank: its shard, its disks, its processors.",
     check_uneven_interval},
    {"small_messages", "collectives that move little and take as long as their latency", 0.5,
     "Put them together: larger gradient buckets (bucket_cap_mb, all_reduce_fusion_config), one "
     "reduction for several values.",
     check_small_messages},
    {"unaligned_transfers", "transfers whose size is no multiple of 512 bytes", 0.2,
     "Pad the tensors of collectives; with ZeRO or sharded parameters choose a partition size that "
     "is a multiple of 512 bytes.",
     check_unaligned_transfers},
    {"contended_bandwidth", "collectives that are slower while the device computes", 0.3,
     "Move them to where less memory traffic runs beside them, or give them fewer channels; large "
     "matrix kernels and transfers share the memory's bandwidth.",
     check_contended_bandwidth},
    {"retransmission", "operations over RDMA that ran into the time limit of a lost packet", 0,
     "Check the network of these ranks: switch ports, flow control, HCCL_RDMA_TIMEOUT.",
     check_retransmission},
    {"gloo", "collectives of devices through the host's memory", 0, "Use the NCCL or HCCL backend.",
     check_gloo},
    {"sync_batch_norm", "many synchronised batch normalisations", 20,
     "Use ordinary batch normalisation or group normalisation where the batch of a rank is large "
     "enough.",
     check_sync_batch_norm},
    {"sync_points", "calls that wait for the device in the middle of a step", 0.02,
     "Remove .item(), .cpu(), print(tensor), torch.cuda.synchronize() and data-dependent shapes "
     "from the "
     "step; log a loss every n steps, or copy it with non_blocking=True.",
     check_sync_points},
    {"launch_bound", "kernels so short that the host cannot launch them fast enough", 0.1,
     "Launch less: torch.compile or CUDA graphs, graph mode in MindSpore, fused operators and "
     "optimizers, "
     "a larger batch.",
     check_launch_bound},
    {"garbage_collection", "Python's garbage collector running inside steps", 0.02,
     "Call gc.freeze() after set-up, gc.disable() in the loop and gc.collect() every n steps.",
     check_garbage_collection},
    {"host_stalls", "long gaps of the device while the host does something else", 0.1,
     "Look at what the host does there: move it out of the step, to another thread or process "
     "(loader workers, asynchronous checkpoints), or to the device; record with with_stack=True to "
     "see Python code.",
     check_host_stalls},
    {"allocator_calls", "device memory allocated and released inside steps", kAllocatorShare,
     "Let the caching allocator keep its blocks: expandable_segments:True, no empty_cache() in the "
     "loop, "
     "shapes that do not change from step to step.",
     check_allocator_calls},
    {"pageable_copies", "copies between device and pageable memory", 0.03,
     "Use pin_memory=True and copy with non_blocking=True.", check_pageable_copies,
     RuleKind::kCauseOfWork},
    {"ai_cpu_operators", "operators that run on the AI CPU instead of the AI cores", 0.02,
     "Change the data type (64-bit and double types fall back) or replace the operator.",
     check_ai_cpu_operators, RuleKind::kCauseOfWork},
    {"compiled_on_the_fly", "operators compiled while training runs", 20,
     "Use fixed shapes or binary operators (torch_npu.npu.set_compile_mode(jit_compile=False)).",
     check_compiled_on_the_fly},
    {"no_tensor_cores", "matrix work that does not use the tensor cores", 0.2,
     "Train in float16 (torch.autocast); from compute capability 8.0 on also in bfloat16, or allow "
     "TF32 (torch.set_float32_matmul_precision('high')).",
     check_no_tensor_cores, RuleKind::kCauseOfWork},
    {"full_precision", "arithmetic in 32 bits where 16 would do", 0.1,
     "Train in float16, or bfloat16 where the device has it (torch.autocast, MindSpore's "
     "amp_level).",
     check_full_precision},
    {"unaligned_shapes", "matrix work whose sizes do not fit the matrix units", 0.2,
     "Pad vocabulary, hidden and head sizes to multiples of 64.", check_unaligned_shapes},
    {"small_grids", "kernels that leave half of the device without work", 0.2,
     "Enlarge the batch, or fuse these operators: they do not have enough work for the device.",
     check_small_grids},
    {"unfused_attention", "softmax of attention as a kernel of its own", 0.03,
     "Use scaled_dot_product_attention, FlashAttention or npu_fusion_attention.",
     check_unfused_attention, RuleKind::kCauseOfWork},
    {"low_mfu", "a busy device that reaches a small part of its arithmetic rate", 0.15,
     "Look at the operators with most time: shapes that are no multiple of 8 or 64, memory-bound "
     "operators "
     "that can be fused, small batches, attention without a fused kernel.",
     check_low_mfu, RuleKind::kCauseOfWork},
    {"data_parallel", "torch.nn.DataParallel", 0,
     "Use DistributedDataParallel, one process per device.", check_data_parallel},
    {"uneven_steps", "single steps that take much longer than the others", 1.5,
     "Look at the step named here: checkpoint, evaluation, logging, a new shape.",
     check_uneven_steps, RuleKind::kCauseOfWork},
    {"memory_leak", "memory that grows from step to step", 0.8,
     "Look at what keeps tensors alive: losses added up without .item() or .detach(), lists of "
     "outputs, "
     "graphs kept by retain_graph.",
     check_memory_leak},
    {"memory_nearly_full", "a peak close to the device's memory", 0.9,
     "A slightly larger batch or fragmentation will fail: use activation checkpointing, shard "
     "optimizer "
     "states, or a smaller batch.",
     check_memory_nearly_full},
    {"fragmentation", "memory that is reserved and not used", 0.3,
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, fewer different shapes.",
     check_fragmentation},
    {"low_utilisation", "a device that is idle for reasons that no other rule names", 0.3,
     "Open the timeline at the longest gap and look at what the host does there.",
     check_low_utilisation},
    {"potential_input", "a device that stands still while nothing is recorded: perhaps for data",
     0.03,
     "Record the data pipeline too (torch: ProfilerActivity.CPU, which marks the DataLoader; "
     "MindSpore: data_process=True; others: stepscope.pipeline): it tells whether this time is "
     "spent waiting for data.",
     check_potential_input},
    {"between_operators",
     "a run without a device whose host is busy with other things than operators", 0.3,
     "Look at the code between the operators in the timeline (record with with_stack=True to see "
     "it): Python loops, logging, data handling. Run the model as a graph (torch.compile, "
     "MindSpore's graph mode) so that less of it runs.",
     check_between_operators},
    {"settings", "environment variables that slow the program down", 0,
     "Unset them for training; they are for debugging.", check_settings},
    {"profiler_cost", "a recording that made steps longer", 0.1,
     "Record less (kernels tier, no stacks, no shapes): times of short operators are too high.",
     check_profiler_cost},
};

// A finding that gains less of a step is not worth reading.
constexpr double kGainMatters = 0.005;

// One slow step is a finding of its own, with what it waited for. Of the causes of idle time other
// rules have the rest: what the other steps have, too.
Facts without_slow_steps(const Facts& all_steps) {
  constexpr std::pair<int64_t RankFacts::*, int64_t StepBudgetRow::*> kIdle[] = {
      {&RankFacts::idle_ns, &StepBudgetRow::idle_ns},
      {&RankFacts::idle_queued_ns, &StepBudgetRow::queued_ns},
      {&RankFacts::idle_input_ns, &StepBudgetRow::input_ns},
      {&RankFacts::idle_sync_ns, &StepBudgetRow::sync_ns},
      {&RankFacts::idle_gc_ns, &StepBudgetRow::gc_ns},
      {&RankFacts::idle_stall_ns, &StepBudgetRow::host_stall_ns},
      {&RankFacts::idle_other_ns, &StepBudgetRow::other_ns},
      {&RankFacts::input_wait_ns, &StepBudgetRow::input_wait_ns},
      {&RankFacts::allocator_ns, &StepBudgetRow::allocator_ns},
  };
  const auto rule = std::ranges::find(kRules, std::string_view("uneven_steps"),
                                      [](const Rule& r) { return r.name; });
  Facts facts = all_steps;
  for (RankFacts& rank : facts.ranks) {
    if (!has_uneven_step(rank, rule->limit)) continue;
    for (const auto& [mean, part] : kIdle) {
      const int64_t more_ns = std::max<int64_t>(0, rank.longest_step_more.*part);
      rank.*mean = std::max<int64_t>(0, rank.*mean - more_ns / rank.steps);
    }
  }
  return facts;
}

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::vector<Finding> find_causes(const Facts& all_steps) {
  Facts facts = without_slow_steps(all_steps);
  std::vector<Finding> findings;
  for (const Rule& rule : kRules) {
    auto finding = rule.check(facts, rule);
    if (!finding) continue;
    finding->rule = rule.name;
    finding->remedy = rule.remedy;
    if (finding->gain_ns != kNull) {
      if (finding->gain_share <= 0) finding->gain_share = facts.share(finding->gain_ns);
      if (finding->gain_share < kGainMatters) continue;
      if (rule.kind != RuleKind::kCauseOfWork) facts.explained_idle_ns += finding->gain_ns;
    }
    findings.push_back(std::move(*finding));
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    const auto gain = [](const Finding& f) { return f.gain_ns == kNull ? -1 : f.gain_ns; };
    return gain(a) > gain(b);
  });
  return findings;
}

std::string_view confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kDerived:
      return "derived";
    case Confidence::kHint:
      return "hint";
  }
  return "";
}

}  // namespace stepscope
