// Every "independent" number of data/kineto/expected.json: recomputed from our tables, in exact
// nanoseconds.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/intervals.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;

// Decimal microseconds in the oracle have at most three places, so this is exact.
int64_t ns(const json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

struct DeviceTimes {
  std::vector<Interval> all;
  std::map<std::string, std::vector<Interval>> by_class;
  std::map<std::string, int64_t> by_cat;
  std::set<std::string> streams;
  int64_t kernel_total_ns = 0;
};

class KinetoExpected : public ::testing::Test {};

void check_counts(const ImportedRun& run, const json& expected) {
  std::map<std::string, int64_t> counts;
  int64_t total = 0;
  for (const auto& table : run.store().source_tables(0)) {
    if (table.name != "chrome_events") continue;
    for (uint64_t row = 0; row < table.rows; ++row) {
      const std::string cat(run.store().string(table.columns[1].values.at(row)));
      const std::string key = std::string(run.store().string(table.columns[0].values.at(row))) +
                              "/" + (cat.empty() ? "None" : cat);
      counts[key] += table.columns[2].values.at(row);
      total += table.columns[2].values.at(row);
    }
  }
  EXPECT_EQ(total, expected["events_total"].get<int64_t>());
  std::map<std::string, int64_t> wanted;
  for (const auto& [key, count] : expected["events_by_ph_cat"].items())
    wanted[key] = count.get<int64_t>();
  EXPECT_EQ(counts, wanted);
}

void check_steps(const ImportedRun& run, const json& expected) {
  const auto ts = run.column("steps", "ts");
  const auto dur = run.column("steps", "dur");
  const auto slices = run.column("steps", "slice");
  const auto base = run.column("ranks", "clock_base_ns");
  const json& wanted = expected["profiler_steps"];
  std::map<int64_t, int64_t> ours;
  for (size_t i = 0; i < ts.size(); ++i) {
    ours[ts[i] - base[0]] = dur[i];
    EXPECT_NE(slices[i], kNull);
  }
  std::map<int64_t, int64_t> theirs;
  for (const json& step : wanted) {
    // Absolute microseconds pass 2^53 thousandths: compare to the nearest quarter of a microsecond
    // there.
    theirs[std::llround(step["ts_us"].get<double>() * 1000)] = ns(step["dur_us"]);
  }
  ASSERT_EQ(ours.size(), theirs.size());
  auto mine = ours.begin();
  for (const auto& [start, length] : theirs) {
    EXPECT_NEAR(static_cast<double>(mine->first), static_cast<double>(start), 256);
    EXPECT_EQ(mine->second, length);
    ++mine;
  }
}

void check_devices(const ImportedRun& run, const json& expected) {
  const auto device = run.column("kernels", "device");
  const auto stream = run.column("kernels", "stream");
  const auto ts = run.column("kernels", "ts");
  const auto dur = run.column("kernels", "dur");
  const auto cat = run.texts("kernels", "cat");
  const auto type = run.texts("kernels", "type");
  const auto work_class = run.texts("kernels", "class");
  const auto name = run.texts("kernels", "name");
  const auto launch = run.column("kernels", "launch");
  const auto correlation = run.column("kernels", "correlation");
  const auto slice_cats = run.texts("slices", "cat");
  const bool has_launches = std::any_of(
      slice_cats.begin(), slice_cats.end(),
      [](const std::string& word) { return word.ends_with("_runtime") || word == "Runtime"; });
  std::map<std::string, DeviceTimes> devices;
  std::map<std::string, std::pair<int64_t, int64_t>> kernels;
  int64_t without_launch = 0;
  for (size_t i = 0; i < ts.size(); ++i) {
    DeviceTimes& times = devices[std::to_string(device[i])];
    const Interval interval{ts[i], ts[i] + dur[i]};
    times.all.push_back(interval);
    times.by_class[work_class[i]].push_back(interval);
    const bool is_kernel = type[i] != "MEMCPY" && type[i] != "MEMSET";
    ++times.by_cat[is_kernel ? "kernels" : type[i] == "MEMCPY" ? "memcpy" : "memset"];
    times.streams.insert(std::to_string(stream[i]));
    // Work without a correlation id is not "without launch" to the oracle, unless there is no
    // launching call at all.
    without_launch += launch[i] == kNull && (correlation[i] != kNull || !has_launches);
    if (!is_kernel) continue;
    times.kernel_total_ns += dur[i];
    auto& [calls, total] = kernels[name[i]];
    ++calls;
    total += dur[i];
  }
  if (!expected.contains("gpu")) {
    EXPECT_TRUE(devices.empty());
    return;
  }
  const json& gpus = expected["gpu"];
  EXPECT_EQ(devices.size(), gpus.size());
  for (const auto& [number, gpu] : gpus.items()) {
    SCOPED_TRACE("device " + number);
    const DeviceTimes& times = devices[number];
    EXPECT_EQ(static_cast<int64_t>(times.all.size()), gpu["events"].get<int64_t>());
    for (const char* kind : {"kernels", "memcpy", "memset"}) {
      const auto found = times.by_cat.find(kind);
      EXPECT_EQ(found == times.by_cat.end() ? 0 : found->second, gpu[kind].get<int64_t>()) << kind;
    }
    const auto merged = merge_intervals(times.all);
    const auto of_class = [&](const std::string& word) {
      const auto found = times.by_class.find(word);
      return found == times.by_class.end() ? std::vector<Interval>{}
                                           : merge_intervals(found->second);
    };
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (const Interval& interval : times.all) {
      first = std::min(first, interval.start_ns);
      last = std::max(last, interval.end_ns);
    }
    EXPECT_EQ(last - first, ns(gpu["span_us"]));
    EXPECT_EQ(total_length_ns(merged), ns(gpu["busy_union_us"]));
    EXPECT_EQ(last - first - total_length_ns(merged), ns(gpu["idle_us"]));
    EXPECT_EQ(total_length_ns(of_class("compute")), ns(gpu["compute_union_us"]));
    EXPECT_EQ(total_length_ns(of_class("communication")), ns(gpu["comm_union_us"]));
    EXPECT_EQ(total_length_ns(of_class("memory")), ns(gpu["memory_union_us"]));
    EXPECT_EQ(total_length_ns(intersect_intervals(of_class("communication"), of_class("compute"))),
              ns(gpu["comm_overlapped_by_compute_us"]));
    EXPECT_EQ(times.kernel_total_ns, ns(gpu["sum_kernel_dur_us"]));
    // The oracle takes streams from args, which some files do not have ("None"); ours come from the
    // lane.
    std::set<std::string> streams;
    for (const json& one : gpu["streams"]) streams.insert(one.get<std::string>());
    if (!streams.contains("None")) {
      EXPECT_EQ(times.streams, streams);
    }
  }
  EXPECT_EQ(static_cast<int64_t>(kernels.size()), expected["distinct_kernel_names"].get<int64_t>());
  EXPECT_EQ(without_launch, expected["gpu_events_without_launch"].get<int64_t>());
  for (const json& top : expected["top5_kernels"]) {
    // The oracle cuts names at 120 characters.
    const auto wanted = top["name"].get<std::string>();
    const bool found = std::any_of(kernels.begin(), kernels.end(), [&](const auto& kernel) {
      return kernel.first.starts_with(wanted) &&
             kernel.second.first == top["calls"].get<int64_t>() &&
             kernel.second.second == ns(top["sum_us"]);
    });
    EXPECT_TRUE(found) << wanted;
  }
}

void check_memory(const ImportedRun& run, const json& expected) {
  const char* key = "memory_events(DeviceType:DeviceId)";
  if (!expected.contains(key)) return;
  const auto kind = run.texts("memory", "device_kind");
  const auto device = run.column("memory", "device");
  const auto bytes = run.column("memory", "bytes");
  const auto allocated = run.column("memory", "total_allocated");
  const auto reserved = run.column("memory", "total_reserved");
  for (const auto& [which, wanted] : expected[key].items()) {
    SCOPED_TRACE(which);
    const std::string wanted_kind = which[0] == '0' ? "CPU" : "CUDA";
    const int64_t wanted_device = std::stoll(which.substr(which.find(':') + 1));
    int64_t events = 0, alloc = 0, release = 0, net = 0, alloc_bytes = 0, free_bytes = 0;
    int64_t peak_net = 0, peak_allocated = kNull, peak_reserved = kNull;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (kind[i] != wanted_kind || device[i] != wanted_device) continue;
      ++events;
      (bytes[i] > 0 ? alloc : release) += 1;
      (bytes[i] > 0 ? alloc_bytes : free_bytes) += std::abs(bytes[i]);
      net += bytes[i];
      peak_net = std::max(peak_net, net);
      peak_allocated = std::max(peak_allocated, allocated[i]);
      peak_reserved = std::max(peak_reserved, reserved[i]);
    }
    EXPECT_EQ(events, wanted["events"].get<int64_t>());
    EXPECT_EQ(alloc, wanted["alloc"].get<int64_t>());
    EXPECT_EQ(release, wanted["free"].get<int64_t>());
    EXPECT_EQ(alloc_bytes, wanted["alloc_bytes"].get<int64_t>());
    EXPECT_EQ(free_bytes, wanted["free_bytes"].get<int64_t>());
    EXPECT_EQ(net, wanted["net_bytes"].get<int64_t>());
    EXPECT_EQ(peak_net, wanted["peak_running_net_bytes"].get<int64_t>());
    if (wanted.contains("peak_total_allocated") && wanted["peak_total_allocated"].is_number()) {
      EXPECT_EQ(peak_allocated, wanted["peak_total_allocated"].get<int64_t>());
      EXPECT_EQ(peak_reserved, wanted["peak_total_reserved"].get<int64_t>());
    }
  }
}

