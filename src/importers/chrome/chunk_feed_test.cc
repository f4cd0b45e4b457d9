// Cutting a file into pieces: nothing lost, every piece begins at an event.
#include "importers/chrome/chunk_feed.h"

#include <gtest/gtest.h>

#include "importers/chrome/json_text.h"
#include "importers/chrome/structural_index.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

using testing::TemporaryFolder;

HeadState head_of(std::string_view text, size_t& begin) {
  size_t key = 0;
  return find_events(text, key, begin);
}

TEST(FindEvents, ObjectsListsAndNeither) {
  size_t begin = 0;
  EXPECT_EQ(head_of(R"( {"a": {"traceEvents": 1}, "traceEvents" : [{"ph")", begin),
            HeadState::kObject);
  EXPECT_EQ(begin, std::string_view(R"( {"a": {"traceEvents": 1}, "traceEvents" : [)").size());
  EXPECT_EQ(head_of("\n [{\"ph\":1}]", begin), HeadState::kArray);
  EXPECT_EQ(begin, 3u);
  EXPECT_EQ(head_of("\xEF\xBB\xBF[", begin), HeadState::kArray);
  EXPECT_EQ(head_of("hello", begin), HeadState::kNotThere);
  EXPECT_EQ(head_of(R"({"a": 1})", begin), HeadState::kNotThere);
  EXPECT_EQ(head_of(R"({"a": "unfinished)", begin), HeadState::kNeedMore);
  EXPECT_EQ(head_of("  ", begin), HeadState::kNeedMore);
  EXPECT_EQ(head_of(R"({"a": "\"traceEvents\": [{\"ph\": 1}]", "b": )", begin),
            HeadState::kNeedMore);
}

TEST(FindEvents, LogLinesWithQuotesInFront) {
  size_t begin = 0;
  for (const char* line : {R"("say "hi" there")", R"("one " only")", R"("a "b", "c" d")"}) {
    const std::string text =
        "{\"INFO\": [" + std::string(line) + "], \"traceEvents\": [{\"ph\": \"X\"}]}";
    EXPECT_EQ(head_of(text, begin), HeadState::kObject) << line;
    EXPECT_EQ(text.substr(begin), "{\"ph\": \"X\"}]}");
  }
}

TEST(ChunkFeed, PiecesJoinToTheFileAndBeginAtEvents) {
  std::vector<std::string> events;
  for (int i = 0; i < 500; ++i)
    events.push_back(testing::event("n" + std::to_string(i), i, "\"k\": [1, {\"name\": 2}]"));
  const std::string text = testing::trace_of(events);
  TemporaryFolder folder;
  const std::string path = folder.write("t.json", text);
  for (const size_t piece_bytes :
       {size_t{1}, size_t{64}, size_t{300}, size_t{1000}, size_t{1} << 20}) {
    auto source = TextSource::open(path);
    ASSERT_TRUE(source);
    ChunkFeed feed(**source, piece_bytes);
    const auto head = feed.read_head();
    ASSERT_TRUE(head);
    EXPECT_EQ(text.find("\"traceEvents\""), head->size());
    std::string joined;
    TextPiece piece;
    uint64_t number = 0;
    bool ended = false;
    while (true) {
      auto more = feed.next(piece);
      ASSERT_TRUE(more);
      if (!*more) break;
      EXPECT_FALSE(ended);
      ended = piece.is_last;
      EXPECT_EQ(piece.number, number++);
      EXPECT_EQ(text.substr(piece.offset, piece.size), std::string(piece.text.data(), piece.size));
      for (size_t i = 0; i < kTextPadding; ++i) ASSERT_EQ(piece.text.data()[piece.size + i], '\0');
      if (number > 1) {
        EXPECT_TRUE(looks_like_event({piece.text.data(), piece.size}, 0));
      }
      joined.append(piece.text.data(), piece.size);
    }
    EXPECT_TRUE(ended);
    EXPECT_EQ(joined, text.substr(text.size() - joined.size()));
    EXPECT_TRUE(text.substr(0, text.size() - joined.size()).ends_with("["));
    EXPECT_EQ(feed.text_bytes(), text.size());
  }
}

}  // namespace
}  // namespace stepscope
