#include "api/run.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

// Two operators and a copy with its size; names that are no UTF-8 and NULLs among the columns.
constexpr std::string_view kTrace = R"({"schemaVersion": 1,
"distributedInfo": {"rank": 3, "world_size": 8},
"deviceProperties": [{"id": 0, "name": "Some GPU"}],
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 1, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5.5},
{"ph": "X", "cat": "cpu_op", "name": "bad )"
                                    "\xff"
                                    R"(", "pid": 1, "tid": 1, "ts": 20, "dur": 1},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 4,
 "args": {"device": 0, "stream": 7, "grid": [1, 2, 3]}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 40, "dur": 2,
 "args": {"device": 0, "stream": 7, "bytes": 4096}}
]})";

class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Progress progress;
    auto run = stepscope::Run::open({folder_.write("trace.json", kTrace)}, {}, progress);
    ASSERT_TRUE(run.ok()) << run.error().message();
    run_ = *run;
  }

  TableData read(const char* table, std::optional<std::vector<std::string>> columns = {}) {
    auto data = run_->table(table, columns, progress_);
    EXPECT_TRUE(data.ok()) << (data ? "" : data.error().message());
    return data ? std::move(*data) : TableData{};
  }
  TableData ask(std::string_view sql) {
    auto data = run_->query(sql, 0, progress_);
    EXPECT_TRUE(data.ok()) << (data ? "" : data.error().message());
    return data ? std::move(*data) : TableData{};
  }

  testing::TemporaryFolder folder_;
  Progress progress_;
  std::shared_ptr<stepscope::Run> run_;
};

std::vector<std::string> texts(const ColumnData& column) {
  std::vector<std::string> out;
  for (const int32_t code : column.codes)
    out.push_back(code < 0 ? "NULL" : column.categories[static_cast<size_t>(code)]);
  return out;
}

TEST_F(RunTest, KnowsWhatItOpened) {
  EXPECT_TRUE(run_->imported());
  EXPECT_EQ(run_->rank_count(), 1u);
  EXPECT_TRUE(run_->notes().empty());
  Progress progress;
  auto again = stepscope::Run::open(run_->paths(), {}, progress);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE((*again)->imported());
  EXPECT_EQ((*again)->store_path(), run_->store_path());
}

// As the table operators has them: recursive calls once, impossible ones not at all.
TEST_F(RunTest, OperatorsOfTheSummaryAreThoseOfTheAnalyses) {
  constexpr std::string_view kCalls = R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "rec", "pid": 1, "tid": 1, "ts": 300, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "other", "pid": 1, "tid": 1, "ts": 305, "dur": 60},
{"ph": "X", "cat": "cpu_op", "name": "rec", "pid": 1, "tid": 1, "ts": 310, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "verylong", "pid": 1, "tid": 2, "ts": 0, "dur": 700000000000}
]})";
  auto run = stepscope::Run::open({folder_.write("calls.json", kCalls)}, {}, progress_);
  ASSERT_TRUE(run.ok()) << run.error().message();
  const auto info = (*run)->info_json(progress_);
  ASSERT_TRUE(info.ok()) << info.error().message();
  const auto operators = nlohmann::json::parse(*info)["operators"];
  ASSERT_EQ(operators.size(), 2u) << operators;
  EXPECT_EQ(operators[0]["name"], "rec");
  EXPECT_EQ(operators[0]["count"], 2);
  EXPECT_EQ(operators[0]["total_ns"], 100'000);
  EXPECT_EQ(operators[1]["name"], "other");
}

TEST_F(RunTest, TablesAreTypedArrays) {
  const TableData ranks = read("ranks", {{"rank", "host", "rank_inferred"}});
  ASSERT_EQ(ranks.rows, 1u);
  EXPECT_EQ(ranks.columns[0].integers[0], 3);
  EXPECT_EQ(texts(ranks.columns[1]), std::vector<std::string>{"NULL"});
  EXPECT_EQ(ranks.columns[2].type, ColumnType::kBool);
  EXPECT_EQ(ranks.columns[2].bools[0], 0);

  const TableData ops = read("ops", {{"dur", "name"}});
  ASSERT_EQ(ops.rows, 2u);
  EXPECT_EQ(ops.columns[0].integers[0], 5500);
  EXPECT_TRUE(ops.columns[0].nulls.empty());
  EXPECT_EQ(texts(ops.columns[1]), (std::vector<std::string>{"aten::mm", "bad \xEF\xBF\xBD"}));
}

