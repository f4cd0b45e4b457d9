#include "query/database.h"

#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "query/name_hint.h"
#include "query/result_writer.h"
#include "query/statements.h"
#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

class DatabaseTest : public ::testing::Test {
 protected:
  void open(int64_t ranks, const DatabaseOptions& options = {}) {
    auto store = StoreReader::open(testing::write_sample_store(folder_, ranks));
    ASSERT_TRUE(store) << store.error().message();
    store_ = *store;
    auto database = Database::open(store_, options);
    ASSERT_TRUE(database) << database.error().message();
    database_ = std::move(*database);
  }
  // The result as CSV with plain line ends, or "error: ...".
  std::string csv(const std::string& sql, const QueryLimits& limits = {}) {
    auto result = database_->query(sql, limits);
    if (!result) return "error: " + result.error().message();
    std::string out;
    const auto status = write_csv(**result, [&](std::string_view text) {
      out += text;
      return Status();
    });
    if (!status) return "error: " + status.error().message();
    std::erase(out, '\r');
    return out;
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<StoreReader> store_;
  std::unique_ptr<Database> database_;
};

TEST_F(DatabaseTest, EveryTableOfTheSchemaCanBeRead) {
  open(2);
  for (size_t i = 0; i < kTableCount; ++i) {
    const std::string name(tables()[i].name);
    EXPECT_EQ(csv("select count(*) as n from " + name),
              "n\n" + std::to_string(store_->rows(static_cast<Table>(i))) + "\n");
    EXPECT_FALSE(csv("select * from " + name).starts_with("error")) << name;
  }
  EXPECT_EQ(csv("select ranks, tracks, slices, info from runs"),
            "ranks,tracks,slices,info\n2,6,18,\"{\"\"made\"\": \"\"for tests\"\"}\"\n");
}

TEST_F(DatabaseTest, TypesAndNulls) {
  open(1);
  EXPECT_EQ(csv("select ts, dur, name, cat, parent, correlation, args from slices where name = "
                "'ProfilerStep#7'"),
            "ts,dur,name,cat,parent,correlation,args\n"
            "1700000000000000000,10000,ProfilerStep#7,user_annotation,,,\n");
  EXPECT_EQ(csv("select value from counters order by ts"), "value\n0.5\n1.25\n");
  EXPECT_EQ(csv("select complete, typeof(complete) as t from steps"), "complete,t\ntrue,BOOLEAN\n");
  EXPECT_EQ(csv("select name, registers, grid, launch is not null as launched from kernels"),
            "name,registers,grid,launched\ngemm_kernel,32,\"[1, 1, 1]\",true\nadd_kernel,,,true\n");
  EXPECT_EQ(csv("select count(component) as c, count(*) as n from memory"), "c,n\n0,2\n");
}

TEST_F(DatabaseTest, NamesAreEnumsThatBehaveAsText) {
  open(2);
  EXPECT_TRUE(csv("select typeof(name) as t from kernels limit 1").starts_with("t\n\"ENUM("));
  EXPECT_EQ(csv("select column_type from (describe kernels) where column_name = 'dur'"),
            "column_type\nBIGINT\n");
  const std::string described = csv("describe kernels");
  EXPECT_NE(described.find("\nname,ENUM,"), std::string::npos) << described;
  EXPECT_EQ(csv("select count(*) as n from kernels where name = 'no such name'"), "n\n0\n");
  EXPECT_EQ(csv("select count(*) as n from kernels where name in ('gemm_kernel', 'x')"), "n\n2\n");
  EXPECT_EQ(csv("select count(*) as n from kernels where name like 'GEMM%' or name ilike 'ADD%'"),
            "n\n2\n");
  EXPECT_EQ(csv("select distinct name from slices order by name"),
            "name\nProfilerStep#7\nadd_kernel\naten::add\naten::mm\nbroken\ncudaLaunchKernel\n"
            "gemm_kernel\n\"marker \"\"quoted\"\"\"\n");
  EXPECT_EQ(csv("select max(name) as m, upper(min(name)) as u from kernels"),
            "m,u\ngemm_kernel,ADD_KERNEL\n");
  EXPECT_EQ(csv("select name from kernels where rank = 0 union all select stage from queues where "
                "rank = 0 order by all"),
            "name\nadd_kernel\nbatch\ngemm_kernel\n");
}

TEST_F(DatabaseTest, JoinsAcrossTables) {
  open(2);
  EXPECT_EQ(csv("select k.rank, k.name, o.name as op, l.name as launch from kernels k "
                "join ops o on o.id = k.op join slices l on l.id = k.launch order by k.id"),
            "rank,name,op,launch\n0,gemm_kernel,aten::mm,cudaLaunchKernel\n"
            "0,add_kernel,aten::add,cudaLaunchKernel\n1,gemm_kernel,aten::mm,cudaLaunchKernel\n"
            "1,add_kernel,aten::add,cudaLaunchKernel\n");
}

TEST_F(DatabaseTest, ArgsAreJson) {
  open(1);
  EXPECT_EQ(csv("select args->>'$.\"Input Dims\"[0][1]' as d from slices where name = 'aten::mm'"),
            "d\n3\n");
  EXPECT_EQ(csv("select args from slices where name = 'aten::add'"),
            "args\n\"{\"\"External id\"\": 6}\"\n");
}

TEST_F(DatabaseTest, SourceTablesAreUnited) {
  open(2);
  EXPECT_EQ(csv("select * from source.op_statistic order by rank, \"OP Type\""),
            "rank,OP Type,Count,Ratio(%)\n0,Add,,\n0,MatMul,3,\n1,Add,,0.25\n1,MatMul,3,12.5\n");
}

TEST_F(DatabaseTest, OtherTypesBecomeNumbersOrText) {
  open(1);
  EXPECT_EQ(csv("select [1, 2] as l, {'a': 1} as s, 1.25 as d, date '2026-01-02' as t, "
                "18446744073709551615::ubigint as u, sum(dur) as total from kernels"),
            "l,s,d,t,u,total\n\"[1, 2]\",{'a': 1},1.25,2026-01-02,18446744073709551615,3700\n");
}

TEST_F(DatabaseTest, OnlyReads) {
  DatabaseOptions options;
  open(1, options);
  const std::string target = folder_.path("out.csv");
  for (const std::string& sql : {"copy kernels to '" + target + "'",
                                 "attach '" + folder_.path("x.db") + "' as x",
                                 std::string("select * from read_csv('/etc/passwd')"),
                                 std::string("select * from '/etc/passwd'"),
                                 std::string("select * from read_text('/etc/hostname')"),
                                 std::string("select * from glob('/*')"),
                                 std::string("install httpfs"),
                                 std::string("load httpfs"),
                                 std::string("pragma table_info('kernels')"),
                                 std::string("set threads = 1"),
                                 std::string("create table t as select 1"),
                                 std::string("create view v as select 1"),
                                 std::string("drop view kernels"),
                                 std::string("explain analyze drop view kernels"),
                                 std::string("explain analyze create table t as select 1"),
                                 std::string("insert into ranks values (1)"),
                                 std::string("call pragma_version()"),
                                 std::string("export database '/tmp/x'"),
                                 std::string("begin transaction"),
                                 std::string("select 1; select 2"),
                                 std::string(""),
                                 std::string("-- nothing"),
                                 std::string("select 1) to '/tmp/x' --")}) {
    EXPECT_TRUE(csv(sql).starts_with("error: the query failed")) << sql << "\n" << csv(sql);
  }
  EXPECT_FALSE(std::filesystem::exists(target));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("x.db")));
  EXPECT_EQ(csv("select count(*) as n from kernels"), "n\n2\n");
  for (const char* sql : {"insert into kernels values (1)", "delete from kernels",
                          "update kernels set dur = 1", "alter table kernels drop dur"}) {
    EXPECT_NE(csv(sql).find("only statements that read are allowed"), std::string::npos)
        << csv(sql);
  }
}

