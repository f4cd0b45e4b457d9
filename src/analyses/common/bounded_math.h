// Sums of numbers that an input may have made up: they stop at the ends of int64 instead of
// wrapping.
#ifndef STEPSCOPE_ANALYSES_COMMON_BOUNDED_MATH_H_
#define STEPSCOPE_ANALYSES_COMMON_BOUNDED_MATH_H_

#include <cstdint>
#include <limits>

namespace stepscope {

inline int64_t bounded_plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  // One above the smallest number, which is NULL.
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}
inline int64_t bounded_minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMON_BOUNDED_MATH_H_
