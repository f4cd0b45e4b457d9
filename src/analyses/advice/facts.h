// What the rules know about a run: a few numbers for each rank, taken from the analyses. Rules read
// nothing else, so a rule is tested with numbers written by hand.
//
// kNull and NaN: not known. Times are means over complete steps unless the name says otherwise.
#ifndef STEPSCOPE_ANALYSES_ADVICE_FACTS_H_
#define STEPSCOPE_ANALYSES_ADVICE_FACTS_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/advice/finding.h"
#include "analyses/step_budget/step_budget.h"
#include "store/schema.h"

namespace stepscope {

struct RankFacts {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t steps = 0;  // complete ones

  // The step, and what its device did. A run without a device has its host operators here.
  int64_t step_ns = kNull;
  int64_t longest_step = kNull;  // its number
  int64_t longest_step_ns = kNull;
  int64_t median_step_ns = kNull;
  int64_t compute_ns = 0;
  int64_t exposed_communication_ns = 0;
  int64_t communication_wait_ns = kNull;  // of the exposed: waiting for ranks that come later
  int64_t receive_wait_ns = 0;            // of that: in receives; it is in receive_ns too
  int64_t late_peer_wait_ns = 0;          // of the exposed: waiting for Facts::late_peer
  bool all_waits_known = false;           // every rank of its operations is in the input
  int64_t exposed_copy_ns = 0;            // copies with neither computing nor communication
  int64_t pageable_copy_ns = 0;           // copies from or to pageable memory
  int64_t idle_ns = 0;

  // Why the device stood still; these add up to idle_ns.
  int64_t idle_queued_ns = 0;  // the next work had been launched
  int64_t idle_input_ns = 0;
  int64_t idle_sync_ns = 0;
  int64_t idle_gc_ns = 0;
  int64_t idle_host_ns = 0;   // in short pieces: launching
  int64_t idle_stall_ns = 0;  // in pieces of a millisecond or more, while the host was busy
  int64_t idle_other_ns = 0;
  int64_t longest_idle_ns = 0;
  int64_t longest_idle_at_ns = kNull;
  int64_t longest_idle_step = kNull;
  std::string stall_code;  // what the host was in for most of longest_stall; empty: nothing was

  // What the longest step has more of than the mean of the others, part by part.
  StepBudgetRow longest_step_more;

  int64_t input_wait_ns = 0;   // host time waiting for batches, device busy or not
  int64_t before_step_ns = 0;  // of it: before the step begins, and no part of its length
  int64_t device_wait_ns = 0;  // host time in synchronisation calls
  double device_waits = 0;     // such calls in a step
  int64_t allocator_ns =
      0;  // host time in the device's allocation calls (cudaMalloc, aclrtFree...)

  double kernels = 0;  // device events of computation in a step
  int64_t mean_kernel_ns = kNull;
  int64_t ai_cpu_ns = 0;  // computation that fell back to the AI CPU

  // Arithmetic.
  int64_t compute_capability = kNull;          // of an NVIDIA device, 80 for 8.0
  double tensor_core_share = std::nan("");     // of computing time
  double tensor_core_eligible = std::nan("");  // of computing time
  double half_precision_share = std::nan("");  // of the FLOPs
  double mfu = std::nan("");
  double flops_coverage = std::nan("");  // share of computing time with known FLOPs
  double flops_per_step = std::nan("");
  double computing_rate = std::nan("");          // FLOPs a second of computing time
  double unaligned_matrix_share = std::nan("");  // of computing time: sizes that fill no tile
  double small_grid_share = std::nan("");        // of computing time: half of the device is empty
  int64_t unfused_softmax_ns = 0;                // without any fused attention kernel

  // Memory.
  int64_t peak_allocated_bytes = kNull;
  int64_t peak_reserved_bytes = kNull;
  int64_t device_memory_bytes = kNull;
  int64_t leak_bytes_per_step = 0;
  double leak_share_of_steps = 0;  // steps that ended with more than the one before

