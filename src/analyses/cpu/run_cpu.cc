#include "analyses/cpu/run_cpu.h"

#include <algorithm>

#include "base/parallel.h"

namespace stepscope {

RunCpuSeries run_cpu_series(const StoreReader& store,
                            const std::vector<std::span<const StepRow>>& steps, unsigned threads) {
  RunCpuSeries all(steps.size());
  parallel_for(all.size(), threads,
               [&](size_t rank) { all[rank] = cpu_series(store, rank, steps[rank]); });
  return all;
}

std::vector<CpuRow> run_cpu(const StoreReader& store, const std::vector<RankId>& ranks,
                            const RunCpuSeries& series, const StepRange& steps) {
  std::vector<CpuRow> rows;
  for (const RankId& rank : ranks) {
    const auto one = cpu_rows(rank, series[rank.position], cpu_operators(store, rank.position),
                              processor_count(store, rank.position), steps);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

std::vector<CpuSampleRow> run_cpu_samples(const std::vector<RankId>& ranks,
                                          const RunCpuSeries& series) {
  std::vector<CpuSampleRow> rows;
  for (const RankId& rank : ranks) {
    const auto one = cpu_sample_rows(rank, series[rank.position]);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  return rows;
}

std::vector<Reason> cpu_reasons(const RunCpuSeries& series) {
  const auto has_none = [](const std::vector<CpuSeries>& one) { return one.empty(); };
  if (!std::ranges::all_of(series, has_none)) return {};
  std::vector<Reason> reasons;
  for (const char* table : {"cpu", "cpu_samples"}) {
    reasons.push_back({table,
                       "no samples of processor use, or a single one: record with the system "
                       "source, or with data_process=True (MindSpore)"});
  }
  return reasons;
}

}  // namespace stepscope
