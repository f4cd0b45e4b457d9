#include "server/request_values.h"

#include <charconv>
#include <limits>

namespace stepscope {
namespace {

Error bad_value(const char* name, const std::string& text, std::string why) {
  return {ErrorCode::kBadInput, "bad request", std::string(name) + "=" + text.substr(0, 80),
          std::move(why), "see docs/api.md"};
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<int64_t> integer_value(const httplib::Request& request, const char* name, int64_t missing,
                              int64_t least, int64_t most) {
  if (!request.has_param(name)) return missing;
  const std::string text = request.get_param_value(name);
  int64_t value = 0;
  if (!parse(text, value)) return bad_value(name, text, "a whole number is wanted");
  if (value < least || value > most)
    return bad_value(
        name, text,
        "it must lie between " + std::to_string(least) + " and " + std::to_string(most));
  return value;
}

Result<std::optional<int64_t>> optional_integer(const httplib::Request& request, const char* name) {
  if (!request.has_param(name)) return std::optional<int64_t>();
  const std::string text = request.get_param_value(name);
  int64_t value = 0;
  if (!parse(text, value)) return bad_value(name, text, "a whole number is wanted");
  return std::optional<int64_t>(value);
}

Result<Viewport> viewport_value(const httplib::Request& request, int64_t origin_ns) {
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
  constexpr int64_t kWidest = 16'384;
  const auto from = integer_value(request, "from", 0, -kFar, kFar);
  if (!from) return from.error();
  const auto to = integer_value(request, "to", kFar, -kFar, kFar);
  if (!to) return to.error();
  const auto width = integer_value(request, "width", 1920, 1, kWidest);
  if (!width) return width.error();
  return Viewport{origin_ns + *from, origin_ns + *to, static_cast<uint32_t>(*width)};
}

Result<std::vector<uint64_t>> number_list(const httplib::Request& request, const char* name,
                                          size_t most) {
  std::vector<uint64_t> values;
  if (!request.has_param(name)) return values;
  const std::string text = request.get_param_value(name);
  size_t from = 0;
  while (from < text.size()) {
    size_t to = text.find(',', from);
    if (to == std::string::npos) to = text.size();
    uint64_t value = 0;
    if (!parse(std::string_view(text).substr(from, to - from), value))
      return bad_value(name, text, "whole numbers with commas between them are wanted");
    if (values.size() == most)
      return bad_value(name, text, "at most " + std::to_string(most) + " numbers in one request");
    values.push_back(value);
    from = to + 1;
  }
  return values;
}

Error not_in_run(std::string_view what, uint64_t number, std::string_view see) {
  return {ErrorCode::kNotFound, "no such " + std::string(what), std::to_string(number),
          "the run has none of that number", "GET " + std::string(see) + " names those it has"};
}

}  // namespace stepscope
