#include "json/json_tree.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonTree, TextThatIsNoneIsDiscarded) {
  EXPECT_EQ(json_tree(R"({"a": [1, "]["]})")["a"][0].get<int>(), 1);
  for (const char* text : {"", "{", "{\"a\": }", "[1] 2", "NaN", "\"", "\"\\"}) {
    EXPECT_TRUE(json_tree(text).is_discarded()) << text;
    EXPECT_TRUE(ordered_json_tree(text).is_discarded()) << text;
  }
}

TEST(JsonTree, NestingIsBounded) {
  EXPECT_FALSE(json_tree(nested(100)).is_discarded());
  EXPECT_TRUE(json_tree(nested(101)).is_discarded());
  EXPECT_TRUE(ordered_json_tree(std::string(10'000'000, '{')).is_discarded());
  // Brackets in texts do not count.
  EXPECT_FALSE(json_tree("\"\\\"" + nested(500) + "\"").is_discarded());
  const auto error = parse_json(nested(101), "deep.json").error().message();
  EXPECT_NE(error.find("deep.json"), std::string::npos) << error;
  EXPECT_NE(error.find("100 deep"), std::string::npos) << error;
}

TEST(JsonTree, WhatOtherWritersEmitIsRead) {
  const auto tree =
      parse_json(R"({"a": NaN, "b": -Infinity, "c": "NaN \" Infinity" /* why */})", "");
  ASSERT_TRUE(tree.ok()) << tree.error().message();
  EXPECT_TRUE((*tree)["a"].is_null());
  EXPECT_TRUE((*tree)["b"].is_null());
  EXPECT_EQ((*tree)["c"].get<std::string>(), "NaN \" Infinity");
  EXPECT_FALSE(read_json_file("/nowhere/at all.json").ok());
}

TEST(JsonTree, IsWrittenWhateverItHolds) {
  EXPECT_EQ(write_json(ordered_json_tree(R"({"b": 1, "a": [2]})")), R"({"b":1,"a":[2]})");
  EXPECT_EQ(write_json(json_tree(R"({"b": 1, "a": 2})"), 1), "{\n \"a\": 2,\n \"b\": 1\n}");
  EXPECT_EQ(write_json(nlohmann::json("\xff")), "\"\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace stepscope
