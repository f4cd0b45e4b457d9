#include "analyses/pipeline/pipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyses/common/all_ranks.h"
#include "analyses/common/bounded_math.h"
#include "analyses/pipeline/bottleneck.h"
#include "analyses/pipeline/verdict.h"
#include "base/intervals.h"

namespace stepscope {
namespace {

// MindSpore's own analysis of a pipeline never blames these, which do no work of their own.
constexpr std::array<std::string_view, 9> kIdleTypes = {
    "Barrier", "Concat", "EpochCtrl", "Rename", "Repeat", "Shuffle", "Skip", "Take", "Zip"};
constexpr double kLowLeafUsage = 0.5;
constexpr double kUsageGap = 0.5;
constexpr double kStarvedDeviceQueue = 0.6;

std::string_view plain_type(std::string_view op_type) {
  if (op_type.ends_with("Op")) op_type.remove_suffix(2);
  return op_type;
}

std::string list_text(const std::vector<int64_t>& ids) {
  std::string text = "[";
  for (const int64_t id : ids) text += (text.size() > 1 ? ", " : "") + std::to_string(id);
  return text + "]";
}

std::vector<QueueNode> nodes_of(const PipelineStages& stages) {
  std::map<int64_t, size_t> place;
  for (size_t i = 0; i < stages.operators; ++i) place[stages.stages[i].op_id] = i;
  std::vector<QueueNode> nodes;
  for (size_t i = 0; i < stages.operators; ++i) {
    const Stage& stage = stages.stages[i];
    QueueNode node;
    const double usage = stage.queue.usage();
    node.has_queue = !std::isnan(usage);
    node.usage = node.has_queue ? usage : 0;
    for (const int64_t input : stage.inputs) {
      const auto known = place.find(input);
      if (known != place.end()) node.children.push_back(known->second);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// Slow operators of the pipeline that ends in `root`: a program may have several.
std::vector<size_t> slow_operators_below(const PipelineStages& stages,
                                         const std::vector<QueueNode>& nodes, size_t root) {
  std::vector<size_t> places = {root};
  for (size_t next = 0; next < places.size() && places.size() <= nodes.size(); ++next)
    places.insert(places.end(), nodes[places[next]].children.begin(),
                  nodes[places[next]].children.end());
  std::map<size_t, size_t> local;
  for (size_t i = 0; i < places.size(); ++i) local.try_emplace(places[i], i);
  std::vector<QueueNode> tree;
  bool sampled = false;  // without a sample nothing can be said of any queue
  for (const size_t place : places) {
    QueueNode node = nodes[place];
    for (size_t& child : node.children) child = local.at(child);
    tree.push_back(std::move(node));
    sampled = sampled || stages.stages[place].queue.samples > 0;
  }
  std::vector<size_t> slow;
  if (!sampled) return slow;
  for (const size_t place : bottleneck_operators(tree)) slow.push_back(places[place]);
  return slow;
}

void advise(std::string& advice, std::string_view what) {
  if (what.empty()) return;
  if (!advice.empty()) advice += "; ";
  advice += what;
}

// The rules of MindSpore's offline analysis (minddata_pipeline_summary), beside MindInsight's.
std::string queue_advice(const PipelineStages& stages, const std::vector<QueueNode>& nodes,
                         size_t i) {
  const std::string_view type = plain_type(stages.stages[i].op_type);
  const QueueNode& node = nodes[i];
  std::string advice;
  if (type == "DeviceQueue" || type == "DataQueue") {
    for (const size_t child : node.children) {
      const QueueUse& queue = stages.stages[child].queue;
      if (static_cast<double>(queue.empty) >
          kStarvedDeviceQueue * static_cast<double>(queue.samples)) {
        advise(advice, "its input is mostly empty: the host cannot keep up with the device");
      }
    }
    return advice;
  }
  if (type == "Batch" || std::ranges::find(kIdleTypes, type) != kIdleTypes.end()) return advice;
  if (node.children.empty() && node.has_queue && node.usage < kLowLeafUsage)
    advise(advice, "its queue is mostly empty: raise num_parallel_workers");
  for (const size_t child : node.children) {
    if (nodes[child].usage - node.usage > kUsageGap) {
      advise(advice, "it is slower than " + stages.stages[child].name +
                         ": raise num_parallel_workers or prefetch_size");
    }
  }
  return advice;
}

PipelineStageRow stage_row(const RankId& rank, const Stage& stage) {
  PipelineStageRow row;
  row.rank = rank.rank;
  row.window = rank.window;
  row.stage = stage.name;
  row.role = stage_role_name(stage.role);
  row.op_id = stage.op_id;
  row.op_type = stage.op_type;
  row.workers = stage.workers;
  row.parent_id = stage.parent;
  row.children = list_text(stage.inputs);
  row.capacity = stage.queue.capacity;
  row.samples = stage.queue.samples;
  row.size_sum = stage.queue.size_sum;
  row.mean_size = stage.queue.mean();
  row.usage = stage.queue.usage();
  row.empty_samples = stage.queue.empty;
  row.full_samples = stage.queue.full;
  return row;
}

void add_time(int64_t& sum, int64_t time_ns) {
  if (time_ns == kNull) return;
  sum = bounded_plus(sum == kNull ? 0 : sum, time_ns);
}

std::vector<PipelineStageRow> stage_rows(const RankId& rank, const PipelineStages& stages,
                                         const std::vector<QueueNode>& nodes,
                                         const std::vector<size_t>& slow,
                                         const std::vector<CpuRow>& cpu) {
  std::vector<PipelineStageRow> rows;
  for (size_t i = 0; i < stages.stages.size(); ++i) {
    const Stage& stage = stages.stages[i];
    PipelineStageRow row = stage_row(rank, stage);
    if (i < stages.operators) {
      row.is_bottleneck = std::ranges::find(slow, i) != slow.end();
      row.queue_advice = queue_advice(stages, nodes, i);
      advise(row.advice, row.is_bottleneck ? suggestion_for(stage.op_type, stage.inputs.empty())
                                           : row.queue_advice);
      for (const CpuRow& use : cpu) {
        if (use.scope != cpu_scope_name(CpuScope::kOperator)) continue;
        if (use.id == kNull ? use.name != stage.name : use.id != stage.op_id) continue;
        row.cpu = use.busy;
        row.cpu_per_worker = stage.workers == kNull || stage.workers < 1
                                 ? PipelineRow::kNone
                                 : use.busy / static_cast<double>(stage.workers);
        advise(row.cpu_advice, use.advice);
        advise(row.advice, use.advice);
      }
    }
    rows.push_back(std::move(row));
  }
  for (const Batch& batch : stages.batches) {
    PipelineStageRow& row = rows[batch.stage];
    row.batches += batch.counted ? 1 : 0;
    add_time(row.fetch_ns, batch.fetch_ns);
    add_time(row.push_ns, batch.push_ns);
  }
  return rows;
}

std::vector<PipelineStepRow> step_rows(const RankId& rank, const PipelineStages& stages) {
  std::map<int64_t, PipelineStepRow> steps;
  const size_t host = host_queue_of(stages);
  const size_t data = stages.find(StageRole::kDataQueue);
  const size_t waits = wait_stage_of(stages);
  if (stages.batches_have_steps) {
    // Steps without a batch are rows too: their wait is 0.
    for (const StepRow& step : stages.steps) {
      PipelineStepRow& row = steps[step.step];
      add_time(row.step_ns, step.work_dur_ns);
      if (waits >= stages.stages.size()) continue;
      row.wait_ns = 0;
      row.exposed_wait_ns = 0;
    }
  }
  for (const Batch& batch : stages.batches) {
    if (batch.step == kNull || !batch.counted) continue;
    PipelineStepRow& row = steps[batch.step];
    ++row.batches;
    if (batch.stage == host && batch.size == 0) ++row.host_empty;
    if (batch.stage == host && batch.size != kNull && batch.size == batch.capacity) ++row.host_full;
    if (batch.stage == data && batch.size == 0) ++row.data_empty;
    if (batch.stage != waits) continue;
    if (row.step_ns != kNull) add_time(row.step_ns, batch.before_step_ns);
    add_time(row.wait_ns, batch.fetch_ns);
    add_time(row.exposed_wait_ns, batch.exposed_ns);
  }
  std::vector<PipelineStepRow> rows;
  for (auto& [number, row] : steps) {
    row.rank = rank.rank;
    row.window = rank.window;
    row.step = number;
    if (row.wait_ns != kNull && row.step_ns != kNull && row.step_ns > 0)
      row.wait_share = static_cast<double>(row.exposed_wait_ns) / static_cast<double>(row.step_ns);
    rows.push_back(row);
  }
  return rows;
}

// GetNext is itself work of the device, so its waits are exposed whole.
void expose_waits(const std::vector<DeviceIntervals>& devices, PipelineStages& stages) {
  std::vector<Interval> busy;
  for (const DeviceIntervals& device : devices) {
    if (device.device == kHostDevice) continue;
    busy = busy.empty() ? device.busy() : unite_intervals(busy, device.busy());
  }
  for (Batch& batch : stages.batches) {
    if (batch.fetch_ns == kNull) continue;
    batch.exposed_ns = batch.fetch_ns;
    const Stage& stage = stages.stages[batch.stage];
    if (stage.role == StageRole::kDataQueue) continue;
    const Interval wait = wait_of(stage, batch);
    const auto after_start = [&](const Interval& one) { return one.end_ns <= wait.start_ns; };
    auto at = std::partition_point(busy.begin(), busy.end(), after_start);
    for (; at != busy.end() && at->start_ns < wait.end_ns; ++at) {
      batch.exposed_ns -= std::min(at->end_ns, wait.end_ns) - std::max(at->start_ns, wait.start_ns);
    }
  }
}

}  // namespace

void PipelineResult::append(PipelineResult&& other) {
  append_rows(verdicts, std::move(other.verdicts));
  append_rows(stages, std::move(other.stages));
  append_rows(batches, std::move(other.batches));
  append_rows(steps, std::move(other.steps));
}

PipelineResult pipeline(const RankId& rank, PipelineStages stages, const std::vector<CpuRow>& cpu,
                        const std::vector<DeviceIntervals>& devices) {
  PipelineResult result;
  if (stages.stages.empty()) return result;
  expose_waits(devices, stages);
  const std::vector<QueueNode> nodes = nodes_of(stages);
  const size_t main_root = main_root_of(stages);
  std::vector<size_t> slow;
  std::vector<size_t> slow_in_main;
  for (size_t i = 0; i < stages.operators; ++i) {
    if (stages.stages[i].parent != kNull) continue;
    const auto found = slow_operators_below(stages, nodes, i);
    slow.insert(slow.end(), found.begin(), found.end());
    if (i == main_root) slow_in_main = found;
  }
  result.stages = stage_rows(rank, stages, nodes, slow, cpu);
  result.steps = step_rows(rank, stages);
  for (const Batch& batch : stages.batches)
    result.batches.push_back({rank.rank, rank.window, stages.stages[batch.stage].name, batch});
  PipelineRow verdict;
  verdict.rank = rank.rank;
  verdict.window = rank.window;
  judge(stages, slow_in_main, verdict);
  result.verdicts.push_back(std::move(verdict));
  return result;
}

}  // namespace stepscope
