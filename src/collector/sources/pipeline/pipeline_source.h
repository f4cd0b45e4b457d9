// PipelineSource: the stages of the input pipeline, and what worker processes recorded.
//
// Costs nothing while there are neither. Queue sizes and times of this process's own threads are
// records of their rings and do not come through here.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_PIPELINE_PIPELINE_SOURCE_H_
#define STEPSCOPE_COLLECTOR_SOURCES_PIPELINE_PIPELINE_SOURCE_H_

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "collector/pipeline_stages.h"
#include "collector/source.h"
#include "collector/worker_rings.h"

namespace stepscope {

// Names are ids of the strings sections; 0: not said. The last row of a stage counts.
inline constexpr std::string_view kStageColumns[] = {"stage", "kind", "workers", "capacity"};
inline constexpr RawTableLayout kStagesTable{"stages", kStageColumns};
inline constexpr std::string_view kStageInputColumns[] = {"stage", "input"};
inline constexpr RawTableLayout kStageInputsTable{"stage_inputs", kStageInputColumns};
inline constexpr std::string_view kStageTaskColumns[] = {"stage", "task"};
inline constexpr RawTableLayout kStageTasksTable{"stage_tasks", kStageTaskColumns};

inline constexpr std::string_view kProcessColumns[] = {"process", "name"};
inline constexpr RawTableLayout kProcessesTable{"processes", kProcessColumns};

class PipelineSource final : public Source {
 public:
  PipelineSource(PipelineStages& stages, WorkerRings& workers)
      : stages_(stages), workers_(workers) {}

  std::string_view name() const override { return "pipeline"; }
  Status start() override;
  void collect(SourceOutput& output) override;
  void stop() override { workers_.stop(); }
  bool waiting() const override { return workers_.filling(); }

 private:
  void say_what_is_missing(SourceOutput& output);

  PipelineStages& stages_;
  WorkerRings& workers_;
  uint64_t version_ = 0;
  uint64_t beginning_ = 0;  // ticks
  std::unordered_set<int64_t> known_workers_;
  int64_t stages_left_out_ = 0;
  int64_t workers_left_out_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_COLLECTOR_SOURCES_PIPELINE_PIPELINE_SOURCE_H_
