// Walking the pairs of one object: values as they are, damage noticed.
#include "importers/chrome/object_walker.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/chrome/structural_index.h"

namespace stepscope {
namespace {

using Step = ObjectWalker::Step;

struct Walked {
  std::vector<std::string> pairs;
  Step last = Step::kBroken;
};

Walked walk(const std::string& text) {
  const std::string padded = text + std::string(kTextPadding, '\0');
  StructuralIndex index;
  index.build(padded.data(), text.size());
  const IndexedText source{padded.data(), text.size(), index.begin(), index.size()};
  ObjectWalker walker(source, 0);
  Walked walked;
  std::string_view key;
  std::string_view value;
  while ((walked.last = walker.next(key, value)) == Step::kPair)
    walked.pairs.push_back(std::string(key) + "=" + std::string(value));
  return walked;
}

TEST(ObjectWalker, PairsWithRawValues) {
  const Walked walked =
      walk(R"({ "a" : 1 , "b":"x, {y}" ,"c": {"d": [1, 2]}, "e": [ ], "f":-1.5e3, "g": null })");
  EXPECT_EQ(walked.last, Step::kDone);
  EXPECT_EQ(walked.pairs, (std::vector<std::string>{"a=1", "b=\"x, {y}\"", "c={\"d\": [1, 2]}",
                                                    "e=[ ]", "f=-1.5e3", "g=null"}));
}

TEST(ObjectWalker, EmptyTrailingCommaAndBareWords) {
  EXPECT_EQ(walk("{}").last, Step::kDone);
  EXPECT_EQ(walk("{ \n }").last, Step::kDone);
  const Walked walked = walk(R"({"a": NaN, "b": N/A, "c": -inf, })");
  EXPECT_EQ(walked.last, Step::kDone);
  EXPECT_EQ(walked.pairs, (std::vector<std::string>{"a=NaN", "b=N/A", "c=-inf"}));
}

TEST(ObjectWalker, CutTextIsOutOfTextOrBrokenAtEveryByte) {
  const std::string whole = R"({"a": 1, "b": {"c": [1, {"d": 2}]}, "e": "f"})";
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(walk(whole.substr(0, size)).last, Step::kDone) << whole.substr(0, size);
  }
  EXPECT_EQ(walk(whole).last, Step::kDone);
}

TEST(ObjectWalker, DamageIsBroken) {
  for (const std::string text :
       {R"({"a" 1, "b": 2})", R"({a: 1, "b": 2})", R"({"a": , "b": 2})", R"({"a": 1 "b": 2})",
        R"({"a": {"b": 1, {"c": 2}}, "d": 3})",  // a lost bracket
        R"({"a": [1, 2}, "b": 3})", R"({"a": {"b": 1]}, "d": 3})", R"({"a": {1} x, "b": 3})"}) {
    EXPECT_EQ(walk(text).last, Step::kBroken) << text;
  }
}

TEST(ObjectWalker, NestingIsLimited) {
  const auto nested = [](size_t depth) {
    return "{\"a\": " + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(walk(nested(60)).last, Step::kDone);
  EXPECT_EQ(walk(nested(1000)).last, Step::kBroken);
}

}  // namespace
}  // namespace stepscope
