#include "store/schema.h"

namespace stepscope {
namespace {

using enum Type;
using enum Origin;

constexpr Column kRanksColumns[] = {
    {"rank", kInt64, kStored, "rank number in the job"},
    {"window", kInt64, kStored,
     "number of the recording window, when a rank was recorded several times"},
    {"host", kText, kStored, "host name"},
    {"pid", kInt64, kStored, "process id"},
    {"device_kind", kText, kStored, "NVIDIA GPU, AMD GPU, Ascend NPU, MTIA, CPU ..."},
    {"device_name", kText, kStored, "name of the device as the input gives it"},
    {"device_count", kInt64, kStored, "devices with work in this rank's input"},
    {"world_size", kInt64, kStored, "ranks in the job"},
    {"parallel", kText, kStored, "parallel coordinates and groups, JSON"},
    {"source_format", kText, kStored, "importer that read it: kineto, ascend_text, ..."},
    {"source_path", kText, kStored, "file or folder that was read"},
    {"other_forms", kText, kStored, "forms of the same rank that were not read, JSON list"},
    {"versions", kText, kStored, "versions and settings found in the input, JSON"},
    {"rank_inferred", kBool, kStored, "the input did not say its rank"},
    {"clock_base_ns", kInt64, kStored,
     "unix ns that the input's times count from; 0 when they are absolute"},
    {"first_ns", kInt64, kStored, "earliest start"},
    {"last_ns", kInt64, kStored, "latest end"},
};

constexpr Column kTracksColumns[] = {
    {"track", kInt64, kRow, "id of the lane"},
    {"rank", kInt64, Origin::kRank, "rank"},
    {"process", kText, kStored, "process name"},
    {"thread", kText, kStored, "thread, stream or plane name"},
    {"kind", kText, kStored,
     "host, device, communication, python, counter, async, analysis, other"},
    {"device", kInt64, kStored, "device number, NULL on the host"},
    {"stream", kInt64, kStored, "stream number, NULL on the host"},
    {"pid", kText, kStored, "process id as the input writes it"},
    {"tid", kText, kStored, "thread id as the input writes it"},
    {"slices", kInt64, kStored, "number of slices"},
    {"depth", kInt64, kStored, "number of rows needed to draw it without overlap"},
};

constexpr Column kSlicesColumns[] = {
    {"id", kInt64, kRow, "id of the slice"},
    {"rank", kInt64, Origin::kRank, "rank"},
    {"track", kInt64, Origin::kTrack, "lane it is on"},
    {"ts", kInt64, kStored, "start, unix ns"},
    {"dur", kInt64, kStored, "length, ns; 0 for instants"},
    {"name", kText, kStored, "name"},
    {"cat", kText, kStored, "the source's own category word"},
    {"depth", kInt64, kStored, "row inside the track; slices of one row never overlap"},
    {"parent", kInt64, kSlice, "innermost slice of the track that contains it"},
    {"step", kInt64, kStored, "number of the training step it belongs to"},
    {"correlation", kInt64, kStored,
     "id shared by a launching call and the device work it launched"},
    {"external_id", kInt64, kStored, "id shared by an operator and the device work it caused"},
    {"flags", kInt64, kStored, "quality flags, see below"},
    {"args", kText, kArgs,
     "what the input says beside the columns here, as it writes it: the args of an event, JSON"},
};

constexpr Column kKernelsColumns[] = {
    {"id", kInt64, kSlice, "the kernel's row in slices"},
    {"rank", kInt64, Origin::kRank, "rank"},
    {"track", kInt64, kViaSlice, "lane it ran on"},
    {"ts", kInt64, kViaSlice, "start, unix ns"},
    {"dur", kInt64, kViaSlice, "length, ns"},
    {"name", kText, kViaSlice, "name"},
    {"cat", kText, kViaSlice, "the source's own category word"},
    {"step", kInt64, kViaSlice, "step of the launch, or by time when the launch is unknown"},
    {"correlation", kInt64, kViaSlice, "id shared with the launching call"},
    {"flags", kInt64, kViaSlice, "quality flags"},
    {"device", kInt64, kStored, "device number"},
    {"stream", kInt64, kStored, "stream number"},
    {"class", kText, kStored, "compute, communication or memory"},
    {"type", kText, kStored, "CUDA, MEMCPY, MEMSET, AI_CORE, AI_CPU, HCCL ..."},
    {"op_type", kText, kStored, "operator type (MatMulV2 ...) where the source gives it"},
    {"launch", kInt64, kSlice, "the call that launched it"},
    {"op", kInt64, kSlice, "the operator that caused it"},
    {"queue_delay", kInt64, kStored, "start minus start of the launching call, ns"},
    {"wait", kInt64, kStored, "gap to the task before it as the source reports it, ns"},
    {"input_shapes", kText, kStored, "shapes of the inputs"},
    {"input_types", kText, kStored, "data types of the inputs"},
    {"output_shapes", kText, kStored, "shapes of the outputs"},
    {"grid", kText, kStored, "launch grid"},
    {"block", kText, kStored, "launch block"},
    {"registers", kInt64, kStored, "registers per thread"},
    {"shared_memory", kInt64, kStored, "shared memory, bytes"},
    {"occupancy", kInt64, kStored, "estimated achieved occupancy, percent"},
    {"bytes", kInt64, kStored, "bytes moved by a copy or set"},
    {"counters", kText, kStored, "hardware counters, JSON"},
};

constexpr Column kOpsColumns[] = {
    {"id", kInt64, kSlice, "the operator's row in slices"},
    {"rank", kInt64, Origin::kRank, "rank"},
    {"track", kInt64, kViaSlice, "lane it ran on"},
    {"ts", kInt64, kViaSlice, "start, unix ns"},
    {"dur", kInt64, kViaSlice, "length, ns"},
    {"name", kText, kViaSlice, "name"},
    {"cat", kText, kViaSlice, "the source's own category word"},
    {"step", kInt64, kViaSlice, "step it started in"},
    {"parent", kInt64, kViaSlice, "slice it is nested in"},
    {"external_id", kInt64, kViaSlice, "id shared with the device work it caused"},
    {"type", kText, kStored, "operator type where it differs from the name"},
    {"input_shapes", kText, kStored, "shapes of the inputs"},
    {"input_types", kText, kStored, "data types of the inputs"},
    {"sequence", kInt64, kStored, "autograd sequence number"},
    {"forward_thread", kInt64, kStored, "thread of the forward operator, for backward operators"},
    {"stack", kText, kStored, "call stack"},
    {"module", kText, kStored, "module or scope path"},
};

constexpr Column kCommunicationsColumns[] = {
    {"id", kInt64, kSlice, "the operation's row in slices"},
    {"rank", kInt64, Origin::kRank, "rank"},
    {"track", kInt64, kViaSlice, "lane it ran on"},
    {"ts", kInt64, kViaSlice, "start, unix ns"},
    {"dur", kInt64, kViaSlice, "length, ns"},
    {"name", kText, kViaSlice, "name"},
    {"step", kInt64, kViaSlice, "step it belongs to"},
    {"level", kText, kStored,
     "op (a whole collective), task (one transfer or wait of it), host (the call)"},
    {"op", kText, kStored, "all_reduce, all_gather, send ... as the source names it"},
    {"group", kText, kStored, "process group"},
    {"group_size", kInt64, kStored, "ranks in the group"},
    {"sequence", kInt64, kStored, "number of the operation in its group"},
    {"bytes", kInt64, kStored, "bytes"},
    {"elements", kInt64, kStored, "elements"},
    {"data_type", kText, kStored, "element type"},
    {"algorithm", kText, kStored, "algorithm or task type"},
    {"src_rank", kInt64, kStored, "sending rank"},
    {"dst_rank", kInt64, kStored, "receiving rank"},
    {"transport", kText, kStored, "SDMA, RDMA, LOCAL ..."},
    {"link", kText, kStored, "HCCS, PCIE, ROCE, NVLINK ..."},
    {"bandwidth", kFloat64, kStored, "GB/s as the source reports it"},
    {"wait", kInt64, kStored, "time spent waiting for peers, ns"},
    {"transit", kInt64, kStored, "time spent moving data, ns"},
    {"of", kInt64, kSlice, "the collective a task belongs to"},
};

constexpr Column kStepsColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"step", kInt64, kStored, "step number"},
    {"ts", kInt64, kStored, "start, unix ns"},
    {"dur", kInt64, kStored, "length, ns"},
    {"slice", kInt64, kSlice, "the mark's row in slices, when there is one"},
    {"source", kText, kStored, "marked (by the program), file (a table of the input), inferred"},
    {"complete", kBool, kStored, "false when the recording window cut it"},
};

