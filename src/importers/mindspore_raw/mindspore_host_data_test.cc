// Every number of shared/data/mindspore_cpu/expected.json about data pipelines and the runtime
// profiler; operators and memory: mindspore_cpu_data_test.cc.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "importers/mindspore_raw/mindspore_cpu_data_test.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::find_candidates;
using testing::ImportedRank;

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
      EXPECT_EQ(types[k], op["op_type"].get<std::string>());
      EXPECT_EQ(rank.source_integers("minddata_pipeline", "num_workers")[k], op["num_workers"]);
      EXPECT_EQ(json_tree(children[k]), op["children"]);
      if (!op.contains("samples")) continue;
      const std::string stage = types[k] + "_" + write_json(op["op_id"]);
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
      EXPECT_EQ(average, op["average_size"].get<std::string>());
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
    // process_info really lacks its first, and the machine's user and system time, two entries a
    // sample like the lists beside them but cut to half the length, the later half.
    std::map<int64_t, int64_t> samples_of;
    for (const int64_t track : rank.integers(Table::kCounters, "track")) ++samples_of[track];
    const auto names = rank.texts(Table::kTracks, "thread");
    int64_t groups = 0;
    for (const auto& [track, count] : samples_of) {
      const std::string& name = names[static_cast<size_t>(track)];
      const bool of_process = name.starts_with("process ");
      const bool cut = name == "device user_utilization" || name == "device sys_utilization";
      groups += of_process;
      const int64_t samples = cpu["time_stamps"];
      EXPECT_EQ(count, of_process ? cpu["lengths"]["process_info"][0].get<int64_t>()
                       : cut      ? (samples + 1) / 2
                                  : samples)
          << name;
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
