// Memory over time and over the order of execution, thinned out to what a picture can show.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_CURVE_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_CURVE_H_

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/memory/memory_rows.h"
#include "analyses/steps/step_row.h"

namespace stepscope {

struct CurveRange {
  int64_t first_ns = std::numeric_limits<int64_t>::min();
  int64_t last_ns = std::numeric_limits<int64_t>::max();
  size_t points = 2000;  // of each pool
};

// Thins a curve that comes point by point: of every run of `stride` points the lowest and the
// highest stay, and the very first and last, so that no peak is lost.
class CurveThinner {
 public:
  CurveThinner(uint64_t points, size_t most);
  void add(const MemoryPoint& point, std::vector<MemoryPoint>& out);
  void finish(std::vector<MemoryPoint>& out);

 private:
  uint64_t stride_;
  uint64_t in_run_ = 0;
  bool started_ = false;
  MemoryPoint low_;
  MemoryPoint high_;
  MemoryPoint last_;
  bool pending_ = false;
};

// By pool, then by time. Events outside the range are left out.
std::vector<MemoryPoint> memory_curve(const StoreReader& store, const RankId& rank,
                                      std::span<const StepRow> steps, const CurveRange& range = {});

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_CURVE_H_
