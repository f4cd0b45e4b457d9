// Broken raw files: what can be read is kept, the rest is counted, and nothing useful is an error.
#include <gtest/gtest.h>

#include "importers/mindspore_raw/mindspore_raw_importer.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using testing::find_candidates;
using testing::ImportedRank;
using testing::TemporaryFolder;

TEST(MindsporeRawBadInput, KeepsWhatCanBeRead) {
  TemporaryFolder folder;
  folder.write("cpu_op_execute_timestamp_0.txt",
               "no separator at all\n"
               "Add;HostCpuOps;10,1,0 x,1,0 20 30,1,0,0 40,nan,0 99999999999999999999,1,0 50,2,0\n"
               ";\n"
               "\n");
  folder.write("cpu_framework_0.txt", "Add\nAdd;Add-op0;notanumber;input_1:[1];\n");
  folder.write("cpu_op_type_info_0.csv", "");
  folder.write("cpu_op_detail_info_0.csv",
               "op_side,op_type,op_name,full_op_name,op_occurrences,pid\nHost,Add\n");
  folder.write("cpu_ms_memory_record_0.txt",
               "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
               "abc,1,2,3\n60,5\n70,1,2,3\n");
  folder.write("minddata_cpu_utilization_0.json", "[1, 2");
  folder.write("pipeline_profiling_0.json", R"({"op_info": {"a": 1}})");
  folder.write("dataset_iterator_profiling_0.txt",
               "0 0 1 9223372036854775807 9223372036854775807\n1 16\n");
  const MindsporeRawImporter importer;
  const auto candidates = find_candidates(importer, folder.path());
  ASSERT_EQ(candidates.size(), 1u);
  ImportedRank rank(importer, candidates[0]);
  ASSERT_TRUE(rank.ok());
  EXPECT_EQ(rank.integers(Table::kOps, "ts"), (std::vector<int64_t>{10, 50}));
  EXPECT_EQ(rank.rows(Table::kMemory), 2u);
  EXPECT_EQ(rank.rows(Table::kQueues), 1u);
  EXPECT_GE(rank.quality("unparsable_event"), 8);
  EXPECT_GE(rank.quality("ragged_row"), 3);
  EXPECT_GE(rank.quality("bad_number"), 2);
  EXPECT_EQ(rank.quality("unreadable_file"), 2);
}

TEST(MindsporeRawBadInput, NothingUsefulIsAnError) {
  TemporaryFolder folder;
  folder.write("FRAMEWORK/cpu_op_execute_timestamp_0.txt", "");
  folder.write("FRAMEWORK/mindspore.op_range", "garbage!");
  const MindsporeRawImporter importer;
  const auto candidates = find_candidates(importer, folder.path());
  ASSERT_EQ(candidates.size(), 1u);
  RankBuilder rank;
  Progress progress;
  const Status status = importer.import(candidates[0], {progress}, rank);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kBadInput);
  EXPECT_FALSE(status.error().where.empty());
  EXPECT_NE(status.error().why.find("op_range"), std::string::npos);
  EXPECT_FALSE(status.error().remedy.empty());
}

TEST(MindsporeRawBadInput, FolderThatVanished) {
  const MindsporeRawImporter importer;
  Candidate candidate;
  candidate.importer = &importer;
  candidate.path = "/no/such/folder";
  candidate.rank = 0;
  RankBuilder rank;
  Progress progress;
  const Status status = importer.import(candidate, {progress}, rank);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

TEST(MindsporeRawBadInput, CancelledImportSaysSo) {
  TemporaryFolder folder;
  folder.write("cpu_op_execute_timestamp_0.txt", "Add;HostCpuOps;10,1,0\n");
  const MindsporeRawImporter importer;
  const auto candidates = find_candidates(importer, folder.path());
  ASSERT_EQ(candidates.size(), 1u);
  RankBuilder rank;
  Progress progress;
  progress.cancel();
  const Status status = importer.import(candidates[0], {progress}, rank);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace stepscope
