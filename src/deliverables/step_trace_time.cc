// step_trace_time.csv: the split of each step, as the profilers of Ascend define it.
#include "analyses/step_times/written_step_times.h"
#include "deliverables/profiler_output.h"

namespace stepscope {

Result<bool> write_step_trace_time(OutputContext& context, const Sink& sink) {
  const size_t rank = context.rank.position;
  const StepTimesWriter writer =
      context.form.is_mindspore ? StepTimesWriter::kMindSpore : StepTimesWriter::kTorchNpu;
  const auto& devices = context.run.overlap_lanes()[rank];
  // Without marks MindSpore's file has one row, of step 0. A run on the host has no file of its
  // that ours would have to be like.
  auto steps = context.run.steps(rank);
  if (context.form.is_mindspore && context.form.is_npu && !context.form.has_marked_steps)
    steps = {};
  std::vector<std::string> header;
  if (devices.size() > 1) header.emplace_back("Device_id");
  for (const char* name :
       {"Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free",
        "Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)", "Preparing"}) {
    header.emplace_back(name);
  }
  CsvWriter csv(sink, header);
  for (const OverlapLanes& device : devices) {
    for (const WrittenStepTimes& step :
         written_step_times(context.store(), rank, device, steps, writer)) {
      if (!context.chosen_step(step.step)) continue;
      if (devices.size() > 1) csv.integer(device.device);
      csv.integer(step.step, "").us(step.computing_ns).us(step.communication_not_overlapped_ns);
      csv.us(step.overlapped_ns).us(step.communication_ns).us(step.free_ns).us(step.stage_ns);
      csv.us(step.bubble_ns).us(step.communication_not_overlapped_and_exclude_receive_ns);
      csv.us(step.preparing_ns == kNull ? 0 : step.preparing_ns);
      if (auto status = csv.end_row(); !status) return std::move(status.error());
    }
  }
  return csv.finish();
}

}  // namespace stepscope
