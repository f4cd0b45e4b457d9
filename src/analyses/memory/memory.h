// Memory of a rank: everything the other files of this folder compute, together.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_H_

#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/memory/memory_scan.h"

namespace stepscope {

// Rows of memory_owners for one pool; what is smaller is one row.
inline constexpr size_t kOwnersAtPeak = 200;

struct MemoryResult {
  std::vector<MemoryRow> overview;
  std::vector<MemoryOwnerRow> owners;  // blocks at the peak
  std::vector<MemoryOwnerRow> peak;    // the same by operator, module and category
  std::vector<MemoryStepRow> steps;
  std::vector<MemoryLeakRow> leaks;

  void append(MemoryResult&& other);
};

MemoryResult memory(const StoreReader& store, const RankId& rank, const MemoryScan& scan);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_H_
