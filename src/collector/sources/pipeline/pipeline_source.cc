#include "collector/sources/pipeline/pipeline_source.h"

#include <string>

#include "base/json_text.h"
#include "collector/record_tables.h"
#include "collector/sources/system/proc_files.h"
#include "stepscope/record.h"

namespace stepscope {
namespace {

// Workers come and go for as long as the program runs; one that is named twice does no harm.
constexpr size_t kMostKnownWorkers = 4096;

void add_note(SourceOutput& output, std::string_view what, int64_t count, size_t most) {
  output.lasting.add_note("source_left_out",
                          JsonObject()
                              .add("source", std::to_string(count) + " " + std::string(what))
                              .add("why", "there may be " + std::to_string(most) + " at a time")
                              .text());
}

}  // namespace

Status PipelineSource::start() {
  beginning_ = stepscope_ticks();
  stages_.forget_ended();
  workers_.start();
  return {};
}

void PipelineSource::collect(SourceOutput& output) {
  for (const PipelineStage& stage : stages_.changed_since(version_)) {
    output.lasting.add(kStagesTable, 0, {stage.name, stage.kind, stage.workers, stage.capacity});
    for (const uint32_t input : stage.inputs)
      output.lasting.add(kStageInputsTable, 0, {stage.name, input});
    for (const int64_t task : stage.tasks)
      output.lasting.add(kStageTasksTable, 0, {stage.name, task});
  }
  const uint64_t now = stepscope_ticks();
  workers_.drain([&](int64_t process, const stepscope_ring& ring, uint64_t tail, uint64_t head) {
    if (known_workers_.size() >= kMostKnownWorkers) known_workers_.clear();
    if (known_workers_.insert(process).second) {
      const auto about = ProcFiles().process(process);
      const std::string name = about ? about->name : "worker";
      output.lasting.add(kProcessesTable, 0,
                         {process, static_cast<int64_t>(output.names.intern(name))});
    }
    RecordSorter sorter(output.chunk, output.lasting, process, beginning_, now);
    while (tail != head) tail = sorter.add(ring, tail, head);
    output.events += sorter.take_events();
  });
  output.not_recorded += workers_.take_not_recorded();
  say_what_is_missing(output);
}

void PipelineSource::say_what_is_missing(SourceOutput& output) {
  const int64_t stages = stages_.turned_away();
  const int64_t workers = workers_.turned_away();
  if (stages > stages_left_out_)
    add_note(output, "pipeline stages", stages - stages_left_out_, PipelineStages::kMostStages);
  if (workers > workers_left_out_)
    add_note(output, "worker processes", workers - workers_left_out_, kMostWorkerRings);
  stages_left_out_ = stages;
  workers_left_out_ = workers;
}

}  // namespace stepscope
