#include "collector/pipeline_stages.h"

#include <algorithm>

namespace stepscope {
namespace {

template <typename Value>
bool contains(const std::vector<Value>& values, Value value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool has_ended(const PipelineStage& stage) { return stage.ended; }

}  // namespace

PipelineStage* PipelineStages::find(uint32_t name) {
  const auto found = std::find_if(stages_.begin(), stages_.end(),
                                  [&](const PipelineStage& stage) { return stage.name == name; });
  return found == stages_.end() ? nullptr : &*found;
}

void PipelineStages::put(uint32_t name, uint32_t kind, uint32_t workers, uint32_t capacity,
                         uint32_t input) {
  const std::lock_guard lock(mutex_);
  PipelineStage* stage = find(name);
  if (stage == nullptr) {
    if (stages_.size() >= kMostStages) std::erase_if(stages_, has_ended);
    if (stages_.size() >= kMostStages) {
      ++turned_away_;
      return;
    }
    stage = &stages_.emplace_back();
  }
  if (stage->ended) *stage = {};
  stage->name = name;
  stage->kind = kind;
  stage->workers = workers;
  stage->capacity = capacity;
  stage->inputs.clear();
  if (input != 0) stage->inputs.push_back(input);
  ++version_;
}

void PipelineStages::add_input(uint32_t name, uint32_t input) {
  const std::lock_guard lock(mutex_);
  PipelineStage* const stage = find(name);
  if (stage == nullptr || input == 0 || contains(stage->inputs, input)) return;
  if (stage->inputs.size() >= kMostTasks) return;
  stage->inputs.push_back(input);
  ++version_;
}

void PipelineStages::add_task(uint32_t name, int64_t task) {
  const std::lock_guard lock(mutex_);
  PipelineStage* const stage = find(name);
  if (stage == nullptr || contains(stage->tasks, task)) return;
  // Workers that come and go with every epoch: the newest are those that live.
  if (stage->tasks.size() >= kMostTasks) stage->tasks.erase(stage->tasks.begin());
  stage->tasks.push_back(task);
  ++version_;
}

void PipelineStages::end(uint32_t name) {
  const std::lock_guard lock(mutex_);
  if (PipelineStage* const stage = find(name)) stage->ended = true;
}

void PipelineStages::forget_ended() {
  const std::lock_guard lock(mutex_);
  std::erase_if(stages_, has_ended);
}

std::vector<PipelineStage> PipelineStages::changed_since(uint64_t& version) {
  const std::lock_guard lock(mutex_);
  if (version == version_) return {};
  version = version_;
  return stages_;
}

int64_t PipelineStages::turned_away() {
  const std::lock_guard lock(mutex_);
  return turned_away_;
}

}  // namespace stepscope
