// One piece of a file: what is read, where reading stops, and why.
#include "importers/chrome/event_scanner.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

using testing::event;

struct Scanned {
  StagedChunk chunk;
  std::vector<std::string> names;
  std::string rest;  // behind what was used
};

Scanned scan(const std::string& text, bool is_last) {
  Scanned out;
  EventScanner scanner{MapperOptions{}};
  const std::string padded = text + std::string(kTextPadding, '\0');
  scanner.scan(padded.data(), text.size(), 1000, is_last, out.chunk);
  for (const StagedSlice& slice : out.chunk.slices)
    out.names.emplace_back(scanner.mapper.strings.view(slice.record.name));
  out.rest = text.substr(out.chunk.used_bytes);
  return out;
}

using Names = std::vector<std::string>;

TEST(EventScanner, CompletePieces) {
  const Scanned out = scan(event("a", 1) + ",\n" + event("b", 2) + ", ", false);
  EXPECT_EQ(out.chunk.end, ChunkEnd::kComplete);
  EXPECT_EQ(out.names, (Names{"a", "b"}));
  EXPECT_EQ(out.rest, "");
}

TEST(EventScanner, AnEventThatGoesOnInTheNextPieceIsLeftToIt) {
  const std::string second = event("b", 2, R"("k": [1, 2], "s": "x}")");
  for (size_t size = 1; size < second.size(); ++size) {
    const Scanned out = scan(event("a", 1) + "," + second.substr(0, size), false);
    ASSERT_EQ(out.chunk.end, ChunkEnd::kIncomplete) << second.substr(0, size);
    ASSERT_EQ(out.names, Names{"a"});
    ASSERT_EQ(out.rest, second.substr(0, size));
  }
}

TEST(EventScanner, ABrokenEventAtTheEndWaitsForTheNextPieceToo) {
  const Scanned out = scan(event("a", 1) + "," + event("b\"c", 2) + ",", false);
  EXPECT_EQ(out.chunk.end, ChunkEnd::kIncomplete);
  EXPECT_EQ(out.names, Names{"a"});
  EXPECT_EQ(out.rest, event("b\"c", 2) + ",");
}

TEST(EventScanner, TheEndOfTheListIsSureInTheLastPieceOnly) {
  const std::string text = event("a", 1) + "\n], \"traceName\": \"t\"}";
  const Scanned last = scan(text, true);
  EXPECT_EQ(last.chunk.end, ChunkEnd::kArrayEnd);
  EXPECT_EQ(last.rest, "], \"traceName\": \"t\"}");
  EXPECT_EQ(scan(text, false).chunk.end, ChunkEnd::kIncomplete);
}

TEST(EventScanner, TheLastEventMayBeBroken) {
  const Scanned out =
      scan(event("a", 1) + "," + event("b\"c", 2) + "], \"traceName\": \"t\"}", true);
  EXPECT_EQ(out.chunk.end, ChunkEnd::kArrayEnd);
  EXPECT_EQ(out.names, (Names{"a", "b\"c"}));
  EXPECT_EQ(out.rest, "], \"traceName\": \"t\"}");
  EXPECT_EQ(out.chunk.quality.count(QualityCode::kRepairedEvent), 1);
}

TEST(EventScanner, BrokenEventsAreNamedByTheirPlaceInTheFile) {
  const std::string good = event("a", 1) + ",\n";
  const Scanned out = scan(good + R"({"ph": "X" "name": 1})" + ",\n" + event("b", 2), true);
  EXPECT_EQ(out.names, (Names{"a", "b"}));
  EXPECT_EQ(out.chunk.quality.entries().at(QualityCode::kUnparsableEvent).example,
            "byte " + std::to_string(1000 + good.size()));
}

TEST(EventScanner, ArgsAreKeptByTheirPlaceUnlessRepaired) {
  const std::string good = event("a", 1, R"("k": 1)");
  const Scanned out = scan(good + "," + event("b", 2, R"("k": "x"y")") + "," + event("c", 3), true);
  ASSERT_EQ(out.names, (Names{"a", "b", "c"}));
  const uint64_t args = out.chunk.slices[0].record.args;
  EXPECT_EQ(ArgsRef::offset(args), 1000 + good.find("{\"k\""));
  EXPECT_EQ(ArgsRef::length(args), 8u);
  EXPECT_EQ(ArgsRef::source(args), 1u);
  ASSERT_EQ(out.chunk.own_args.size(), 1u);
  EXPECT_EQ(out.chunk.own_args[0].first, 1u);
  EXPECT_EQ(out.chunk.own_args[0].second, R"({"k": "x\"y"})");
}

}  // namespace
}  // namespace stepscope
