#include "query/parquet_rows.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

const std::vector<ResultColumn> kColumns = {{"name", ValueType::kText},
                                            {"total \"ns\"", ValueType::kInt64},
                                            {"share", ValueType::kFloat64},
                                            {"marked", ValueType::kBool}};

TEST(ParquetRows, WritesEveryKindOfValue) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("rows.parquet");
  const auto value = [](size_t row, size_t column) -> ParquetValue {
    if (row == 1) return {};
    switch (column) {
      case 0:
        return std::string_view("a\xff");  // no UTF-8
      case 1:
        return int64_t{1} << 60;
      case 2:
        return 0.5;
      default:
        return true;
    }
  };
  const auto status = write_parquet_rows(kColumns, 5000, value, path);
  ASSERT_TRUE(status.ok()) << status.error().message();
  const auto bytes = read_file(path, 1 << 20);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(bytes->starts_with("PAR1"));
  EXPECT_TRUE(bytes->ends_with("PAR1"));
}

TEST(ParquetRows, SaysWhereItCannotWrite) {
  const auto status =
      write_parquet_rows(kColumns, 0, [](size_t, size_t) { return ParquetValue(); }, "/no/such/x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("/no/such/x"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
