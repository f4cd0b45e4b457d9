#include "json/json_members.h"

#include <gtest/gtest.h>

#include "json/json_tree.h"

namespace stepscope {
namespace {

template <typename Tree>
void check_members(const Tree& tree) {
  EXPECT_EQ(text_in(tree, "text"), "a");
  EXPECT_EQ(integer_in(tree, "whole", 0), -7);
  EXPECT_EQ(integer_in(tree, "largest", 0), 9223372036854775807);
  EXPECT_EQ(number_in(tree, "whole", 0), -7.0);
  EXPECT_EQ(number_in(tree, "part", 0), 0.5);
  for (const char* key : {"missing", "part", "none", "list"}) {
    EXPECT_EQ(text_in(tree, key), "") << key;
    EXPECT_EQ(integer_in(tree, key, 3), 3) << key;
  }
  EXPECT_EQ(integer_in(tree, "text", 3), 3);
  EXPECT_EQ(integer_in(tree, "too_large", 3), 3);
  for (const char* key : {"missing", "text", "none", "list"})
    EXPECT_EQ(number_in(tree, key, 0.25), 0.25) << key;
  for (const Tree& other : {Tree::array({1}), Tree("text"), Tree(5), Tree(), tree["list"]}) {
    EXPECT_EQ(text_in(other, "text"), "");
    EXPECT_EQ(integer_in(other, "whole", 3), 3);
    EXPECT_EQ(number_in(other, "part", 0.25), 0.25);
  }
}

TEST(JsonMembers, OfOtherKindsAreNotTaken) {
  const char* text = R"({"text": "a", "whole": -7, "part": 0.5, "none": null, "list": [1],
    "largest": 9223372036854775807, "too_large": 9223372036854775808})";
  check_members(json_tree(text));
  check_members(ordered_json_tree(text));
  EXPECT_EQ(text_in(json_tree("no JSON"), "text"), "");
}

}  // namespace
}  // namespace stepscope
