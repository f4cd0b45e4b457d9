// Memory of real recordings, against the numbers beside them.
#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/run_analyses.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::ImportedRun;
using testing::shared_data;

json kineto_numbers() {
  json numbers = read_json_file(shared_data() + "/kineto/expected.json").value();
  numbers.erase("_about");
  return numbers;
}

// "1:0" -> CUDA 0
bool is_pool(const MemoryRow& row, const std::string& key) {
  const std::string kind = row.device_kind == "CPU" ? "0" : row.device_kind == "CUDA" ? "1" : "?";
  return kind + ":" + std::to_string(row.device) == key;
}

TEST(MemoryOfTorch, EventsAndPeaks) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  int files = 0;
  const json all = kineto_numbers();
  for (const auto& [path, numbers] : all.items()) {
    const json pools = numbers.value("independent", json::object())
                           .value("memory_events(DeviceType:DeviceId)", json::object());
    if (pools.empty()) continue;
    ++files;
    const ImportedRun imported(shared_data() + "/kineto/" + path);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    const auto& rows = run.memory().overview;
    EXPECT_EQ(rows.size(), pools.size()) << path;
    for (const auto& [key, pool] : pools.items()) {
      const auto row =
          std::ranges::find_if(rows, [&](const MemoryRow& one) { return is_pool(one, key); });
      ASSERT_NE(row, rows.end()) << path << " " << key;
      EXPECT_EQ(row->events, pool["events"]) << path;
      EXPECT_EQ(row->allocations, pool["alloc"]);
      EXPECT_EQ(row->releases, pool["free"]);
      EXPECT_EQ(row->allocated_bytes, pool["alloc_bytes"]);
      EXPECT_EQ(row->released_bytes, pool["free_bytes"]);
      const bool has_totals = !pool["peak_total_allocated"].is_null();
      EXPECT_EQ(row->peak_bytes,
                pool[has_totals ? "peak_total_allocated" : "peak_running_net_bytes"]);
      EXPECT_EQ(row->peak_reserved_bytes, pool["peak_total_reserved"].is_null()
                                              ? kNull
                                              : pool["peak_total_reserved"].get<int64_t>());
      // Blocks and totals tell the same story.
      int64_t owned = 0;
      for (const MemoryOwnerRow& owner : run.memory().owners) {
        if (owner.device_kind == row->device_kind && owner.device == row->device)
          owned += owner.bytes;
      }
      EXPECT_EQ(owned, row->peak_bytes) << path;
    }
  }
  EXPECT_EQ(files, 5);
}

// The TensorBoard plugin's table, over all of its columns.
TEST(MemoryOfTorch, OperatorsAsTheTensorboardPluginHasThem) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  int compared = 0;
  const json all = kineto_numbers();
  for (const auto& [path, numbers] : all.items()) {
    const json devices = numbers.value("tb_plugin_0.4.3", json::object())
                             .value("memory", json::object())
                             .value("rows", json::object());
    if (devices.empty()) continue;
    const ImportedRun imported(shared_data() + "/kineto/" + path);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    for (const auto& [device, expected] : devices.items()) {
      for (const json& one : expected) {
        const auto& rows = run.memory_operators();
        const auto row = std::ranges::find_if(rows, [&](const MemoryOperatorRow& candidate) {
          const std::string name =
              candidate.device_kind == "CPU" ? "CPU" : "GPU" + std::to_string(candidate.device);
          return name == device && candidate.name == one[0].get<std::string>();
        });
        ASSERT_NE(row, rows.end()) << path << " " << one;
        ++compared;
        EXPECT_EQ(row->self_increase_bytes, one[1]) << path << " " << one;
        EXPECT_EQ(row->self_allocated_bytes, one[2]) << path << " " << one;
        EXPECT_EQ(row->self_allocations, one[3]) << path << " " << one;
        EXPECT_EQ(row->increase_bytes, one[4]) << path << " " << one;
        EXPECT_EQ(row->allocated_bytes, one[5]) << path << " " << one;
        EXPECT_EQ(row->allocations, one[6]) << path << " " << one;
        // The plugin takes an operator and its only child of the same name for one call.
        const bool calls_itself = row->name == "aten::sum" || row->name == "aten::div";
        EXPECT_GE(row->calls, one[7]) << path << " " << one;
        if (!calls_itself) {
          EXPECT_EQ(row->calls, one[7]) << path << " " << one;
        }
      }
    }
  }
  EXPECT_EQ(compared, 13 + 13 + 20 + 20);
}

