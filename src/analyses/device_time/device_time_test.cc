#include "analyses/device_time/device_time.h"

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
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

}  // namespace
}  // namespace stepscope
