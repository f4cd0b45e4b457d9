// Every number of shared/data/mindspore_cpu/expected.json: twelve real runs of MindSpore 2.10 on
// CPU. The file itself is walked, so a run that is added there is tested here.
#include "importers/mindspore_raw/mindspore_cpu_data_test.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::find_candidates;
using testing::ImportedRank;

TEST_F(MindsporeCpuData, TwelveRuns) {
  EXPECT_EQ(expected_.size(), 12u);
  // All of it at once: 12 windows, 3 data pipelines, 2 runtime profiles.
  EXPECT_EQ(find_candidates(importer_, root_).size(), 17u);
}

TEST_F(MindsporeCpuData, Operators) {
  for_each_window(
      [&](const std::string&, const json& window, ImportedRank& rank, const std::string&) {
        const auto ts = rank.integers(Table::kOps, "ts");
        const auto dur = rank.integers(Table::kOps, "dur");
        const auto names = rank.texts(Table::kOps, "name");
        const auto types = rank.texts(Table::kOps, "type");
        EXPECT_EQ(static_cast<int64_t>(ts.size()), window["operators"]);
        EXPECT_EQ(static_cast<int64_t>(std::set(names.begin(), names.end()).size()),
                  window["operator_names"]);
        EXPECT_EQ(std::ranges::min(ts), window["first_start_ns"]);
        int64_t last_end = 0;
        std::map<std::string, std::pair<int64_t, int64_t>> by_type;
        for (size_t i = 0; i < ts.size(); ++i) {
          last_end = std::max(last_end, ts[i] + dur[i]);
          by_type[types[i]].first += 1;
          by_type[types[i]].second += dur[i];
        }
        EXPECT_EQ(last_end, window["last_end_ns"]);
        EXPECT_EQ(by_type.size(), window["by_type"].size());
        for (const auto& [type, sums] : window["by_type"].items()) {
          EXPECT_EQ(by_type[type].first, sums["count"]) << type;
          EXPECT_EQ(by_type[type].second, sums["total_ns"]) << type;
        }
        EXPECT_EQ(std::accumulate(dur.begin(), dur.end(), int64_t{0}), window["total_ns"]);
        const auto top = std::ranges::max_element(
            by_type, {}, [](const auto& entry) { return entry.second.second; });
        EXPECT_EQ(top->first, window["top_type"].get<std::string>());
        std::set<std::string> threads;
        for (const auto& id : rank.texts(Table::kTracks, "tid")) threads.insert(id);
        EXPECT_EQ(threads.size(), window["thread_ids"].size());
        for (const json& id : window["thread_ids"]) EXPECT_TRUE(threads.contains(write_json(id)));
      });
}

TEST_F(MindsporeCpuData, CountsOfTheProfilerItselfAgree) {
  for_each_window([&](const std::string&, const json& window, ImportedRank& rank,
                      const std::string&) {
    EXPECT_TRUE(window["type_info_csv_counts_agree"]);
    EXPECT_EQ(rank.quality("inconsistent_counts"), 0);
    const auto types = rank.source_texts("cpu_op_type_info", "op_type");
    const auto counts = rank.source_integers("cpu_op_type_info", "type_occurrences");
    ASSERT_EQ(types.size(), window["by_type"].size());
    for (size_t i = 0; i < types.size(); ++i) {
      EXPECT_EQ(counts[i], window["by_type"][types[i]]["count"]) << types[i];
    }
    EXPECT_EQ(static_cast<int64_t>(rank.source_rows("cpu_framework")), window["framework_lines"]);
    const auto launches = rank.source_texts("cpu_framework", "name");
    EXPECT_EQ(std::ranges::count(launches, "NULL"), window["framework_lines_without_name"]);
    // Every launch that has a name gives its operator the shapes.
    const auto shapes = rank.texts(Table::kOps, "input_shapes");
    EXPECT_EQ(std::ranges::count(shapes, "NULL"), window["framework_lines_without_name"]);
  });
}

