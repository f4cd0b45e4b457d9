// Every number of shared/data/mindspore_cpu/expected.json: twelve real runs of MindSpore 2.10 on
// CPU. The file itself is walked, so a run that is added there is tested here.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "importers/common/import_fixture.h"
#include "importers/common/json_file.h"
#include "importers/mindspore_raw/mindspore_raw_importer.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::find_candidates;
using testing::ImportedRank;

class MindsporeCpuData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::shared_data("mindspore_cpu");
    if (root_.empty()) GTEST_SKIP() << testing::kNoSharedData;
    auto expected = read_json_file(root_ + "/expected.json");
    ASSERT_TRUE(expected.ok()) << expected.error().message();
    expected_ = *expected;
  }

  json read(const std::string& path) {
    auto tree = read_json_file(path);
    EXPECT_TRUE(tree.ok()) << path;
    return tree ? *tree : json();
  }

  template <typename Check>
  void for_each_window(Check check) {
    int windows = 0;
    for (const auto& [run, numbers] : expected_.items()) {
      if (!numbers.contains("windows")) continue;
      for (const json& window : numbers["windows"]) {
        const std::string folder = root_ + "/" + window["folder"].get<std::string>();
        SCOPED_TRACE(folder);
        const auto candidates = find_candidates(importer_, folder);
        ASSERT_EQ(candidates.size(), 1u);
        EXPECT_EQ(candidates[0].unit, folder);
        EXPECT_EQ(candidates[0].rank, window["rank_in_file_names"]);
        ImportedRank rank(importer_, candidates[0]);
        ASSERT_TRUE(rank.ok());
        check(run, window, rank, folder);
        ++windows;
      }
    }
    EXPECT_EQ(windows, 12);
  }

  // Of the run a window belongs to: the nearest truth.json above it.
  json truth_of(const std::string& folder) {
    for (std::string at = folder; at.size() > root_.size(); at = at.substr(0, at.rfind('/'))) {
      auto tree = read_json_file(at + "/truth.json");
      if (tree) return *tree;
    }
    ADD_FAILURE() << "no truth.json above " << folder;
    return {};
  }

  MindsporeRawImporter importer_;
  std::string root_;
  json expected_;
};

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
        EXPECT_EQ(top->first, window["top_type"]);
        std::set<std::string> threads;
        for (const auto& id : rank.texts(Table::kTracks, "tid")) threads.insert(id);
        EXPECT_EQ(threads.size(), window["thread_ids"].size());
        for (const json& id : window["thread_ids"]) EXPECT_TRUE(threads.contains(id.dump()));
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
            depths.insert(event["tid"].dump());
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
        const json kept = json::parse(versions, nullptr, false);
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
        if (entry["step"].dump() == step) reached[entry["comm_start_ns"]] = rank;
      }
    }
    EXPECT_EQ(reached.rbegin()->second, late_rank.is_string()
                                            ? std::stoll(late_rank.get<std::string>())
                                            : late_rank.get<int64_t>());
    EXPECT_EQ(reached.rbegin()->first - reached.begin()->first, run["late_by_ns_by_step"][step]);
  }
}

