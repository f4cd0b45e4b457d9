// kernel_details.csv and msprof's op_summary_*.csv: one row per kernel and collective, with what
// the timeline does not say (type, core, shapes, hardware counters, wait). Read by header, in the
// spellings of all generations.
//
// Memory: about 100 bytes a row, plus the counters' text.
#ifndef STEPSCOPE_IMPORTERS_ASCEND_TEXT_KERNEL_TABLE_H_
#define STEPSCOPE_IMPORTERS_ASCEND_TEXT_KERNEL_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/rank_builder.h"

namespace stepscope {

struct KernelRow {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;  // truncated to 1 ns by the writer; the timeline's is exact
  int64_t step = kNull;
  int64_t stream = kNull;
  int64_t device = kNull;
  StringId name = kEmptyString;
  KernelDetail detail;
  bool is_communication = false;
  bool taken = false;
};

class KernelTable {
 public:
  // Rows without a start or length are counted and left out.
  void read(const std::string& path, RankBuilder& rank);
  // Sorts by start; call once after the last read().
  void finish();

  // The row of the slice that starts at `start_ns`: same name (or one that ends with it, where the
  // framework put its operator in front) and the nearest start within half a microsecond. Each row
  // is given once; nullptr when there is none.
  KernelRow* take(int64_t start_ns, std::string_view name, const StringPool& strings);

  std::vector<KernelRow>& rows() { return rows_; }
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<KernelRow> rows_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_ASCEND_TEXT_KERNEL_TABLE_H_
