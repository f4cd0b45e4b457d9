// Decimal text to integers, exactly. Times in trace files are decimal microseconds (or
// milliseconds); they are never read through `double`, because epoch microseconds x 1000 passes
// 2^53.
#ifndef STEPSCOPE_BASE_DECIMAL_H_
#define STEPSCOPE_BASE_DECIMAL_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope {

// value x 10^shift rounded half away from zero to an integer; nullopt for anything but a plain
// decimal number (optional sign, digits, fraction, exponent) or when the result leaves int64.
// Surrounding blanks and a trailing TAB (Ascend CSV files) are allowed. parse_scaled("1.5", 3) ==
// 1500: microseconds to nanoseconds.
std::optional<int64_t> parse_scaled(std::string_view text, int shift);

inline std::optional<int64_t> parse_us_as_ns(std::string_view text) {
  return parse_scaled(text, 3);
}
inline std::optional<int64_t> parse_ms_as_ns(std::string_view text) {
  return parse_scaled(text, 6);
}
inline std::optional<int64_t> parse_integer(std::string_view text) { return parse_scaled(text, 0); }

// A decimal number times a power-of-two-free integer factor, e.g. megabytes with binary fractions
// ("1187.9814453125" x 1048576), rounded half away from zero. Exact up to 18 fractional digits.
std::optional<int64_t> parse_times(std::string_view text, int64_t factor);

// A number where a double is exact enough: ratios, bandwidths, samples. nullopt for anything but a
// number.
std::optional<double> parse_double(std::string_view text);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_DECIMAL_H_
