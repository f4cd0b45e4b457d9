// The result tables by name: what the report, the server, Python and the files know them by.
#include <array>
#include <functional>

#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

// Makes a table; without a run its description alone.
struct NamedTable {
  std::string_view name;
  std::string_view doc;
  ResultTable (*make)(const NamedTable& self, RunAnalyses* run);
};

template <class Row>
ResultTable table_of(const NamedTable& self, std::span<const Field<Row>> fields,
                     const std::vector<Row>* rows) {
  static const std::vector<Row> kNone;
  return make_table<Row>(self.name, self.doc, rows == nullptr ? kNone : *rows, fields);
}

template <class Row>
Row row_of(const Field<Row>&);

// `Rows` takes a run to the table's rows.
template <const auto& Fields, auto Rows>
constexpr NamedTable named(std::string_view name, std::string_view doc) {
  using Row = decltype(row_of(Fields[0]));
  return {name, doc, [](const NamedTable& self, RunAnalyses* run) {
            return table_of<Row>(self, Fields, run == nullptr ? nullptr : &Rows(*run));
          }};
}

constexpr NamedTable kTables[] = {
    named<kFindingFields, [](RunAnalyses& run) -> const auto& { return run.findings(); }>(
        "findings", "What makes steps longer than they need to be, most to gain first."),
    named<kCollectiveFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().collectives; }>(
        "communication_collectives", "Operations that several recorded ranks took part in."),
    named<kCommunicationGroupFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().groups; }>(
        "communication_groups", "Communication by process group and kind."),
    named<kCommunicationLinkFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().links; }>(
        "communication_links", "What went over each link, per rank and step."),
    named<kCommunicationMatrixFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().matrix; }>(
        "communication_matrix", "Links of the whole job beside each other."),
    named<kCommunicationOperatorFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().operators; }>(
        "communication_operators", "Every communication operator."),
    named<kPeerWaitFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().peer_waits; }>(
        "communication_peer_waits", "How long each operator waited for each peer."),
    named<kCommunicationStepFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().steps; }>(
        "communication_steps", "Communication by step."),
    named<kCriticalPathFields, [](RunAnalyses& run) -> const auto& { return run.critical_path(); }>(
        "critical_path", "What the length of a step consists of."),
    named<kPathSegmentFields,
          [](RunAnalyses& run) -> const auto& { return run.critical_path_segments(); }>(
        "critical_path_segments", "The critical path of a step, piece by piece."),
    named<kIdleFields, [](RunAnalyses& run) -> const auto& { return run.idle(); }>(
        "idle", "Why devices and streams are idle."),
    named<kCopyFields, [](RunAnalyses& run) -> const auto& { return run.kernels().copies; }>(
        "copies", "Copies and sets by kind."),
    named<kCpuFields, [](RunAnalyses& run) -> const auto& { return run.cpu(); }>(
        "cpu", "Processor use of the machine, the process and its parts."),
    named<kCpuSampleFields, [](RunAnalyses& run) -> const auto& { return run.cpu_samples(); }>(
        "cpu_samples", "Processor use over time."),
    named<kDeviceTimeFields, [](RunAnalyses& run) -> const auto& { return run.device_time(); }>(
        "device_time", "Where the time of each device went."),
    named<kDeviceUseFields, [](RunAnalyses& run) -> const auto& { return run.kernels().devices; }>(
        "device_use", "How well the kernels of each device use it."),
    named<kFlopFields, [](RunAnalyses& run) -> const auto& { return run.flops().operators; }>(
        "flops", "FLOPs, rates and roofline of operators."),
    named<kFlopScopeFields, [](RunAnalyses& run) -> const auto& { return run.flops().scopes; }>(
        "flops_scopes", "FLOPs in the tree of modules or scopes."),
    named<kFlopStepFields, [](RunAnalyses& run) -> const auto& { return run.flops().steps; }>(
        "flops_steps", "FLOPs and model FLOPs utilisation of steps."),
    named<kFlopSummaryFields,
          [](RunAnalyses& run) -> const auto& { return run.flops().summaries; }>(
        "flops_summary", "FLOPs of the model and how well the device is used."),
    named<kKernelVariantFields,
          [](RunAnalyses& run) -> const auto& { return run.kernels().variants; }>(
        "kernel_variants", "Device work by name, operator and launch configuration."),
    named<kKernelFields, [](RunAnalyses& run) -> const auto& { return run.kernels().kernels; }>(
        "kernels", "Device work by name."),
    named<kLateRankFields,
          [](RunAnalyses& run) -> const auto& { return run.communication().late_ranks; }>(
        "late_ranks", "Ranks that others wait for."),
    named<kLaunchFields, [](RunAnalyses& run) -> const auto& { return run.kernels().launches; }>(
        "launches", "Launches and queues of each stream."),
    named<kMemoryFields, [](RunAnalyses& run) -> const auto& { return run.memory().overview; }>(
        "memory", "Memory pools of the devices: totals, peaks, reserve, growth."),
    named<kMemoryPointFields, [](RunAnalyses& run) -> const auto& { return run.memory_curve(); }>(
        "memory_curve", "Memory over time and over the order of execution."),
    named<kMemoryLeakFields, [](RunAnalyses& run) -> const auto& { return run.memory().leaks; }>(
        "memory_leaks", "Operators whose blocks pile up from step to step."),
    named<kMemoryOperatorFields,
          [](RunAnalyses& run) -> const auto& { return run.memory_operators(); }>(
        "memory_operators", "Allocations by operator."),
    named<kMemoryOwnerFields, [](RunAnalyses& run) -> const auto& { return run.memory().owners; }>(
        "memory_owners", "The largest blocks at each pool's peak."),
    named<kMemoryOwnerFields, [](RunAnalyses& run) -> const auto& { return run.memory().peak; }>(
        "memory_peak", "Who holds each pool's peak, by operator and module."),
    named<kMemoryStepFields, [](RunAnalyses& run) -> const auto& { return run.memory().steps; }>(
        "memory_steps", "Memory by step."),
    named<kModuleFields, [](RunAnalyses& run) -> const auto& { return run.modules(); }>(
        "modules", "The tree of PyTorch modules: time on the host and work on devices."),
    named<kOperatorShapeFields,
          [](RunAnalyses& run) -> const auto& { return run.operators().shapes; }>(
        "operator_shapes", "Operators by the shapes and types of their inputs."),
    named<kOperatorStepFields,
          [](RunAnalyses& run) -> const auto& { return run.operators().steps; }>(
        "operator_steps", "The largest operators and kernels of each category, step by step."),
    named<kOperatorTypeFields,
          [](RunAnalyses& run) -> const auto& { return run.operators().types; }>(
        "operator_types", "Operators and kernels by type."),
    named<kOperatorFields,
          [](RunAnalyses& run) -> const auto& { return run.operators().operators; }>(
        "operators", "Operators of the host, and of devices that run operators."),
    named<kOverlapFields, [](RunAnalyses& run) -> const auto& { return run.overlap(); }>(
        "overlap", "What overlaps on each device, as totals of merged intervals."),
    named<kPipelineFields, [](RunAnalyses& run) -> const auto& { return run.pipeline().verdicts; }>(
        "pipeline", "Whether data preparation holds the training up, and where."),
    named<kPipelineBatchFields,
          [](RunAnalyses& run) -> const auto& { return run.pipeline().batches; }>(
        "pipeline_batches", "Batches as they went through the queues."),
    named<kPipelineStageFields,
          [](RunAnalyses& run) -> const auto& { return run.pipeline().stages; }>(
        "pipeline_stages", "Stages of data preparation and their queues."),
    named<kPipelineStepFields,
          [](RunAnalyses& run) -> const auto& { return run.pipeline().steps; }>(
        "pipeline_steps", "Waiting for data and empty queues, by step."),
    named<kQualityFields, [](RunAnalyses& run) -> const auto& { return run.quality(); }>(
        "quality", "What was lost, cut or doubtful, and what recording cost."),
    named<kRankComparisonFields,
          [](RunAnalyses& run) -> const auto& { return run.rank_comparison(); }>(
        "rank_comparison", "Ranks beside each other."),
    named<kStepBudgetFields, [](RunAnalyses& run) -> const auto& { return run.step_budget(); }>(
        "step_budget", "Where each step of a device went, and why it stood still."),
    named<kStepCategoryFields,
          [](RunAnalyses& run) -> const auto& { return run.step_categories(); }>(
        "step_categories", "Each step by the most important event at every moment."),
    named<kStepReduceFields, [](RunAnalyses& run) -> const auto& { return run.step_reduces(); }>(
        "step_reduces", "Collectives of each step, by stream."),
    named<kStepTimeFields, [](RunAnalyses& run) -> const auto& { return run.step_times(); }>(
        "step_times", "Where the time of each step went on each device."),
    named<kStepTraceFields, [](RunAnalyses& run) -> const auto& { return run.step_trace(); }>(
        "step_trace",
        "Each step as step interval, forward and backward, and tail; and their average."),
    named<kStepFields, [](RunAnalyses& run) -> const auto& { return run.steps(); }>(
        "steps", "Training steps, marked or inferred."),
    named<kTimelineFields, [](RunAnalyses& run) -> const auto& { return run.timeline(); }>(
        "timeline", "Lanes of the timeline."),
};

}  // namespace

std::vector<ResultTable> RunAnalyses::descriptions() {
  std::vector<ResultTable> tables;
  for (const NamedTable& table : kTables) tables.push_back(table.make(table, nullptr));
  return tables;
}

Result<ResultTable> RunAnalyses::table(std::string_view name) {
  for (const NamedTable& table : kTables) {
    if (table.name == name) return table.make(table, this);
  }
  std::string known;
  for (const NamedTable& table : kTables)
    known += (known.empty() ? "" : ", ") + std::string(table.name);
  return Error{ErrorCode::kNotFound, "no analysis named \"" + std::string(name) + "\"", "", "",
               "there are: " + known};
}

}  // namespace stepscope
