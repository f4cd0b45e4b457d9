// Gives times to one rank's instructions: a host cursor, a compute stream that runs behind it, and
// a communication stream whose kernels end when the slowest rank has arrived. Ranks advance batch
// by batch: RunBatch() leaves collectives open, TrainingJob matches them, FinishCollectives()
// closes them. Memory is that of one batch, whatever the length of the trace.

#ifndef STEPSCOPE_BENCH_GENERATE_RANK_SIMULATOR_H_
#define STEPSCOPE_BENCH_GENERATE_RANK_SIMULATOR_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/generate/event.h"
#include "bench/generate/options.h"
#include "bench/generate/random.h"
#include "bench/generate/step_program.h"

namespace stepscope::generate {

// A CUDA call as Kineto reports it.
struct RuntimeCall {
  const char* name;
  int callback_id;
  Category category;
  Flow flow;
};

enum class Call : uint8_t {
  kLaunchKernel,
  kDriverLaunchKernel,
  kLaunchCollective,
  kMemcpyAsync,
  kMemsetAsync,
  kStreamSynchronize,
  kEventRecord,
  kDeviceSynchronize,
  kCount,
};

[[nodiscard]] const RuntimeCall& GetRuntimeCall(Call call);

// A collective kernel that has been launched and waits for its peers.
struct OpenCollective {
  uint32_t collective = 0;
  int64_t ready_ns = 0;  // When this rank's data and the launch are there.
  int64_t correlation = 0;
  int64_t external_id = 0;
  int64_t sequence = 0;
};

struct DeviceSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// The events of one batch in the order in which Kineto writes them.
struct BatchEvents {
  std::vector<Event> host;
  std::vector<Event> memory;
  std::vector<Event> python;
  std::vector<Event> activities;  // CUDA calls and what the device did.

  void Clear();
};

class RankSimulator {
 public:
  RankSimulator(const Options& options, int rank, const StepProgram& program, NamePool* names);

  void BeginStep(int number);
  void RunBatch();
  std::span<const OpenCollective> open_collectives() const { return open_collectives_; }
  // One span per open collective, in the same order.
  void FinishCollectives(std::span<const DeviceSpan> spans);
  void RunOptimizer();
  void EndStep();
  void EndTrace();  // The wait for the device that ends a profile.

  BatchEvents& events() { return events_; }
  int64_t start_ns() const { return start_ns_; }
  int64_t end_ns() const { return cursor_ns_; }

 private:
  static constexpr size_t kLaunchQueueDepth = 1024;

  void Run(const std::vector<Instruction>& instructions);
  void Begin(uint32_t site);
  void End();
  void Launch(uint32_t kernel);
  void RunCollective(uint32_t collective);
  void ReadScalar();
  void Allocate(int64_t address, int64_t size_bytes);
  Event* RecordCall(Call call, int64_t dur_ns);
  void RunOnDevice(Category category, NameId name, uint32_t site, int64_t dur_ns,
                   int64_t size_bytes);
  void ProjectOnDevice(NameId name, int64_t external_id, DeviceSpan span);
  int64_t InnermostOperator() const;

  const StepProgram& program_;
  Random random_;
  int64_t kernel_scale_1024_;  // Kernel durations in 1/1024: integer, so exact everywhere.
  int64_t start_ns_;
  int64_t cursor_ns_;
  int64_t compute_free_ns_;
  Lane lane_ = Lane::kMainThread;
  BatchEvents events_;

  struct OpenSlice {
    Category category = Category::kCpuOp;
    size_t index = 0;
    int64_t overhead_ns = 0;
    int64_t external_id = 0;
  };
  std::vector<OpenSlice> open_slices_;
  std::vector<OpenCollective> open_collectives_;
  std::array<int64_t, kLaunchQueueDepth> queued_start_ns_{};
  size_t queued_ = 0;

  int64_t next_external_id_ = 1'499'649;
  int64_t next_correlation_ = 8'568'400;
  int64_t next_python_id_ = 1;
  int64_t sequence_base_ = 273'000;
  int64_t flow_base_ = 1;
  std::array<int64_t, 2> next_group_sequence_ = {1, 1};

  int64_t allocated_bytes_;
  int64_t reserved_bytes_;
  int64_t leaked_address_;

  NameId memory_name_;
  NameId copy_to_device_name_;
  NameId copy_to_host_name_;
  NameId memset_name_;
  std::array<NameId, static_cast<size_t>(Call::kCount)> call_names_;

  NamePool* names_;
  Event step_;
  int64_t step_device_start_ns_ = 0;
  int64_t first_device_start_ns_ = -1;  // Of the part being run; -1: nothing yet.
};

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_RANK_SIMULATOR_H_