constexpr Column kFlowsColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"from_slice", kInt64, kSlice, "where the arrow starts"},
    {"to_slice", kInt64, kSlice, "where it ends"},
    {"kind", kText, kStored, "the source's word: ac2g, fwdbwd, async_npu, HostToDevice ..."},
};

constexpr Column kCountersColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"track", kInt64, Origin::kTrack, "counter lane; its thread name is the counter's name"},
    {"ts", kInt64, kStored, "time, unix ns"},
    {"value", kFloat64, kStored, "value"},
};

constexpr Column kMemoryColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"ts", kInt64, kStored, "time, unix ns; NULL: planned in this order, without a time"},
    {"device_kind", kText, kStored, "CPU, CUDA, NPU ..."},
    {"device", kInt64, kStored, "device number, -1 for the host"},
    {"component", kText, kStored, "allocator: PTA, GE, APP, caching allocator ..."},
    {"name", kText, kStored, "operator or tensor"},
    {"address", kInt64, kStored, "address"},
    {"bytes", kInt64, kStored,
     "positive: allocation, negative: release, NULL: a sample of the totals"},
    {"total_allocated", kInt64, kStored, "bytes allocated after this event"},
    {"total_reserved", kInt64, kStored, "bytes reserved after this event"},
    {"total_active", kInt64, kStored, "bytes active after this event"},
    {"duration", kInt64, kStored, "lifetime of the allocation, ns"},
    {"slice", kInt64, kSlice, "innermost operator, module or named range during which it happened"},
};

