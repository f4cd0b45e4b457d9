#include "importers/native/stack_samples.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

// The order of slices decides which of two equally long ones lies around the other.
TEST(StackSamples, FramesComeInTheOrderOfTheirBeginOuterFirst) {
  RankBuilder rank;
  RawRun run(rank);
  RawChunk names;
  names.strings = {{1, "main"}, {2, "train"}, {3, "busy"}, {4, "stop"}};
  run.learn(names);
  StackSamples stacks(run);
  stacks.add_node(1, 0, 1);
  stacks.add_node(2, 1, 2);
  stacks.add_node(3, 2, 3);
  stacks.add_node(4, 2, 4);
  // The last sample has lost the innermost frame: all of them end with it.
  stacks.add_sample(7, 1000, 3);
  stacks.add_sample(7, 2000, 3);
  stacks.add_sample(7, 3000, 4);
  stacks.finish();

  std::vector<std::string> frames;
  for (const SliceRecord& slice : rank.slices(0)) {
    frames.push_back(std::string(rank.strings.view(slice.name)) + " " +
                     std::to_string(slice.ts_ns) + "+" + std::to_string(slice.dur_ns));
  }
  EXPECT_EQ(frames,
            (std::vector<std::string>{"main 1000+2000", "train 1000+2000", "busy 1000+2000"}))
      << "nothing is known of how long `stop` lasted";
}

}  // namespace
}  // namespace stepscope
