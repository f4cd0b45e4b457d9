// Test support: stores whose ranks the test fills by hand, and the analyses of one rank.
#ifndef STEPSCOPE_TESTS_SUPPORT_MADE_RUN_H_
#define STEPSCOPE_TESTS_SUPPORT_MADE_RUN_H_

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "analyses/run_analyses.h"
#include "store/rank_builder.h"
#include "store/store_writer.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::testing {

// A store with a rank for each of `fill`, numbered in order unless they say otherwise.
template <class... Fill>
std::shared_ptr<const StoreReader> made_store(const TemporaryFolder& folder, Fill... fill) {
  const std::string path = folder.path("run.stepscope");
  auto writer = StoreWriter::create(path, sizeof...(fill));
  EXPECT_TRUE(writer.ok());
  uint32_t position = 0;
  const auto add = [&](const auto& one) {
    RankBuilder rank;
    rank.info.rank = position;
    one(rank);
    EXPECT_TRUE((*writer)->add_rank(position++, rank, 1).ok());
  };
  (add(fill), ...);
  EXPECT_TRUE((*writer)->finish("{}").ok());
  auto store = StoreReader::open(path);
  EXPECT_TRUE(store.ok());
  return *store;
}

// Fill `rank`, then ask `analyses()`.
class MadeRun {
 public:
  RankBuilder rank;

  RunAnalyses& analyses() {
    if (!analyses_) finish();
    return *analyses_;
  }

 private:
  void finish() {
    const std::string path = folder_.path("made.stepscope");
    auto writer = StoreWriter::create(path, 1);
    Status status = writer.ok() ? (*writer)->add_rank(0, rank, 1) : Status(writer.error());
    if (status.ok()) status = (*writer)->finish("{}");
    if (!status.ok()) FAIL() << status.error().message();
    auto store = StoreReader::open(path);
    ASSERT_TRUE(store.ok());
    AnalysisOptions options;
    options.threads = 1;
    analyses_.emplace(*store, options);
  }

  TemporaryFolder folder_;
  std::optional<RunAnalyses> analyses_;
};

}  // namespace stepscope::testing

#endif  // STEPSCOPE_TESTS_SUPPORT_MADE_RUN_H_
