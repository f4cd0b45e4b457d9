#include "analyses/pipeline/run_pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/parallel.h"

namespace stepscope {

PipelineResult run_pipeline(const StoreReader& store, const std::vector<RankId>& ranks,
                            const std::vector<CpuRow>& cpu,
                            const std::vector<std::vector<DeviceIntervals>>& devices,
                            const std::vector<std::span<const StepRow>>& steps, unsigned threads) {
  std::vector<PipelineResult> each(ranks.size());
  parallel_for(ranks.size(), threads, [&](size_t i) {
    const RankId& rank = ranks[i];
    std::vector<CpuRow> own;
    std::ranges::copy_if(cpu, std::back_inserter(own), [&](const CpuRow& row) {
      return row.rank == rank.rank && row.window == rank.window;
    });
    each[i] = pipeline(rank, pipeline_stages(store, rank.position, steps[i]), own,
                       devices[rank.position]);
  });
  PipelineResult all;
  for (PipelineResult& one : each) all.append(std::move(one));
  return all;
}

std::vector<Reason> pipeline_reasons(const PipelineResult& found) {
  std::vector<Reason> reasons;
  if (found.verdicts.empty()) {
    for (const char* table :
         {"pipeline", "pipeline_batches", "pipeline_stages", "pipeline_steps"}) {
      reasons.push_back(
          {table,
           "no data pipeline in the input: record with data_process=True, or name the "
           "loader's stages (stepscope.pipeline)"});
    }
  } else if (found.batches.empty()) {
    for (const char* table : {"pipeline_batches", "pipeline_steps"})
      reasons.push_back({table, "queues were sampled in time, without batches"});
  }
  return reasons;
}

}  // namespace stepscope
