// What counts as UTF-8, and what becomes of the rest.
#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Utf8, ValidTextIsKept) {
  for (const std::string text :
       {"", "plain", "gr\xC3\xBC\xC3\x9F", "\xE4\xB8\xAD\xE6\x96\x87",
        "\xF0\x9F\x98\x80 at any place in a longer text \xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(repair_utf8(text), text);
  }
  EXPECT_TRUE(is_utf8(std::string(1000, 'a')));
}

TEST(Utf8, EveryOtherByteIsReplaced) {
  const struct {
    std::string text;
    std::string wanted;
  } cases[] = {
      {"a\xFFz", "a\uFFFDz"},
      {"\x80", "\uFFFD"},
      {"cut \xE4\xB8", "cut \uFFFD\uFFFD"},
      {"overlong \xC0\xAF", "overlong \uFFFD\uFFFD"},
      {"overlong \xE0\x80\xAF", "overlong \uFFFD\uFFFD\uFFFD"},
      {"surrogate \xED\xA0\x80", "surrogate \uFFFD\uFFFD\uFFFD"},
      {"beyond \xF4\x90\x80\x80", "beyond \uFFFD\uFFFD\uFFFD\uFFFD"},
      {"latin-1 gr\xFC\xDF ok", "latin-1 gr\uFFFD\uFFFD ok"},
  };
  for (const auto& [text, wanted] : cases) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(repair_utf8(text), wanted);
    EXPECT_TRUE(is_utf8(repair_utf8(text)));
  }
}

TEST(Utf8, ControlCharactersAreMadeVisible) {
  EXPECT_EQ(visible_text(std::string_view("a\nb\tc\x1b[1m\0\x7F", 11)),
            R"(a\nb\tc\x1b[1m\x00\x7f)");
  EXPECT_EQ(visible_text("caf\u00e9 \u4e2d\u009b2J"), "caf\u00e9 \u4e2d\\x9b2J");
  EXPECT_EQ(visible_text("one\ntwo\r", true), "one\ntwo\\x0d");
}

}  // namespace
}  // namespace stepscope
