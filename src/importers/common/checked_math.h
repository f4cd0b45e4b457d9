// Arithmetic on numbers that come out of files: NULL instead of undefined behaviour when the result
// leaves 64 bits, NULL when an operand is NULL.
#ifndef STEPSCOPE_IMPORTERS_COMMON_CHECKED_MATH_H_
#define STEPSCOPE_IMPORTERS_COMMON_CHECKED_MATH_H_

#include <cstdint>

#include "store/schema.h"

namespace stepscope {

inline int64_t plus_or_null(int64_t a, int64_t b) {
  int64_t sum;
  return a == kNull || b == kNull || __builtin_add_overflow(a, b, &sum) ? kNull : sum;
}

inline int64_t minus_or_null(int64_t a, int64_t b) {
  int64_t difference;
  return a == kNull || b == kNull || __builtin_sub_overflow(a, b, &difference) ? kNull : difference;
}

inline int64_t times_or_null(int64_t a, int64_t b) {
  int64_t product;
  return a == kNull || b == kNull || __builtin_mul_overflow(a, b, &product) ? kNull : product;
}

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_COMMON_CHECKED_MATH_H_
