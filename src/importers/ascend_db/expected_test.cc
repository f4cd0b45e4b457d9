// The numbers of the shared Ascend data (ascend/EXPECTED.md, db/level1) for the database form.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/intervals.h"
#include "importers/ascend_db/ascend_db_importer.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

struct Expected {
  const char* name = nullptr;
  const char* folder = nullptr;
  int64_t rank = 0;
  int64_t compute_ns = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t communication_ns = 0;
  int64_t not_overlapped_ns = 0;
  std::map<std::string, double> step_trace;
  std::map<std::string, std::pair<int64_t, int64_t>> launch_calls;  // count, ns
  int64_t step_start_ns = 0;
  int64_t step_end_ns = 0;
  std::map<std::string, int64_t> top_types;
  int64_t late_wait_first_ns = 0;
  int64_t late_wait_last_ns = 0;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

std::vector<Expected> expected_numbers() {
  Expected rank0;
  rank0.name = "Rank0";
  rank0.folder = "rank0_ascend_pt";
  rank0.compute_ns = 8903431;
  rank0.first_ns = 1736410576404465403;
  rank0.last_ns = 1736410576536698925;
  rank0.communication_ns = 102108100;
  rank0.not_overlapped_ns = 98071947;
  rank0.step_trace = {{"computing", 8903.431},  {"communication_not_overlapped", 98071.947},
                      {"overlapped", 4036.153}, {"communication", 102108.1},
                      {"free", 25258.144},      {"stage", 132233.522},
                      {"preparing", 18055.693}};
  rank0.launch_calls = {{"acl", {515, 122752460}}, {"node", {191, 3722090}}, {"hccl", {4, 399520}}};
  rank0.step_start_ns = 1736410576386409710;
  rank0.step_end_ns = 1736410576538298460;
  rank0.top_types = {{"ForeachAddList", 1947618},
                     {"TransData", 1408147},
                     {"MatMulV2", 957979},
                     {"Conv2D", 723694},
                     {"Conv2DBackpropFilter", 661973}};
  rank0.late_wait_first_ns = 88423527;
  rank0.late_wait_last_ns = 8400507;

  Expected rank1;
  rank1.name = "Rank1";
  rank1.folder = "rank1_ascend_pt";
  rank1.rank = 1;
  rank1.compute_ns = 8915634;
  rank1.first_ns = 1736410576407391697;
  rank1.last_ns = 1736410576536703880;
  rank1.communication_ns = 98590190;
  rank1.not_overlapped_ns = 94556050;
  rank1.step_trace = {{"computing", 8915.634}, {"communication_not_overlapped", 94556.05},
                      {"overlapped", 4034.14}, {"communication", 98590.19},
                      {"free", 25840.499},     {"stage", 129312.183},
                      {"preparing", 17512.827}};
  rank1.launch_calls = {{"acl", {514, 110854840}}, {"node", {191, 3850400}}, {"hccl", {4, 418520}}};
  rank1.step_start_ns = 1736410576389878870;
  rank1.step_end_ns = 1736410576538144290;
  rank1.top_types = {{"ForeachAddList", 1952238},
                     {"TransData", 1407924},
                     {"MatMulV2", 976560},
                     {"Conv2D", 723334},
                     {"Conv2DBackpropFilter", 664334}};
  rank1.late_wait_first_ns = 84906556;
  rank1.late_wait_last_ns = 8406028;
  return {rank0, rank1};
}

std::string folder_of(const Expected& expected) {
  return shared_data_at(std::string("ascend/msinsight/db/level1/") + expected.folder);
}

const ImportedStore* store_of(const Expected& expected) {
  static std::map<std::string, std::unique_ptr<ImportedStore>> stores;
  const std::string path = folder_of(expected);
  if (path.empty()) return nullptr;
  auto& one = stores[path];
  if (!one) one = std::make_unique<ImportedStore>(AscendDbImporter(), path);
  return one.get();
}

#define STORE_OR_SKIP()                                                                    \
  const Expected& expected = GetParam();                                                   \
  const ImportedStore* imported = store_of(expected);                                      \
  if (imported == nullptr) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA"; \
  ASSERT_TRUE(imported->store) << imported->error;                                         \
  const ImportedStore& run = *imported

class AscendDbExpected : public ::testing::TestWithParam<Expected> {};

TEST_P(AscendDbExpected, KernelsAndCommunication) {
  STORE_OR_SKIP();
  const auto classes = run.texts(Table::kKernels, "class");
  const auto types = run.texts(Table::kKernels, "op_type");
  const auto starts = run.column(Table::kKernels, "ts");
  const auto lengths = run.column(Table::kKernels, "dur");
  const auto launches = run.column(Table::kKernels, "launch");
  const auto ops = run.column(Table::kKernels, "op");
  const auto counters = run.texts(Table::kKernels, "counters");
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  std::map<std::string, int64_t> by_type;
  int64_t compute_ns = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const Interval span{starts[i], starts[i] + lengths[i]};
    if (classes[i] == "communication") communication.push_back(span);
    if (classes[i] == "memory") continue;
    EXPECT_NE(launches[i], kNull);
    EXPECT_NE(ops[i], kNull);
    if (classes[i] != "compute") continue;
    compute.push_back(span);
    compute_ns += lengths[i];
    by_type[types[i]] += lengths[i];
  }
  EXPECT_EQ(compute.size(), 187u);
  EXPECT_EQ(communication.size(), 4u);
  EXPECT_EQ(compute_ns, expected.compute_ns);
  const auto merged = merge_intervals(compute);
  const auto exchanged = merge_intervals(communication);
  EXPECT_EQ(total_length_ns(merged), expected.compute_ns);
  EXPECT_EQ(merged.front().start_ns, expected.first_ns);
  EXPECT_EQ(merged.back().end_ns, expected.last_ns);
  EXPECT_EQ(total_length_ns(exchanged), expected.communication_ns);
  EXPECT_EQ(total_length_ns(subtract_intervals(exchanged, merged)), expected.not_overlapped_ns);
  for (const auto& [type, ns] : expected.top_types) EXPECT_EQ(by_type[type], ns) << type;
  EXPECT_EQ(std::count_if(counters.begin(), counters.end(),
                          [](const std::string& text) {
                            return text.find("\"aiv_vec_time\":") != std::string::npos;
                          }),
            5180 / 28);
  // Identities of the analysis tables.
  const int64_t first = std::min(merged.front().start_ns, exchanged.front().start_ns);
  const int64_t last = std::max(merged.back().end_ns, exchanged.back().end_ns);
  auto busy = compute;
  busy.insert(busy.end(), communication.begin(), communication.end());
  const int64_t free_ns = last - first - total_length_ns(merge_intervals(busy));
  EXPECT_NEAR(static_cast<double>(free_ns) / 1000, expected.step_trace.at("free"), 1e-6);
  EXPECT_NEAR(static_cast<double>(first - expected.step_start_ns) / 1000,
              expected.step_trace.at("preparing"), 1e-6);
}