TEST(MemoryOfTorch, CurveOfTheUnitFile) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/kineto/kineto_tb/unit/memory_curve.json");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  std::map<std::string_view, std::vector<MemoryPoint>> curves;
  for (const MemoryPoint& point : run.memory_curve()) curves[point.device_kind].push_back(point);
  ASSERT_EQ(curves["CPU"].size(), 12u);
  ASSERT_EQ(curves["CUDA"].size(), 10u);
  EXPECT_EQ(curves["CPU"].front().ts, 1'000);
  EXPECT_EQ(curves["CPU"].back().ts, 905'000);
  EXPECT_LT(curves["CPU"].back().change_bytes, 0);
}

TEST(MemoryOfTorch, Gpt2OnH200) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/h200/gpt2.pt.trace.json.gz");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const MemoryResult& memory = run.memory();
  ASSERT_EQ(memory.overview.size(), 2u);
  EXPECT_EQ(memory.overview[0].events + memory.overview[1].events, 11'352);
  const MemoryRow& gpu = memory.overview[0];
  EXPECT_EQ(gpu.peak_bytes, 7'746'371'584);
  EXPECT_EQ(gpu.peak_reserved_bytes, 8'854'175'744);
  EXPECT_EQ(gpu.capacity_bytes, 150'109'880'320);
  EXPECT_EQ(gpu.lost_releases, 0);
  EXPECT_FALSE(gpu.leak_suspected) << "four equal steps";
  EXPECT_TRUE(memory.leaks.empty());
  int64_t peak = 0;
  std::map<std::string_view, int64_t> by_category;
  for (const MemoryOwnerRow& row : memory.peak) {
    if (row.device_kind != "CUDA") continue;
    peak += row.bytes;
    by_category[row.category] += row.bytes;
  }
  EXPECT_EQ(peak, gpu.peak_bytes);
  EXPECT_GT(by_category["forward"], gpu.peak_bytes / 2) << "activations hold most of the peak";
  // Parameters (124 M in fp32), gradients and AdamW's two moments are from before the recording.
  EXPECT_GT(by_category["before"], int64_t{1'400} << 20);
  const auto module = std::ranges::find_if(memory.peak, [](const MemoryOwnerRow& row) {
    return row.module.find("GPT2Block") != std::string::npos;
  });
  EXPECT_NE(module, memory.peak.end());
}

TEST(MemoryOfAscend, PeaksOfEveryComponent) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const ImportedRun imported(shared_data() + "/ascend/msinsight/text/level1");
  ASSERT_TRUE(imported.ok()) << imported.error();
  RunAnalyses run(imported.shared_store(), {});
  const auto bytes = [](double megabytes) { return static_cast<int64_t>(megabytes * 1048576.0); };
  struct Peak {
    const char* component;
    int64_t allocated;
    int64_t reserved;
  };
  for (const int64_t rank : {0, 1}) {
    const Peak peaks[] = {
        {"APP", kNull, bytes(rank == 0 ? 2113.73046875 : 2113.734375)},
        {"PTA", bytes(1187.9814453125), bytes(1452.0)},
        {"PTA+GE", bytes(1261.04296875), bytes(1526.75)},
        {"GE", bytes(73.0625), bytes(74.75)},
    };
    for (const Peak& peak : peaks) {
      const auto& rows = run.memory().overview;
      const auto row = std::ranges::find_if(rows, [&](const MemoryRow& one) {
        return one.rank == rank && one.component == peak.component;
      });
      ASSERT_NE(row, rows.end()) << peak.component;
      EXPECT_EQ(row->peak_bytes, peak.allocated) << peak.component;
      EXPECT_EQ(row->peak_reserved_bytes, peak.reserved) << peak.component;
    }
    int64_t allocations = 0;
    int64_t allocated = 0;
    int64_t unreleased = 0;
    for (const MemoryRow& row : run.memory().overview) {
      if (row.rank != rank) continue;
      allocations += row.allocations;
      allocated += row.allocated_bytes;
      unreleased += row.unreleased_blocks;
    }
    EXPECT_EQ(allocations, 184);
    EXPECT_EQ(allocated, static_cast<int64_t>(1'460'243.5 * 1024));
    EXPECT_EQ(unreleased, 24);
  }
}

TEST(MemoryOfMindspore, PeaksOfEveryWindow) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string folder = shared_data() + "/mindspore_cpu/";
  int windows = 0;
  const json all = read_json_file(folder + "expected.json").value();
  for (const auto& [name, numbers] : all.items()) {
    const json found = numbers.value("windows", json::array());
    for (const json& window : found) {
      if (!window.contains("memory")) continue;
      const json& memory = window["memory"];
      const ImportedRun imported(folder + window["folder"].get<std::string>());
      ASSERT_TRUE(imported.ok()) << imported.error();
      RunAnalyses run(imported.shared_store(), {});
      const auto& rows = run.memory().overview;
      ASSERT_EQ(rows.size(), 1u) << window["folder"];
      EXPECT_EQ(rows[0].samples, memory["records_of_this_window"]) << window["folder"];
      EXPECT_EQ(rows[0].peak_bytes, memory["peak_allocated_bytes"]);
      EXPECT_EQ(rows[0].peak_ts, memory["peak_at_ns"]);
      EXPECT_EQ(rows[0].peak_reserved_bytes, memory["reserved_bytes"]);
      ++windows;
    }
  }
  EXPECT_GT(windows, 4);
}

}  // namespace
}  // namespace stepscope
