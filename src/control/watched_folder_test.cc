// What `stepscope capture` makes of a folder that ranks watch; python/tests/test_dynamic_ranks.py
// has real ranks.
#include "control/watched_folder.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/json_tree.h"
#include "tests/support/file_text.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

class WatchedFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_.path(".stepscope")); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
  }
  std::string text(const std::string& name) const { return testing::file_text(folder_.path(name)); }
  // A rank of another machine that told of itself `age` seconds ago.
  Json status(int rank, double age) const {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    return Json{{"rank", rank},
                {"host", "elsewhere"},
                {"pid", 100 + rank},
                {"state", "watching"},
                {"window", nullptr},
                {"request", ""},
                {"taken", ""},
                {"step", 10},
                {"steps_per_second", 2.0},
                {"output", ""},
                {"error", ""},
                {"refused", ""},
                {"next_update_s", 5.0},
                {"updated", now.count() - age},
                {"poll_interval_s", 0}};
  }
  void write_status(const Json& json) const {
    write(".stepscope/rank_" + std::to_string(json["rank"].get<int>()) + ".json", write_json(json));
  }
  WatchedFolder watched() const { return WatchedFolder(folder_.path("")); }

  testing::TemporaryFolder folder_;
};

TEST_F(WatchedFolderTest, RanksAreSortedAndOldOnesAreGone) {
  write_status(status(10, 0));
  write_status(status(2, 0));
  write_status(status(3, 100));
  const auto ranks = watched().ranks();
  ASSERT_TRUE(ranks);
  ASSERT_EQ(ranks->size(), 3U);
  EXPECT_EQ((*ranks)[0].rank, 2);
  EXPECT_TRUE((*ranks)[0].alive);
  EXPECT_EQ((*ranks)[1].rank, 3);
  EXPECT_FALSE((*ranks)[1].alive);
  EXPECT_EQ((*ranks)[2].rank, 10);
}

TEST_F(WatchedFolderTest, AProcessOfThisMachineIsAsked) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  Json rank = status(0, 100);
  rank["host"] = host;
  rank["pid_namespace"] = std::filesystem::read_symlink("/proc/self/ns/pid").string();
  rank["pid"] = ::getpid();
  rank["started"] = "1";  // another process had the number
  write_status(rank);
  auto ranks = watched().ranks();
  ASSERT_TRUE(ranks);
  EXPECT_FALSE(ranks->at(0).alive);
  std::ifstream file("/proc/self/stat");
  std::string all(std::istreambuf_iterator<char>(file), {});
  std::istringstream fields(all.substr(all.rfind(')') + 1));
  std::string started;
  for (int field = 0; field < 20; ++field) fields >> started;
  rank["started"] = started;
  write_status(rank);
  ranks = watched().ranks();
  ASSERT_TRUE(ranks);
  EXPECT_TRUE(ranks->at(0).alive) << "however long ago it told";
}

TEST_F(WatchedFolderTest, StrangeFilesDoNoHarm) {
  write(".stepscope/rank_0.json", "{");
  write(".stepscope/rank_1.json", "[]");
  write(".stepscope/rank_2.json", "{}");
  write(".stepscope/rank_3.json",
        R"({"rank": "x", "host": 5, "pid": 1e300, "window": [1, "2"], "step": -1e400,
            "steps_per_second": -5, "updated": "now", "state": []})");
  write(".stepscope/rank_4.json", std::string(2 << 20, ' '));
  write(".stepscope/other.json", R"({"rank": 7})");
  std::filesystem::create_directory(folder_.path(".stepscope/rank_5.json"));
  const auto ranks = watched().ranks();
  ASSERT_TRUE(ranks);
  EXPECT_LE(ranks->size(), 1U);
  for (const WatchingRank& rank : *ranks) {
    EXPECT_FALSE(rank.alive);
    EXPECT_FALSE(rank.window.has_value());
    EXPECT_EQ(rank.steps_per_second, 0);
  }
  EXPECT_GT(reachable_step(*ranks), 0);
}

TEST_F(WatchedFolderTest, ARequestKeepsOtherKeysAndTheirOrder) {
  write("profiler_config.json",
        R"({"start_step": 1, "stop_step": 1, "with_stack": true, "activities": ["CPU"],
            "ranks": [5]})");
  auto edit = watched().edit();
  ASSERT_TRUE(edit);
  ASSERT_TRUE((*edit)->asked() == (StepWindow{1, 1}));
  ASSERT_TRUE((*edit)->write({"id", {7, 9}, 1, false, false, {0, 2}}));
  const Json json = ordered_json_tree(text("profiler_config.json"));
  EXPECT_EQ(write_json(json),
            R"({"start_step":7,"stop_step":9,"with_stack":false,"activities":["CPU"],)"
            R"("profiler_level":1,"ranks":[0,2],"request":"id"})");
  edit->reset();
  edit = watched().edit();
  ASSERT_TRUE(edit);
  ASSERT_TRUE((*edit)->asked() == (StepWindow{7, 9}));
}

