// Choices as people write them on the command line.
#ifndef STEPSCOPE_CLI_SELECTION_H_
#define STEPSCOPE_CLI_SELECTION_H_

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepscope {

// "0,4-7" -> 0 4 5 6 7; "" -> none. At most a million numbers.
Result<std::vector<int64_t>> parse_numbers(std::string_view text);

struct TimeRange {
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  bool limited = false;
};

// "A:B", either side may be empty. A number with the unit s, ms, us or ns counts from `start_ns`;
// one without a unit is seconds, or unix ns when it is too large for that.
Result<TimeRange> parse_time_range(std::string_view text, int64_t start_ns);

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_SELECTION_H_
