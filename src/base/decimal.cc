#include "base/decimal.h"

#include <charconv>
#include <limits>

namespace stepscope {
namespace {

using Wide = __int128;

struct Decimal {
  bool negative = false;
  Wide digits = 0;   // significant digits as an integer
  int exponent = 0;  // value = digits x 10^exponent
};

constexpr Wide kDigitsLimit = static_cast<Wide>(1) << 100;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::optional<Decimal> scan(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  Decimal number;
  size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
  bool any = false;
  bool in_fraction = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    if (number.digits < kDigitsLimit) {
      number.digits = number.digits * 10 + (c - '0');
      if (in_fraction) --number.exponent;
    } else if (!in_fraction) {
      return std::nullopt;  // more digits than any time or id has
    }
  }
  if (!any) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool negative = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) negative = text[at++] == '-';
    int exponent = 0;
    bool digit = false;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      digit = true;
      if (exponent < 10000) exponent = exponent * 10 + (text[at] - '0');
    }
    if (!digit) return std::nullopt;
    number.exponent += negative ? -exponent : exponent;
  }
  if (at != text.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> finish(const Decimal& number, Wide value, int exponent) {
  constexpr Wide kMax = std::numeric_limits<int64_t>::max();
  for (; exponent > 0 && value != 0; --exponent) {
    value *= 10;
    if (value > kMax + 1) return std::nullopt;
  }
  if (exponent < 0) {
    bool round_up = false;
    for (; exponent < 0 && value != 0; ++exponent) {
      round_up = value % 10 >= 5;
      value /= 10;
    }
    if (exponent < 0) round_up = false;
    value += round_up ? 1 : 0;
  }
  if (number.negative) value = -value;
  if (value > kMax || value < -kMax - 1) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

std::optional<int64_t> parse_scaled(std::string_view text, int shift) {
  const auto number = scan(text);
  if (!number) return std::nullopt;
  return finish(*number, number->digits, number->exponent + shift);
}

std::optional<int64_t> parse_times(std::string_view text, int64_t factor) {
  const auto number = scan(text);
  if (!number || number->digits > kDigitsLimit >> 40 || factor < 0 || factor > (int64_t{1} << 40)) {
    return std::nullopt;
  }
  return finish(*number, number->digits * factor, number->exponent);
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace stepscope
