// What happens in one training step, as a list of instructions that every rank runs. The program is
// built once; RankSimulator gives it times, KinetoWriter gives it text.

#ifndef STEPSCOPE_BENCH_GENERATE_STEP_PROGRAM_H_
#define STEPSCOPE_BENCH_GENERATE_STEP_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/generate/catalogue.h"
#include "bench/generate/event.h"
#include "bench/generate/options.h"

namespace stepscope::generate {

// A host slice: an operator, an annotation or a Python frame.
struct HostSite {
  Category category = Category::kCpuOp;
  NameId name = 0;
  Flow flow = Flow::kNone;
  int autograd_node = -1;     // Links a forward operator with its backward.
  int64_t overhead_ns = 0;    // Host time of its own, without what it contains.
  std::string argument_text;  // Shapes and types as JSON; may be empty.
  int collective = -1;        // Kineto repeats a collective's arguments on the operator.
};

enum class Group : uint8_t { kWorld, kPair };

struct Collective {
  NameId kernel_name = 0;
  Group group = Group::kWorld;
  std::string operation;  // As Kineto writes it: "allreduce", "_allgather_base"
  int64_t elements = 0;   // BFloat16
  int64_t transfer_ns = 0;
};

enum class Opcode : uint8_t {
  kBegin,  // argument: host site
  kEnd,
  kLaunch,          // argument: kernel
  kMemset,          // argument: bytes
  kCopyToDevice,    // argument: bytes
  kReadScalar,      // A device-to-host copy and the wait for it.
  kCollective,      // argument: collective
  kAllocate,        // argument: slot
  kFree,            // argument: slot
  kLeak,            // argument: bytes
  kBackwardThread,  // The next slices run on the autograd thread,
  kMainThread,      // ... on the main thread again.
};

struct Instruction {
  Opcode opcode;
  int64_t argument = 0;
};

struct StepProgram {
  std::vector<Instruction> batch;      // Data, forward, loss, backward with its collectives.
  std::vector<Instruction> optimizer;  // Runs once the gradients have been reduced.
  std::vector<HostSite> host_sites;
  std::vector<Kernel> kernels;
  std::vector<Collective> collectives;
  std::vector<int64_t> slot_bytes;  // Sizes of the tensors that a batch allocates and frees.
  int autograd_nodes = 0;           // Sequence numbers used per batch.
};

[[nodiscard]] StepProgram BuildStepProgram(const Options& options, NamePool* names);

// Ranks form pairs (0 and 1, 2 and 3, ...) that gather among themselves, beside the group of all.
[[nodiscard]] inline bool HasPairGroups(int ranks) { return ranks >= 4 && ranks % 2 == 0; }

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_STEP_PROGRAM_H_
