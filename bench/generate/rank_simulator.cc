#include "bench/generate/rank_simulator.h"

#include <algorithm>
#include <string>

namespace stepscope::generate {
namespace {

// The first step starts here, measured from the trace's base time.
constexpr int64_t kTraceStartNs = 3'853'096'439'498'570;
constexpr int64_t kLaunchCallNs = 4'300;
constexpr int64_t kLaunchLatencyNs = 3'600;
constexpr int64_t kGapBetweenKernelsNs = 900;
constexpr int64_t kModelBytes = 2'073'396'224;
constexpr int64_t kReservedBlockBytes = 20 << 20;
constexpr int64_t kAddressBase = 139'961'105'907'712;
constexpr int64_t kSlotAddressStride = 32 << 20;
constexpr int64_t kLeakAddressBase = 140'200'000'000'000;
constexpr int64_t kPcieBytesPerUs = 25'000;

constexpr std::array<RuntimeCall, static_cast<size_t>(Call::kCount)> kRuntimeCalls = {{
    {"cudaLaunchKernel", 211, Category::kCudaRuntime, Flow::kLaunchStart},
    {"cuLaunchKernelEx", 652, Category::kCudaDriver, Flow::kLaunchStart},
    {"cudaLaunchKernelExC", 430, Category::kCudaRuntime, Flow::kLaunchStart},
    {"cudaMemcpyAsync", 41, Category::kCudaRuntime, Flow::kLaunchStart},
    {"cudaMemsetAsync", 51, Category::kCudaRuntime, Flow::kLaunchStart},
    // Kineto starts a flow at waits that nothing ends, and ends one at calls that nothing started.
    {"cudaStreamSynchronize", 131, Category::kCudaRuntime, Flow::kLaunchStart},
    {"cudaEventRecord", 135, Category::kCudaRuntime, Flow::kLaunchEnd},
    {"cudaDeviceSynchronize", 165, Category::kCudaRuntime, Flow::kLaunchStart},
}};

int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const RuntimeCall& GetRuntimeCall(Call call) { return kRuntimeCalls[static_cast<size_t>(call)]; }

void BatchEvents::Clear() {
  host.clear();
  memory.clear();
  python.clear();
  activities.clear();
}

RankSimulator::RankSimulator(const Options& options, int rank, const StepProgram& program,
                             NamePool* names)
    : program_(program),
      random_(options.seed * 1'000'003 + static_cast<uint64_t>(rank)),
      kernel_scale_1024_(1024),
      allocated_bytes_(kModelBytes),
      reserved_bytes_(RoundUp(kModelBytes, kReservedBlockBytes)),
      leaked_address_(kLeakAddressBase),
      memory_name_(names->Intern("[memory]")),
      copy_to_device_name_(names->Intern("Memcpy HtoD (Pinned -> Device)")),
      copy_to_host_name_(names->Intern("Memcpy DtoH (Device -> Pinned)")),
      memset_name_(names->Intern("Memset (Device)")),
      names_(names) {
  if (options.straggler && options.straggler->rank == rank) {
    kernel_scale_1024_ = static_cast<int64_t>(options.straggler->factor * 1024.0);
  }
  for (size_t i = 0; i < call_names_.size(); ++i) {
    call_names_[i] = names->Intern(kRuntimeCalls[i].name);
  }
  start_ns_ = kTraceStartNs + random_.Below(200'000);
  cursor_ns_ = start_ns_;
  compute_free_ns_ = start_ns_;
}

void RankSimulator::BeginStep(int number) {
  step_ = {};
  step_.category = Category::kUserAnnotation;
  step_.name = names_->Intern("ProfilerStep#" + std::to_string(number));
  step_.ts_ns = cursor_ns_;
  step_.external_id = next_external_id_++;
  step_device_start_ns_ = -1;
  cursor_ns_ += random_.Near(12'000);
}

void RankSimulator::RunBatch() {
  Run(program_.batch);
  sequence_base_ += program_.autograd_nodes;
  flow_base_ += program_.autograd_nodes;
  if (step_device_start_ns_ < 0) step_device_start_ns_ = first_device_start_ns_;
}

void RankSimulator::FinishCollectives(std::span<const DeviceSpan> spans) {
  for (size_t i = 0; i < spans.size(); ++i) {
    const OpenCollective& open = open_collectives_[i];
    Event kernel;
    kernel.category = Category::kKernel;
    kernel.lane = Lane::kCommunicationStream;
    kernel.flow = Flow::kLaunchEnd;
    kernel.name = program_.collectives[open.collective].kernel_name;
    kernel.site = open.collective;
    kernel.ts_ns = spans[i].start_ns;
    kernel.dur_ns = spans[i].end_ns - spans[i].start_ns;
    kernel.external_id = open.external_id;
    kernel.correlation = open.correlation;
    kernel.collective_sequence = open.sequence;
    events_.activities.push_back(kernel);
    // DDP makes the compute stream wait for the reduced gradients before anything else runs.
    compute_free_ns_ = std::max(compute_free_ns_, spans[i].end_ns);
  }
  open_collectives_.clear();
}

void RankSimulator::RunOptimizer() {
  const int64_t annotation_external_id = next_external_id_;
  Run(program_.optimizer);
  const HostSite& annotation =
      program_.host_sites[static_cast<size_t>(program_.optimizer.front().argument)];
  ProjectOnDevice(annotation.name, annotation_external_id,
                  {first_device_start_ns_, compute_free_ns_});
}

void RankSimulator::EndStep() {
  cursor_ns_ += random_.Near(6'000);
  step_.dur_ns = cursor_ns_ - step_.ts_ns;
  events_.host.push_back(step_);
  ProjectOnDevice(step_.name, step_.external_id, {step_device_start_ns_, compute_free_ns_});
  cursor_ns_ += random_.Near(3'000);
}

void RankSimulator::EndTrace() {
  const int64_t wait_ns =
      std::max<int64_t>(compute_free_ns_ - cursor_ns_, 0) + random_.Near(31'000);
  RecordCall(Call::kDeviceSynchronize, wait_ns)->external_id = 0;
}

void RankSimulator::Run(const std::vector<Instruction>& instructions) {
  first_device_start_ns_ = -1;
  for (const Instruction& instruction : instructions) {
    const int64_t argument = instruction.argument;
    const auto index = static_cast<uint32_t>(argument);
    switch (instruction.opcode) {
      case Opcode::kBegin:
        Begin(index);
        break;
      case Opcode::kEnd:
        End();
        break;
      case Opcode::kLaunch:
        Launch(index);
        break;
      case Opcode::kMemset:
        RecordCall(Call::kMemsetAsync, random_.Near(3'900));
        RunOnDevice(Category::kGpuMemset, memset_name_, 0, random_.Near(900), argument);
        break;
      case Opcode::kCopyToDevice:
        RecordCall(Call::kMemcpyAsync, random_.Near(6'100));
        RunOnDevice(Category::kGpuMemcpy, copy_to_device_name_, 0,
                    random_.Near(1'200 + argument * 1000 / kPcieBytesPerUs), argument);
        break;
      case Opcode::kReadScalar:
        ReadScalar();
        break;
      case Opcode::kCollective:
        RunCollective(index);
        break;
      case Opcode::kAllocate:
        Allocate(kAddressBase + argument * kSlotAddressStride, program_.slot_bytes[index]);
        break;
      case Opcode::kFree:
        Allocate(kAddressBase + argument * kSlotAddressStride, -program_.slot_bytes[index]);
        break;
      case Opcode::kLeak:
        Allocate(leaked_address_ += argument, argument);
        break;
      case Opcode::kBackwardThread:
        cursor_ns_ += random_.Near(14'000);
        lane_ = Lane::kBackwardThread;
        break;
      case Opcode::kMainThread:
        cursor_ns_ += random_.Near(9'000);
        lane_ = Lane::kMainThread;
        break;
    }
  }
}

void RankSimulator::Begin(uint32_t site_index) {
  const HostSite& site = program_.host_sites[site_index];
  const bool python = site.category == Category::kPythonFunction;
  Event event;
  event.category = site.category;
  event.lane = lane_;
  event.flow = site.flow;
  event.name = site.name;
  event.site = site_index;
  event.ts_ns = cursor_ns_;
  if (python) {
    event.python_id = next_python_id_++;
    for (const OpenSlice& open : open_slices_) {
      if (open.category == Category::kPythonFunction)
        event.python_parent_id = events_.python[open.index].python_id;
    }
  } else {
    event.external_id = next_external_id_++;
  }
  if (site.autograd_node >= 0) {
    event.sequence = sequence_base_ + site.autograd_node;
    event.flow_id = flow_base_ + site.autograd_node;
  }
  if (site.collective >= 0) {
    const Group group = program_.collectives[static_cast<size_t>(site.collective)].group;
    event.collective_sequence = next_group_sequence_[static_cast<size_t>(group)];
  }
  std::vector<Event>& events = python ? events_.python : events_.host;
  open_slices_.push_back({site.category, events.size(), site.overhead_ns, event.external_id});
  events.push_back(event);
  cursor_ns_ += random_.Near(site.overhead_ns / 2) + 1;
}

void RankSimulator::End() {
  const OpenSlice open = open_slices_.back();
  open_slices_.pop_back();
  cursor_ns_ += random_.Near(open.overhead_ns / 2) + 1;
  Event& event =
      (open.category == Category::kPythonFunction ? events_.python : events_.host)[open.index];
  event.dur_ns = cursor_ns_ - event.ts_ns;
  cursor_ns_ += 50 + random_.Below(400);
}

void RankSimulator::Launch(uint32_t kernel_index) {
  const Kernel& kernel = program_.kernels[kernel_index];
  int64_t call_ns = random_.Near(kLaunchCallNs);
  // A launch blocks while the device's queue is full, which is what keeps the host from running
  // ahead for ever.
  int64_t& oldest_start_ns = queued_start_ns_[queued_++ % kLaunchQueueDepth];
  call_ns = std::max(call_ns, oldest_start_ns - cursor_ns_);
  RecordCall(kernel.launched_by_driver ? Call::kDriverLaunchKernel : Call::kLaunchKernel, call_ns);
  RunOnDevice(Category::kKernel, kernel.name, kernel_index,
              random_.Near(kernel.typical_ns) * kernel_scale_1024_ / 1024, 0);
  oldest_start_ns = events_.activities.back().ts_ns;
}

void RankSimulator::RunCollective(uint32_t index) {
  const Collective& collective = program_.collectives[index];
  RecordCall(Call::kEventRecord, random_.Near(1'100));
  const Event* call = RecordCall(Call::kLaunchCollective, random_.Near(7'200));
  OpenCollective open;
  open.collective = index;
  open.correlation = call->correlation;
  open.external_id = call->external_id;
  open.sequence = next_group_sequence_[static_cast<size_t>(collective.group)]++;
  open.ready_ns = std::max(cursor_ns_ + random_.Near(kLaunchLatencyNs), compute_free_ns_);
  open_collectives_.push_back(open);
}

void RankSimulator::ReadScalar() {
  RecordCall(Call::kMemcpyAsync, random_.Near(5'800));
  RunOnDevice(Category::kGpuMemcpy, copy_to_host_name_, 0, random_.Near(1'100), 4);
  const int64_t wait_ns = std::max<int64_t>(compute_free_ns_ - cursor_ns_, 0) + random_.Near(2'000);
  RecordCall(Call::kStreamSynchronize, wait_ns);
}

void RankSimulator::Allocate(int64_t address, int64_t size_bytes) {
  allocated_bytes_ += size_bytes;
  reserved_bytes_ = std::max(reserved_bytes_, RoundUp(allocated_bytes_, kReservedBlockBytes));
  Event event;
  event.category = Category::kMemory;
  event.lane = lane_;
  event.name = memory_name_;
  event.ts_ns = cursor_ns_;
  event.bytes = size_bytes;
  event.address = address;
  event.total_allocated_bytes = allocated_bytes_;
  event.total_reserved_bytes = reserved_bytes_;
  events_.memory.push_back(event);
  cursor_ns_ += random_.Near(700);
}

Event* RankSimulator::RecordCall(Call call, int64_t dur_ns) {
  const RuntimeCall& description = GetRuntimeCall(call);
  Event event;
  event.category = description.category;
  event.lane = lane_;
  event.flow = description.flow;
  event.name = call_names_[static_cast<size_t>(call)];
  event.site = static_cast<uint32_t>(call);
  event.ts_ns = cursor_ns_;
  event.dur_ns = dur_ns;
  event.external_id = InnermostOperator();
  event.correlation = next_correlation_;
  next_correlation_ += 1 + random_.Below(20);
  cursor_ns_ += dur_ns + 150 + random_.Below(300);
  events_.activities.push_back(event);
  return &events_.activities.back();
}

// Runs on the compute stream what the last call asked for.
void RankSimulator::RunOnDevice(Category category, NameId name, uint32_t site, int64_t dur_ns,
                                int64_t size_bytes) {
  const Event& call = events_.activities.back();
  Event event;
  event.category = category;
  event.lane = Lane::kComputeStream;
  event.flow = Flow::kLaunchEnd;
  event.name = name;
  event.site = site;
  event.ts_ns = std::max(call.ts_ns + call.dur_ns + random_.Near(kLaunchLatencyNs),
                         compute_free_ns_ + random_.Near(kGapBetweenKernelsNs));
  event.dur_ns = dur_ns;
  event.external_id = call.external_id;
  event.correlation = call.correlation;
  event.bytes = size_bytes;
  compute_free_ns_ = event.ts_ns + dur_ns;
  if (first_device_start_ns_ < 0) first_device_start_ns_ = event.ts_ns;
  events_.activities.push_back(event);
}

// Kineto shows a host annotation on the stream it launched work on, one nanosecond wider on each
// side.
void RankSimulator::ProjectOnDevice(NameId name, int64_t external_id, DeviceSpan span) {
  if (span.start_ns < 0) return;
  Event event;
  event.category = Category::kGpuUserAnnotation;
  event.lane = Lane::kComputeStream;
  event.name = name;
  event.ts_ns = span.start_ns - 1;
  event.dur_ns = span.end_ns - span.start_ns + 2;
  event.external_id = external_id;
  events_.activities.push_back(event);
}

int64_t RankSimulator::InnermostOperator() const {
  for (size_t i = open_slices_.size(); i-- > 0;) {
    if (open_slices_[i].category == Category::kCpuOp) return open_slices_[i].external_id;
  }
  return 0;
}

}  // namespace stepscope::generate
