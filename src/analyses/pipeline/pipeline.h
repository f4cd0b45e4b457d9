// Data preparation: where the input pipeline of each rank spends its time, and which of its three
// stages (processing, transfer to the device, fetch on the device) holds the training up.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_PIPELINE_H_
#define STEPSCOPE_ANALYSES_PIPELINE_PIPELINE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/cpu/cpu.h"
#include "analyses/device_time/device_intervals.h"
#include "analyses/pipeline/stages.h"

namespace stepscope {

// A queue that is empty for more than this share of the batches makes its consumer wait.
inline constexpr double kEmptyShare = 0.3;
// Waiting for data, as a share of the steps: XProf's "moderately" and "highly input-bound". Below
// that it may still be the data where a device stood still for this share of the steps while
// nothing was recorded: "potentially".
inline constexpr double kInputBound = 0.05;
inline constexpr double kHighlyInputBound = 0.2;
inline constexpr double kUnexplainedIdle = 0.03;

// The verdict on one rank. Columns that the input says nothing about are NULL.
struct PipelineRow {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  int64_t rank = 0;
  int64_t window = 0;
  std::string_view slow_stage;
  std::string bottleneck;
  std::string advice;
  std::string_view input_bound;
  std::string wait_source;
  int64_t waits = 0;
  int64_t wait_ns = kNull;
  int64_t exposed_wait_ns = kNull;
  int64_t step_ns = kNull;
  int64_t before_steps_ns = 0;  // of step_ns: waits that lie before their step
  double wait_share = kNone;
  int64_t host_batches = kNull;
  int64_t host_empty = kNull;
  int64_t host_full = kNull;
  int64_t data_batches = kNull;
  int64_t data_empty = kNull;
  double mean_get_ns = kNone;
  double mean_push_ns = kNone;
  double mean_batch_ns = kNone;
  double mean_get_next_ns = kNone;
  std::optional<std::string_view> data_process;
  std::optional<std::string_view> device_queue_warning;
  std::optional<std::string_view> data_transmission;
  std::optional<std::string_view> get_next;
  std::optional<std::string_view> fpbp;
};

inline constexpr Field<PipelineRow> kPipelineFields[] = {
    field<&PipelineRow::rank>("rank", Unit::kNone, "rank"),
    field<&PipelineRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PipelineRow::slow_stage>(
        "slow_stage", Unit::kNone, "what holds the training up: process, transfer, fetch, or none"),
    field<&PipelineRow::bottleneck>("bottleneck", Unit::kNone,
                                    "what holds it up: operators from the data's end on, a stage, "
                                    "the transfer to the device, or training"),
    field<&PipelineRow::advice>("advice", Unit::kNone, "what to do about it"),
    field<&PipelineRow::input_bound>(
        "input_bound", Unit::kNone,
        "highly, moderately or not, by wait_share; potentially: not, but the device also stood "
        "still for 3 % or more of the steps while nothing was recorded; empty: not measured"),
    field<&PipelineRow::wait_source>("wait_source", Unit::kNone,
                                     "stage at which the training's waiting was measured"),
    field<&PipelineRow::waits>("waits", Unit::kCount,
                               "batches with a measured wait, in the steps of averages"),
    field<&PipelineRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                 "time the training waited for data"),
    field<&PipelineRow::exposed_wait_ns>(
        "exposed_wait_ns", Unit::kNanoseconds,
        "of that, with no device at work; all of it without a device"),
    field<&PipelineRow::step_ns>(
        "step_ns", Unit::kNanoseconds,
        "time of the steps in which it was measured, as in step_budget, and of waits between them"),
    field<&PipelineRow::wait_share>("wait_share", Unit::kShare, "exposed_wait_ns over step_ns"),
    field<&PipelineRow::host_batches>("host_batches", Unit::kCount,
                                      "batches taken from the host queue"),
    field<&PipelineRow::host_empty>("host_empty", Unit::kCount, "of these, queue found empty"),
    field<&PipelineRow::host_full>("host_full", Unit::kCount, "of these, queue found full"),
    field<&PipelineRow::data_batches>("data_batches", Unit::kCount,
                                      "batches of the data queue on the device"),
    field<&PipelineRow::data_empty>("data_empty", Unit::kCount, "of these, queue empty"),
    field<&PipelineRow::mean_get_ns>("mean_get_ns", Unit::kNanoseconds,
                                     "host queue: mean time to get a batch from the pipeline"),
    field<&PipelineRow::mean_push_ns>("mean_push_ns", Unit::kNanoseconds,
                                      "host queue: mean time to push a batch to the device"),
    field<&PipelineRow::mean_batch_ns>("mean_batch_ns", Unit::kNanoseconds,
                                       "host queue: mean time of a batch as a whole"),
    field<&PipelineRow::mean_get_next_ns>("mean_get_next_ns", Unit::kNanoseconds,
                                          "data queue: mean time of GetNext"),
    field<&PipelineRow::data_process>("data_process", Unit::kNone, "MindInsight's status"),
    field<&PipelineRow::device_queue_warning>("device_queue_warning", Unit::kNone,
                                              "MindInsight's status"),
    field<&PipelineRow::data_transmission>("data_transmission", Unit::kNone,
                                           "MindInsight's status, with a data queue"),
    field<&PipelineRow::get_next>("get_next", Unit::kNone,
                                  "MindInsight's status, with a data queue"),
    field<&PipelineRow::fpbp>("fpbp", Unit::kNone, "MindInsight's status, without a data queue"),
};

