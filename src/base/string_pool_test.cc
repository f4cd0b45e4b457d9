// Every distinct string once, ids dense and stable, text never moved.
#include "base/string_pool.h"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(StringPool, FirstIsEmptyAndIdsAreDense) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.intern(""), kEmptyString);
  EXPECT_EQ(pool.intern("a"), 1u);
  EXPECT_EQ(pool.intern(std::string_view("a\0b", 3)), 2u);
  EXPECT_EQ(pool.intern("a"), 1u);
  EXPECT_EQ(pool.find("a"), 1u);
  EXPECT_EQ(pool.find("b"), kNoString);
  EXPECT_EQ(pool.text_bytes(), 4u);
}

TEST(StringPool, AgreesWithAMapAndKeepsViewsValid) {
  StringPool pool;
  std::map<std::string, StringId> reference = {{"", 0}};
  std::mt19937 random(5);
  const std::string_view early = pool.view(pool.intern("early"));
  reference["early"] = 1;
  for (int i = 0; i < 60'000; ++i) {
    std::string text = std::to_string(random() % 20'000);
    if (i % 100 == 0) text += std::string(random() % 3000, 'x');
    const auto [known, added] =
        reference.try_emplace(text, static_cast<StringId>(reference.size()));
    ASSERT_EQ(pool.intern(text), known->second);
  }
  pool.intern(std::string(1 << 20, 'y'));  // larger than an arena
  EXPECT_EQ(pool.size(), reference.size() + 1);
  for (const auto& [text, id] : reference) {
    ASSERT_EQ(pool.view(id), text);
    ASSERT_EQ(pool.find(text), id);
  }
  EXPECT_EQ(early, "early");
}

TEST(StringRemap, TranslatesAndGrowsWithItsSource) {
  StringPool from;
  StringPool to;
  to.intern("other");
  from.intern("one");
  StringRemap remap;
  remap.extend(from, to);
  const StringId two = from.intern("two");
  from.intern("other");
  remap.extend(from, to);
  EXPECT_EQ(to.view(remap(1)), "one");
  EXPECT_EQ(to.view(remap(two)), "two");
  EXPECT_EQ(remap(from.find("other")), to.find("other"));
  EXPECT_EQ(remap(kNoString), kNoString);
  EXPECT_EQ(remap(kEmptyString), kEmptyString);
}

}  // namespace
}  // namespace stepscope
