// The ranges that the program's own code names (record_function): what there is to
// say about a loop without operators and without a device.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_USER_RANGES_H_
#define STEPSCOPE_ANALYSES_OPERATORS_USER_RANGES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"

namespace stepscope {

struct UserRangeRow {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view name;
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
};
inline constexpr Field<UserRangeRow> kUserRangeFields[] = {
    field<&UserRangeRow::rank>("rank", Unit::kNone, "rank"),
    field<&UserRangeRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&UserRangeRow::name>("name", Unit::kNone, "name of the range"),
    field<&UserRangeRow::calls>("calls", Unit::kCount, "how often it ran"),
    field<&UserRangeRow::total_ns>("total_ns", Unit::kNanoseconds, "sum of its lengths"),
    field<&UserRangeRow::self_ns>("self_ns", Unit::kNanoseconds, "of it in no other range inside"),
};

// By name, in the order of their first calls; marks of steps are none. O(n) in the slices of the
// rank; 4 bytes a slice while it runs.
std::vector<UserRangeRow> user_ranges(const StoreReader& store, const RankId& rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_USER_RANGES_H_