struct PipelineStageRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string stage;
  std::string_view role;
  int64_t op_id = kNull;
  std::string op_type;
  int64_t workers = kNull;
  int64_t parent_id = kNull;
  std::string children;
  int64_t capacity = kNull;
  int64_t samples = 0;
  int64_t size_sum = 0;
  double mean_size = PipelineRow::kNone;
  double usage = PipelineRow::kNone;
  int64_t empty_samples = 0;
  int64_t full_samples = 0;
  int64_t batches = 0;
  int64_t fetch_ns = kNull;
  int64_t push_ns = kNull;
  double cpu = PipelineRow::kNone;
  double cpu_per_worker = PipelineRow::kNone;
  bool is_bottleneck = false;
  std::string advice;

  // Parts of the advice, for files that have them apart.
  std::string queue_advice;
  std::string cpu_advice;
};

inline constexpr Field<PipelineStageRow> kPipelineStageFields[] = {
    field<&PipelineStageRow::rank>("rank", Unit::kNone, "rank"),
    field<&PipelineStageRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PipelineStageRow::stage>("stage", Unit::kNone, "operator with its id, or queue"),
    field<&PipelineStageRow::role>("role", Unit::kNone,
                                   "operator, host_queue, data_queue, loader or queue"),
    field<&PipelineStageRow::op_id>("op_id", Unit::kNone, "id of the operator"),
    field<&PipelineStageRow::op_type>("op_type", Unit::kNone, "type of the operator"),
    field<&PipelineStageRow::workers>("workers", Unit::kCount, "threads or processes that work"),
    field<&PipelineStageRow::parent_id>("parent_id", Unit::kNone,
                                        "operator that takes from its queue"),
    field<&PipelineStageRow::children>("children", Unit::kNone,
                                       "operators that it takes from, JSON list"),
    field<&PipelineStageRow::capacity>("capacity", Unit::kCount, "capacity of its queue"),
    field<&PipelineStageRow::samples>("samples", Unit::kCount, "samples of the queue's size"),
    field<&PipelineStageRow::size_sum>("size_sum", Unit::kCount, "sum of the sizes"),
    field<&PipelineStageRow::mean_size>("mean_size", Unit::kNone, "mean size"),
    field<&PipelineStageRow::usage>("usage", Unit::kShare, "mean size over capacity"),
    field<&PipelineStageRow::empty_samples>("empty_samples", Unit::kCount, "samples of size 0"),
    field<&PipelineStageRow::full_samples>("full_samples", Unit::kCount,
                                           "samples of size = capacity"),
    field<&PipelineStageRow::batches>("batches", Unit::kCount, "batches with a number or a time"),
    field<&PipelineStageRow::fetch_ns>("fetch_ns", Unit::kNanoseconds,
                                       "time spent getting batches, all together"),
    field<&PipelineStageRow::push_ns>("push_ns", Unit::kNanoseconds,
                                      "time spent pushing batches, all together"),
    field<&PipelineStageRow::cpu>("cpu", Unit::kShare, "mean use of processors; 1 = one processor"),
    field<&PipelineStageRow::cpu_per_worker>("cpu_per_worker", Unit::kShare,
                                             "cpu divided by workers"),
    field<&PipelineStageRow::is_bottleneck>("is_bottleneck", Unit::kNone,
                                            "by how full the queues around it are"),
    field<&PipelineStageRow::advice>("advice", Unit::kNone, "what to do about it"),
};

