// The numbers of the shared Ascend data (ascend/EXPECTED.md) that concern raw counts, times and
// memory, for the text form.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/intervals.h"
#include "importers/ascend_text/expected_numbers_test.h"

namespace stepscope::testing {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

class AscendTextExpected : public ::testing::TestWithParam<Expected> {};

TEST_P(AscendTextExpected, Rank) {
  STORE_OR_SKIP();
  EXPECT_EQ(run.column(Table::kRanks, "rank"), std::vector<int64_t>{expected.rank});
  EXPECT_EQ(run.texts(Table::kRanks, "device_kind")[0], "Ascend NPU");
  EXPECT_EQ(run.column(Table::kRanks, "rank_inferred")[0], 0);
  EXPECT_EQ(run.quality("unknown_process"), 0);
  EXPECT_EQ(run.quality("inconsistent_counts"), 0);
  EXPECT_EQ(run.quality("bad_number"), 0);
  EXPECT_EQ(run.quality("unparsable_event"), 0);
  const auto devices = run.column(Table::kKernels, "device");
  EXPECT_EQ(std::set<int64_t>(devices.begin(), devices.end()), std::set<int64_t>{expected.rank});
}

TEST_P(AscendTextExpected, Kernels) {
  STORE_OR_SKIP();
  const auto classes = run.texts(Table::kKernels, "class");
  const auto types = run.texts(Table::kKernels, "type");
  const auto names = run.texts(Table::kKernels, "name");
  const auto starts = run.column(Table::kKernels, "ts");
  const auto lengths = run.column(Table::kKernels, "dur");
  const auto waits = run.column(Table::kKernels, "wait");
  std::map<std::string, Totals> by_class;
  std::map<std::string, int64_t> by_core;
  std::map<std::string, Totals> by_name;
  std::vector<Interval> compute;
  std::vector<Interval> communication;
  int64_t largest_wait = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    Totals& totals = by_class[classes[i]];
    ++totals.count;
    totals.ns += lengths[i];
    if (classes[i] == "compute") {
      ++by_core[types[i]];
      ++by_name[names[i]].count;
      by_name[names[i]].ns += lengths[i];
      compute.push_back({starts[i], starts[i] + lengths[i]});
    }
    if (classes[i] == "communication") communication.push_back({starts[i], starts[i] + lengths[i]});
    if (waits[i] != kNull) largest_wait = std::max(largest_wait, waits[i]);
  }
  EXPECT_EQ(by_class["compute"].count, 187);
  EXPECT_EQ(by_class["communication"].count, 4);
  EXPECT_EQ(by_class["memory"].count, 24);
  // The table's lengths are cut to whole ns, the timeline's are rounded: up to 1 ns a kernel.
  EXPECT_NEAR(by_class["compute"].ns, expected.compute_ns, 187);
  EXPECT_NEAR(by_class["communication"].ns, expected.communication_ns, 4);
  if (expected.level1) {
    EXPECT_EQ(largest_wait, expected.largest_wait_ns);
  }
  for (const auto& [core, totals] : expected.by_core)
    EXPECT_EQ(by_core[core], totals.count) << core;
  EXPECT_EQ(by_name[expected.top_kernel.first].count, expected.top_kernel.second.count);
  EXPECT_NEAR(by_name[expected.top_kernel.first].ns, expected.top_kernel.second.ns,
              expected.top_kernel.second.count);
  compute = merge_intervals(std::move(compute));
  communication = merge_intervals(std::move(communication));
  EXPECT_NEAR(total_length_ns(subtract_intervals(communication, compute)),
              expected.not_overlapped_ns, 200);
}

TEST_P(AscendTextExpected, KernelDetailsAsWritten) {
  STORE_OR_SKIP();
  EXPECT_EQ(run.source_rows("kernel_details"), 191u);
  const auto cores = run.source_texts("kernel_details", "Accelerator Core");
  const auto lengths = run.source_numbers("kernel_details", "Duration(us)");
  ASSERT_EQ(cores.size(), 191u);
  ASSERT_EQ(lengths.size(), 191u);
  std::map<std::string, Totals> by_core;
  for (size_t i = 0; i < cores.size(); ++i) {
    ++by_core[cores[i]].count;
    by_core[cores[i]].ns += std::llround(lengths[i] * 1000);
  }
  for (const auto& [core, totals] : expected.by_core) EXPECT_EQ(by_core[core], totals) << core;
}

