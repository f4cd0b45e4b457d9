// The stages of a rank's data pipeline, each with the queue that it fills, and the batches that
// went through: from MindSpore's minddata files, MindInsight folders, torch's DataLoader ranges and
// our own recordings.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_STAGES_H_
#define STEPSCOPE_ANALYSES_PIPELINE_STAGES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/steps/step_row.h"
#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

enum class StageRole : uint8_t {
  kOperator,   // of the data processing pipeline
  kHostQueue,  // between data processing and the transfer, or the training where there is none
  kDataQueue,  // on the device; GetNext takes from it
  kLoader,     // ranges in which the training waits for its batch (torch)
  kQueue,      // a queue that the input does not say more about
};
std::string_view stage_role_name(StageRole role);

struct QueueUse {
  int64_t capacity = kNull;  // the last one given
  int64_t samples = 0;
  int64_t size_sum = 0;
  int64_t empty = 0;
  int64_t full = 0;

  void add(int64_t size, int64_t of_capacity);
  double mean() const;   // NaN without samples
  double usage() const;  // mean over capacity; NaN without a capacity
};

struct Stage {
  std::string name;
  StageRole role = StageRole::kQueue;
  int64_t op_id = kNull;
  std::string_view op_type;
  int64_t workers = kNull;
  int64_t parent = kNull;       // op_id of the operator that takes from it
  std::vector<int64_t> inputs;  // op_ids of those that it takes from
  QueueUse queue;
};

// A batch that was taken from, or put into, a stage's queue. A queue that records both has two of
// these for a batch; then `counted` is false for the put.
struct Batch {
  size_t stage = 0;
  int64_t number = kNull;
  int64_t step = kNull;
  int64_t ts_ns = 0;
  int64_t size = kNull;
  int64_t capacity = kNull;
  int64_t push_ns = kNull;
  int64_t fetch_ns = kNull;
  int64_t total_ns = kNull;
  // Of the time to get it, what no device worked through; kNull where that is not measured.
  int64_t exposed_ns = kNull;
  bool counted = true;
  // Of the time to get it, what lies between its step and the one before: Model.train fetches a
  // batch before it says that the step begins.
  int64_t before_step_ns = 0;
};

struct PipelineStages {
  std::vector<Stage> stages;   // the operators first, the root of the tree in front
  size_t operators = 0;        // how many of them are operators
  std::vector<Batch> batches;  // by stage, then by number
  std::span<const StepRow> steps;
  bool batches_have_steps = false;  // by time; otherwise a batch's number is its step's

  // Position of the first stage of this role, stages.size() when there is none.
  size_t find(StageRole role) const;
};

// Whether the stage's batches are stamped when getting them begins: all but MindSpore's records of
// the host queue, which are stamped at the end.
bool stamped_at_start(const Stage& stage);
Interval wait_of(const Stage& stage, const Batch& batch);

// A batch that was got between two steps belongs to the second one. `steps` of the rank, by start;
// they must outlive the result.
PipelineStages pipeline_stages(const StoreReader& store, size_t rank,
                               std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_STAGES_H_