struct PipelineBatchRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string stage;
  Batch batch;
};
template <auto Member>
constexpr Field<PipelineBatchRow> batch_field(std::string_view name, Unit unit,
                                              std::string_view doc) {
  return {name, unit, ValueKind::kInteger, doc,
          [](const PipelineBatchRow& row) { return to_value(row.batch.*Member); }};
}
inline constexpr Field<PipelineBatchRow> kPipelineBatchFields[] = {
    field<&PipelineBatchRow::rank>("rank", Unit::kNone, "rank"),
    field<&PipelineBatchRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PipelineBatchRow::stage>("stage", Unit::kNone, "as in pipeline_stages"),
    batch_field<&Batch::number>("batch", Unit::kNone, "number of the batch, from 1"),
    batch_field<&Batch::step>("step", Unit::kNone, "step that it belongs to"),
    batch_field<&Batch::ts_ns>("ts", Unit::kTimestamp, "time; 0: the input has none"),
    batch_field<&Batch::size>("size", Unit::kCount, "items in the queue"),
    batch_field<&Batch::capacity>("capacity", Unit::kCount, "capacity of the queue"),
    batch_field<&Batch::push_ns>("push_ns", Unit::kNanoseconds, "time to push it"),
    batch_field<&Batch::fetch_ns>("fetch_ns", Unit::kNanoseconds, "time to get it"),
    batch_field<&Batch::exposed_ns>("exposed_ns", Unit::kNanoseconds,
                                    "of fetch_ns, with no device at work"),
    batch_field<&Batch::total_ns>("total_ns", Unit::kNanoseconds, "time of the batch as a whole"),
};

struct PipelineStepRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t host_empty = 0;
  int64_t host_full = 0;
  int64_t data_empty = 0;
  int64_t batches = 0;
  int64_t wait_ns = kNull;
  int64_t exposed_wait_ns = kNull;
  int64_t step_ns = kNull;
  double wait_share = PipelineRow::kNone;
};
inline constexpr Field<PipelineStepRow> kPipelineStepFields[] = {
    field<&PipelineStepRow::rank>("rank", Unit::kNone, "rank"),
    field<&PipelineStepRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PipelineStepRow::step>("step", Unit::kNone,
                                  "step; the number of the batch where no steps were recorded"),
    field<&PipelineStepRow::host_empty>("host_empty", Unit::kCount,
                                        "batches that found the host queue empty"),
    field<&PipelineStepRow::host_full>("host_full", Unit::kCount,
                                       "batches that found the host queue full"),
    field<&PipelineStepRow::data_empty>("data_empty", Unit::kCount,
                                        "batches that found the data queue empty"),
    field<&PipelineStepRow::batches>("batches", Unit::kCount, "batches, of all queues"),
    field<&PipelineStepRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                     "time the training waited for data"),
    field<&PipelineStepRow::exposed_wait_ns>(
        "exposed_wait_ns", Unit::kNanoseconds,
        "of that, with no device at work; all of it without a device"),
    field<&PipelineStepRow::step_ns>("step_ns", Unit::kNanoseconds,
                                     "length of the step, as in step_budget, and of waits between "
                                     "it and the one before"),
    field<&PipelineStepRow::wait_share>("wait_share", Unit::kShare, "exposed_wait_ns over step_ns"),
};

struct PipelineResult {
  std::vector<PipelineRow> verdicts;  // one, or none when the rank has no data pipeline
  std::vector<PipelineStageRow> stages;
  std::vector<PipelineBatchRow> batches;
  std::vector<PipelineStepRow> steps;

  void append(PipelineResult&& other);
};

// `cpu` are the rank's rows of cpu_rows(). A host that waits while its device still works on what
// it was given earlier loses nothing, so what counts of a wait is what `devices` do not cover.
PipelineResult pipeline(const RankId& rank, PipelineStages stages, const std::vector<CpuRow>& cpu,
                        const std::vector<DeviceIntervals>& devices);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_PIPELINE_H_
