// The tables of the rings: ranges, marks, counters, arrows, steps.
#ifndef STEPSCOPE_IMPORTERS_NATIVE_HOST_TABLES_H_
#define STEPSCOPE_IMPORTERS_NATIVE_HOST_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "importers/native/allocator_records.h"
#include "importers/native/forward_backward.h"
#include "importers/native/pipeline_tables.h"
#include "importers/native/raw_run.h"
#include "importers/native/stack_samples.h"

namespace stepscope {

// How a recording's file ends.
enum class Ending : uint8_t { kStopped, kGoesOn, kBrokeOff };

class HostTables {
 public:
  HostTables(RawRun& run, PipelineTables& pipeline)
      : run_(run), pipeline_(pipeline), stacks_(run), arrows_(run), allocators_(run) {}

  // Whether the table is one of ours; its rows are taken then.
  bool read(const RawTable& table);
  // Call after the last table: steps become ranges, and operators are joined by arrows.
  void finish(Ending ending);

  int64_t records() const { return records_; }
  int64_t last_step() const { return last_step_; }
  // Places in the rank's steps, rising: those that are steps only if anything is in them.
  const std::vector<size_t>& unmarked_steps() const { return unmarked_steps_; }

 private:
  struct Row {
    int64_t kind;
    int64_t start_ticks;
    int64_t duration_ticks;
    int64_t name;
    int64_t value1;
    int64_t value2;
  };
  struct StepMark {
    int64_t ts_ns;
    int64_t number;  // kNull: the step before ends here
    TrackId track;
    bool unmarked;  // see STEPSCOPE_STEP
  };

  void read_samples(const RawTable& table);
  void read_row(TrackId track, const Row& row);
  void add_range(TrackId track, const Row& row, int64_t ts_ns);
  uint32_t operator_detail(TrackId track, const Row& row, int64_t ts_ns);
  uint32_t collective_detail(StringId name);

  RawRun& run_;
  PipelineTables& pipeline_;
  int64_t task_ = 0;  // thread or process of the table that is being read
  StackSamples stacks_;
  ForwardBackward arrows_;
  AllocatorRecords allocators_;
  std::vector<StepMark> steps_;
  std::vector<size_t> unmarked_steps_;
  std::unordered_map<int64_t, OpDetail> known_args_;  // by the name id of the args text
  // Where the text of an args id is kept: shapes repeat from step to step, their text does not.
  std::unordered_map<int64_t, uint64_t> args_places_;
  std::unordered_map<StringId, uint32_t> collectives_;  // by name: details are equal
  int64_t records_ = 0;
  int64_t last_ns_ = 0;
  int64_t last_step_ = kNull;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_NATIVE_HOST_TABLES_H_
