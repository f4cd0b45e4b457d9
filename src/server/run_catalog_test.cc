#include "server/run_catalog.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/server_fixture.h"

namespace stepscope {
namespace {

class RunCatalogTest : public ::testing::Test {
 protected:
  void start(int runs, double look_every_seconds = 0) {
    for (int i = 0; i < runs; ++i)
      folder_.write("run" + std::to_string(i) + ".json", testing::small_trace());
    catalog_ =
        std::make_unique<RunCatalog>(CatalogOptions{folder_.path(), false, 1, look_every_seconds});
    ASSERT_TRUE(catalog_->start().ok());
    for (const RunEntry& run : catalog_->entries()) ASSERT_TRUE(settled(run.id)) << run.name;
  }
  // Whether a run becomes ready that is so.
  template <class Is>
  bool becomes_ready(Is&& is) {
    for (int i = 0; i < 2000; ++i) {
      for (const RunEntry& run : catalog_->entries()) {
        if (run.state == RunState::kReady && is(run)) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool settled(const std::string& id) {
    return becomes_ready([&](const RunEntry& run) { return run.id == id; });
  }
  bool has_steps(const std::string& id, int64_t steps) {
    return becomes_ready([&](const RunEntry& run) { return run.id == id && run.steps == steps; });
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<RunCatalog> catalog_;
};

TEST_F(RunCatalogTest, OnlyRunsLookedAtLastStayOpen) {
  start(20);
  const std::vector<RunEntry> runs = catalog_->entries();
  ASSERT_EQ(runs.size(), 20u);
  std::vector<std::weak_ptr<OpenRun>> open;
  for (const RunEntry& run : runs) {
    open.push_back(*catalog_->open(run.id));
    ASSERT_TRUE(catalog_->open(runs[0].id).ok());  // somebody looks at it all the time
  }
  EXPECT_FALSE(open.front().expired());
  EXPECT_FALSE(open.back().expired());
  const auto still =
      std::count_if(open.begin(), open.end(), [](const auto& one) { return !one.expired(); });
  EXPECT_EQ(still, 12);
  EXPECT_TRUE(open[1].expired());
  const auto again = catalog_->open(runs[1].id);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->store().rank_count(), 1u);
}

TEST_F(RunCatalogTest, AStoreThatSomebodyRemovedIsMadeAgain) {
  start(1);
  const std::string id = catalog_->entries()[0].id;
  size_t removed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".stepscope") removed += std::filesystem::remove(entry.path());
  ASSERT_EQ(removed, 1u);
  EXPECT_FALSE(catalog_->open(id).ok());
  ASSERT_TRUE(settled(id));
  EXPECT_TRUE(catalog_->open(id).ok());
}

std::string trace_with_steps(int steps) {
  std::vector<std::string> events;
  for (int step = 0; step < steps; ++step)
    events.push_back(
        testing::event("ProfilerStep#" + std::to_string(step), step * 100, "", "user_annotation"));
  return testing::trace_of(events);
}

TEST_F(RunCatalogTest, ARunThatGrowsOrIsReplacedIsReadAgain) {
  start(1, 0.02);
  const std::string id = catalog_->entries()[0].id;
  const auto seen = catalog_->open(id);
  ASSERT_TRUE(seen.ok());
  // It grows in two goes; what is there in between may be read or not.
  const std::string whole = trace_with_steps(4);
  folder_.write("run0.json", whole.substr(0, whole.size() / 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  folder_.write("run0.json", whole);
  ASSERT_TRUE(has_steps(id, 4));
  // Another file takes its name.
  const testing::TemporaryFolder elsewhere;
  std::filesystem::rename(elsewhere.write("new.json", trace_with_steps(7)),
                          folder_.path("run0.json"));
  ASSERT_TRUE(has_steps(id, 7));
  const auto now = catalog_->open(id);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ((*now)->store().rows(Table::kSteps, 0), 7u);
  // Who looked at it before still has what it was then.
  EXPECT_EQ((*seen)->store().rows(Table::kSteps, 0), 1u);
  EXPECT_EQ(catalog_->entries().size(), 1u);
}

TEST_F(RunCatalogTest, ALinkToARankLeadsToTheRunThatItIsPartOfNow) {
  folder_.write("rank1.json", trace_with_steps(2));
  folder_.write("other.json", trace_with_steps(1));
  start(0, 0.02);
  const auto only = [&](std::string_view name) {
    for (const RunEntry& run : catalog_->entries())
      if (run.name == name) return run;
    return RunEntry{};
  };
  const RunEntry alone = only("rank1.json");
  ASSERT_TRUE(alone.former_ids.empty());
  ASSERT_TRUE(catalog_->open(alone.id).ok());
  // Another rank comes before it.
  const testing::TemporaryFolder elsewhere;
  std::filesystem::rename(elsewhere.write("rank0.json", trace_with_steps(2)),
                          folder_.path("rank0.json"));
  ASSERT_TRUE(becomes_ready([](const RunEntry& run) { return run.ranks == 2; }));
  const RunEntry together = only("rank*.json");
  EXPECT_NE(together.id, alone.id);
  EXPECT_EQ(together.former_ids.size(), 2u);
  EXPECT_EQ(catalog_->entries().size(), 2u);
  for (const std::string& id : together.former_ids) {
    // What the asker knows of slices and tracks is of the rank alone.
    const auto open = catalog_->open(id);
    ASSERT_FALSE(open.ok());
    EXPECT_EQ(open.error().code, ErrorCode::kChanged);
    EXPECT_EQ(open.error().remedy, "ask for " + together.id);
    EXPECT_EQ(*catalog_->path_of(id), together.path);
    EXPECT_TRUE(catalog_->want(id).ok());
  }
  EXPECT_EQ(std::ranges::count(together.former_ids, alone.id), 1);
  const auto ranks_of = [&](const std::string& id) {
    const auto open = catalog_->open(id);
    EXPECT_TRUE(open.ok());
    return open.ok() ? (*open)->store().rank_count() : 0;
  };
  EXPECT_EQ(ranks_of(together.id), 2u);
  EXPECT_EQ(ranks_of(only("other.json").id), 1u);
  EXPECT_FALSE(catalog_->open("0123456789abcdef").ok());
  // It is alone again.
  std::filesystem::remove(folder_.path("rank0.json"));
  ASSERT_TRUE(settled(alone.id));
  EXPECT_EQ(ranks_of(alone.id), 1u);
  EXPECT_FALSE(catalog_->open(together.id).ok());
}

}  // namespace
}  // namespace stepscope
