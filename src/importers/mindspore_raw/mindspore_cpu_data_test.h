// The real runs of MindSpore 2.10 on CPU and the numbers expected of them.
#ifndef STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_CPU_DATA_H_
#define STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_CPU_DATA_H_

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "importers/mindspore_raw/mindspore_raw_importer.h"
#include "json/json_tree.h"
#include "tests/support/imported_rank.h"

namespace stepscope {

class MindsporeCpuData : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::shared_data_at("mindspore_cpu");
    if (root_.empty()) GTEST_SKIP() << testing::kNoSharedData;
    auto expected = read_json_file(root_ + "/expected.json");
    ASSERT_TRUE(expected.ok()) << expected.error().message();
    expected_ = *expected;
  }

  nlohmann::json read(const std::string& path) {
    auto tree = read_json_file(path);
    EXPECT_TRUE(tree.ok()) << path;
    return tree ? *tree : nlohmann::json();
  }

  template <typename Check>
  void for_each_window(Check check) {
    int windows = 0;
    for (const auto& [run, numbers] : expected_.items()) {
      if (!numbers.contains("windows")) continue;
      for (const nlohmann::json& window : numbers["windows"]) {
        const std::string folder = root_ + "/" + window["folder"].get<std::string>();
        SCOPED_TRACE(folder);
        const auto candidates = testing::find_candidates(importer_, folder);
        ASSERT_EQ(candidates.size(), 1u);
        EXPECT_EQ(candidates[0].unit, folder);
        EXPECT_EQ(candidates[0].rank, window["rank_in_file_names"]);
        testing::ImportedRank rank(importer_, candidates[0]);
        ASSERT_TRUE(rank.ok());
        check(run, window, rank, folder);
        ++windows;
      }
    }
    EXPECT_EQ(windows, 12);
  }

  // Of the run a window belongs to: the nearest truth.json above it.
  nlohmann::json truth_of(const std::string& folder) {
    for (std::string at = folder; at.size() > root_.size(); at = at.substr(0, at.rfind('/'))) {
      auto tree = read_json_file(at + "/truth.json");
      if (tree) return *tree;
    }
    ADD_FAILURE() << "no truth.json above " << folder;
    return {};
  }

  MindsporeRawImporter importer_;
  std::string root_;
  nlohmann::json expected_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_MINDSPORE_RAW_MINDSPORE_CPU_DATA_H_
