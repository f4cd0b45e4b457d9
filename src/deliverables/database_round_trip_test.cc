// Files of ours that are made of an NPU's database are read again as the same recording: what it
// keeps in tables is in the timeline and the tables of the folder.
#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "deliverables/chrome_trace.h"
#include "deliverables/profiler_output.h"
#include "tests/support/imported_run.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

class DatabaseRoundTrip : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    STEPSCOPE_NEEDS_SHARED_DATA();
    run_ = std::make_unique<testing::ImportedRun>(testing::shared_data() +
                                                  "/ascend/msinsight/db/level1");
    ASSERT_TRUE(run_->ok()) << run_->error();
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<testing::ImportedRun> run_;
};
INSTANTIATE_TEST_SUITE_P(Real, DatabaseRoundTrip, ::testing::Values(0, 1));

// Sums of numbers, which times of day wrap round, and counts of words, each by the name of its
// column.
class Contents {
 public:
  Contents(const StoreReader& store, size_t rank) : store_(store), rank_(rank) {}

  Contents& numbers(Table table, std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) {
      uint64_t& sum = all_[std::string(table_spec(table).name) + "." + std::string(column)];
      for_each_row<1>(store_, table, rank_, {column}, [&](const auto& row) {
        sum += static_cast<uint64_t>(row[0] == kNull ? 1'000'003 : row[0]);
      });
    }
    return *this;
  }
  Contents& words(Table table, std::initializer_list<std::string_view> columns) {
    for (const std::string_view column : columns) {
      for_each_row<1>(store_, table, rank_, {column}, [&](const auto& row) {
        ++all_[std::string(column) + "=" + std::string(store_.string(row[0]))];
      });
    }
    return *this;
  }
  // What an export has of a recording, and a folder.
  Contents& events() {
    numbers(Table::kKernels, {"ts", "dur", "bytes"});
    numbers(Table::kOps, {"ts", "dur", "sequence", "forward_thread"});
    numbers(Table::kSteps, {"ts", "dur", "step"});
    numbers(Table::kCommunications, {"ts", "dur", "bytes", "src_rank", "dst_rank"});
    numbers(Table::kCounters, {"ts"});
    words(Table::kKernels, {"name", "class"});
    words(Table::kOps, {"name", "input_shapes", "input_types", "stack"});
    return words(Table::kCommunications, {"level", "op", "transport", "link"});
  }
  Contents& memory() {
    numbers(Table::kMemory, {"ts", "bytes", "total_allocated", "total_reserved"});
    return words(Table::kMemory, {"component"});
  }
  const std::map<std::string, uint64_t>& all() const { return all_; }

 private:
  const StoreReader& store_;
  size_t rank_;
  std::map<std::string, uint64_t> all_;
};

TEST_P(DatabaseRoundTrip, OfTheFolder) {
  const auto store = run_->shared_store();
  RunAnalyses analyses(store, {});
  const auto written =
      write_profiler_output(analyses, analyses.ranks()[GetParam()], folder_.path("out"), {});
  ASSERT_TRUE(written.ok()) << written.error().message();
  const testing::ImportedRun again(folder_.path("out"));
  ASSERT_TRUE(again.ok()) << again.error();
  const auto all = [](const StoreReader& one, size_t rank) {
    return Contents(one, rank).events().memory().words(Table::kCommunications, {"group"}).all();
  };
  EXPECT_EQ(all(again.store(), 0), all(*store, GetParam()));
}

TEST_P(DatabaseRoundTrip, OfAChromeExport) {
  std::string text;
  const auto written =
      write_chrome_trace(run_->store(), GetParam(), {}, [&](std::string_view part) {
        text += part;
        return Status();
      });
  ASSERT_TRUE(written.ok());
  const testing::ImportedRun again(folder_.write("exported.json", text));
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(Contents(again.store(), 0).events().all(),
            Contents(run_->store(), GetParam()).events().all());
}

}  // namespace
}  // namespace stepscope
