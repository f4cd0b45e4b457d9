// Begin and end events whose args are more than the reader holds.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/chrome/event_scanner.h"
#include "importers/chrome/trace_assembler.h"

namespace stepscope {
namespace {

TEST(TracePairs, ArgsOfARepairedBeginBeyondTheBoundAreCounted) {
  const std::string text =
      R"({"ph": "B", "name": "plain", "pid": 1, "tid": 7, "ts": 1, "args": {"a": 1}},)"
      R"({"ph": "B", "name": "say "hi"", "pid": 1, "tid": 7, "ts": 2, "args": {"b": 2}},)"
      R"({"ph": "B", "name": "kept", "pid": 1, "tid": 7, "ts": 3, "args": {"c": 3}},)"
      R"({"ph": "E", "name": "kept", "pid": 1, "tid": 7, "ts": 4}])";
  EventScanner scanner{MapperOptions{}};
  const std::string padded = text + std::string(kTextPadding, '\0');
  StagedChunk chunk;
  scanner.scan(padded.data(), text.size(), 0, true, chunk);
  ASSERT_EQ(chunk.quality.count(QualityCode::kRepairedEvent), 1);
  ASSERT_EQ(chunk.edge_args.size(), 3u);
  chunk.edge_args[0].assign(size_t{64} << 20, ' ');  // all that is held

  RankBuilder rank;
  TraceAssembler assembler(rank, 1);
  std::vector<std::string_view> strings;
  for (StringId id = 0; id < scanner.mapper.strings.size(); ++id)
    strings.push_back(scanner.mapper.strings.view(id));
  assembler.learn(0, strings, scanner.mapper.tracks);
  assembler.take_over(0, chunk);
  assembler.finish();

  const auto& entries = rank.quality.entries();
  ASSERT_TRUE(entries.contains(QualityCode::kLimitReached));
  EXPECT_EQ(entries.at(QualityCode::kLimitReached).count, 1);
  EXPECT_EQ(entries.at(QualityCode::kLimitReached).example, "args of a repaired event: say \"hi\"");
  ASSERT_EQ(rank.slices(0).size(), 3u);
  for (const SliceRecord& slice : rank.slices(0)) {
    const bool lost = rank.strings.view(slice.name) == "say \"hi\"";
    EXPECT_EQ(slice.args == ArgsRef::kNone, lost) << rank.strings.view(slice.name);
  }
}

}  // namespace
}  // namespace stepscope
