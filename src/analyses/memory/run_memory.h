// The analyses of memory over all ranks of a run.
#ifndef STEPSCOPE_ANALYSES_MEMORY_RUN_MEMORY_H_
#define STEPSCOPE_ANALYSES_MEMORY_RUN_MEMORY_H_

#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/memory/memory.h"
#include "analyses/memory/memory_curve.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/memory/memory_scan.h"

namespace stepscope {

// `scans` are scan_memory() of every rank, by position.
std::vector<MemoryScan> run_memory_scans(const StoreReader& store,
                                         const std::vector<std::span<const StepRow>>& steps,
                                         unsigned threads);
MemoryResult run_memory(const StoreReader& store, const std::vector<RankId>& ranks,
                        const std::vector<MemoryScan>& scans, unsigned threads);
std::vector<MemoryPoint> run_memory_curve(const StoreReader& store,
                                          const std::vector<RankId>& ranks,
                                          const std::vector<MemoryScan>& scans,
                                          const CurveRange& range, unsigned threads);
std::vector<MemoryOperatorRow> run_memory_operators(const StoreReader& store,
                                                    const std::vector<RankId>& ranks,
                                                    unsigned threads);
// Who holds the memory of `pool` at a moment; of a plan, at a node.
std::vector<MemoryOwnerRow> run_memory_owners_at(const StoreReader& store,
                                                 const std::vector<RankId>& ranks,
                                                 const std::vector<MemoryScan>& scans,
                                                 const MemoryRow& pool, int64_t moment,
                                                 size_t most);

// Why tables of this result are empty.
std::vector<Reason> memory_reasons(const MemoryResult& found);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_RUN_MEMORY_H_
