// What is asked of ranks, and what they are told to be doing about it: places of the test.
#include "control/capture.h"

#include <map>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

class PlayedEdit : public ConfigEdit {
 public:
  PlayedEdit(std::string text, std::function<Status(const std::string&)> store)
      : ConfigEdit(std::move(text)), store_(std::move(store)) {}

 private:
  Status store(const std::string& text) override { return store_(text); }
  std::function<Status(const std::string&)> store_;
};

// Ranks that do what the test says with a request.
class PlayedPlace : public WatchedPlace {
 public:
  PlayedPlace(std::string name, WatchingRanks ranks)
      : name_(std::move(name)), ranks_(std::move(ranks)) {}

  Result<std::vector<WatchingRank>> ranks() const override { return ranks_; }
  Result<std::unique_ptr<ConfigEdit>> edit() const override {
    return std::unique_ptr<ConfigEdit>(
        std::make_unique<PlayedEdit>(config_, [this](const std::string& text) -> Status {
          if (refuses)
            return Error{ErrorCode::kIo, "cannot reach the training", name_, "it is away", ""};
          config_ = text;
          ++writes;
          const std::string key = "\"request\": \"";
          const size_t at = text.find(key) + key.size();
          const std::string id = text.substr(at, text.find('"', at) - at);
          for (WatchingRank& rank : ranks_) {
            rank.taken = rank.request = id;
            rank.state = writes <= misses ? "missed" : answer;
            rank.late = late;
          }
          return {};
        }));
  }
  std::string name() const override { return name_; }

  bool refuses = false;
  int misses = 0;
  bool late = true;
  std::string answer = "armed";
  mutable int writes = 0;
  mutable std::string config_;

 private:
  std::string name_;
  mutable WatchingRanks ranks_;
};

WatchingRank rank_at(int64_t number, int64_t step) {
  WatchingRank rank;
  rank.rank = number;
  rank.host = "node";
  rank.process = 100 + number;
  rank.state = "watching";
  rank.step = step;
  rank.alive = true;
  return rank;
}

class CaptureTest : public ::testing::Test {
 protected:
  PlayedPlace& add(const std::string& name, WatchingRanks ranks) {
    auto place = std::make_unique<PlayedPlace>(name, std::move(ranks));
    PlayedPlace& made = *place;
    places_.push_back(std::move(place));
    return made;
  }
  WatchedPlaces places_;
};

TEST_F(CaptureTest, TheNextStepsThatAllRanksCanReach) {
  PlayedPlace& one = add("one", {rank_at(0, 10)});
  PlayedPlace& two = add("two", {rank_at(1, 20)});
  const auto asked = capture(places_, {.next = 4}, {});
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(asked->steps, (StepWindow{22, 25}));
  ASSERT_EQ(asked->ranks.size(), 2U);
  EXPECT_EQ(capture_state(asked->ranks[0], asked->id), "armed");
  EXPECT_EQ(one.config_, two.config_);
}

TEST_F(CaptureTest, LaterStepsWhenAllWereFaster) {
  add("one", {rank_at(0, 10)}).misses = 2;
  std::vector<int> attempts;
  Following following;
  following.on_asked = [&](const AskedCapture&, int attempt) { attempts.push_back(attempt); };
  const auto asked = capture(places_, {}, following);
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(capture_state(asked->ranks[0], asked->id), "armed");
}

TEST_F(CaptureTest, NoLaterStepsWhereRecordingFails) {
  PlayedPlace& one = add("one", {rank_at(0, 10)});
  one.misses = 1;
  one.late = false;
  const auto asked = capture(places_, {}, {});
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(one.writes, 1);
  EXPECT_EQ(capture_state(asked->ranks[0], asked->id), "missed");
}

TEST_F(CaptureTest, NamedStepsAreAskedForOnce) {
  PlayedPlace& one = add("one", {rank_at(0, 10)});
  one.misses = 5;
  const auto asked = capture(places_, {.steps = StepWindow{3, 4}}, {});
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(one.writes, 1);
  EXPECT_EQ(capture_state(asked->ranks[0], asked->id), "missed");
}

TEST_F(CaptureTest, WhatWasAskedForBeforeStaysUnlessItIsReplaced) {
  PlayedPlace& one = add("one", {rank_at(0, 10)});
  one.config_ = R"({"start_step": 50, "stop_step": 51})";
  auto asked = capture(places_, {}, {});
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().message().find("steps 50 to 51"), std::string::npos);
  EXPECT_EQ(one.writes, 0);
  asked = capture(places_, {.replace = true}, {});
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(one.writes, 1);
}

TEST_F(CaptureTest, WhoWasAskedWhenNotAllCouldBe) {
  add("node1:7", {rank_at(0, 10)});
  add("node2:7", {rank_at(1, 10)}).refuses = true;
  add("node3:7", {rank_at(2, 10)});
  auto asked = capture(places_, {.next = 2}, {});
  ASSERT_FALSE(asked);
  const std::string said = asked.error().message();
  EXPECT_NE(said.find("only some of the ranks were asked: node2:7"), std::string::npos) << said;
  EXPECT_NE(said.find("it is away"), std::string::npos) << said;
  EXPECT_NE(said.find("steps 12 to 13 are asked for at node1:7"), std::string::npos) << said;
  EXPECT_NE(said.find("not asked any more: node3:7"), std::string::npos) << said;
  EXPECT_NE(said.find("--replace"), std::string::npos) << said;
  // None had it: the error of that place, and nothing to take back.
  static_cast<PlayedPlace&>(*places_[0]).refuses = true;
  asked = capture(places_, {.next = 2, .replace = true}, {});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().what, "cannot reach the training");
}

TEST_F(CaptureTest, NobodyToAsk) {
  PlayedPlace& one = add("one", {rank_at(4, 10), rank_at(5, 10)});
  auto asked = capture(places_, {.ranks = {9, 0, 1, 2, 7}}, {});
  ASSERT_FALSE(asked);
  EXPECT_NE(asked.error().why.find("2 ranks watch it, from 4 to 5, but not 0-2,7,9"),
            std::string::npos)
      << asked.error().message();
  EXPECT_EQ(one.writes, 0);
  places_.clear();
  add("two", {});
  asked = capture(places_, {}, {});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::kNotFound);
}

TEST_F(CaptureTest, ARankThatIsNotThereAnyMoreIsGone) {
  WatchingRanks asked{rank_at(0, 1), rank_at(1, 1)};
  const WatchingRanks now = same_ranks(asked, {asked[1]});
  ASSERT_EQ(now.size(), 2U);
  EXPECT_EQ(capture_state(now[0], "id"), "gone");
  EXPECT_EQ(capture_state(now[1], "id"), "not seen yet");
  EXPECT_TRUE(is_final_state("gone"));
  EXPECT_FALSE(is_final_state("not seen yet"));
}

}  // namespace
}  // namespace stepscope
