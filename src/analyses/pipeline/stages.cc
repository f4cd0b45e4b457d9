#include "analyses/pipeline/stages.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/source_rows.h"
#include "analyses/pipeline/loader_ranges.h"

namespace stepscope {
namespace {

struct TreeOperator {
  Stage stage;
  std::vector<int64_t> children;
  bool has_queue = false;
};

std::string stage_name(std::string_view op_type, int64_t id) {
  return std::string(op_type) + "_" + std::to_string(id);
}

class StageReader {
 public:
  StageReader(const StoreReader& store, size_t rank) : store_(store), rank_(rank) {}

  PipelineStages read(std::span<const StepRow> steps) {
    result_.steps = steps;
    // The table that MindSpore's analysis wrote counts where both are there, as in MindInsight.
    if (!read_table_of_operators() && !read_raw_operators()) read_described_stages();
    read_queues();
    add_loader_ranges();
    take_totals();
    place_in_steps();
    return std::move(result_);
  }

 private:
  // minddata_pipeline_raw: the tree is made already; samples are lists in its cells.
  bool read_table_of_operators() {
    const SourceRows table(store_, rank_, "minddata_pipeline_raw");
    for (uint64_t row = 0; row < table.rows(); ++row) {
      Stage stage;
      stage.role = StageRole::kOperator;
      stage.op_id = table.integer(row, "op_id");
      stage.op_type = table.text(row, "op_type");
      stage.name = stage_name(stage.op_type, stage.op_id);
      stage.workers = table.integer(row, "num_workers");
      stage.parent = table.integer(row, "parent_id");
      stage.inputs = integers_in(table.text(row, "children_id"));
      const int64_t capacity = table.integer(row, "output_queue_length");
      for (const int64_t size : integers_in(table.text(row, "output_queue_size")))
        stage.queue.add(size, capacity);
      result_.stages.push_back(std::move(stage));
    }
    result_.operators = result_.stages.size();
    samples_are_read_ = result_.operators > 0;
    return samples_are_read_;
  }

  // minddata_pipeline: breadth-first from operator 0, then from the roots of further pipelines;
  // operators without a queue are replaced by what they take from.
  bool read_raw_operators() {
    const SourceRows table(store_, rank_, "minddata_pipeline");
    std::map<int64_t, TreeOperator> operators;
    std::set<int64_t> inner;
    for (uint64_t row = 0; row < table.rows(); ++row) {
      TreeOperator op;
      op.stage.role = StageRole::kOperator;
      op.stage.op_id = table.integer(row, "op_id");
      op.stage.op_type = table.text(row, "op_type");
      op.stage.name = stage_name(op.stage.op_type, op.stage.op_id);
      op.stage.workers = table.integer(row, "num_workers");
      op.stage.queue.capacity = table.integer(row, "queue_length");
      op.has_queue = op.stage.queue.capacity != kNull;
      op.children = integers_in(table.text(row, "children"));
      inner.insert(op.children.begin(), op.children.end());
      operators.emplace(op.stage.op_id, std::move(op));
    }
    if (operators.empty()) return false;
    std::vector<int64_t> roots;
    if (operators.contains(0)) roots.push_back(0);
    for (const auto& [id, op] : operators) {
      if (id != 0 && !inner.contains(id)) roots.push_back(id);
    }
    if (roots.empty()) return false;  // all of them in a circle

    std::set<int64_t> placed;
    for (const int64_t root : roots) {
      if (placed.insert(root).second) place_tree(operators, root, placed);
    }
    result_.operators = result_.stages.size();
    return true;
  }

  void place_tree(std::map<int64_t, TreeOperator>& operators, int64_t root,
                  std::set<int64_t>& placed) {
    std::deque<int64_t> waiting = {root};
    while (!waiting.empty()) {
      TreeOperator& op = operators.at(waiting.front());
      waiting.pop_front();
      std::set<int64_t> looked_through;
      std::vector<int64_t> inputs;
      collect_inputs(operators, op.children, inputs, looked_through);
      for (const int64_t input : inputs) {
        if (!placed.insert(input).second) continue;
        op.stage.inputs.push_back(input);
        operators.at(input).stage.parent = op.stage.op_id;
        waiting.push_back(input);
      }
      result_.stages.push_back(op.stage);
    }
  }