constexpr Column kQueuesColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"stage", kText, kStored, "stage that fills the queue, or the queue's own name"},
    {"ts", kInt64, kStored, "time, unix ns"},
    {"batch", kInt64, kStored, "batch or step number; NULL: a sample of the size"},
    {"size", kInt64, kStored, "elements in the queue, before the batch was taken or put"},
    {"capacity", kInt64, kStored, "capacity of the queue; NULL: it has none, or it is not known"},
    {"push", kInt64, kStored, "time to push the batch, ns"},
    {"fetch", kInt64, kStored, "time to get the batch, ns"},
};

constexpr Column kStagesColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"stage", kText, kStored,
     "name, as in queues; its times are slices of this name, its workers' processor use and ranges "
     "are on tracks whose process has this name"},
    {"kind", kText, kStored, "what it does, in the source's word"},
    {"workers", kInt64, kStored, "threads or processes that work for it"},
    {"capacity", kInt64, kStored, "capacity of the queue that it fills"},
    {"consumer", kText, kStored, "stage that takes from it; NULL: the training loop"},
    {"position", kInt64, kStored, "stages between it and the training loop"},
};

constexpr Column kQualityColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"code", kText, kStored, "name of the condition"},
    {"severity", kText, kStored, "loss (data is missing), suspect (data is doubtful), note"},
    {"count", kInt64, kStored, "how many"},
    {"example", kText, kStored, "first places"},
    {"meaning", kText, kStored, "what it means"},
    {"excluded", kBool, kStored, "totals leave these events out"},
};

constexpr Column kSourcesColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"path", kText, kStored, "file"},
    {"bytes", kInt64, kStored, "size"},
    {"modified_ns", kInt64, kStored, "modification time, unix ns"},
    {"role", kText, kStored, "what was read from it; ignored when nothing was"},
    {"rows", kInt64, kStored, "events or rows read"},
};

constexpr Column kTotalsByNameColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"cat", kText, kStored, "category"},
    {"name", kText, kStored, "name"},
    {"count", kInt64, kStored, "slices"},
    {"total", kInt64, kStored, "sum of lengths, ns"},
    {"min", kInt64, kStored, "shortest, ns"},
    {"max", kInt64, kStored, "longest, ns"},
};

constexpr Column kTotalsByStepColumns[] = {
    {"rank", kInt64, Origin::kRank, "rank"},
    {"step", kInt64, kStored, "step, NULL outside steps"},
    {"cat", kText, kStored, "category"},
    {"count", kInt64, kStored, "slices"},
    {"total", kInt64, kStored, "sum of lengths, ns"},
};

constexpr TableSpec kTables[kTableCount] = {
    {"ranks", "One row per rank of the run.", kRanksColumns},
    {"tracks", "Lanes: a thread, a stream, a plane, a counter.", kTracksColumns},
    {"slices", "Everything with a start and a length.", kSlicesColumns},
    {"kernels", "Work on a device: kernels, copies, sets, communication.", kKernelsColumns},
    {"ops", "Framework operators on the host.", kOpsColumns},
    {"communications", "Collectives and transfers, on the device and the host.",
     kCommunicationsColumns},
    {"steps", "Training steps.", kStepsColumns},
    {"flows", "Arrows between slices.", kFlowsColumns},
    {"counters", "Samples over time.", kCountersColumns},
    {"memory", "Allocations, releases and totals.", kMemoryColumns},
    {"queues", "Data-pipeline queues.", kQueuesColumns},
    {"stages", "Stages of the data pipeline.", kStagesColumns},
    {"quality", "The data-quality report.", kQualityColumns},
    {"sources", "Files that were read.", kSourcesColumns},
    {"totals_by_name", "Per category and name, computed at import without impossible events.",
     kTotalsByNameColumns},
    {"totals_by_step", "Per step and category, computed at import without impossible events.",
     kTotalsByStepColumns},
};

}  // namespace

std::span<const TableSpec, kTableCount> tables() { return kTables; }

size_t find_table(std::string_view name) {
  for (size_t i = 0; i < kTableCount; ++i) {
    if (kTables[i].name == name) return i;
  }
  return kTableCount;
}

size_t find_column(const TableSpec& table, std::string_view name) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  return table.columns.size();
}

}  // namespace stepscope
