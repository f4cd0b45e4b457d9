// The host side of the shared Ascend data, from ascend/EXPECTED.md: the operators and API calls
// that cost most, and how deep Python's threads are nested.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/ascend_text/expected_numbers_test.h"

namespace stepscope::testing {
namespace {

struct Cost {
  int64_t count = 0;
  double us = 0;
};

struct HostThread {
  int64_t slices;
  int64_t levels;
};

const ImportedStore* store_at(const char* folder) {
  for (const Expected& expected : expected_numbers()) {
    if (std::string(expected.folder) == folder) return store_of(expected);
  }
  return nullptr;
}

#define RANK_OR_SKIP(folder)                                                               \
  const ImportedStore* imported = store_at(folder);                                        \
  if (imported == nullptr) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA"; \
  ASSERT_TRUE(imported->store) << imported->error;                                         \
  const ImportedStore& run = *imported

// Names in order of what they cost, the dearest first.
std::vector<std::pair<std::string, Cost>> by_cost(const std::map<std::string, Cost>& costs) {
  std::vector<std::pair<std::string, Cost>> sorted(costs.begin(), costs.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.second.us > b.second.us; });
  return sorted;
}

void expect_top(const std::map<std::string, Cost>& costs,
                const std::vector<std::pair<std::string, Cost>>& expected) {
  const auto found = by_cost(costs);
  ASSERT_GE(found.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].first, expected[i].first);
    EXPECT_EQ(found[i].second.count, expected[i].second.count) << expected[i].first;
    EXPECT_NEAR(found[i].second.us, expected[i].second.us, 0.005) << expected[i].first;
  }
}

TEST(AscendTextHost, TopOperators) {
  RANK_OR_SKIP("level1/rank0_ascend_pt");
  const auto names = run.source_texts("operator_details", "Name");
  const auto times = run.source_numbers("operator_details", "Host Self Duration(us)");
  ASSERT_EQ(names.size(), times.size());
  std::map<std::string, Cost> costs;
  for (size_t i = 0; i < names.size(); ++i) {
    ++costs[names[i]].count;
    costs[names[i]].us += times[i];
  }
  expect_top(costs,
             {{"aten::_local_scalar_dense", {27, 92923.05}},
              {"aten::copy_", {32, 7153.38}},
              {"empty_tensor", {102, 6603.69}},
              {"aten::result_type", {64, 6317.02}},
              {"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", {1, 1960.10}}});
}

// The table of statistics and the timeline's calls say the same.
TEST(AscendTextHost, TopCalls) {
  RANK_OR_SKIP("level1/rank0_ascend_pt");
  const std::vector<std::pair<std::string, Cost>> expected = {
      {"aclrtSynchronizeStreamWithTimeout", {7, 97887.24}},
      {"aclopCompileAndExecute", {19, 14049.23}},
      {"launch", {191, 4014.44}}};
  const auto names = run.source_texts("api_statistic", "API Name");
  const auto counts = run.source_numbers("api_statistic", "Count");
  const auto times = run.source_numbers("api_statistic", "Time(us)");
  ASSERT_EQ(names.size(), counts.size());
  ASSERT_EQ(names.size(), times.size());
  std::map<std::string, Cost> of_table;
  for (size_t i = 0; i < names.size(); ++i) {
    of_table[names[i]].count += static_cast<int64_t>(counts[i]);
    of_table[names[i]].us += times[i];
  }
  expect_top(of_table, expected);

  const auto processes = run.texts(Table::kTracks, "process");
  const auto tracks = run.column(Table::kSlices, "track");
  const auto calls = run.texts(Table::kSlices, "name");
  const auto lengths = run.column(Table::kSlices, "dur");
  std::map<std::string, Cost> of_timeline;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (processes[static_cast<size_t>(tracks[i])] != "CANN") continue;
    Cost& cost = of_timeline[calls[i].substr(calls[i].find('@') + 1)];
    ++cost.count;
    cost.us += static_cast<double>(lengths[i]) / 1000;
  }
  expect_top(of_timeline, expected);
}

TEST(AscendTextHost, NestingOfPythonThreads) {
  const std::map<std::string, std::map<std::string, HostThread>> expected = {
      {"level1/rank0_ascend_pt",
       {{"3096504", {1651, 38}}, {"3105075", {650, 8}}, {"3099702", {159, 1}}}},
      {"level1/rank1_ascend_pt",
       {{"3096506", {1651, 38}}, {"3105108", {650, 8}}, {"3100037", {159, 1}}}}};
  for (const auto& [folder, threads] : expected) {
    RANK_OR_SKIP(folder.c_str());
    const auto processes = run.texts(Table::kTracks, "process");
    const auto tids = run.texts(Table::kTracks, "tid");
    const auto tracks = run.column(Table::kSlices, "track");
    const auto depths = run.column(Table::kSlices, "depth");
    std::map<std::string, HostThread> found;
    for (size_t i = 0; i < tracks.size(); ++i) {
      const auto track = static_cast<size_t>(tracks[i]);
      if (processes[track] != "Python") continue;
      HostThread& thread = found.try_emplace(tids[track], HostThread{0, 0}).first->second;
      ++thread.slices;
      thread.levels = std::max(thread.levels, depths[i] + 1);
    }
    EXPECT_EQ(found.size(), threads.size()) << folder;
    for (const auto& [tid, thread] : threads) {
      ASSERT_TRUE(found.contains(tid)) << folder << " thread " << tid;
      EXPECT_EQ(found.at(tid).slices, thread.slices) << folder << " thread " << tid;
      EXPECT_EQ(found.at(tid).levels, thread.levels) << folder << " thread " << tid;
    }
  }
}

}  // namespace
}  // namespace stepscope::testing