TEST_F(DatabaseTest, MistakesNameTheNearest) {
  open(1);
  const std::string column = csv("select duration from kernels");
  EXPECT_NE(column.find("LINE 1: select duration from kernels"), std::string::npos) << column;
  EXPECT_NE(column.find("\n               ^"), std::string::npos) << column;
  const std::string syntax = csv("selec 1");
  EXPECT_NE(syntax.find("LINE 1: selec 1"), std::string::npos) << syntax;
  EXPECT_EQ(syntax.find("LINE 1"), syntax.rfind("LINE 1")) << "the place once: " << syntax;
  EXPECT_NE(csv("select nmae from kernels").find("nearest column: name (of kernels)"),
            std::string::npos);
  EXPECT_NE(csv("select k.durr from kernels k").find("nearest column: dur (of kernels)"),
            std::string::npos);
  EXPECT_NE(csv("select * from kernel").find("nearest table: kernels"), std::string::npos);
  EXPECT_NE(csv("select * from op_statistic").find("nearest table: source.\"op_statistic\""),
            std::string::npos);
}

TEST_F(DatabaseTest, TimeLimitAndCancel) {
  open(8);
  const std::string endless =
      "select count(*) from slices a, slices b, slices c, slices d, slices e where a.dur + b.dur + "
      "c.dur + d.dur + e.dur = 1";
  EXPECT_EQ(csv(endless, {0.2, nullptr}),
            "error: the query was stopped: it took longer than its time limit of 0.2 s (raise the "
            "limit or ask for less)");
  Progress progress;
  std::thread user([&] {
    usleep(100'000);
    progress.cancel();
  });
  EXPECT_EQ(csv(endless, {0, &progress}), "error: the query was cancelled");
  user.join();
  EXPECT_EQ(csv("select 1 as one", {5, nullptr}), "one\n1\n");
}

TEST_F(DatabaseTest, MemoryLimit) {
  DatabaseOptions options;
  options.memory_bytes = 64 << 20;
  open(8, options);
  const std::string answer =
      csv("select list(a.name || b.name || c.name || d.name) from slices a, slices b, slices c, "
          "slices d");
  EXPECT_TRUE(answer.starts_with("error: the query was stopped: it needs more than its memory"))
      << answer.substr(0, 300);
}

TEST_F(DatabaseTest, ErrorsWhileRunningAreReported) {
  open(1);
  const std::string answer = csv("select name::int from slices");
  EXPECT_TRUE(answer.starts_with("error: the query failed: Conversion Error")) << answer;
}

TEST_F(DatabaseTest, ParquetOnlyWhereAllowed) {
  DatabaseOptions options;
  const std::string path = folder_.path("out.parquet");
  options.writable_paths.push_back(path);
  open(2, options);
  const auto written = database_->write_parquet(
      "select name, sum(dur) as total, name = 'x' as b from kernels group by name -- end", path);
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_GT(std::filesystem::file_size(path), 100u);
  EXPECT_FALSE(database_->write_parquet("select 1", folder_.path("other.parquet")));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("other.parquet")));
  EXPECT_FALSE(database_->write_parquet("drop view kernels", path));
}

TEST_F(DatabaseTest, QueriesFromSeveralThreads) {
  open(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        auto result = database_->query("select count(*) from slices");
        ASSERT_TRUE(result);
        auto chunk = (*result)->next();
        ASSERT_TRUE(chunk);
        EXPECT_EQ((*chunk)->integers(0)[0], 36);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Statements, SplitAtSemicolonsOutsideOfQuotes) {
  const auto parts = split_statements(
      "select ';' ; -- a;b\n /* ; /* ; */ */ ;; select $$;$$, \"a;b\", e'\\';' from t;");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], "select ';' ");
  EXPECT_EQ(parts[1], " select $$;$$, \"a;b\", e'\\';' from t");
  EXPECT_TRUE(split_statements(" ; -- only a comment").empty());
  EXPECT_TRUE(starts_with_word("/* a */ PRAGMA x", "pragma"));
  EXPECT_FALSE(starts_with_word("pragmatic", "pragma"));
}

TEST(NameHint, EditDistance) {
  EXPECT_EQ(edit_distance("kernel", "kernels"), 1u);
  EXPECT_EQ(edit_distance("nmae", "name"), 1u);
  EXPECT_EQ(edit_distance("DUR", "dur"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

}  // namespace
}  // namespace stepscope
