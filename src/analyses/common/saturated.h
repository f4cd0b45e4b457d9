// Sums that stop at the ends of the range instead of overflowing: lengths in a hostile input can be
// seven days each.
#ifndef STEPSCOPE_ANALYSES_COMMON_SATURATED_H_
#define STEPSCOPE_ANALYSES_COMMON_SATURATED_H_

#include <cstdint>
#include <limits>

namespace stepscope {

inline void add_saturated(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum))
    sum = value > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_SATURATED_H_
