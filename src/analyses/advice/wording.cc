#include "analyses/advice/wording.h"

#include <cmath>
#include <cstdio>

namespace stepscope {
namespace {

// Three digits, no more: 1.23, 12.3, 123.
std::string three_digits(double value) {
  const double size = std::abs(value);
  char text[32];
  const int decimals = size < 10 ? 2 : size < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace

std::string words_for_time(int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 1e3) return std::to_string(ns) + " ns";
  if (size < 1e6) return three_digits(value / 1e3) + " µs";
  if (size < 1e9) return three_digits(value / 1e6) + " ms";
  return three_digits(value / 1e9) + " s";
}

std::string words_for_share(double share) {
  char text[32];
  const double percent = share * 100;
  std::snprintf(text, sizeof text, std::abs(percent) < 10 ? "%.1f %%" : "%.0f %%", percent);
  return text;
}

std::string words_for_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return (unit == 0 ? std::to_string(static_cast<int64_t>(bytes)) : three_digits(bytes)) + " " +
         kUnits[unit];
}

std::string words_for_rate(double bytes_per_second) {
  return three_digits(bytes_per_second / 1e9) + " GB/s";
}

std::string words_for_number(double value) {
  if (std::abs(value - std::round(value)) < 0.005 || std::abs(value) >= 1000)
    return std::to_string(static_cast<int64_t>(std::llround(value)));
  return three_digits(value);
}

}  // namespace stepscope
