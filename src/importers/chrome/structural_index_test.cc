// The structural index against one byte at a time, with and without the CPU's special instructions.
#include "importers/chrome/structural_index.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

struct Expected {
  std::vector<uint32_t> positions;
  std::vector<uint32_t> marks;
};

bool is_outer(const std::string& text, size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  return c <= ' ' || std::string_view("{}[]:,").find(text[at]) != std::string_view::npos;
}

Expected reference(const std::string& text) {
  Expected expected;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto number = static_cast<uint32_t>(i);
    const char c = text[i];
    if (c == '\\') {  // escapes count outside strings too: the parity of quotes is all there is
      if (in_string && static_cast<unsigned char>(c) < ' ') expected.marks.push_back(number);
      ++i;
      if (i >= text.size()) break;
      const bool known = std::string_view("\"\\/bfnrtu").find(text[i]) != std::string_view::npos;
      const auto next = static_cast<uint32_t>(i);
      if (in_string && !known) expected.marks.push_back(next);
      if (!in_string && std::string_view("{}[]:,").find(text[i]) != std::string_view::npos)
        expected.positions.push_back(next);
      continue;
    }
    if (c == '"') {
      const bool fine = in_string ? i + 1 >= text.size() || is_outer(text, i + 1)
                                  : i == 0 || is_outer(text, i - 1);
      if (!fine) expected.marks.push_back(number);
      in_string = !in_string;
      continue;
    }
    if (in_string) {
      if (static_cast<unsigned char>(c) < ' ') expected.marks.push_back(number);
    } else if (std::string_view("{}[]:,").find(c) != std::string_view::npos) {
      expected.positions.push_back(number);
    }
  }
  return expected;
}

void check(const std::string& text) {
  const Expected expected = reference(text);
  // What stands behind the text must not matter.
  for (const char padding : {'\0', '"', '\\', '{', 'x'}) {
    const std::string padded = text + std::string(kTextPadding, padding);
    for (const bool portable : {false, true}) {
      StructuralIndex index;
      index.build(padded.data(), text.size(), portable);
      ASSERT_EQ(std::vector<uint32_t>(index.begin(), index.begin() + index.size()),
                expected.positions)
          << text;
      ASSERT_EQ(index.marks(), expected.marks) << text;
    }
  }
}

TEST(StructuralIndex, StringsHideWhatIsInThem) {
  check("");
  check(R"({"a{": "b,]\"}", "c": [1, 2]})");
  check(R"({"path": "C:\\", "n": {}})");
  check(std::string(63, ' ') + "\"a\":1,");
  check(std::string(62, ' ') + "\"\\\"\":1,");
  check(std::string(200, '['));
}

TEST(StructuralIndex, ValidTextHasNoMarks) {
  for (const std::string text :
       {R"({"a" : "b\n\u00e4" , "c":["d","e"],"":""})", R"(["\\\"\/\b\f\n\r\t", " "])", "\"x\""}) {
    EXPECT_TRUE(reference(text).marks.empty()) << text;
    check(text);
  }
}

TEST(StructuralIndex, MarksWhatValidTextCannotHave) {
  for (const std::string text :
       {R"({"a": "b"c"})", "{\"a\": \"b\nc\"}", R"({"a": "C:\Users"})", R"({"a": "x"y, "b": 1})"}) {
    EXPECT_FALSE(reference(text).marks.empty()) << text;
    check(text);
  }
}

TEST(StructuralIndex, AgreesWithTheReferenceOnRandomText) {
  std::mt19937 random(41);
  const std::string_view alphabets[] = {"\"\\{}[]:, a", "\"\\\\\\\"n", "abc\"{}:,\n\t\x01",
                                        "\"\" :,"};
  for (int round = 0; round < 4000; ++round) {
    const std::string_view letters = alphabets[random() % std::size(alphabets)];
    std::string text;
    for (size_t length = random() % 300; length > 0; --length)
      text += letters[random() % letters.size()];
    check(text);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace stepscope