TEST_F(RunTest, NullsAreMarked) {
  const TableData kernels = read("kernels", {{"bytes", "grid"}});
  ASSERT_EQ(kernels.rows, 2u);
  const ColumnData& bytes = kernels.columns[0];
  ASSERT_EQ(bytes.nulls.size(), 2u);
  EXPECT_EQ(bytes.nulls[0], 1);
  EXPECT_EQ(bytes.integers[0], 0);
  EXPECT_EQ(bytes.nulls[1], 0);
  EXPECT_EQ(bytes.integers[1], 4096);
  EXPECT_EQ(kernels.columns[1].codes[1], -1);
}

TEST_F(RunTest, ArgsOnlyWhenNamed) {
  const TableData all = read("slices");
  for (const ColumnData& column : all.columns) EXPECT_NE(column.name, "args");
  const TableData named = read("slices", {{"args"}});
  bool found = false;
  for (const std::string& text : texts(named.columns[0]))
    found |= text.find("4096") != std::string::npos;
  EXPECT_TRUE(found);
}

TEST_F(RunTest, QueriesGiveTheSameArrays) {
  const TableData data =
      ask("select sum(dur) as total, sum(9223372036854775807::hugeint) as wide, 1.5::double as f, "
          "null::integer as nothing, 'x' as t, true as b, 1 as t from slices");
  ASSERT_EQ(data.rows, 1u);
  EXPECT_EQ(data.columns[0].type, ColumnType::kInt64);
  EXPECT_EQ(data.columns[0].integers[0], 100000 + 5500 + 1000 + 4000 + 2000);
  EXPECT_EQ(data.columns[1].type, ColumnType::kInt128);
  EXPECT_TRUE(data.columns[1].wide_integers[0] == static_cast<__int128>(INT64_MAX) * 5);
  EXPECT_EQ(data.columns[2].floats[0], 1.5);
  EXPECT_EQ(data.columns[3].nulls[0], 1);
  EXPECT_EQ(texts(data.columns[4]), std::vector<std::string>{"x"});
  EXPECT_EQ(data.columns[5].bools[0], 1);
  EXPECT_EQ(data.columns[6].name, "t_2");
}

TEST_F(RunTest, ManyRowsKeepTheirPlaces) {
  const TableData data =
      ask("select i, case when i % 5000 = 4999 then null else i end as some, 'n' || i % 3 as t "
          "from range(20000) as r(i)");
  ASSERT_EQ(data.rows, 20000u);
  const ColumnData& some = data.columns[1];
  for (size_t i = 0; i < data.rows; ++i) {
    ASSERT_EQ(data.columns[0].integers[i], static_cast<int64_t>(i));
    ASSERT_EQ(some.nulls[i], i % 5000 == 4999 ? 1 : 0);
    ASSERT_EQ(data.columns[2].codes[i], static_cast<int32_t>(i % 3));
  }
}

TEST_F(RunTest, WrongNamesGetTheNearest) {
  const auto message = [&](const char* table, std::optional<std::vector<std::string>> columns) {
    auto data = run_->table(table, columns, progress_);
    return data ? std::string() : data.error().message();
  };
  EXPECT_EQ(message("kernelz", {}), "no such table: kernelz (did you mean kernels?)");
  EXPECT_EQ(message("kernels", {{"durr"}}),
            "cannot read the table: kernels: it has no column durr (did you mean dur?)");
}

TEST_F(RunTest, EveryTableListedCanBeRead) {
  auto infos = run_->tables();
  ASSERT_TRUE(infos.ok());
  EXPECT_GT(infos->size(), 15u);
  for (const TableInfo& info : *infos) {
    const TableData data = read(info.name.c_str());
    EXPECT_FALSE(data.columns.empty()) << info.name;
  }
}