void check_flows(const ImportedRun& run, const json& expected) {
  if (!expected.contains("flows")) return;
  const auto from = run.column("flows", "from_slice");
  const auto kind = run.texts("flows", "kind");
  int64_t start_only = 0;
  int64_t end_only = 0;
  for (const auto& [word, wanted] : expected["flows"].items()) {
    std::set<int64_t> paired;
    for (size_t i = 0; i < from.size(); ++i) {
      if (kind[i] == word) paired.insert(from[i]);
    }
    EXPECT_EQ(static_cast<int64_t>(paired.size()), wanted["paired"].get<int64_t>()) << word;
    start_only += wanted["start_only"].get<int64_t>();
    end_only += wanted["end_only"].get<int64_t>();
  }
  EXPECT_EQ(run.quality("flow_start_without_end"), start_only);
  EXPECT_EQ(run.quality("flow_end_without_start"), end_only);
}

TEST_F(KinetoExpected, EveryIndependentNumber) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = testing::shared_data() + "/kineto/";
  auto expected = read_json_file(folder + "expected.json");
  ASSERT_TRUE(expected.ok());
  int files = 0;
  for (const auto& [file, numbers] : expected->items()) {
    if (!numbers.is_object() || !numbers.contains("independent")) continue;
    SCOPED_TRACE(file);
    const ImportedRun run(folder + file);
    ASSERT_TRUE(run.ok()) << run.error();
    const json& wanted = numbers["independent"];
    check_counts(run, wanted);
    check_steps(run, wanted);
    check_devices(run, wanted);
    check_memory(run, wanted);
    check_flows(run, wanted);
    ++files;
  }
  EXPECT_GE(files, 30);
}

}  // namespace
}  // namespace stepscope
