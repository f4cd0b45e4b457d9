#include "analyses/timeline/timeline.h"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/run_analyses.h"
#include "analyses/timeline/scope_layers.h"
#include "base/decimal.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"
#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

TEST(ScopeLayers, NeighboursOfAScopeAreOneSegment) {
  const std::vector<ScopedOperator> operators = {
      {0, 10, "Default/a/x/Conv-op1"}, {12, 20, "Default/a/y/Add-op2"},
      {15, 18, "Default/b/z/Mul-op3"},  // beside the one before
      {20, 30, "Default/b/y/Add-op4"}, {40, 50, "Gradients/b/y/Add-op5"},
  };
  const auto layers = scope_layers(operators, {});
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0], (std::vector<ScopeSegment>{{0, 30, "Default"}, {40, 50, "Gradients"}}));
  EXPECT_EQ(layers[1], (std::vector<ScopeSegment>{{0, 20, "a"}, {20, 30, "b"}, {40, 50, "b"}}));
  // y changes with what is above it.
  EXPECT_EQ(layers[2],
            (std::vector<ScopeSegment>{{0, 10, "x"}, {12, 20, "y"}, {20, 30, "y"}, {40, 50, "y"}}));
  // A step begins at 12: all scopes begin again.
  EXPECT_EQ(scope_layers(operators, {0, 12})[0].size(), 3u);
  EXPECT_TRUE(scope_layers({}, {}).empty());
}

TEST(Timeline, LanesOfASmallStore) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 2));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  const auto lanes = run.timeline(1);
  ASSERT_EQ(lanes.size(), 8u);
  const std::string_view kinds[] = {"step",
                                    "stream",
                                    "host_cpu",
                                    "merged_computation",
                                    "pure_communication",
                                    "merged_communication",
                                    "free",
                                    "counter"};
  for (size_t i = 0; i < lanes.size(); ++i) {
    EXPECT_EQ(lanes[i].kind_name, kinds[i]);
    EXPECT_EQ(lanes[i].position, static_cast<int64_t>(i));
    EXPECT_EQ(lanes[i].rank, 1);
  }
  EXPECT_EQ(lanes[0].process, "Device 0");
  EXPECT_EQ(lanes[0].segments[0].number, 7);
  EXPECT_EQ(lanes[1].name, "Stream #7");
  EXPECT_GE(lanes[1].track, static_cast<int64_t>(run.timeline(0).size() > 0 ? 3 : 0));
  EXPECT_EQ(lanes[3].busy_ns, 3200);
  EXPECT_EQ(lanes[6].count, 0);
}

// The layers of MindSpore's own trace_view.json. Its times are 37 ns late.
// The first events of the file are on other planes.
TEST(Timeline, OperationsOfAGroupComeBeforeItsPlanes) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun imported(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::vector<std::string> names;
  for (const TimelineLane& lane : run.timeline(0)) {
    if (lane.kind == LaneKind::kCommunication) names.push_back(lane.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"Group 0 Communication", "Plane 0", "Plane 1", "Plane 2",
                                      "Plane 3", "Plane 4", "Plane 5", "Plane 6", "Plane 7"}));
}

TEST(Timeline, ScopesOfMindSporeEqualItsOwnFile) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/mindspore_cpu/b_graph_lenet";
  const testing::ImportedRun run(folder, 2, "mindspore_raw");
  ASSERT_TRUE(run.ok()) << run.error();
  std::string file;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "trace_view.json") file = entry.path().string();
  }
  const auto events = read_json_file(file).value();
  std::map<int64_t, std::vector<ScopeSegment>> expected;
  std::vector<std::string> names;
  names.reserve(events.size());
  for (const auto& event : events) {
    if (event["ph"] != "X" || event["pid"] != 3) continue;
    const int64_t start = *parse_us_as_ns(event["ts"].get<std::string>()) - 37;
    const int64_t end = start + *parse_us_as_ns(event["dur"].get<std::string>());
    names.push_back(event["name"]);
    expected[event["tid"]].push_back({start, end, names.back()});
  }
  const auto layers = scope_layers(scoped_operators(run.store(), 0), {});
  ASSERT_EQ(layers.size(), expected.size());
  for (size_t level = 0; level < layers.size(); ++level) {
    const auto& theirs = expected[static_cast<int64_t>(level)];
    ASSERT_EQ(layers[level].size(), theirs.size()) << level;
    for (size_t i = 0; i < theirs.size(); ++i) {
      EXPECT_EQ(layers[level][i].name, theirs[i].name);
      EXPECT_NEAR(layers[level][i].start_ns, theirs[i].start_ns, 300);
      EXPECT_NEAR(layers[level][i].end_ns, theirs[i].end_ns, 300);
    }
  }
}

// Overlap Analysis, as the profiler of the recording computed it.
TEST(Timeline, OverlapOfAscendEqualsItsOwnLanes) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const testing::ImportedRun run(testing::shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(run.ok()) << run.error();
  const auto devices = device_intervals(run.store(), 0);
  const auto lanes = timeline(run.store(), rank_ids(run.store())[0], devices, {});
  const std::map<LaneKind, std::pair<int64_t, int64_t>> expected = {
      {LaneKind::kMergedComputation, {187, 8873756}},
      {LaneKind::kMergedCommunication, {4, 105991878}},
      {LaneKind::kPureCommunication, {101, 101963203}},
      {LaneKind::kFree, {90, 25744050}}};
  size_t seen = 0;
  for (const TimelineLane& lane : lanes) {
    const auto found = expected.find(lane.kind);
    if (found == expected.end()) continue;
    ++seen;
    EXPECT_EQ(lane.count, found->second.first) << lane.name;
    EXPECT_NEAR(lane.busy_ns, found->second.second, 200) << lane.name;
  }
  EXPECT_EQ(seen, 4u);
  const auto two = with_scope_levels(lanes, 2);
  EXPECT_EQ(two.size(), lanes.size());
}

}  // namespace
}  // namespace stepscope