TEST_P(AscendDbExpected, TimelineCounts) {
  STORE_OR_SKIP();
  const auto processes = run.texts(Table::kTracks, "process");
  const auto counts = run.column(Table::kTracks, "slices");
  std::map<std::string, int64_t> slices;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (counts[i] > 0) slices[processes[i]] += counts[i];
  }
  std::map<std::string, std::pair<int64_t, int64_t>> by_cat;
  const auto cats = run.texts(Table::kSlices, "cat");
  const auto lengths = run.column(Table::kSlices, "dur");
  for (size_t i = 0; i < cats.size(); ++i) {
    ++by_cat[cats[i]].first;
    by_cat[cats[i]].second += lengths[i];
  }
  int64_t launch_calls = 0;
  for (const auto& [level, totals] : expected.launch_calls) {
    EXPECT_EQ(by_cat[level], totals) << level;
    launch_calls += totals.first;
  }
  EXPECT_EQ(slices, (std::map<std::string, int64_t>{{"Ascend Hardware", 552},
                                                    {"CANN", launch_calls},
                                                    {"Communication", 4 + 296},
                                                    {"Python", 2460}}));
  EXPECT_EQ(by_cat["op"].first, 860);
  EXPECT_EQ(by_cat["queue"].first, 318);
  EXPECT_EQ(by_cat["trace"].first, 1282);
  EXPECT_EQ(run.rows(Table::kOps), 859u);
  std::map<std::string, int64_t> flows;
  for (const std::string& kind : run.texts(Table::kFlows, "kind")) ++flows[kind];
  EXPECT_EQ(flows["async_task_queue"], 159);
  EXPECT_EQ(flows["fwdbwd"], 27);
  EXPECT_EQ(flows["HostToDevice"], 215);
  EXPECT_EQ(flows["async_npu"], 191);  // copies are not connected in this form
  EXPECT_EQ(run.quality("unparsable_event"), 0);
  EXPECT_EQ(run.quality("bad_number"), 0);
  EXPECT_EQ(run.quality("unknown_column"), 0);
  const auto stacks = run.texts(Table::kOps, "stack");
  EXPECT_TRUE(std::any_of(stacks.begin(), stacks.end(), [](const std::string& text) {
    return text.find("torch/_ops.py(692): __call__") != std::string::npos;
  }));
}

