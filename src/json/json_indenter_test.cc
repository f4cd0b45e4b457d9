#include "json/json_indenter.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "json/json_tree.h"

namespace stepscope {
namespace {

constexpr std::string_view kText =
    R"( {"a":[1,-2.5,{"b":"{[,:]} \" \\"}],"empty":[{},[],""], "nested":[[[]]],"c":null} )";

std::string indented(std::string_view text, size_t piece) {
  JsonIndenter indenter;
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) out += indenter.indent(text.substr(at, piece));
  return out;
}

TEST(JsonIndenter, WritesWhatTheTreesWriterDoes) {
  const std::string expected = write_json(ordered_json_tree(kText), 4);
  ASSERT_NE(expected.find("\n    \"a\": [\n        1,"), std::string::npos);
  EXPECT_EQ(indented(kText, kText.size()), expected);
}

TEST(JsonIndenter, PiecesMayEndAnywhere) {
  const std::string whole = indented(kText, kText.size());
  for (size_t piece = 1; piece < 20; ++piece) EXPECT_EQ(indented(kText, piece), whole) << piece;
}

TEST(JsonIndenter, DeepTextsStaySmall) {
  const std::string text = std::string(900, '[') + "1" + std::string(900, ']');
  const std::string out = indented(text, 100);
  EXPECT_LT(out.size(), text.size() * 200);
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1800);
}

}  // namespace
}  // namespace stepscope
