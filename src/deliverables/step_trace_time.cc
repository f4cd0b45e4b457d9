// step_trace_time.csv: the split of each step, as the profilers of Ascend define it.
#include "analyses/step_times/written_step_times.h"
#include "deliverables/profiler_output.h"

namespace stepscope {
namespace {

// MindSpore's own definition of a stage needs a lane of communication, and is that of its folders.
StepTimesWriter writer_of(const OutputContext& context) {
  const StoreReader& store = context.store();
  const size_t rank = context.rank.position;
  const std::string_view path = text_at(store, Table::kRanks, "source_path", rank);
  if (path.find("_ascend_ms") == std::string_view::npos) return StepTimesWriter::kTorchNpu;
  for (uint64_t track = 0; track < store.rows(Table::kTracks, rank); ++track) {
    const std::string_view process = text_at(store, Table::kTracks, "process", rank, track);
    if (process == "HCCL" || process == "Communication") return StepTimesWriter::kMindSpore;
  }
  return StepTimesWriter::kTorchNpu;
}

}  // namespace

Result<bool> write_step_trace_time(OutputContext& context, const Sink& sink) {
  const size_t rank = context.rank.position;
  const auto& devices = context.run.overlap_lanes()[rank];
  const auto steps = context.run.steps(rank);
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
         written_step_times(context.store(), rank, device, steps, writer_of(context))) {
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
