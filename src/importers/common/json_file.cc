#include "importers/common/json_file.h"

#include <optional>
#include <string>

#include "base/file.h"

namespace stepscope {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;
constexpr int kMostDepth = 100;

// A copy of the text with bare NaN and Infinity, which some writers emit, replaced by null; nullopt
// when brackets outside strings are nested too deep for a parser that recurses.
std::optional<std::string> prepare(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && (c == '{' || c == '[') && ++depth > kMostDepth) return std::nullopt;
    if (!in_string && (c == '}' || c == ']')) --depth;
    if (!in_string && (c == 'N' || c == 'I')) {
      const std::string_view word = c == 'N' ? "NaN" : "Infinity";
      if (text.substr(i, word.size()) == word) {
        if (!out.empty() && out.back() == '-') out.pop_back();
        out += "null";
        i += word.size() - 1;
        continue;
      }
    }
    out += c;
  }
  return out;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& path) {
  const auto copy = prepare(text);
  if (!copy) {
    return Error{ErrorCode::kLimit, "cannot read", path,
                 "its brackets are nested more than 100 deep", "check that this is the right file"};
  }
  auto tree =
      nlohmann::json::parse(*copy, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  if (tree.is_discarded()) {
    return Error{ErrorCode::kBadInput, "cannot read", path, "it is not valid JSON",
                 "the program that wrote it probably stopped early"};
  }
  return tree;
}

Result<nlohmann::json> read_json_file(const std::string& path) {
  auto text = read_file(path, kMostBytes);
  if (!text) return std::move(text.error());
  return parse_json(*text, path);
}

}  // namespace stepscope
