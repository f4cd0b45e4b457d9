#include "importers/native/pipeline_tables.h"

#include <string>
#include <unordered_map>

#include "stepscope/record.h"

namespace stepscope {
namespace {

constexpr std::string_view kStages = "stages";
constexpr std::string_view kInputs = "stage_inputs";
constexpr std::string_view kTasks = "stage_tasks";

// In the file 0 stands for what was not said.
int64_t or_null(int64_t value) { return value > 0 ? value : kNull; }

void add_pairs(const RawTable& table, std::string_view second,
               std::vector<std::pair<int64_t, int64_t>>& pairs) {
  const auto* stage = table.column("stage");
  const auto* other = table.column(second);
  if (stage == nullptr || other == nullptr) return;
  for (size_t row = 0; row < table.rows; ++row) pairs.emplace_back((*stage)[row], (*other)[row]);
}

}  // namespace

bool PipelineTables::owns(std::string_view table) {
  return table == kStages || table == kInputs || table == kTasks || table == "processes";
}

void PipelineTables::learn(const RawChunk& chunk) {
  for (const RawTable& table : chunk.tables) {
    if (table.name == kInputs) add_pairs(table, "input", inputs_);
    if (table.name == kTasks) add_pairs(table, "task", tasks_);
    if (table.name != kStages) continue;
    const auto* stage = table.column("stage");
    const auto* kind = table.column("kind");
    const auto* workers = table.column("workers");
    const auto* capacity = table.column("capacity");
    if (stage == nullptr || kind == nullptr || workers == nullptr || capacity == nullptr) {
      run_.rank().quality.add(QualityCode::kUnparsableEvent, "columns are missing in table stages",
                              static_cast<int64_t>(table.rows));
      continue;
    }
    for (size_t row = 0; row < table.rows; ++row) {
      const auto [known, is_new] = stages_.try_emplace((*stage)[row]);
      if (is_new) order_.push_back((*stage)[row]);
      known->second = {(*kind)[row], (*workers)[row], (*capacity)[row]};
    }
  }
}

void PipelineTables::finish_learning() {
  RankBuilder& rank = run_.rank();
  std::unordered_map<int64_t, int64_t> consumers;
  for (const auto& [stage, input] : inputs_) consumers.try_emplace(input, stage);
  for (const int64_t id : order_) {
    const Stage& stage = stages_[id];
    StageRecord record;
    record.stage = run_.name(id);
    if (stage.kind != 0) record.kind = run_.name(stage.kind);
    record.workers = or_null(stage.workers);
    record.capacity = or_null(stage.capacity);
    const auto consumer = consumers.find(id);
    if (consumer != consumers.end()) record.consumer = run_.name(consumer->second);
    rank.stages.push_back(record);
  }
  for (const auto& [stage, task] : tasks_) run_.set_stage_of_task(task, run_.name(stage));
}

void PipelineTables::add(TrackId track, const QueueRow& row) {
  RankBuilder& rank = run_.rank();
  const auto stage = stages_.find(row.stage);
  QueueRecord record;
  record.stage = run_.name(row.stage);
  record.ts_ns = row.ts_ns;
  if (row.number > 0) record.batch = row.number - 1;
  if (row.items >= 0) record.size = row.items;
  if (stage != stages_.end()) record.capacity = or_null(stage->second.capacity);
  if (row.kind == STEPSCOPE_QUEUE_GET) record.fetch_ns = row.waited_ns;
  if (row.kind == STEPSCOPE_QUEUE_PUT) record.push_ns = row.waited_ns;
  rank.queues.push_back(record);
  if (row.kind == STEPSCOPE_QUEUE_SIZE) return;
  SliceRecord slice;
  slice.ts_ns = row.ts_ns;
  slice.dur_ns = row.waited_ns;
  slice.name = record.stage;
  slice.cat =
      rank.strings.intern(row.kind == STEPSCOPE_QUEUE_GET ? "pipeline_get" : "pipeline_put");
  rank.add_slice(track, slice);
}

}  // namespace stepscope