TEST_F(MindsporeCpuData, DataPipelines) {
  int runs = 0;
  for (const auto& [run, numbers] : expected_.items()) {
    if (!run.starts_with("d_")) continue;
    SCOPED_TRACE(run);
    ++runs;
    const auto candidates = find_candidates(importer_, root_ + "/" + run);
    ASSERT_EQ(candidates.size(), 1u);
    ImportedRank rank(importer_, candidates[0]);
    ASSERT_TRUE(rank.ok());
    const json truth = read(root_ + "/" + run + "/truth.json");
    EXPECT_EQ(truth["planted_bottleneck"], numbers["planted_bottleneck"]);

    const auto stages = rank.texts(Table::kQueues, "stage");
    const auto sizes = rank.integers(Table::kQueues, "size");
    const auto capacities = rank.integers(Table::kQueues, "capacity");
    const auto times = rank.integers(Table::kQueues, "ts");
    const auto types = rank.source_texts("minddata_pipeline", "op_type");
    const auto children = rank.source_texts("minddata_pipeline", "children");
    ASSERT_EQ(types.size(), numbers["ops"].size());
    EXPECT_EQ(rank.source_integers("minddata_pipeline", "sampling_interval_ms").at(0),
              numbers["sampling_interval_ms"]);
    for (size_t k = 0; k < types.size(); ++k) {
      const json& op = numbers["ops"][k];
      EXPECT_EQ(rank.source_integers("minddata_pipeline", "op_id")[k], op["op_id"]);
      EXPECT_EQ(types[k], op["op_type"]);
      EXPECT_EQ(rank.source_integers("minddata_pipeline", "num_workers")[k], op["num_workers"]);
      EXPECT_EQ(json::parse(children[k]), op["children"]);
      if (!op.contains("samples")) continue;
      const std::string stage = types[k] + "_" + op["op_id"].dump();
      int64_t samples = 0;
      int64_t sum = 0;
      int64_t empty = 0;
      int64_t full = 0;
      for (size_t i = 0; i < stages.size(); ++i) {
        if (stages[i] != stage) continue;
        ++samples;
        sum += sizes[i];
        empty += sizes[i] == 0;
        full += sizes[i] == capacities[i];
        EXPECT_EQ(capacities[i], op["queue_length"]);
      }
      EXPECT_EQ(samples, op["samples"]);
      EXPECT_EQ(sum, op["size_sum"]);
      EXPECT_EQ(empty, op["empty_samples"]);
      EXPECT_EQ(full, op["full_samples"]);
      const int64_t divisor = std::gcd(sum, samples);
      const std::string average = sum % samples == 0 ? std::to_string(sum / samples)
                                                     : std::to_string(sum / divisor) + "/" +
                                                           std::to_string(samples / divisor);
      EXPECT_EQ(average, op["average_size"]);
    }

    // One time axis: wall clock.
    const int64_t offset = numbers["clock"]["realtime_minus_monotonic_ns"];
    const int64_t start = truth["clock"]["time_ns_start"];
    const int64_t end = truth["clock"]["time_ns_end"];
    EXPECT_TRUE(numbers["clock"]["is_monotonic"]);
    for (const int64_t ts : times) {
      EXPECT_GE(ts, start - 1'000'000);
      EXPECT_LE(ts, end + 1'000'000);
    }
    EXPECT_EQ(rank.quality("clock_coarse"), 0);

    const json& cpu = numbers["cpu_file"];
    EXPECT_EQ(rank.source_integers("minddata_cpu", "cpu_processor_num").at(0), cpu["processors"]);
    EXPECT_EQ(rank.source_integers("minddata_cpu", "time_stamps").at(0), cpu["time_stamps"]);
    const auto counter_times = rank.integers(Table::kCounters, "ts");
    EXPECT_EQ(std::ranges::min(counter_times), cpu["first_ms"].get<int64_t>() * 1'000'000 + offset);
    EXPECT_EQ(std::ranges::max(counter_times), cpu["last_ms"].get<int64_t>() * 1'000'000 + offset);
    const double mean_ms =
        static_cast<double>(cpu["last_ms"].get<int64_t>() - cpu["first_ms"].get<int64_t>()) /
        static_cast<double>(cpu["time_stamps"].get<int64_t>() - 1);
    EXPECT_NEAR(mean_ms, cpu["mean_interval_ms"].get<double>(), 0.05);
    // Whatever the length of a list in the file, there is one value per sample, except that
    // process_info really lacks its first.
    std::map<int64_t, int64_t> samples_of;
    for (const int64_t track : rank.integers(Table::kCounters, "track")) ++samples_of[track];
    const auto names = rank.texts(Table::kTracks, "thread");
    int64_t groups = 0;
    for (const auto& [track, count] : samples_of) {
      const std::string& name = names[static_cast<size_t>(track)];
      const bool of_process = name.starts_with("process ");
      groups += of_process;
      EXPECT_EQ(count, of_process ? cpu["lengths"]["process_info"][0] : cpu["time_stamps"]) << name;
    }
    EXPECT_EQ(groups, 2);
    EXPECT_EQ(cpu["lengths"]["device_info"][1], 2 * cpu["time_stamps"].get<int64_t>());

    const json& iterator = numbers["iterator_file"];
    EXPECT_EQ(static_cast<int64_t>(rank.source_rows("minddata_batches")), iterator["lines"]);
    const auto record_types = rank.source_integers("minddata_batches", "type");
    const auto extras = rank.source_integers("minddata_batches", "extra");
    const auto values = rank.source_integers("minddata_batches", "value");
    std::map<std::pair<int64_t, int64_t>, int64_t> sums;
    for (size_t i = 0; i < values.size(); ++i) sums[{record_types[i], extras[i]}] += values[i];
    EXPECT_EQ((sums[{0, 0}]), iterator["sum_pipeline_ms"]);
    EXPECT_EQ((sums[{0, 1}]), iterator["sum_push_ms"]);
    EXPECT_EQ((sums[{0, 2}]), iterator["sum_batch_ms"]);
    const auto fetch = rank.integers(Table::kQueues, "fetch");
    const auto batches = rank.integers(Table::kQueues, "batch");
    int64_t rows = 0;
    int64_t fetch_ns = 0;
    int64_t queue_sum = 0;
    int64_t last_batch = 0;
    for (size_t i = 0; i < stages.size(); ++i) {
      if (stages[i] != "dataset_iterator") continue;
      ++rows;
      fetch_ns += fetch[i];
      queue_sum += sizes[i];
      last_batch = std::max(last_batch, batches[i]);
      EXPECT_EQ(capacities[i], iterator["queue_capacity"]);
    }
    EXPECT_EQ(rows, iterator["queue_samples"]);
    EXPECT_EQ(last_batch, iterator["batches"]);
    EXPECT_EQ(last_batch, numbers["batches"]);
    EXPECT_EQ(queue_sum, iterator["queue_size_sum"]);
    EXPECT_EQ(fetch_ns, iterator["sum_pipeline_ms"].get<int64_t>() * 1'000'000);
  }
  EXPECT_EQ(runs, 3);
}