TEST_P(AscendTextExpected, Timeline) {
  STORE_OR_SKIP();
  const auto processes = run.texts(Table::kTracks, "process");
  const auto kinds = run.texts(Table::kTracks, "kind");
  const auto counts = run.column(Table::kTracks, "slices");
  std::map<std::string, int64_t> slices;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (counts[i] > 0) slices[processes[i]] += counts[i];
  }
  EXPECT_EQ(slices, expected.slices_by_process);
  std::map<std::string, int64_t> counters;
  for (const int64_t track : run.column(Table::kCounters, "track")) {
    ++counters[processes[static_cast<size_t>(track)]];
  }
  for (const auto& [process, count] : expected.counters_by_process) {
    EXPECT_EQ(counters[process], count) << process;
  }
  std::map<std::string, int64_t> by_cat;
  for (const std::string& cat : run.texts(Table::kSlices, "cat")) ++by_cat[cat];
  EXPECT_EQ(by_cat["cpu_op"], 860);
  EXPECT_EQ(by_cat["python_function"], 1282);
  EXPECT_EQ(by_cat["enqueue"], 159);
  EXPECT_EQ(by_cat["dequeue"], 159);
  EXPECT_EQ(run.rows(Table::kOps), 859u);  // the step's mark is no operator
  std::map<std::string, int64_t> flows;
  for (const std::string& kind : run.texts(Table::kFlows, "kind")) ++flows[kind];
  EXPECT_EQ(flows, expected.flows);
  std::map<std::string, int64_t> phases;
  const auto words = run.source_texts("chrome_events", "phase");
  const auto events = run.source_numbers("chrome_events", "count");
  ASSERT_EQ(words.size(), events.size());
  for (size_t i = 0; i < words.size(); ++i) phases[words[i]] += std::llround(events[i]);
  for (const auto& [phase, count] : expected.phases) EXPECT_EQ(phases[phase], count) << phase;
  if (expected.first_ns == 0) return;
  const auto starts = run.column(Table::kSlices, "ts");
  const auto lengths = run.column(Table::kSlices, "dur");
  auto times = run.column(Table::kCounters, "ts");
  for (size_t i = 0; i < starts.size(); ++i) {
    times.push_back(starts[i]);
    times.push_back(starts[i] + lengths[i]);
  }
  // Tables beside the timeline have counters of their own, inside its range.
  EXPECT_EQ(*std::min_element(times.begin(), times.end()), expected.first_ns);
  EXPECT_EQ(*std::max_element(times.begin(), times.end()), expected.last_ns);
}

TEST_P(AscendTextExpected, StepsAndLinks) {
  STORE_OR_SKIP();
  EXPECT_EQ(run.column(Table::kSteps, "step"), std::vector<int64_t>{50});
  EXPECT_EQ(run.texts(Table::kSteps, "source"), std::vector<std::string>{"marked"});
  if (expected.step_ts_ns != 0) {
    EXPECT_EQ(run.column(Table::kSteps, "ts"), std::vector<int64_t>{expected.step_ts_ns});
    EXPECT_EQ(run.column(Table::kSteps, "dur"), std::vector<int64_t>{expected.step_dur_ns});
  }
  EXPECT_NE(run.column(Table::kSteps, "slice")[0], kNull);
  // Every kernel and collective is linked to the operator that caused it.
  const auto ops = run.column(Table::kKernels, "op");
  const auto launches = run.column(Table::kKernels, "launch");
  const auto classes = run.texts(Table::kKernels, "class");
  int64_t with_op = 0;
  int64_t with_launch = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (classes[i] == "memory") continue;
    with_op += ops[i] != kNull;
    with_launch += launches[i] != kNull;
  }
  EXPECT_EQ(with_op, 191);
  EXPECT_EQ(with_launch, expected.level1 ? 191 : 0);
}

TEST_P(AscendTextExpected, Tables) {
  STORE_OR_SKIP();
  for (const auto& [table, rows] : expected.source_rows) {
    EXPECT_EQ(run.source_rows(table), rows) << table;
  }
  for (const auto& [column, value] : expected.step_trace) {
    const auto values = run.source_numbers("step_trace_time", column);
    ASSERT_EQ(values.size(), 1u) << column;
    EXPECT_NEAR(values[0], value, 0.0005) << column;
  }
}

TEST_P(AscendTextExpected, Memory) {
  STORE_OR_SKIP();
  const auto components = run.texts(Table::kMemory, "component");
  const auto names = run.texts(Table::kMemory, "name");
  const auto bytes = run.column(Table::kMemory, "bytes");
  const auto allocated = run.column(Table::kMemory, "total_allocated");
  const auto reserved = run.column(Table::kMemory, "total_reserved");
  std::map<std::string, int64_t> peak_allocated;
  std::map<std::string, int64_t> peak_reserved;
  int64_t totals = 0;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t releases = 0;
  std::pair<int64_t, std::string> largest;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == kNull) {
      ++totals;
      peak_allocated[components[i]] = std::max(peak_allocated[components[i]], allocated[i]);
      peak_reserved[components[i]] = std::max(peak_reserved[components[i]], reserved[i]);
    } else if (bytes[i] > 0) {
      ++allocations;
      allocated_bytes += bytes[i];
      largest = std::max(largest, {bytes[i], names[i]});
    } else {
      ++releases;
    }
  }
  EXPECT_EQ(totals, static_cast<int64_t>(run.source_rows("memory_record")));
  for (const auto& [component, megabytes] : expected.peak_reserved_mb) {
    EXPECT_EQ(peak_reserved[component], static_cast<int64_t>(megabytes * kMiB)) << component;
  }
  for (const auto& [component, megabytes] : expected.peak_allocated_mb) {
    EXPECT_EQ(peak_allocated[component], static_cast<int64_t>(megabytes * kMiB)) << component;
  }
  EXPECT_EQ(allocations, 184);
  EXPECT_EQ(releases, 184 - 24);
  if (expected.level1) {
    EXPECT_EQ(allocated_bytes, static_cast<int64_t>(1460243.5 * 1024));
    EXPECT_EQ(largest.first, static_cast<int64_t>(147456.5 * 1024));
    EXPECT_EQ(largest.second, "aten::mm");
  }
}

INSTANTIATE_TEST_SUITE_P(SharedData, AscendTextExpected, ::testing::ValuesIn(expected_numbers()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stepscope::testing
