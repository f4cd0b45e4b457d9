#include "json/json_tree.h"

#include <algorithm>
#include <utility>

#include "base/file.h"

namespace stepscope {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;
constexpr int kMostDepth = 100;

// Where the string that begins at `at`, a quotation mark, has ended.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

bool is_nested_too_deep(std::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if ((c == '{' || c == '[') && ++depth > kMostDepth) return true;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return false;
}

// A copy of the text with bare NaN and Infinity replaced by null.
std::string with_nulls(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = end_of_string(text, at);
      out += text.substr(at, end - at);
      at = end;
      continue;
    }
    const std::string_view word = c == 'N' ? "NaN" : "Infinity";
    if ((c == 'N' || c == 'I') && text.substr(at, word.size()) == word) {
      if (!out.empty() && out.back() == '-') out.pop_back();
      out += "null";
      at += word.size();
      continue;
    }
    out += c;
    ++at;
  }
  return out;
}

// Of text whose nesting was checked.
template <typename Tree>
Tree parsed(std::string_view text, bool ignore_comments) {
  return Tree::parse(text, nullptr, /*allow_exceptions=*/false, ignore_comments);
}

template <typename Tree>
Tree tree_of(std::string_view text) {
  if (is_nested_too_deep(text)) return Tree(Tree::value_t::discarded);
  return parsed<Tree>(text, /*ignore_comments=*/false);
}

template <typename Tree>
std::string text_of(const Tree& tree, int indent) {
  return tree.dump(indent, ' ', /*ensure_ascii=*/false, Tree::error_handler_t::replace);
}

}  // namespace

nlohmann::json json_tree(std::string_view text) { return tree_of<nlohmann::json>(text); }

nlohmann::ordered_json ordered_json_tree(std::string_view text) {
  return tree_of<nlohmann::ordered_json>(text);
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& path) {
  if (is_nested_too_deep(text)) {
    return Error{ErrorCode::kLimit, "cannot read", path,
                 "its brackets are nested more than 100 deep", "check that this is the right file"};
  }
  auto tree = parsed<nlohmann::json>(with_nulls(text), /*ignore_comments=*/true);
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

std::string write_json(const nlohmann::json& tree, int indent) { return text_of(tree, indent); }

std::string write_json(const nlohmann::ordered_json& tree, int indent) {
  return text_of(tree, indent);
}

}  // namespace stepscope
