// ASCEND_PROFILER_OUTPUT/: the files that MindSpore's and torch_npu's profilers leave for people
// and other tools, made from any rank of a store.
//
// A file is written when its content is there; what is left out is listed with the option that
// would have recorded it. Files appear under their names when all of them are complete: a failure
// or Ctrl-C leaves nothing new. Files that an earlier call wrote and this one does not are removed;
// files of others are not touched.
#ifndef STEPSCOPE_DELIVERABLES_PROFILER_OUTPUT_H_
#define STEPSCOPE_DELIVERABLES_PROFILER_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "analyses/run_analyses.h"
#include "base/intervals.h"
#include "base/own_files.h"
#include "base/progress.h"
#include "base/result.h"
#include "deliverables/csv_writer.h"
#include "deliverables/recording_form.h"

namespace stepscope {

struct ProfilerOutputOptions {
  std::vector<int64_t> steps;  // empty: all, and what is in no step
  bool pretty = false;         // JSON with indents; without, a timeline has an event a line
  const Progress* progress = nullptr;
};

struct OmittedFile {
  std::string name;
  std::string why;
};
struct ProfilerOutput {
  std::vector<std::string> files;
  std::vector<OmittedFile> omitted;
};

// Into `folder`, which is made when it is not there.
Result<ProfilerOutput> write_profiler_output(RunAnalyses& run, const RankId& rank,
                                             const std::string& folder,
                                             const ProfilerOutputOptions& options);

// For the writers of single files. Each returns whether there was anything to write.
struct OutputContext {
  RunAnalyses& run;
  const RankId& rank;
  const ProfilerOutputOptions& options;
  std::vector<Interval> chosen_time;  // of the chosen steps, merged
  RecordingForm form;

  const StoreReader& store() const { return run.store(); }
  bool chosen_step(int64_t step) const {
    for (const int64_t one : options.steps) {
      if (one == step) return true;
    }
    return options.steps.empty();
  }
  // For what belongs to no step.
  bool chosen_moment(int64_t ns) const;
  // A table of the input; nullptr when it has none of that name.
  const SourceTableView* source_table(std::string_view name) const;
};
Result<bool> write_kernel_details(OutputContext& context, const Sink& sink);
Result<bool> write_step_trace_time(OutputContext& context, const Sink& sink);
Result<bool> write_op_statistic(OutputContext& context, const Sink& sink);
Result<bool> write_api_statistic(OutputContext& context, const Sink& sink);
Result<bool> write_cpu_operators(OutputContext& context, const Sink& sink);
Result<bool> write_communication(OutputContext& context, const Sink& sink);
Result<bool> write_communication_matrix(OutputContext& context, const Sink& sink);
Result<bool> write_memory_record(OutputContext& context, const Sink& sink);
Result<bool> write_operator_memory(OutputContext& context, const Sink& sink);
Result<bool> write_operator_details(OutputContext& context, const Sink& sink);
Result<bool> write_data_preprocess(OutputContext& context, const Sink& sink);
Result<bool> write_cann_database(OutputContext& context, const Sink& sink);
Result<bool> write_communication_database(OutputContext& context, const Sink& sink);
Result<bool> write_dataset(OutputContext& context, const Sink& sink);
Result<bool> write_minddata_raw(OutputContext& context, const Sink& sink);
Result<bool> write_minddata_summary(OutputContext& context, const Sink& sink);
Result<bool> write_minddata_summary_json(OutputContext& context, const Sink& sink);
// A table of the input, as it is.
Result<bool> write_source_table(OutputContext& context, std::string_view table, const Sink& sink);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_PROFILER_OUTPUT_H_