  // Stages that the program described itself: who takes from whom, the last one first. Found by
  // name: stores of older versions have no such table.
  void read_described_stages() {
    const size_t number = find_table("stages");
    if (number == kTableCount) return;
    std::map<int64_t, size_t> places;
    std::vector<int64_t> consumers;
    std::vector<Stage> stages;
    for_each_row<5>(store_, static_cast<Table>(number), rank_,
                    {"stage", "kind", "workers", "capacity", "consumer"}, [&](const auto& row) {
                      const auto [name, kind, workers, capacity, consumer] = row;
                      places.try_emplace(name, stages.size());
                      consumers.push_back(consumer);
                      Stage stage;
                      stage.name = store_.string(name);
                      stage.role = StageRole::kOperator;
                      stage.op_id = static_cast<int64_t>(stages.size());
                      if (kind != kNull) stage.op_type = store_.string(kind);
                      stage.workers = workers;
                      stage.queue.capacity = capacity;
                      stages.push_back(std::move(stage));
                    });
    std::vector<size_t> order;
    for (size_t i = 0; i < stages.size(); ++i) {
      const auto consumer = places.find(consumers[i]);
      if (consumer == places.end() || consumer->second == i) {
        order.push_back(i);
        continue;
      }
      stages[i].parent = stages[consumer->second].op_id;
      stages[consumer->second].inputs.push_back(stages[i].op_id);
    }
    // Breadth-first; a program may have several pipelines, and rings are left out.
    for (size_t next = 0; next < order.size(); ++next) {
      for (const int64_t input : stages[order[next]].inputs)
        order.push_back(static_cast<size_t>(input));
    }
    for (const size_t place : order) result_.stages.push_back(std::move(stages[place]));
    result_.operators = result_.stages.size();
  }

  static void collect_inputs(const std::map<int64_t, TreeOperator>& operators,
                             const std::vector<int64_t>& children, std::vector<int64_t>& inputs,
                             std::set<int64_t>& looked_through) {
    for (const int64_t child : children) {
      const auto found = operators.find(child);
      if (found == operators.end() || !looked_through.insert(child).second) continue;
      if (found->second.has_queue) {
        inputs.push_back(child);
      } else {
        collect_inputs(operators, found->second.children, inputs, looked_through);
      }
    }
  }

  void read_queues() {
    for_each_row<7>(store_, Table::kQueues, rank_,
                    {"stage", "ts", "batch", "size", "capacity", "push", "fetch"},
                    [&](const auto& row) {
                      const auto [name, ts_ns, number, size, capacity, push_ns, fetch_ns] = row;
                      const size_t place = stage_of(name);
                      if (place == kUnused) return;
                      Stage& stage = result_.stages[place];
                      stage.queue.add(size, capacity);
                      if (number == kNull && push_ns == kNull && fetch_ns == kNull) return;
                      result_.batches.push_back({place, number, kNull, ts_ns, size, capacity,
                                                 push_ns, fetch_ns, kNull, kNull, true, 0});
                    });
    // Files without times have 0; what counts then is the number.
    std::stable_sort(result_.batches.begin(), result_.batches.end(),
                     [](const Batch& a, const Batch& b) {
                       return std::tuple(a.stage, a.number) < std::tuple(b.stage, b.number);
                     });
    std::set<size_t> with_takes;
    for (const Batch& batch : result_.batches) {
      if (batch.fetch_ns != kNull) with_takes.insert(batch.stage);
    }
    for (Batch& batch : result_.batches) {
      const bool is_put = batch.push_ns != kNull && batch.fetch_ns == kNull;
      batch.counted = !is_put || !with_takes.contains(batch.stage);
    }
  }

  size_t stage_of(int64_t name) {
    const auto [place, is_new] = by_name_.try_emplace(name, kUnused);
    if (!is_new) return place->second;
    const std::string_view text = store_.string(name);
    for (size_t i = 0; i < result_.operators; ++i) {
      if (result_.stages[i].name != text) continue;
      return place->second = samples_are_read_ ? kUnused : i;
    }
    Stage stage;
    stage.name = text;
    if (text == "device_queue" || text == "dataset_iterator") {
      stage.role = StageRole::kHostQueue;
    } else if (text.find("GetNext") != std::string_view::npos) {
      stage.role = StageRole::kDataQueue;
    } else if (samples_are_read_) {
      return kUnused;  // operators of a raw file that the table of operators stands for
    }
    result_.stages.push_back(std::move(stage));
    return place->second = result_.stages.size() - 1;
  }

  void add_loader_ranges() {
    const std::vector<LoaderRange> ranges = loader_ranges(store_, rank_);
    std::map<int64_t, size_t> places;
    std::map<int64_t, int64_t> numbers;
    for (const LoaderRange& range : ranges) {
      const auto [place, is_new] = places.try_emplace(range.name, result_.stages.size());
      if (is_new) {
        Stage stage;
        stage.name = loader_name(store_.string(range.name));
        stage.role = StageRole::kLoader;
        result_.stages.push_back(std::move(stage));
      }
      Batch batch;
      batch.stage = place->second;
      batch.number = ++numbers[range.name];
      batch.step = range.step;
      batch.ts_ns = range.ts_ns;
      batch.fetch_ns = range.dur_ns;
      result_.batches.push_back(batch);
    }
  }

