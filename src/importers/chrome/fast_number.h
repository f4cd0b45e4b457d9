// Numbers as trace files usually write them, without a call. Everything unusual goes to
// base/decimal.h.
#ifndef STEPSCOPE_IMPORTERS_CHROME_FAST_NUMBER_H_
#define STEPSCOPE_IMPORTERS_CHROME_FAST_NUMBER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "store/schema.h"

namespace stepscope {

// Digits of up to 15 places, optionally a '.' and up to three more: microseconds to nanoseconds.
inline std::optional<int64_t> fast_us_as_ns(std::string_view text) {
  constexpr uint64_t kShift[4] = {1000, 100, 10, 1};
  const size_t size = text.size();
  if (size > 19) return parse_us_as_ns(text);  // 15 digits, '.', 3 digits; more could overflow
  uint64_t value = 0;
  size_t at = 0;
  while (at < size && static_cast<unsigned char>(text[at] - '0') < 10)
    value = value * 10 + static_cast<unsigned char>(text[at++] - '0');
  const size_t digits = at;
  size_t fraction = 0;
  if (at < size && text[at] == '.') {
    ++at;
    while (at < size && static_cast<unsigned char>(text[at] - '0') < 10) {
      value = value * 10 + static_cast<unsigned char>(text[at++] - '0');
      ++fraction;
    }
  }
  if (at != size || digits == 0 || digits > 15 || fraction > 3) return parse_us_as_ns(text);
  return static_cast<int64_t>(value * kShift[fraction]);
}

inline std::optional<int64_t> fast_integer(std::string_view text) {
  int64_t value = 0;
  if (text.empty() || text.size() > 18) return parse_integer(text);
  for (const char c : text) {
    if (static_cast<unsigned char>(c - '0') >= 10) return parse_integer(text);
    value = value * 10 + (c - '0');
  }
  return value;
}

// A whole number that may be quoted; kNull when it is none.
inline int64_t number_or_null(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == '"';
  const auto number = fast_integer(quoted ? value.substr(1, value.size() - 2) : value);
  return number ? *number : kNull;
}

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_FAST_NUMBER_H_
