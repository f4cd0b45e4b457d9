// Processor use over all ranks of a run.
#ifndef STEPSCOPE_ANALYSES_CPU_RUN_CPU_H_
#define STEPSCOPE_ANALYSES_CPU_RUN_CPU_H_

#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/cpu/cpu.h"
#include "analyses/cpu/cpu_series.h"

namespace stepscope {

using RunCpuSeries = std::vector<std::vector<CpuSeries>>;  // by position of the rank

RunCpuSeries run_cpu_series(const StoreReader& store,
                            const std::vector<std::span<const StepRow>>& steps, unsigned threads);
std::vector<CpuRow> run_cpu(const StoreReader& store, const std::vector<RankId>& ranks,
                            const RunCpuSeries& series, const StepRange& steps);
std::vector<CpuSampleRow> run_cpu_samples(const std::vector<RankId>& ranks,
                                          const RunCpuSeries& series);

// Why there are none.
std::vector<Reason> cpu_reasons(const RunCpuSeries& series);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CPU_RUN_CPU_H_