TEST_F(WatchedFolderTest, ABrokenConfigurationIsReplaced) {
  write("profiler_config.json", R"({"start_step": 1,)");
  const auto edit = watched().edit();
  ASSERT_TRUE(edit);
  EXPECT_FALSE((*edit)->asked().has_value());
  ASSERT_TRUE((*edit)->write({"id", {2, 2}, -1, false, true, {}}));
  const Json json = ordered_json_tree(text("profiler_config.json"));
  EXPECT_EQ(json["start_step"], 2);
  EXPECT_EQ(json["profile_framework"], -1);
  EXPECT_EQ(json["analyse_mode"], 1);
  EXPECT_FALSE(json.contains("ranks"));
}

TEST_F(WatchedFolderTest, OneWriterAtATime) {
  auto first = watched().edit();
  ASSERT_TRUE(first);
  EXPECT_FALSE(watched().edit());
  first->reset();
  EXPECT_TRUE(watched().edit());
}

TEST_F(WatchedFolderTest, ReachableSteps) {
  WatchingRank slow;
  slow.step = 100;
  EXPECT_EQ(reachable_step({slow}), 102) << "101 may have begun";
  WatchingRank fast = slow;
  fast.step = 103;
  fast.steps_per_second = 10;
  fast.age_seconds = 2;
  EXPECT_EQ(reachable_step({slow, fast}), 103 + 20 + 2 + 10);
  fast.poll_seconds = 2;  // it may see the change that much later
  EXPECT_EQ(reachable_step({slow, fast}), 103 + 20 + 2 + 30);
  fast.age_seconds = 1e9;  // clocks that differ
  EXPECT_EQ(reachable_step({slow, fast}), 103 + 600 + 2 + 30);
}

// Containers and machines may share the folder of a user.
TEST(RegisteredProcesses, ThoseOfOtherMachinesStayAndAreNotMeant) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("stepscope"));
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  const std::string names = std::filesystem::read_symlink("/proc/self/ns/pid").string();
  const auto add = [&](const std::string& name, const std::string& at, const std::string& in) {
    const Json entry{{"host", at},
                     {"pid", 1 << 22},
                     {"pid_namespace", in},
                     {"started", "7"},
                     {"cfg_path", "/cfg" + name},
                     {"jobs", {"job-" + name}}};
    std::ofstream(folder.path("stepscope/" + name + ".json")) << write_json(entry);
  };
  add("gone", host, names);
  add("elsewhere", "elsewhere", names);
  add("container", host, "pid:[1]");
  const char* const before = ::getenv("XDG_RUNTIME_DIR");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("XDG_RUNTIME_DIR", folder.path("").c_str(), 1);
  for (const char* const job : {"job-gone", "job-elsewhere", "job-container"})
    EXPECT_FALSE(registered_folder(job)) << job;
  before == nullptr ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", old.c_str(), 1);
  EXPECT_FALSE(std::filesystem::exists(folder.path("stepscope/gone.json")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("stepscope/elsewhere.json")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("stepscope/container.json")));
}

TEST(FindWatchedPlaces, FoldersFilesSocketsAndWhatIsNone) {
  const testing::TemporaryFolder folder;
  const auto named = find_watched_places(folder.path(""), "");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->at(0)->name(), folder.path("profiler_config.json"));
  const auto file = find_watched_places(folder.path("mine.json"), "");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->at(0)->name(), folder.path("mine.json"));
  const auto sockets = find_watched_places("node1:7000,[::1]:7001", "");
  ASSERT_TRUE(sockets);
  ASSERT_EQ(sockets->size(), 2U);
  EXPECT_EQ(sockets->at(0)->name(), "node1:7000");
  for (const char* const none :
       {"no-such-job", "node1:", ":70", "node1:70000", "node1:7000,x", "127.evil.example"}) {
    const auto found = find_watched_places(none, "");
    ASSERT_FALSE(found) << none;
    EXPECT_NE(found.error().message().find(none), std::string::npos);
  }
}

}  // namespace
}  // namespace stepscope
