#include "analyses/pipeline/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/pipeline/bottleneck.h"

namespace stepscope {
namespace {

constexpr std::string_view kNormal = "normal";
constexpr std::string_view kWarning = "warning";

struct QueueCount {
  int64_t total = 0;
  int64_t empty = 0;
  int64_t full = 0;
  bool known() const { return total > 0; }
  bool often_empty() const {
    return static_cast<double>(empty) > kEmptyShare * static_cast<double>(total);
  }
};

QueueCount count_batches(const PipelineStages& stages, size_t stage) {
  QueueCount count;
  for (const Batch& batch : stages.batches) {
    if (batch.stage != stage || batch.size == kNull || !batch.counted) continue;
    ++count.total;
    if (batch.size == 0) ++count.empty;
    if (batch.size == batch.capacity) ++count.full;
  }
  if (count.known() || stage >= stages.stages.size()) return count;
  const QueueUse& queue = stages.stages[stage].queue;  // sampled in time only
  return {queue.samples, queue.empty, queue.full};
}

double mean_of(const PipelineStages& stages, size_t stage, int64_t Batch::* time, int64_t divisor) {
  int64_t sum = 0;
  int64_t count = 0;
  for (const Batch& batch : stages.batches) {
    if (batch.stage != stage || batch.*time == kNull) continue;
    sum = bounded_plus(sum, batch.*time);
    ++count;
  }
  if (divisor > 0) count = divisor;
  return count == 0 ? PipelineRow::kNone : static_cast<double>(sum) / static_cast<double>(count);
}

void take_times(const PipelineStages& stages, size_t host, size_t data, PipelineRow& row) {
  // MindInsight divides all three by the number of records of the whole batch.
  const int64_t totals = std::ranges::count_if(stages.batches, [&](const Batch& batch) {
    return batch.stage == host && batch.total_ns != kNull;
  });
  row.mean_get_ns = mean_of(stages, host, &Batch::fetch_ns, totals);
  row.mean_push_ns = mean_of(stages, host, &Batch::push_ns, totals);
  row.mean_batch_ns = mean_of(stages, host, &Batch::total_ns, totals);
  row.mean_get_next_ns = mean_of(stages, data, &Batch::fetch_ns, 0);
}

// Time from the first batch to the last, for recordings without steps.
int64_t span_of(const PipelineStages& stages, size_t stage) {
  const bool at_start = stamped_at_start(stages.stages[stage]);
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  for (const Batch& batch : stages.batches) {
    if (batch.stage != stage || batch.ts_ns == 0) continue;
    const int64_t fetch_ns = batch.fetch_ns == kNull ? 0 : batch.fetch_ns;
    first_ns = std::min(first_ns, at_start ? batch.ts_ns : bounded_minus(batch.ts_ns, fetch_ns));
    last_ns = std::max(last_ns, at_start ? bounded_plus(batch.ts_ns, fetch_ns) : batch.ts_ns);
  }
  return last_ns > first_ns ? bounded_minus(last_ns, first_ns) : 0;
}

bool has_waits(const PipelineStages& stages, size_t stage) {
  return stage < stages.stages.size() &&
         std::ranges::any_of(
             stages.batches,
             [&](const Batch& batch) { return batch.stage == stage && batch.fetch_ns != kNull; });
}

// The steps that waiting is measured in: those that averages are made of.
std::set<int64_t> averaged_steps(const PipelineStages& stages) {
  std::set<int64_t> numbers;
  for (const StepRow& step : stages.steps) {
    if (step.averaged) numbers.insert(step.step);
  }
  return numbers;
}

void measure_wait(const PipelineStages& stages, PipelineRow& row) {
  const size_t stage = wait_stage_of(stages);
  if (stage >= stages.stages.size()) return;
  const std::set<int64_t> averaged = averaged_steps(stages);
  const bool in_steps =
      stages.batches_have_steps && std::ranges::any_of(stages.batches, [&](auto& b) {
        return b.stage == stage && averaged.contains(b.step);
      });
  row.wait_source = stages.stages[stage].name;
  row.wait_ns = 0;
  row.exposed_wait_ns = 0;
  int64_t step_ns = 0;
  for (const Batch& batch : stages.batches) {
    if (batch.stage != stage || batch.fetch_ns == kNull) continue;
    if (in_steps && !averaged.contains(batch.step)) continue;
    ++row.waits;
    row.wait_ns = bounded_plus(row.wait_ns, batch.fetch_ns);
    row.exposed_wait_ns = bounded_plus(row.exposed_wait_ns, batch.exposed_ns);
    step_ns = bounded_plus(step_ns, batch.before_step_ns);
  }
  if (in_steps) {
    row.before_steps_ns = step_ns;
    for (const StepRow& step : stages.steps) step_ns += step.averaged ? step.work_dur_ns : 0;
  } else {
    step_ns = span_of(stages, stage);
  }
  if (step_ns <= 0) return;
  row.step_ns = step_ns;
  row.wait_share = static_cast<double>(row.exposed_wait_ns) / static_cast<double>(step_ns);
  row.input_bound = row.wait_share >= kHighlyInputBound ? "highly"
                    : row.wait_share >= kInputBound     ? "moderately"
                                                        : "not";
}

// MindInsight's process_summary, literally.
void set_statuses(const QueueCount& host, const QueueCount& data, PipelineRow& row) {
  if (!host.known()) return;
  row.data_process = kNormal;
  row.device_queue_warning = kNormal;
  if (data.known()) {
    row.data_transmission = kNormal;
    row.get_next = kNormal;
  } else {
    row.fpbp = kNormal;
  }
  if (host.often_empty()) {
    row.data_process = kWarning;
  } else if (data.known() && data.empty > 0) {
    row.data_transmission = kWarning;
  } else {
    row.device_queue_warning = kWarning;
  }
}

// The guide's reading of the queues. Where waiting was measured, that decides whether the data is
// to blame at all; MindInsight's statuses blame some stage in every run.
std::string_view slow_stage(const PipelineStages& stages, const QueueCount& host,
                            const QueueCount& data, const std::vector<size_t>& slow_operators,
                            const PipelineRow& row) {
  const bool measured = !std::isnan(row.wait_share);
  if (measured && row.wait_share < kInputBound) return "none";
  const bool starved = data.known() ? data.often_empty() : host.often_empty();
  if (measured) {
    if (data.known() && !starved) return "fetch";
    return data.known() && host.known() && !host.often_empty() ? "transfer" : "process";
  }
  if (!data.known() && !host.known()) {
    const bool only_root = slow_operators.size() == 1 && slow_operators[0] == main_root_of(stages);
    return slow_operators.empty() || only_root ? "none" : "process";
  }
  if (!starved) return "none";
  return data.known() && host.known() && !host.often_empty() ? "transfer" : "process";
}

void name_bottleneck(const PipelineStages& stages, const std::vector<size_t>& slow_operators,
                     PipelineRow& row) {
  if (row.slow_stage == "none") {
    row.bottleneck = "training";
    return;
  }
  if (row.slow_stage == "transfer") {
    row.bottleneck = "transfer to the device";
    row.advice =
        "the host queue has data but the device's has none: look at the copies to the "
        "device and the size of a batch";
    return;
  }
  if (row.slow_stage == "fetch") {
    row.bottleneck = row.wait_source;
    row.advice =
        "batches wait on the device but GetNext is slow: look at its kernels and at what "
        "else runs there";
    return;
  }
  for (auto at = slow_operators.rbegin(); at != slow_operators.rend(); ++at) {
    const Stage& stage = stages.stages[*at];
    row.bottleneck += (row.bottleneck.empty() ? "" : "/") + stage.name;
    row.advice += (row.advice.empty() ? "" : "; ") + stage.name + ": " +
                  std::string(suggestion_for(stage.op_type, stage.inputs.empty()));
  }
  if (!row.bottleneck.empty()) return;
  row.bottleneck = row.wait_source.empty() ? "data processing" : row.wait_source;
  const size_t waits = wait_stage_of(stages);
  const bool single = row.bottleneck.find("SingleProcess") != std::string::npos ||
                      (waits < stages.operators && stages.stages[waits].workers == kNull &&
                       stages.stages[waits].op_type.starts_with("DataLoader"));
  row.advice = single ? "batches are made in the training process: set num_workers above 0"
                      : "raise the number of workers, or make the work for a batch cheaper";
}

}  // namespace

size_t host_queue_of(const PipelineStages& stages) {
  const size_t host = stages.find(StageRole::kHostQueue);
  if (host < stages.stages.size()) return host;
  const size_t root = main_root_of(stages);
  if (root < stages.operators && (has_waits(stages, root) || stages.stages[root].queue.samples > 0))
    return root;
  return stages.find(StageRole::kQueue);
}

size_t main_root_of(const PipelineStages& stages) {
  std::vector<size_t> root_of(stages.operators);
  std::map<int64_t, size_t> places;
  std::vector<std::pair<int64_t, int64_t>> use(stages.operators);  // waited for, samples
  for (size_t i = 0; i < stages.operators; ++i) {
    const Stage& stage = stages.stages[i];
    places.try_emplace(stage.op_id, i);
    const auto parent = stage.parent == kNull ? places.end() : places.find(stage.parent);
    root_of[i] = parent == places.end() ? i : root_of[parent->second];  // it stands in front
    int64_t& samples = use[root_of[i]].second;
    samples = std::max(samples, stage.queue.samples);
  }
  for (const Batch& batch : stages.batches) {
    if (batch.stage < stages.operators && batch.fetch_ns != kNull)
      use[batch.stage].first = bounded_plus(use[batch.stage].first, batch.fetch_ns);
  }
  size_t root = 0;
  for (size_t i = 1; i < stages.operators; ++i) {
    if (stages.stages[i].parent == kNull && use[i] > use[root]) root = i;
  }
  return root;
}

size_t wait_stage_of(const PipelineStages& stages) {
  const size_t none = stages.stages.size();
  for (const StageRole role : {StageRole::kLoader, StageRole::kDataQueue}) {
    const size_t stage = stages.find(role);
    if (has_waits(stages, stage)) return stage;
  }
  const size_t host = host_queue_of(stages);
  // What fills the device's queue waits for the pipeline, not the training.
  if (!has_waits(stages, host) || stages.stages[host].name == "device_queue") return none;
  return host;
}

void judge(const PipelineStages& stages, const std::vector<size_t>& slow_operators,
           PipelineRow& row) {
  const size_t host_stage = host_queue_of(stages);
  const size_t data_stage = stages.find(StageRole::kDataQueue);
  const QueueCount host = count_batches(stages, host_stage);
  const QueueCount data = count_batches(stages, data_stage);
  if (host.known()) {
    row.host_batches = host.total;
    row.host_empty = host.empty;
    row.host_full = host.full;
  }
  if (data.known()) {
    row.data_batches = data.total;
    row.data_empty = data.empty;
  }
  take_times(stages, host_stage, data_stage, row);
  measure_wait(stages, row);
  set_statuses(host, data, row);
  row.slow_stage = slow_stage(stages, host, data, slow_operators, row);
  name_bottleneck(stages, slow_operators, row);
}

void mark_potential(double unexplained_share, PipelineRow& row) {
  if (row.input_bound == "not" && unexplained_share >= kUnexplainedIdle)
    row.input_bound = "potentially";
}

}  // namespace stepscope
