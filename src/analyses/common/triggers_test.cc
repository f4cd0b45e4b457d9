#include "analyses/common/triggers.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

RunTrigger trigger_of(int64_t rank, const std::string& what) {
  RunTrigger trigger;
  trigger.rank = rank;
  trigger.kind = "slow_step";
  trigger.what = what;
  return trigger;
}

TEST(TriggerLines, NameTheRankWhereThereAreSeveral) {
  EXPECT_TRUE(trigger_lines({}, 3).empty());
  EXPECT_EQ(trigger_lines({trigger_of(4, "a"), trigger_of(4, "b")}, 3),
            (std::vector<std::string>{"slow_step: a", "slow_step: b"}));
  EXPECT_EQ(trigger_lines({trigger_of(4, "a"), trigger_of(5, "b")}, 3),
            (std::vector<std::string>{"rank 4: slow_step: a", "rank 5: slow_step: b"}));
}

TEST(TriggerLines, AreNoMoreThanAskedForAndCountTheRest) {
  const std::vector<RunTrigger> four(4, trigger_of(0, "a"));
  EXPECT_EQ(trigger_lines(four, 4).size(), 4u);
  EXPECT_EQ(trigger_lines(four, 3),
            (std::vector<std::string>{"slow_step: a", "slow_step: a", "and 2 more"}));
  EXPECT_EQ(trigger_lines(four, 1), (std::vector<std::string>{"and 4 more"}));
}

}  // namespace
}  // namespace stepscope