TEST_F(MindsporeCpuData, RuntimeProfiler) {
  int runs = 0;
  for (const auto& [run, numbers] : expected_.items()) {
    if (!run.starts_with("e_")) continue;
    SCOPED_TRACE(run);
    ++runs;
    const auto candidates = find_candidates(importer_, root_ + "/" + run);
    ASSERT_EQ(candidates.size(), 1u);
    EXPECT_EQ(candidates[0].rank, 0);
    ImportedRank rank(importer_, candidates[0]);
    ASSERT_TRUE(rank.ok());
    EXPECT_EQ(rank.quality("unparsable_event"), numbers["unparsed_lines"]);
    EXPECT_EQ(rank.quality("inconsistent_counts"), 0);
    EXPECT_EQ(static_cast<int64_t>(rank.rows(Table::kSlices)), numbers["detail_events"]);
    const auto ts = rank.integers(Table::kSlices, "ts");
    const auto dur = rank.integers(Table::kSlices, "dur");
    const auto names = rank.texts(Table::kSlices, "name");
    const auto cats = rank.texts(Table::kSlices, "cat");
    const auto step_of = rank.integers(Table::kSlices, "step");
    const auto flags = rank.integers(Table::kSlices, "flags");
    EXPECT_EQ(std::ranges::min(ts), numbers["first_start_ns"]);

    const json truth = read(root_ + "/" + run + "/truth.json");
    const auto steps = rank.integers(Table::kSteps, "step");
    ASSERT_EQ(steps.size(), numbers["steps"].size());
    for (size_t k = 0; k < steps.size(); ++k) {
      const json& step = numbers["steps"][k];
      EXPECT_EQ(steps[k], step["step"]);
      EXPECT_EQ(rank.integers(Table::kSteps, "dur")[k], step["step_ns"]);
      EXPECT_EQ(rank.source_integers("runtime_profiler_steps", "module_total_time_ns")[k],
                step["module_total_ns"]);
      int64_t events = 0;
      int64_t flow_marks = 0;
      bool in_bracket = true;
      std::vector<int64_t> user_ranges;
      std::map<std::string, std::pair<int64_t, int64_t>> by_event;
      for (size_t i = 0; i < ts.size(); ++i) {
        if (step_of[i] != steps[k]) continue;
        ++events;
        std::string key;
        if (cats[i] == "stage") {
          key = "stage " + names[i] + "/Default";
        } else {
          const size_t event_at = names[i].find("::") + 2;
          const size_t op_at = names[i].find("::", event_at);
          key = cats[i] + "/" + names[i].substr(event_at, op_at - event_at);
          if (names[i].substr(op_at + 2) == "user_range") user_ranges.push_back(dur[i]);
        }
        by_event[key].first += 1;
        by_event[key].second += dur[i];
        flow_marks += (flags[i] & kFlagInstant) != 0;
        in_bracket = in_bracket && ts[i] >= truth["steps"][k]["start_ns"].get<int64_t>() &&
                     ts[i] <= truth["steps"][k]["end_ns"].get<int64_t>();
      }
      EXPECT_EQ(events, step["events"]);
      EXPECT_EQ(flow_marks, step.value("flow_marks", 0));
      EXPECT_EQ(in_bracket, step["in_bracket"]);
      EXPECT_EQ(json(user_ranges), step["user_range_ns"]);
      EXPECT_EQ(by_event.size(), step["by_event"].size());
      for (const auto& [key, sums] : step["by_event"].items()) {
        EXPECT_EQ(by_event[key].first, sums[0]) << key;
        EXPECT_EQ(by_event[key].second, sums[1]) << key;
      }
    }

    // The JSON twin, which is not read, has the same events with rounded times.
    std::string twin;
    for (const auto& path : rank.texts(Table::kSources, "path")) {
      if (path.find("RuntimeProfilerJson") != std::string::npos) twin = path;
    }
    const json events = read(twin);
    EXPECT_EQ(static_cast<int64_t>(events.size()), numbers["json_events"]);
    std::vector<double> rounded;
    for (const json& event : events) rounded.push_back(event["ts"].get<double>());
    std::ranges::sort(rounded);
    auto exact = ts;
    std::ranges::sort(exact);
    int64_t error = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      // Shortest decimal that reads back as the same double, nearest to it.
      char text[32];
      const auto end = std::to_chars(text, text + sizeof text, rounded[i]).ptr;
      const auto ns = parse_us_as_ns({text, static_cast<size_t>(end - text)});
      ASSERT_TRUE(ns);
      error = std::max(error, std::abs(*ns - exact[i]));
    }
    EXPECT_EQ(error, numbers["json_ts_max_error_ns"]);
    EXPECT_LE(error, 292);
    EXPECT_EQ(rank.quality("ignored_file"), 1);
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace stepscope
