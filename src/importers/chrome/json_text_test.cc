// Escapes, event boundaries, and the repair of what is not JSON.
#include "importers/chrome/json_text.h"

#include <gtest/gtest.h>

#include "base/json_text.h"

namespace stepscope {
namespace {

TEST(Unescape, EveryEscapeAndTheUnknownAsTheyAre) {
  EXPECT_EQ(unescape(R"(a\"b\\c\/d\be\ff\ng\rh\ti)"), "a\"b\\c/d\be\ff\ng\rh\ti");
  EXPECT_EQ(unescape(R"(\u0041\u00e4\u4E2d\ud83d\ude00)"), "A\u00e4\u4e2d\U0001F600");
  EXPECT_EQ(unescape(R"(\ud83d)"), "\uFFFD");
  EXPECT_EQ(unescape(R"(\ude00\ud83d)"), "\uFFFD\uFFFD");
  EXPECT_EQ(unescape(R"(C:\Users\x)"), R"(C:\Users\x)");
  EXPECT_EQ(unescape(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(unescape("\\"), "\\");
  EXPECT_EQ(unescape(""), "");
}

TEST(EventStart, OnlyWhereAnEventCanBegin) {
  const std::string text =
      R"([{"ph": "X"}, {"args": {"name": {"ts": 1}}}, {"other": 2},{ "name":"x"}])";
  EXPECT_EQ(next_event_start(text, 0), 1u);
  EXPECT_EQ(next_event_start(text, 2), text.find("{\"args"));
  EXPECT_EQ(next_event_start(text, text.find("{\"args") + 1), text.find("{ \"name"));
  EXPECT_EQ(next_event_start(text, text.find("{ \"name") + 1), std::string::npos);
  EXPECT_EQ(last_event_start(text), text.find("{ \"name"));
  EXPECT_EQ(last_event_start("{\"ph\": 1}"), std::string::npos);  // not at position 0
  EXPECT_EQ(last_event_start("no events"), std::string::npos);
}

TEST(Repair, MakesValidJsonOfWhatProfilersWrite) {
  const struct {
    std::string broken;
    std::string repaired;
  } cases[] = {
      {R"({"name": "say "hi" now"})", R"({"name": "say \"hi\" now"})"},
      {R"({"name": "odd " one", "ts": 1})", R"({"name": "odd \" one", "ts": 1})"},
      {R"({"name": "C:\Users\x", "ts": 1})", R"({"name": "C:\\Users\\x", "ts": 1})"},
      {R"({"name": "C:\dir\", "ts": 1})", R"({"name": "C:\\dir\\", "ts": 1})"},
      {"{\"name\": \"two\nlines\tand\x01\"}", R"({"name": "two\u000alines\u0009and\u0001"})"},
      {R"({"a": "fine \" \\ \n"})", R"({"a": "fine \" \\ \n"})"},
      {R"j({"args": {"lib": "load("x.so")", "n": [1, "a"b"]}})j",
       R"j({"args": {"lib": "load(\"x.so\")", "n": [1, "a\"b"]}})j"},
  };
  for (const auto& [broken, repaired] : cases) {
    size_t used = 0;
    EXPECT_EQ(repair_event(broken, &used), repaired);
    EXPECT_EQ(used, broken.size());
    EXPECT_TRUE(is_json(repair_event(broken))) << broken;
    EXPECT_EQ(repair_event(repaired), repaired);
  }
}

TEST(Repair, StopsBehindTheObject) {
  size_t used = 0;
  EXPECT_EQ(repair_event(R"({"a": "x"y"} ], "traceName": "t"})", &used), R"({"a": "x\"y"})");
  EXPECT_EQ(used, 12u);
  EXPECT_EQ(repair_event(R"({"a": {"b": [)", &used), R"({"a": {"b": [)");
  EXPECT_EQ(used, 13u);
}

TEST(Unquote, StringsOnly) {
  EXPECT_EQ(unquote("\"a\""), "a");
  EXPECT_EQ(unquote("\"\""), "");
  EXPECT_EQ(unquote("12"), "12");
  EXPECT_EQ(unquote("\""), "\"");
}

}  // namespace
}  // namespace stepscope