TEST_F(MindsporeCpuData, OperatorsLieInTheTrueSteps) {
  for_each_window(
      [&](const std::string&, const json& window, ImportedRank& rank, const std::string& folder) {
        EXPECT_EQ(rank.rows(Table::kSteps), 0u) << "CPU files mark no steps, and none is made up";
        EXPECT_EQ(rank.quality("no_steps"), 1);
        const auto ts = rank.integers(Table::kOps, "ts");
        const auto dur = rank.integers(Table::kOps, "dur");
        std::map<int64_t, json> truth;
        const json document = truth_of(folder);
        for (const json& step : document["steps"]) truth[step["step"]] = step;
        int64_t inside = 0;
        for (const json& step : window["steps"]) {
          const json& bracket = truth[step["step"]];
          const int64_t start = bracket["start_ns"];
          const int64_t end = bracket["end_ns"];
          int64_t operators = 0;
          int64_t busy = 0;
          for (size_t i = 0; i < ts.size(); ++i) {
            if (ts[i] < start || ts[i] > end) continue;
            ++operators;
            busy += dur[i];
          }
          EXPECT_EQ(operators, step["operators"]);
          EXPECT_EQ(busy, step["busy_ns"]);
          EXPECT_EQ(end - start, step["wall_ns"]);
          inside += operators;
        }
        EXPECT_EQ(static_cast<int64_t>(ts.size()) - inside, window["operators_outside_steps"]);
      });
}

TEST_F(MindsporeCpuData, MemoryOfTheWindowOnly) {
  for_each_window(
      [&](const std::string&, const json& window, ImportedRank& rank, const std::string&) {
        if (!window.contains("memory")) {
          EXPECT_EQ(rank.rows(Table::kMemory), 0u);
          return;
        }
        const json& memory = window["memory"];
        const auto ts = rank.integers(Table::kMemory, "ts");
        const auto allocated = rank.integers(Table::kMemory, "total_allocated");
        const auto reserved = rank.integers(Table::kMemory, "total_reserved");
        EXPECT_EQ(static_cast<int64_t>(ts.size()), memory["records_of_this_window"]);
        const int64_t left_over = rank.quality("left_over_records");
        EXPECT_EQ(left_over, memory["records_left_over_from_earlier_windows"]);
        EXPECT_EQ(static_cast<int64_t>(ts.size()) + left_over, memory["records_in_file"]);
        const auto peak = std::ranges::max_element(allocated);
        EXPECT_EQ(*peak, memory["peak_allocated_bytes"]);
        EXPECT_EQ(ts[static_cast<size_t>(peak - allocated.begin())], memory["peak_at_ns"]);
        EXPECT_EQ(std::ranges::max(reserved), memory["reserved_bytes"]);
        EXPECT_EQ(std::ranges::is_sorted(ts), memory["sorted_by_time"]);
        EXPECT_EQ(rank.integers(Table::kMemory, "total_active"), allocated);
      });
}

// trace_view.json holds the same operators, 37 ns late: why the raw files are the richer form.
TEST_F(MindsporeCpuData, TraceViewIsLate) {
  int files = 0;
  for_each_window(
      [&](const std::string&, const json& window, ImportedRank& rank, const std::string& folder) {
        if (!window.contains("trace_view")) return;
        ++files;
        const json& numbers = window["trace_view"];
        const json events = read(folder + "/ASCEND_PROFILER_OUTPUT/trace_view.json");
        std::vector<int64_t> late;
        std::set<std::string> depths;
        int64_t scopes = 0;
        int64_t step_marks = 0;
        bool strings = true;
        for (const json& event : events) {
          if (event["ph"] != "X") continue;
          step_marks += event["name"].get<std::string>().find("ProfilerStep") != std::string::npos;
          if (event["args"].value("type", "") != "HostCpuOps") {
            ++scopes;
            depths.insert(write_json(event["tid"]));
            continue;
          }
          strings = strings && event["ts"].is_string() && event["dur"].is_string();
          late.push_back(parse_us_as_ns(event["ts"].get<std::string>()).value_or(0));
        }
        std::ranges::sort(late);
        const auto exact = rank.integers(Table::kOps, "ts");
        ASSERT_EQ(late.size(), exact.size());
        int64_t error = 0;
        for (size_t i = 0; i < late.size(); ++i)
          error = std::max(error, std::abs(late[i] - exact[i]));
        EXPECT_EQ(error, numbers["max_error_of_ts_ns"]);
        EXPECT_EQ(error, 37);
        EXPECT_EQ(static_cast<int64_t>(events.size()), numbers["events"]);
        EXPECT_EQ(static_cast<int64_t>(late.size()), numbers["operator_events"]);
        EXPECT_EQ(scopes, numbers["scope_events"]);
        EXPECT_EQ(static_cast<int64_t>(depths.size()), numbers["scope_depths"]);
        EXPECT_EQ(strings, numbers["ts_and_dur_are_strings"]);
        EXPECT_EQ(step_marks, numbers["names_with_ProfilerStep"]);
      });
  EXPECT_EQ(files, 10);
}

