#include "analyses/steps/infer_steps.h"

#include <string_view>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

// Each letter is an operator of 8 ns, 10 ns apart; a blank is a pause of 100 ns.
std::vector<RepeatedEvent> events_of(std::string_view letters) {
  std::vector<RepeatedEvent> events;
  int64_t now_ns = 1000;
  for (const char letter : letters) {
    if (letter == ' ') {
      now_ns += 100;
      continue;
    }
    RepeatedEvent event;
    event.start_ns = now_ns;
    event.end_ns = now_ns + 8;
    event.name = static_cast<uint32_t>(letter - 'A');
    event.fetches_data = letter == 'N';
    events.push_back(event);
    now_ns += 10;
  }
  return events;
}

std::string repeat(std::string_view text, int times) {
  std::string result;
  while (times-- > 0) result += text;
  return result;
}

// Number of the event each step starts at, -1 for moments where none starts; "?" for incomplete.
std::string starts_of(const std::vector<RepeatedEvent>& events, const InferredSteps& inferred) {
  std::string text;
  for (const InferredStep& step : inferred.steps) {
    int64_t place = -1;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i].start_ns == step.start_ns) place = static_cast<int64_t>(i);
    }
    text += (text.empty() ? "" : " ") + std::to_string(place) + (step.complete ? "" : "?");
  }
  return text;
}

std::string infer(std::string_view letters) {
  const auto events = events_of(letters);
  return starts_of(events, infer_steps(events));
}

TEST(InferSteps, FindsWholeSteps) { EXPECT_EQ(infer(repeat("ABCDEF", 4)), "0 6 12 18"); }

TEST(InferSteps, FindsStepsWhoseOperatorsAllComeTwice) {
  // No single operator comes once a step.
  EXPECT_EQ(infer(repeat("ABABBCCA", 4)), "0 8 16 24");
}

TEST(InferSteps, DoesNotTakeALayerForAStep) {
  // Embedding, ten layers, loss, ten layers backward, optimizer.
  const std::string step = "A" + repeat("BCDE", 10) + "F" + repeat("GHIJ", 10) + "K";
  EXPECT_EQ(infer(repeat(step, 3)), "0 83 166");
}

TEST(InferSteps, DoesNotTakeWhatComesEveryFewStepsForAStep) {
  const std::string four = repeat("ABCDEFGHIJ", 4) + "Z";  // something is written every four steps
  EXPECT_EQ(infer(repeat(four, 3)), "0 10 20 30 41 51 61 71 82 92 102 112");
}

TEST(InferSteps, KeepsThePeriodOfARecordingThatBeganInsideAStep) {
  // Whole steps win over pauses: the main thread of PyTorch pauses longest during backward.
  EXPECT_EQ(infer("DEF ABCDEF ABCDEF ABCDEF ABC"), "0 6 12 18");
  // Neither end is a whole step: the pauses decide.
  EXPECT_EQ(infer("EF ABCDEF ABCDEF ABCDEF ABC"), "2 8 14 20?");
}

TEST(InferSteps, StartsWithTheDataFetch) {
  EXPECT_EQ(infer(repeat("ABCN DEF ", 4)), "3 10 17 24?");
}

TEST(InferSteps, ThreadsMayChangeTheOrder) {
  // The first step of MindSpore's graph mode: an operator of another thread (Z) comes first.
  EXPECT_EQ(infer("ZABCDEFGHIJK ABCDEFGHIJZK ABCDEFGHIJZK ABCDEFGHIJZK"), "0 12 24 36");
}

TEST(InferSteps, SaysWhyThereAreNone) {
  const auto few = infer_steps(events_of("ABCABC"));
  EXPECT_TRUE(few.steps.empty());
  EXPECT_FALSE(few.why_none.empty());
  const auto different = infer_steps(events_of("ABCDEFGHIJKLMNOPQRST"));
  EXPECT_TRUE(different.steps.empty());
  EXPECT_EQ(different.why_none, "no sequence of operators repeats");
  EXPECT_TRUE(infer_steps({}).steps.empty());
}

TEST(InferSteps, LongRecordingsAreSearchedAtTheirBeginning) {
  const std::string step = "ABCDEFGH";
  const auto events = events_of(repeat(step, 50'000));  // more than is searched
  const auto inferred = infer_steps(events);
  ASSERT_EQ(inferred.steps.size(), 50'000u);
  EXPECT_EQ(inferred.steps.back().start_ns, events[events.size() - 8].start_ns);
}

}  // namespace
}  // namespace stepscope
