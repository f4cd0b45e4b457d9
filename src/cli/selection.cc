#include "cli/selection.h"

#include <algorithm>
#include <string>

#include "base/decimal.h"

namespace stepscope {
namespace {

constexpr size_t kMostNumbers = 1'000'000;
constexpr int64_t kUnixNs = 1'000'000'000'000'000;  // larger numbers are no seconds

Error bad(std::string_view text, const char* expected) {
  std::string why = "\"";
  why += text;
  why += "\" is not ";
  why += expected;
  return {ErrorCode::kBadInput, "cannot read", "", std::move(why), ""};
}

Result<int64_t> parse_time(std::string_view text, int64_t start_ns) {
  const struct {
    std::string_view unit;
    int shift;
  } kUnits[] = {{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}, {"", 9}};
  for (const auto& unit : kUnits) {
    if (!text.ends_with(unit.unit)) continue;
    const std::string_view number = text.substr(0, text.size() - unit.unit.size());
    if (unit.unit.empty()) {
      const auto whole = parse_integer(number);
      if (whole && *whole >= kUnixNs) return *whole;
    }
    const auto ns = parse_scaled(number, unit.shift);
    int64_t sum = 0;
    if (!ns || __builtin_add_overflow(*ns, start_ns, &sum)) break;
    return sum;
  }
  return bad(text, "a time such as 1.5s, 200ms or 1700000000000000000");
}

}  // namespace

Result<std::vector<int64_t>> parse_numbers(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t dash = part.find('-', 1);
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *last < *first) return bad(part, "a number or a range such as 4-7");
    if (static_cast<uint64_t>(*last) - static_cast<uint64_t>(*first) >= kMostNumbers)
      return bad(part, "a range of at most a million numbers");
    for (int64_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

Result<TimeRange> parse_time_range(std::string_view text, int64_t start_ns) {
  TimeRange range;
  if (text.empty()) return range;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad(text, "of the form FROM:TO");
  range.limited = true;
  if (const std::string_view from = text.substr(0, colon); !from.empty()) {
    auto ns = parse_time(from, start_ns);
    if (!ns) return std::move(ns.error());
    range.from_ns = *ns;
  }
  if (const std::string_view to = text.substr(colon + 1); !to.empty()) {
    auto ns = parse_time(to, start_ns);
    if (!ns) return std::move(ns.error());
    range.to_ns = *ns;
  }
  if (range.from_ns > range.to_ns) return bad(text, "a range: it ends before it starts");
  return range;
}

}  // namespace stepscope