TEST_F(MindsporeCpuData, MetadataIsKept) {
  int with_metadata = 0;
  for_each_window(
      [&](const std::string&, const json& window, ImportedRank& rank, const std::string&) {
        const auto versions = rank.texts(Table::kRanks, "versions").at(0);
        const json kept = json_tree(versions);
        EXPECT_EQ(kept.is_object() && kept.contains("metadata"), window.contains("metadata"));
        if (!window.contains("metadata")) return;
        EXPECT_EQ(kept["metadata"], window["metadata"]);
        ++with_metadata;
      });
  EXPECT_EQ(with_metadata, 2);
}

TEST_F(MindsporeCpuData, TruthHasTheStepsThatWereExpected) {
  for (const auto& [run, numbers] : expected_.items()) {
    if (!numbers.contains("windows")) continue;
    const json truth = truth_of(root_ + "/" + numbers["windows"][0]["folder"].get<std::string>());
    EXPECT_EQ(static_cast<int64_t>(truth["steps"].size()), numbers["truth_steps"]) << run;
  }
}

// The rank that is late spends little time in AllReduce; the others wait for it there.
TEST_F(MindsporeCpuData, DataParallelStraggler) {
  const json& run = expected_["h_data_parallel"];
  std::map<int64_t, int64_t> all_reduce_ns;
  std::map<int64_t, json> truth;
  for_each_window([&](const std::string& name, const json& window, ImportedRank& rank,
                      const std::string& folder) {
    const auto ops = rank.texts(Table::kCommunications, "op");
    const auto dur = rank.integers(Table::kCommunications, "dur");
    if (!window.contains("collectives")) {
      EXPECT_TRUE(ops.empty());
      return;
    }
    EXPECT_EQ(name, "h_data_parallel");
    std::map<std::string, std::pair<int64_t, int64_t>> collectives;
    for (size_t i = 0; i < ops.size(); ++i) {
      collectives[ops[i]].first += 1;
      collectives[ops[i]].second += dur[i];
    }
    ASSERT_EQ(collectives.size(), window["collectives"].size());
    for (const auto& [op, sums] : window["collectives"].items()) {
      EXPECT_EQ(collectives[op].first, sums["count"]);
      EXPECT_EQ(collectives[op].second, sums["total_ns"]);
    }
    EXPECT_EQ(rank.integers(Table::kRanks, "rank").at(0), window["rank"]);
    all_reduce_ns[window["rank"]] = collectives["AllReduce"].second;
    truth[window["rank"]] = truth_of(folder);
  });
  for (const auto& [rank, total] : run["allreduce_total_ns_by_rank"].items()) {
    EXPECT_EQ(all_reduce_ns[std::stoll(rank)], total);
  }
  const auto fastest =
      std::ranges::min_element(all_reduce_ns, {}, [](const auto& entry) { return entry.second; });
  EXPECT_EQ(fastest->first, run["straggler_rank"]);
  for (const auto& [step, late_rank] : run["last_to_reach_the_exchange_by_step"].items()) {
    std::map<int64_t, int64_t> reached;  // time -> rank
    for (const auto& [rank, document] : truth) {
      for (const json& entry : document["steps"]) {
        if (write_json(entry["step"]) == step) reached[entry["comm_start_ns"]] = rank;
      }
    }
    EXPECT_EQ(reached.rbegin()->second, late_rank.is_string()
                                            ? std::stoll(late_rank.get<std::string>())
                                            : late_rank.get<int64_t>());
    EXPECT_EQ(reached.rbegin()->first - reached.begin()->first, run["late_by_ns_by_step"][step]);
  }
}

}  // namespace
}  // namespace stepscope
