// The numbers of the shared Ascend data that only level 1 has: operator types, hardware counters,
// communication, and the tables of statistics.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "importers/ascend_text/expected_numbers_test.h"

namespace stepscope::testing {
namespace {

std::vector<Expected> level1() {
  std::vector<Expected> found;
  for (Expected& expected : expected_numbers()) {
    if (expected.level1) found.push_back(expected);
  }
  return found;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

class AscendTextLevel1 : public ::testing::TestWithParam<Expected> {};

TEST_P(AscendTextLevel1, KernelTypesAndCounters) {
  STORE_OR_SKIP();
  const auto types = run.texts(Table::kKernels, "op_type");
  const auto lengths = run.column(Table::kKernels, "dur");
  const auto counters = run.texts(Table::kKernels, "counters");
  const auto shapes = run.texts(Table::kKernels, "input_shapes");
  std::map<std::string, Totals> by_type;
  int64_t with_vector_time = 0;
  int64_t dynamic = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    ++by_type[types[i]].count;
    by_type[types[i]].ns += lengths[i];
    with_vector_time += counters[i].find("\"aiv_vec_time(us)\":") != std::string::npos;
    dynamic += counters[i].find("\"OP State\":\"dynamic\"") != std::string::npos;
  }
  for (const auto& [type, totals] : expected.top_types) {
    EXPECT_EQ(by_type[type].count, totals.count) << type;
    EXPECT_NEAR(by_type[type].ns, totals.ns, totals.count) << type;
  }
  EXPECT_EQ(with_vector_time, 185);
  EXPECT_EQ(dynamic, 187);
  EXPECT_TRUE(std::find(shapes.begin(), shapes.end(), "32,3,224,224") != shapes.end());
}

TEST_P(AscendTextLevel1, Communication) {
  STORE_OR_SKIP();
  const auto levels = run.texts(Table::kCommunications, "level");
  const auto ops = run.texts(Table::kCommunications, "op");
  const auto groups = run.texts(Table::kCommunications, "group");
  const auto peers = run.column(Table::kCommunications, "dst_rank");
  const auto waits = run.column(Table::kCommunications, "wait");
  const auto wholes = run.column(Table::kCommunications, "of");
  const auto ids = run.column(Table::kCommunications, "id");
  const auto sequences = run.column(Table::kCommunications, "sequence");
  const auto bytes = run.column(Table::kCommunications, "bytes");
  const auto links = run.texts(Table::kCommunications, "link");
  std::map<int64_t, int64_t> number_of;  // row of slices: number in the group
  int64_t tasks = 0;
  std::set<std::string> group_names;
  for (size_t i = 0; i < levels.size(); ++i) {
    group_names.insert(groups[i]);
    if (levels[i] == "task") ++tasks;
    if (levels[i] != "op") continue;
    EXPECT_EQ(ops[i], "hcom_allReduce");
    number_of[ids[i]] = sequences[i];
  }
  ASSERT_EQ(number_of.size(), 4u);
  EXPECT_EQ(tasks, 296);
  EXPECT_EQ(group_names, std::set<std::string>{"17522688603477080586"});
  const auto tracks = run.column(Table::kCommunications, "track");
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> waited;  // collective, peer, plane
  int64_t transferred = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != "task") continue;
    ASSERT_TRUE(number_of.contains(wholes[i]));
    if (ops[i] == "Notify_Wait") waited[{number_of[wholes[i]], peers[i], tracks[i]}] += waits[i];
    if (links[i] == "HCCS") transferred += bytes[i];
  }
  // The list's numbers are those of the plane with the longest wait; rank 0 also waits 12 us for
  // rank 5 on another plane.
  std::map<int64_t, std::pair<int64_t, int64_t>> longest;  // collective: wait, peer
  for (const auto& [key, wait_ns] : waited) {
    auto& most = longest[std::get<0>(key)];
    most = std::max(most, std::pair(wait_ns, std::get<1>(key)));
  }
  EXPECT_EQ(longest[0].second, 5);
  EXPECT_EQ(longest[3].second, 5);
  EXPECT_NEAR(static_cast<double>(longest[0].first),
              static_cast<double>(expected.late_wait_first_ns), 500);
  EXPECT_NEAR(static_cast<double>(longest[3].first),
              static_cast<double>(expected.late_wait_last_ns), 500);
  if (expected.rank == 0) {
    EXPECT_EQ(transferred, 427596096);
  }
}

