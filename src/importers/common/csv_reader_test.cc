// CSV as profilers write it.
#include "importers/common/csv_reader.h"

#include <bit>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

struct Read {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<uint64_t> lines;
  QualityReport quality;
};

Read read(const std::string& text) {
  Read out;
  auto reader = CsvReader::from_text(text, "t.csv");
  if (!reader) {
    ADD_FAILURE() << reader.error().message();
    return out;
  }
  out.header = reader->header();
  while (reader->next(out.quality)) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < out.header.size(); ++i) cells.emplace_back(reader->cell(i));
    out.rows.push_back(cells);
    out.lines.push_back(reader->line());
  }
  EXPECT_EQ(reader->rows_read(), out.rows.size());
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

TEST(Csv, PlainWithEitherLineEndAndAMark) {
  for (const std::string text : {"a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4",
                                 "\xEF\xBB\xBF"
                                 "a, b\n1, 2 \n3,4"}) {
    const Read out = read(text);
    EXPECT_EQ(out.header, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(out.rows, (Rows{{"1", "2"}, {"3", "4"}}));
    EXPECT_TRUE(out.quality.entries().empty());
  }
}

TEST(Csv, QuotedCells) {
  const Read out = read("a,b,c\n\"x, y\",\"say \"\"hi\"\"\",\"\"\n\"\"\"\",\"two\nlines\",z\n");
  EXPECT_EQ(out.rows, (Rows{{"x, y", "say \"hi\"", ""}, {"\"", "two\nlines", "z"}}));
}

TEST(Csv, LineNumbersCountLinesInsideCells) {
  const Read out = read("a,b\n\"1\n\n\",2\n3,4\n\n5,6\n");
  EXPECT_EQ(out.lines, (std::vector<uint64_t>{2, 5, 7}));
}

TEST(Csv, NumbersThatEndWithATab) {
  auto reader =
      CsvReader::from_text("t(us),n\n\"1712195495502094.501\t\",7\t\nN/A,\nx,1.5e3\n", "t.csv");
  ASSERT_TRUE(reader);
  QualityReport quality;
  ASSERT_TRUE(reader->next(quality));
  EXPECT_EQ(reader->us_as_ns(0, quality), 1712195495502094501);
  EXPECT_EQ(reader->integer(1, quality), 7);
  ASSERT_TRUE(reader->next(quality));
  EXPECT_EQ(reader->us_as_ns(0, quality), kNull);
  EXPECT_EQ(reader->integer(1, quality), kNull);
  EXPECT_EQ(quality.count(QualityCode::kBadNumber), 0);
  ASSERT_TRUE(reader->next(quality));
  EXPECT_EQ(reader->us_as_ns(0, quality), kNull);
  EXPECT_EQ(quality.count(QualityCode::kBadNumber), 1);
  EXPECT_EQ(reader->integer(1, quality), 1500);
  EXPECT_FALSE(reader->next(quality));
}

TEST(Csv, RaggedRowsArePaddedCutAndCounted) {
  const Read out = read("a,b,c\n1,2\n1,2,3,4\n1,2,3\n");
  EXPECT_EQ(out.rows, (Rows{{"1", "2", ""}, {"1", "2", "3"}, {"1", "2", "3"}}));
  EXPECT_EQ(out.quality.count(QualityCode::kRaggedRow), 2);
  EXPECT_NE(out.quality.entries().at(QualityCode::kRaggedRow).example.find("line 2"),
            std::string::npos);
}

TEST(Csv, BlankLinesAreNoRows) {
  EXPECT_EQ(read("a,b\n\n1,2\n \n\t\r\n3,4\n\n").rows, (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST(Csv, AnUnfinishedQuoteEndsWithTheFile) {
  const Read out = read("a,b\n1,\"open, and\nso on");
  EXPECT_EQ(out.rows, (Rows{{"1", "open, and\nso on"}}));
}

TEST(Csv, ColumnsByTheFirstNameThatExists) {
  auto reader = CsvReader::from_text("Name,Duration(us)\nx,1\n", "t.csv");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->column({"Dur", "Duration(us)", "Name"}), 1u);
  EXPECT_EQ(reader->column({"none"}), CsvReader::npos);
  QualityReport quality;
  ASSERT_TRUE(reader->next(quality));
  EXPECT_EQ(reader->cell(CsvReader::npos), "");
  EXPECT_EQ(reader->value(CsvReader::npos), std::nullopt);
  EXPECT_EQ(reader->integer(CsvReader::npos, quality), kNull);
}

TEST(Csv, NoHeaderIsAnErrorWithARemedy) {
  for (const std::string text : {"", "\n", "  \n1,2\n", "\xEF\xBB\xBF"}) {
    auto reader = CsvReader::from_text(text, "some.csv");
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().where, "some.csv");
    EXPECT_EQ(reader.error().why, "it has no header line");
    EXPECT_FALSE(reader.error().remedy.empty());
  }
}

TEST(Csv, KeptTablesHaveTheTypesOfTheirCells) {
  testing::TemporaryFolder folder;
  RankBuilder rank;
  const std::string path =
      folder.write("t.csv", "int,float,text,mixed\n1,1.5,a,1\n-2\t,2,b,x\nN/A,,c,3\n");
  ASSERT_TRUE(keep_csv(path, "kept", rank));
  ASSERT_EQ(rank.source_tables.size(), 1u);
  const SourceTable& table = rank.source_tables[0];
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[0].type, Type::kInt64);
  EXPECT_EQ(table.columns[0].values, (std::vector<int64_t>{1, -2, kNull}));
  EXPECT_EQ(table.columns[1].type, Type::kFloat64);
  EXPECT_EQ(std::bit_cast<double>(table.columns[1].values[0]), 1.5);
  EXPECT_EQ(table.columns[2].type, Type::kText);
  EXPECT_EQ(rank.strings.view(static_cast<StringId>(table.columns[2].values[1])), "b");
  EXPECT_EQ(table.columns[3].type, Type::kText);
  EXPECT_EQ(rank.sources[0].rows, 3);
}

}  // namespace
}  // namespace stepscope
