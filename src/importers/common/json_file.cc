#include "importers/common/json_file.h"

#include "base/file.h"

namespace stepscope {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;
constexpr int kMostDepth = 100;

// Depth of brackets outside strings; also replaces bare NaN and Infinity, which some writers emit,
// by null.
bool prepare(std::string& text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    if (c == '"')
      in_string = true;
    else if (c == '{' || c == '[') {
      if (++depth > kMostDepth) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == 'N' || c == 'I') {
      for (const std::string_view word : {"NaN", "Infinity"}) {
        if (text.compare(i, word.size(), word) != 0) continue;
        const size_t from = i > 0 && text[i - 1] == '-' ? i - 1 : i;
        text.replace(from, i + word.size() - from, "null");
        i = from + 3;
        break;
      }
    }
  }
  return true;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& path) {
  std::string copy(text);
  if (!prepare(copy)) {
    return Error{ErrorCode::kLimit, "cannot read", path,
                 "its brackets are nested more than 100 deep", ""};
  }
  auto tree =
      nlohmann::json::parse(copy, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
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
