#include "query/result_writer.h"

#include <cstring>

#include <gtest/gtest.h>

#include "query/database.h"
#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

class ResultWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = StoreReader::open(testing::write_sample_store(folder_, 1));
    ASSERT_TRUE(store);
    auto database = Database::open(*store);
    ASSERT_TRUE(database);
    database_ = std::move(*database);
  }
  template <typename Write>
  std::string text(const std::string& sql, const Write& write) {
    auto result = database_->query(sql);
    if (!result) return result.error().message();
    std::string out;
    const Sink sink = [&](std::string_view piece) {
      out += piece;
      return Status();
    };
    const Status status = write(**result, sink);
    return status ? out : status.error().message();
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<Database> database_;
};

constexpr const char* kMixed =
    "select * from (values (1, 'a,b', 1.5::double, true), (null, 'say \"x\"', null, null), "
    "(-3, '', 1e300::double, false), (4, E'two\\nlines', 'nan'::double, true)) as t(i, s, d, b)";

TEST_F(ResultWriterTest, Csv) {
  EXPECT_EQ(text(kMixed, write_csv),
            "i,s,d,b\r\n1,\"a,b\",1.5,true\r\n,\"say \"\"x\"\"\",,\r\n-3,\"\",1e+300,false\r\n"
            "4,\"two\nlines\",nan,true\r\n");
}

TEST_F(ResultWriterTest, Json) {
  EXPECT_EQ(text(kMixed, write_json),
            "[\n{\"i\":1,\"s\":\"a,b\",\"d\":1.5,\"b\":true},\n"
            "{\"i\":null,\"s\":\"say \\\"x\\\"\",\"d\":null,\"b\":null},\n"
            "{\"i\":-3,\"s\":\"\",\"d\":1e+300,\"b\":false},\n"
            "{\"i\":4,\"s\":\"two\\nlines\",\"d\":null,\"b\":true}\n]\n");
  EXPECT_EQ(text("select 1 as a where false", write_json), "[\n]\n");
  EXPECT_EQ(text("select 9223372036854775807 as a union all select 2", write_json_lines),
            "{\"a\":9223372036854775807}\n{\"a\":2}\n");
}

TEST_F(ResultWriterTest, Table) {
  const auto wide = [](QueryResult& result, const Sink& sink) {
    return write_table(result, 0, sink);
  };
  EXPECT_EQ(text(kMixed, wide),
            "   i  s                d  b\n"
            "----  ----------  ------  -----\n"
            "   1  a,b            1.5  true\n"
            "NULL  say \"x\"       NULL  NULL\n"
            "  -3              1e+300  false\n"
            "   4  two\\nlines     nan  true\n"
            "(4 rows)\n");
  const auto narrow = [](QueryResult& result, const Sink& sink) {
    return write_table(result, 20, sink);
  };
  EXPECT_EQ(
      text("select 'abcdefghijklmnopqrstuvwxyz' as name, 12345 as n", narrow),
      "name               n\n-------------  -----\nabcdefghijkl\xE2\x80\xA6  12345\n(1 row)\n");
  EXPECT_EQ(text("select '\xE7\xAE\x97\xE5\xAD\x90' as s, 1 as n", wide),
            "s     n\n----  -\n\xE7\xAE\x97\xE5\xAD\x90  1\n(1 row)\n");
}

TEST_F(ResultWriterTest, ArrowHasItsMagicAndRefusesWhatDoesNotFit) {
  const std::string bytes = text(kMixed, write_arrow);
  EXPECT_TRUE(bytes.starts_with(std::string_view("ARROW1\0\0", 8)));
  EXPECT_TRUE(bytes.ends_with("ARROW1"));
  int32_t footer = 0;
  std::memcpy(&footer, bytes.data() + bytes.size() - 10, sizeof footer);
  EXPECT_GT(footer, 0);
  EXPECT_LT(static_cast<size_t>(footer), bytes.size());
  EXPECT_EQ(text("select 170141183460469231731687303715884105727::hugeint as h", write_arrow),
            "cannot write Arrow: column h: 170141183460469231731687303715884105727 does not fit 64 "
            "bits (cast it to DOUBLE)");
}

}  // namespace
}  // namespace stepscope