TEST_P(AscendDbExpected, StepsMemoryAndTables) {
  STORE_OR_SKIP();
  EXPECT_EQ(run.column(Table::kRanks, "rank"), std::vector<int64_t>{expected.rank});
  EXPECT_EQ(run.texts(Table::kRanks, "device_name")[0], "Ascend910B");
  EXPECT_EQ(run.texts(Table::kRanks, "host")[0], "ubuntu");
  EXPECT_EQ(run.column(Table::kSteps, "step"), std::vector<int64_t>{50});
  EXPECT_EQ(run.texts(Table::kSteps, "source")[0], "marked");
  EXPECT_EQ(run.column(Table::kSteps, "ts")[0], expected.step_start_ns);
  EXPECT_EQ(run.column(Table::kSteps, "dur")[0], expected.step_end_ns - expected.step_start_ns);
  for (const auto& [column, value] : expected.step_trace) {
    const auto values = run.source_numbers("step_trace_time", column);
    ASSERT_EQ(values.size(), 1u) << column;
    EXPECT_DOUBLE_EQ(values[0], value) << column;
  }
  const auto components = run.texts(Table::kMemory, "component");
  const auto bytes = run.column(Table::kMemory, "bytes");
  const auto allocated = run.column(Table::kMemory, "total_allocated");
  const auto reserved = run.column(Table::kMemory, "total_reserved");
  int64_t peak_allocated = 0;
  int64_t peak_reserved = 0;
  int64_t allocations = 0;
  for (size_t i = 0; i < components.size(); ++i) {
    allocations += bytes[i] != kNull && bytes[i] > 0;
    if (components[i] != "PTA" || bytes[i] != kNull) continue;
    peak_allocated = std::max(peak_allocated, allocated[i]);
    peak_reserved = std::max(peak_reserved, reserved[i]);
  }
  EXPECT_EQ(peak_allocated, 1245688832);
  EXPECT_EQ(peak_reserved, 1522532352);
  EXPECT_EQ(allocations, 184);
}

TEST_P(AscendDbExpected, LatePeer) {
  STORE_OR_SKIP();
  const auto levels = run.texts(Table::kCommunications, "level");
  const auto ops = run.texts(Table::kCommunications, "op");
  const auto ids = run.column(Table::kCommunications, "id");
  const auto sequences = run.column(Table::kCommunications, "sequence");
  const auto wholes = run.column(Table::kCommunications, "of");
  const auto peers = run.column(Table::kCommunications, "dst_rank");
  const auto waits = run.column(Table::kCommunications, "wait");
  const auto tracks = run.column(Table::kCommunications, "track");
  const auto groups = run.texts(Table::kCommunications, "group");
  EXPECT_EQ(std::set<std::string>(groups.begin(), groups.end()),
            std::set<std::string>{"17148521525495523210"});
  std::map<int64_t, int64_t> number_of;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] == "op") number_of[ids[i]] = sequences[i];
  }
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> waited;  // collective, peer, plane
  int64_t tasks = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != "task") continue;
    ++tasks;
    ASSERT_TRUE(number_of.contains(wholes[i]));
    if (ops[i] == "Notify_Wait") waited[{number_of[wholes[i]], peers[i], tracks[i]}] += waits[i];
  }
  EXPECT_EQ(tasks, 296);
  // The list's numbers are those of the plane with the longest wait.
  std::map<int64_t, std::pair<int64_t, int64_t>> longest;  // collective: wait, peer
  for (const auto& [key, wait_ns] : waited) {
    auto& most = longest[std::get<0>(key)];
    most = std::max(most, std::pair(wait_ns, std::get<1>(key)));
  }
  EXPECT_EQ(longest[0], std::pair(expected.late_wait_first_ns, int64_t{6}));
  EXPECT_EQ(longest[3], std::pair(expected.late_wait_last_ns, int64_t{6}));
}

TEST_P(AscendDbExpected, NothingOnDiskChanges) {
  const Expected& expected = GetParam();
  const std::string source = folder_of(expected);
  if (source.empty()) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA";
  const auto fingerprint = [&] {
    std::map<std::string, std::pair<uint64_t, int64_t>> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
      if (!entry.is_regular_file()) continue;
      const auto text = read_file(entry.path().string(), 1ull << 30);
      const auto stamp = stamp_file(entry.path().string());
      if (!text.ok() || !stamp.ok()) continue;
      files[entry.path().string()] = {std::hash<std::string>{}(*text), stamp->modified_ns};
    }
    return files;
  };
  const auto before = fingerprint();
  const ImportedStore run(AscendDbImporter(), source);
  EXPECT_TRUE(run.store) << run.error;
  EXPECT_EQ(fingerprint(), before);
}

INSTANTIATE_TEST_SUITE_P(SharedData, AscendDbExpected, ::testing::ValuesIn(expected_numbers()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope::testing