  bool has_device = false;
  bool is_nvidia = false;
  bool is_ascend = false;
  bool data_parallel_module = false;  // torch.nn.DataParallel
  double data_parallel_calls = 0;     // its forward passes a step, and their time
  int64_t data_parallel_ns = 0;
  bool uses_gloo = false;  // collectives through the host's memory
  double gloo_calls = 0;   // a step, and their time on the host
  int64_t gloo_ns = 0;
  int64_t compiled_on_the_fly = 0;  // aclopCompileAndExecute calls
  double sync_batch_norms = 0;      // a step

  // Its place in a job.
  int64_t stage = kNull;        // of a pipeline of at least two
  int64_t interval_ns = kNull;  // end of the step before to the first operator of the forward pass
  int64_t receive_ns = 0;       // receiving from another stage; of the exposed communication
  int64_t collective_ns = 0;    // likewise in collectives, without waiting for late ranks
  std::vector<int64_t> kernel_steps;  // complete steps with computation, in order
  std::vector<std::string> settings;  // environment variables that cost time, NAME=value

  // Where to look, collect_places(): the longest of the steps that means are made of, and of what
  // happens in them.
  std::optional<Place> longest_step_place;
  std::optional<Place> longest_interval;    // between two steps
  std::optional<Place> longest_stall;       // piece of idle_stall_ns
  std::optional<Place> longest_exposed;     // piece of communication that no computation hides
  std::optional<Place> longest_receive;     // operation
  std::optional<Place> longest_collective;  // operation
  std::optional<Place> peak_allocated;      // a moment
  std::optional<Place> peak_reserved;
};

struct LinkFacts {
  int64_t src_rank = 0;
  int64_t dst_rank = 0;
  std::string kind;
  double bytes_per_second = 0;
  double mean_of_kind = 0;
  int64_t transfers = 0;       // that its bandwidth is measured by
  int64_t time_ns = 0;         // a step: moving data over it, or in collectives that pass it
  int64_t exposed_ns = kNull;  // a step: communication of its ends that no computation hides
  std::optional<Place> longest_transfer = {};  // over it, where to look
};

struct StageFacts {
  std::string name;
  std::string type;  // operator type, decides the advice
  double queue_share = std::nan("");
  double input_queue_share = std::nan("");
};

struct Facts {
  std::vector<RankFacts> ranks;
  int64_t missing_ranks = 0;  // of the job, not in the input; kNull: the job's size is not known

  // Across ranks.
  int64_t slow_rank = kNull;           // the one the others wait for
  int64_t slow_rank_own_ns = kNull;    // its step without communication
  int64_t other_ranks_own_ns = kNull;  // median of the others
  int64_t late_peer = kNull;           // a rank outside the recording that others wait for
  int64_t late_peer_wait_ns = 0;       // of the ranks that wait for it
  std::vector<LinkFacts> slow_links;
  double small_messages_share = std::nan("");       // of the time of collectives
  double unaligned_transfers_share = std::nan("");  // of the time of transfers between ranks
  double contended_share = std::nan("");  // of bandwidth that is lost while devices compute
  int64_t retransmissions = 0;            // operations as long as RDMA's time limit

  // Data preparation.
  bool is_input_measured = false;  // the training's waiting for data
  std::string data_verdict;        // process, transfer, fetch or ""
  std::vector<StageFacts> bottleneck_stages;
  double empty_queue_share = std::nan("");
  double cpu_busy_share = std::nan("");
  double profiler_cost_share = std::nan("");  // measured by the recorder

  // Where to look: the longest operation that shows it.
  std::optional<Place> late_peer_place;
  std::optional<Place> small_message;
  std::optional<Place> unaligned_transfer;
  std::optional<Place> retransmission;

  // Idle time of a step that findings have explained so far: symptoms are the rest.
  int64_t explained_idle_ns = 0;

  // The run's step: mean over the steps of all ranks, as in the report.
  int64_t step_ns() const;
  double share(int64_t ns) const;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_ADVICE_FACTS_H_