  // Time of a whole batch, which only the records as they were written have.
  void take_totals() {
    const SourceRows table(store_, rank_, "minddata_batches");
    std::map<std::pair<std::string_view, int64_t>, int64_t> totals;
    for (uint64_t row = 0; row < table.rows(); ++row) {
      if (table.integer(row, "type") != 0 || table.integer(row, "extra") != 2) continue;
      const int64_t value_ms = table.integer(row, "value");
      if (value_ms == kNull || value_ms < 0 || value_ms > kMostMs) continue;
      totals[{table.text(row, "stage"), table.integer(row, "batch")}] = value_ms * 1'000'000;
    }
    for (Batch& batch : result_.batches) {
      const auto known = totals.find({result_.stages[batch.stage].name, batch.number});
      if (known != totals.end()) batch.total_ns = known->second;
    }
  }

  // By time where the clocks are the same, which shows in batches that lie within the steps.
  void place_in_steps() {
    const std::span<const StepRow> steps = result_.steps;
    const auto within = [&](const Batch& batch) {
      return !steps.empty() && batch.ts_ns >= steps.front().start_ns &&
             batch.ts_ns <= steps.back().end_ns();
    };
    result_.batches_have_steps = std::ranges::any_of(result_.batches, within);
    StepOfMoment finder(steps);
    for (Batch& batch : result_.batches) {
      if (result_.stages[batch.stage].role == StageRole::kLoader && batch.step != kNull) continue;
      if (!result_.batches_have_steps) {
        batch.step = batch.number;
        continue;
      }
      // minddata cuts the time at which it has a batch to whole milliseconds, which may be in the
      // step before; the training takes it at once, so it is not later than the millisecond's end.
      const bool is_cut = result_.stages[batch.stage].role == StageRole::kHostQueue;
      const int64_t moment_ns = is_cut ? bounded_plus(batch.ts_ns, kNsPerMs - 1) : batch.ts_ns;
      size_t at = finder.find(moment_ns);
      if (at == StepOfMoment::kNone) {
        const auto next = std::ranges::upper_bound(steps, moment_ns, {}, &StepRow::start_ns);
        if (next == steps.end()) continue;
        at = static_cast<size_t>(next - steps.begin());
      }
      batch.step = steps[at].step;
      if (batch.fetch_ns != kNull) batch.before_step_ns = before_step_ns(batch, at);
    }
  }

  // Of the wait for the batch, what lies between its step and the one before.
  int64_t before_step_ns(const Batch& batch, size_t at) const {
    const std::span<const StepRow> steps = result_.steps;
    const Interval wait = wait_of(result_.stages[batch.stage], batch);
    const int64_t from_ns =
        at == 0 ? wait.start_ns : std::max(wait.start_ns, steps[at - 1].work_end_ns());
    return std::max<int64_t>(
        0, bounded_minus(std::min(wait.end_ns, steps[at].work_start_ns), from_ns));
  }

  static constexpr size_t kUnused = std::numeric_limits<size_t>::max();
  static constexpr int64_t kNsPerMs = 1'000'000;
  static constexpr int64_t kMostMs = std::numeric_limits<int64_t>::max() / kNsPerMs;

  const StoreReader& store_;
  const size_t rank_;
  PipelineStages result_;
  std::unordered_map<int64_t, size_t> by_name_;
  bool samples_are_read_ = false;  // the operators' samples came with the tree
};

}  // namespace

std::string_view stage_role_name(StageRole role) {
  switch (role) {
    case StageRole::kOperator:
      return "operator";
    case StageRole::kHostQueue:
      return "host_queue";
    case StageRole::kDataQueue:
      return "data_queue";
    case StageRole::kLoader:
      return "loader";
    case StageRole::kQueue:
      return "queue";
  }
  return "";
}

void QueueUse::add(int64_t size, int64_t of_capacity) {
  if (of_capacity != kNull) capacity = of_capacity;
  if (size == kNull || size < 0) return;
  ++samples;
  size_sum = bounded_plus(size_sum, size);
  if (size == 0) ++empty;
  if (of_capacity > 0 && size == of_capacity) ++full;  // kNull is negative
}

double QueueUse::mean() const {
  return samples == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(size_sum) / static_cast<double>(samples);
}

double QueueUse::usage() const {
  return capacity == kNull || capacity <= 0 ? std::numeric_limits<double>::quiet_NaN()
                                            : mean() / static_cast<double>(capacity);
}

bool stamped_at_start(const Stage& stage) { return stage.role != StageRole::kHostQueue; }

Interval wait_of(const Stage& stage, const Batch& batch) {
  if (stamped_at_start(stage)) return {batch.ts_ns, bounded_plus(batch.ts_ns, batch.fetch_ns)};
  return {bounded_minus(batch.ts_ns, batch.fetch_ns), batch.ts_ns};
}

size_t PipelineStages::find(StageRole role) const {
  return static_cast<size_t>(std::ranges::find(stages, role, &Stage::role) - stages.begin());
}

PipelineStages pipeline_stages(const StoreReader& store, size_t rank,
                               std::span<const StepRow> steps) {
  return StageReader(store, rank).read(steps);
}

}  // namespace stepscope
