// Data preparation and processor use over all ranks of a run.
#ifndef STEPSCOPE_ANALYSES_PIPELINE_RUN_PIPELINE_H_
#define STEPSCOPE_ANALYSES_PIPELINE_RUN_PIPELINE_H_

#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/cpu/cpu.h"
#include "analyses/pipeline/pipeline.h"

namespace stepscope {

// `cpu` are the rows of cpu_rows() of all ranks, `devices` and `steps` by position of the rank.
PipelineResult run_pipeline(const StoreReader& store, const std::vector<RankId>& ranks,
                            const std::vector<CpuRow>& cpu,
                            const std::vector<std::vector<DeviceIntervals>>& devices,
                            const std::vector<std::span<const StepRow>>& steps, unsigned threads);

// Why tables of this result are empty.
std::vector<Reason> pipeline_reasons(const StoreReader& store, const PipelineResult& found);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_PIPELINE_RUN_PIPELINE_H_