TEST_F(RunTest, CancelledWorkSaysSo) {
  Progress progress;
  progress.cancel();
  auto table = run_->table("slices", {}, progress);
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.error().code, ErrorCode::kCancelled);
  auto query = run_->query("select sum(a.x * b.x) from range(10000000) a(x), range(100000) b(x)", 0,
                           progress);
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.error().code, ErrorCode::kCancelled);
}

TEST_F(RunTest, WritesARankAsChromeTrace) {
  const std::string path = folder_.path("export/trace.json");
  std::filesystem::create_directory(folder_.path("export"));
  const auto bytes = run_->write_chrome_trace(3, path, progress_);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message();
  EXPECT_EQ(std::filesystem::file_size(path), *bytes);
  auto again = stepscope::Run::open({path}, {}, progress_);
  ASSERT_TRUE(again.ok()) << again.error().message();
  auto slices = (*again)->table("slices", {}, progress_);
  ASSERT_TRUE(slices.ok());
  EXPECT_EQ(slices->rows, read("slices").rows);

  const auto missing = run_->write_chrome_trace(4, path, progress_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(RunTest, ThreadsOpenAndReadAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Progress progress;
      OpenOptions options;
      options.force = true;  // all of them write the same store
      auto own = stepscope::Run::open(run_->paths(), options, progress);
      const std::shared_ptr<stepscope::Run> run = i % 2 == 0 && own ? *own : run_;
      auto table = run->table("slices", {}, progress);
      auto query = run->query("select count(*) as n from slices", 0, progress);
      if (own && table && query && table->rows == 5 && query->columns[0].integers[0] == 5) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 2u);  // the trace and its store
}

TEST_F(RunTest, AnalysesAreTypedArraysToo) {
  const auto described = run_->analyses();
  ASSERT_FALSE(described.empty());
  const auto time = std::find_if(described.begin(), described.end(),
                                 [](const TableInfo& info) { return info.name == "device_time"; });
  ASSERT_NE(time, described.end());
  EXPECT_EQ(time->columns[0].name, "rank");
  EXPECT_FALSE(time->columns[0].doc.empty());

  auto data = run_->analysis("device_time");
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->rows, 1u);
  EXPECT_EQ(data->columns[0].name, "rank");
  EXPECT_EQ(data->columns[0].integers[0], 3);
  EXPECT_EQ(data->columns[4].name, "span_ns");
  EXPECT_EQ(data->columns[4].integers[0], 12'000);

  EXPECT_FALSE(run_->analysis("device_tim").ok());
  EXPECT_FALSE(run_->analysis_reason("device_tim").ok());
}

TEST_F(RunTest, ChangesOfAStepAndSearches) {
  const auto path = run_->critical_path(3, 7);
  ASSERT_TRUE(path.ok()) << path.error().message();
  ASSERT_EQ(path->rows, 1u);
  EXPECT_EQ(path->columns[2].name, "step");
  EXPECT_EQ(path->columns[2].integers[0], 7);
  const auto segments = run_->critical_path_segments({}, {});
  ASSERT_TRUE(segments.ok());
  EXPECT_GT(segments->rows, 0u);

  const auto changed = run_->what_if("GEMM", 0.5, {}, 7);
  ASSERT_TRUE(changed.ok()) << changed.error().message();
  ASSERT_EQ(changed->rows, 1u);
  EXPECT_EQ(changed->columns[4].name, "events_ns");
  EXPECT_EQ(changed->columns[4].integers[0], 4'000);
  EXPECT_FALSE(run_->what_if("gemm", -1, {}, {}).ok());
  EXPECT_FALSE(run_->what_if("softmax", 0.5, {}, {}).ok());
  EXPECT_FALSE(run_->what_if("gemm", 0.5, {}, 8).ok());

  const TableData found = run_->find_operators("MM", 20);
  ASSERT_EQ(found.rows, 1u);
  const auto name = std::find_if(found.columns.begin(), found.columns.end(),
                                 [](const ColumnData& column) { return column.name == "name"; });
  ASSERT_NE(name, found.columns.end());
  EXPECT_EQ(texts(*name), std::vector<std::string>{"aten::mm"});
  EXPECT_EQ(run_->find_operators("zzzz", 20).rows, 0u);
}

}  // namespace
}  // namespace stepscope