TEST_P(AscendTextLevel1, CommunicationSummary) {
  STORE_OR_SKIP();
  if (expected.rank != 0) return;  // the list gives these numbers for rank 0
  const auto elapsed = run.source_numbers("communication", "Elapse Time(ms)");
  const auto transit = run.source_numbers("communication", "Transit Time(ms)");
  const auto wait = run.source_numbers("communication", "Wait Time(ms)");
  const auto names = run.source_texts("communication", "Op");
  const double kElapsed[] = {79.08952021875, 2.2811055625, 2.402388, 22.2188639375};
  const double kTransit[] = {0.23918478125, 1.2285845, 2.059781125, 0.15580309375};
  const double kWait[] = {5.64663284375, 0.0724014375, 0.1884238125, 0.033160625};
  ASSERT_EQ(names.size(), 5u);
  for (size_t row = 0; row < names.size(); ++row) {
    if (names[row] == "Total Op Info") {
      EXPECT_DOUBLE_EQ(elapsed[row], 105.99187771875);
      continue;
    }
    const int number = names[row][std::string("hcom_allReduce__586_").size()] - '0';
    EXPECT_DOUBLE_EQ(elapsed[row], kElapsed[number]);
    EXPECT_DOUBLE_EQ(transit[row], kTransit[number]);
    EXPECT_DOUBLE_EQ(wait[row], kWait[number]);
  }
  // The same, on the collectives.
  const auto levels = run.texts(Table::kCommunications, "level");
  const auto sequences = run.column(Table::kCommunications, "sequence");
  const auto waits_ns = run.column(Table::kCommunications, "wait");
  const auto transits_ns = run.column(Table::kCommunications, "transit");
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != "op") continue;
    const auto number = static_cast<size_t>(sequences[i]);
    EXPECT_EQ(waits_ns[i], std::llround(kWait[number] * 1e6));
    EXPECT_EQ(transits_ns[i], std::llround(kTransit[number] * 1e6));
  }
  const auto transports = run.source_texts("communication_bandwidth", "Transport");
  const auto bandwidth_ops = run.source_texts("communication_bandwidth", "Op");
  ASSERT_FALSE(transports.empty());
  double total_mb = 0;
  const auto sizes = run.source_numbers("communication_bandwidth", "Transit Size(MB)");
  ASSERT_EQ(sizes.size(), transports.size());
  for (size_t row = 0; row < transports.size(); ++row) {
    if (transports[row] == "SDMA" && bandwidth_ops[row] == "Total Op Info") total_mb = sizes[row];
  }
  EXPECT_NEAR(total_mb, 427.596096, 1e-9);
  EXPECT_GT(run.source_rows("communication_matrix"), 0u);
}

TEST_P(AscendTextLevel1, Statistics) {
  STORE_OR_SKIP();
  EXPECT_NEAR(sum(run.source_numbers("op_statistic", "Count")), 187, 0);
  EXPECT_NEAR(sum(run.source_numbers("op_statistic", "Total Time(us)")), expected.op_statistic_us,
              0.0005);
  EXPECT_NEAR(sum(run.source_numbers("api_statistic", "Time(us)")), expected.api_statistic_us,
              0.0005);
  EXPECT_NEAR(sum(run.source_numbers("operator_details", "Device Self Duration(us)")),
              expected.device_self_us, 0.0005);
  EXPECT_NEAR(sum(run.source_numbers("operator_details", "Host Self Duration(us)")),
              expected.host_self_us, 0.0005);
  const auto names = run.source_texts("operator_details", "Name");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 133u);
  const auto victims = run.source_numbers("l2_cache", "Victim Rate");
  ASSERT_FALSE(victims.empty());
  EXPECT_NEAR(sum(victims) / static_cast<double>(victims.size()), expected.mean_victim_rate, 5e-7);
}

TEST_P(AscendTextLevel1, Modules) {
  STORE_OR_SKIP();
  const auto processes = run.texts(Table::kTracks, "process");
  const auto threads = run.texts(Table::kTracks, "thread");
  const auto tracks = run.column(Table::kCounters, "track");
  const auto values = run.numbers(Table::kCounters, "value");
  std::map<std::string, double> peaks;
  int64_t samples = 0;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto track = static_cast<size_t>(tracks[i]);
    if (processes[track] != "NPU module memory") continue;
    ++samples;
    peaks[threads[track]] = std::max(peaks[threads[track]], values[i]);
  }
  EXPECT_EQ(samples, 1078);
  EXPECT_EQ(peaks.size(), 77u);
  EXPECT_EQ(peaks["APP/totalReserved (bytes)"], 1452.0 * 1048576);
  EXPECT_EQ(peaks["HCCL/totalReserved (bytes)"], 404.0625 * 1048576);
}

INSTANTIATE_TEST_SUITE_P(SharedData, AscendTextLevel1, ::testing::ValuesIn(level1()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope::testing
