#include "analyses/device_time/device_time.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "analyses/run_analyses.h"
#include "json/json_tree.h"
#include "tests/support/imported_run.h"
#include "tests/support/sample_store.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

TEST(DeviceTime, SumsAddUpOnASmallStore) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 2));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  const auto& rows = run.device_time();
  ASSERT_EQ(rows.size(), 2u);
  // gemm_kernel 2000..3500 and add_kernel 3000..5200, which overlaps it.
  EXPECT_EQ(rows[0].events, 2);
  EXPECT_EQ(rows[0].span_ns, 3200);
  EXPECT_EQ(rows[0].busy_ns, 3200);
  EXPECT_EQ(rows[0].idle_ns, 0);
  EXPECT_EQ(rows[0].compute_ns, 3200);
  EXPECT_EQ(rows[1].rank, 1);
  for (const DeviceTimeRow& row : rows) EXPECT_EQ(row.busy_ns + row.idle_ns, row.span_ns);
}

TEST(DeviceTime, IsATableByName) {
  const testing::TemporaryFolder folder;
  auto store = StoreReader::open(testing::write_sample_store(folder, 1));
  ASSERT_TRUE(store.ok());
  RunAnalyses run(*store, {});
  const auto table = run.table("device_time");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(std::get<int64_t>(table->value(0, table->find_column("span_ns"))), 3200);
  const auto wrong = run.table("no_such_thing");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("device_time"), std::string::npos);
}

// Every trace of data/kineto against the numbers recomputed from its JSON (kind I).
TEST(DeviceTime, EqualsTheOracleOfEveryKinetoTrace) {
  STEPSCOPE_NEEDS_SHARED_DATA();
  const std::string data = testing::shared_data() + "/kineto/";
  const auto expected = read_json_file(data + "expected.json").value();
  const auto ns = [](const nlohmann::json& us) { return std::llround(us.get<double>() * 1000); };
  int64_t devices = 0;
  for (const auto& [name, oracle] : expected.items()) {
    if (!oracle.is_object() || !oracle.contains("independent") ||
        !oracle["independent"].contains("gpu"))
      continue;
    SCOPED_TRACE(name);
    const testing::ImportedRun imported(data + name);
    ASSERT_TRUE(imported.ok()) << imported.error();
    RunAnalyses run(imported.shared_store(), {});
    const auto& gpus = oracle["independent"]["gpu"];
    ASSERT_EQ(run.device_time().size(), gpus.size());
    for (const DeviceTimeRow& row : run.device_time()) {
      ASSERT_TRUE(gpus.contains(std::to_string(row.device)));
      const auto& gpu = gpus[std::to_string(row.device)];
      EXPECT_EQ(row.events, gpu["events"].get<int64_t>());
      EXPECT_EQ(row.span_ns, ns(gpu["span_us"]));
      EXPECT_EQ(row.busy_ns, ns(gpu["busy_union_us"]));
      EXPECT_EQ(row.idle_ns, ns(gpu["idle_us"]));
      EXPECT_EQ(row.compute_ns, ns(gpu["compute_union_us"]));
      EXPECT_EQ(row.communication_ns, ns(gpu["comm_union_us"]));
      EXPECT_EQ(row.memory_ns, ns(gpu["memory_union_us"]));
      EXPECT_EQ(row.overlap_ns, ns(gpu["comm_overlapped_by_compute_us"]));
      ++devices;
    }
  }
  EXPECT_GE(devices, 20);
}

}  // namespace
}  // namespace stepscope
