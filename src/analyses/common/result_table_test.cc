#include "analyses/common/result_table.h"

#include <cmath>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

struct Sample {
  int64_t count = 0;
  double share = 0;
  std::string name;
  bool complete = false;
  std::optional<int64_t> step;
};
constexpr Field<Sample> kSampleFields[] = {
    field<&Sample::count>("count", Unit::kCount, "how many"),
    field<&Sample::share>("share", Unit::kShare, "of all"),
    field<&Sample::name>("name", Unit::kNone, "name"),
    field<&Sample::complete>("complete", Unit::kNone, "whether"),
    field<&Sample::step>("step", Unit::kNone, "step"),
};

TEST(ResultTable, PrintsEveryKindOfValueAndNull) {
  const std::vector<Sample> rows = {
      {7, 0.25, "a \"b\",\nc", true, 3},
      {kNull, std::nan(""), "", false, std::nullopt},
  };
  const ResultTable table = make_table("samples", "Samples.", rows, kSampleFields);
  std::string json;
  append_json(json, table);
  EXPECT_EQ(json,
            "[{\"count\":7,\"share\":0.25,\"name\":\"a \\\"b\\\",\\nc\",\"complete\":true,"
            "\"step\":3},{\"count\":null,\"share\":null,\"name\":\"\",\"complete\":false,"
            "\"step\":null}]");
  std::string csv;
  append_csv(csv, table);
  EXPECT_EQ(csv, "count,share,name,complete,step\n7,0.25,\"a \"\"b\"\",\nc\",true,3\n,,,false,\n");
}

TEST(ResultTable, DescribesItsColumns) {
  const std::vector<Sample> rows;
  const ResultTable table = make_table("samples", "Samples.", rows, kSampleFields);
  EXPECT_EQ(table.rows(), 0u);
  EXPECT_EQ(table.find_column("name"), 2u);
  EXPECT_EQ(table.find_column("nothing"), table.columns().size());
  EXPECT_EQ(table.columns()[1].kind, ValueKind::kFloat);
  EXPECT_EQ(table.columns()[4].kind, ValueKind::kInteger);
  EXPECT_EQ(unit_name(table.columns()[0].unit), "count");
  std::string json;
  append_json(json, table);
  EXPECT_EQ(json, "[]");
}

}  // namespace
}  // namespace stepscope
