// Damaged, incomplete and foreign input: what could be read is kept, what could not is counted.
#include <gtest/gtest.h>

#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/common/ascend_recording.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

constexpr const char* kKernels =
    "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    "a,TypeA,AI_CORE,1000.000\t,2.5\n";

TEST(AscendBadInput, TablesWithoutTimeline) {
  const TemporaryFolder folder;
  folder.write("kernel_details.csv",
               std::string(kKernels) + "hcom_allReduce__586_0_1,hcom_allReduce_,HCCL,1010,3\n");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.rows(Table::kKernels), 2u);
  EXPECT_EQ(run.rows(Table::kCommunications), 1u);
  EXPECT_EQ(run.column(Table::kRanks, "rank_inferred")[0], 1);
}

TEST(AscendBadInput, RaggedRowsAndBadNumbers) {
  const TemporaryFolder folder;
  folder.write("kernel_details.csv", std::string(kKernels) +
                                         "b,TypeB\n"
                                         "c,TypeC,AI_CORE,1020,4,too,many,cells\n"
                                         "d,TypeD,AI_CORE,soon,4\n");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.rows(Table::kKernels), 2u);  // a and c
  EXPECT_EQ(run.quality("ragged_row"), 2);
  EXPECT_EQ(run.quality("bad_number"), 1);
  EXPECT_EQ(run.quality("unparsable_event"), 2);
  EXPECT_EQ(run.source_rows("kernel_details"), 4u);
}

TEST(AscendBadInput, MissingColumns) {
  const TemporaryFolder folder;
  folder.write("kernel_details.csv", "Name,Type\na,b\n");
  folder.write("memory_record.csv", "Component,Total Allocated(MB)\nPTA,1\n");
  folder.write("operator_memory.csv", "Name\nx\n");
  folder.write("npu_module_mem.csv", "Component\nGE\n");
  folder.write("op_statistic.csv", "");
  folder.write("made_up.csv", "x,y\n1,2\n");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.quality("unreadable_file"), 5);  // four without their columns, one empty
  EXPECT_EQ(run.quality("unknown_column"), 2);
  EXPECT_EQ(run.source_rows("made_up"), 1u);
  EXPECT_EQ(run.rows(Table::kMemory), 0u);
}

TEST(AscendBadInput, TimelineThatIsNotJson) {
  const TemporaryFolder folder;
  folder.write("trace_view.json", "this is not JSON");
  folder.write("kernel_details.csv", kKernels);
  folder.write("communication.json", "{\"step1\": {\"collective\": [1,");
  folder.write("communication_matrix.json", "[1,2]");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.quality("unreadable_file"), 3);
  EXPECT_EQ(run.rows(Table::kKernels), 1u);

  const TemporaryFolder alone;
  alone.write("ASCEND_PROFILER_OUTPUT/trace_view.json", "this is not JSON");
  const ImportedStore failed(AscendTextImporter(), alone.path());
  EXPECT_FALSE(failed.store);
  EXPECT_NE(failed.error.find("trace_view.json"), std::string::npos) << failed.error;
}

TEST(AscendBadInput, CommunicationOfAnyShape) {
  const TemporaryFolder folder;
  folder.write("kernel_details.csv", kKernels);
  folder.write("communication.json", R"json({"step": {"p2p": 3, "collective": {
      "x@1": 5, "y": {"Communication Time Info": [1], "Communication Bandwidth Info": 4},
      "z@2": {"Communication Time Info": {"Wait Time(ms)": "many"},
              "Communication Bandwidth Info": {"SDMA": 7, "RDMA": {"Size Distribution": {}}}}}},
      "other": []})json");
  folder.write(
      "communication_matrix.json",
      R"json({"step9": {"collective": {"a-top1@1": {"0-1": 3, "left": {"Op Name": null}}}}})json");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.source_rows("communication"), 2u);
  EXPECT_EQ(run.source_rows("communication_bandwidth"), 2u);
  EXPECT_EQ(run.source_rows("communication_matrix"), 2u);
}

TEST(AscendBadInput, ForeignFolders) {
  const TemporaryFolder folder;
  folder.write("numbers.csv", "a,b\n1,2\n");
  folder.write("trace.json", "[]");
  std::vector<Candidate> found;
  EXPECT_FALSE(AscendTextImporter().probe_folder(list_folder(folder.path()), found));
  EXPECT_FALSE(AscendTextImporter().probe_folder(list_folder(folder.path() + "/none"), found));
  EXPECT_TRUE(found.empty());
  const ImportedStore run(AscendTextImporter(), folder.path());
  EXPECT_FALSE(run.store);
  EXPECT_NE(run.error.find("*_ascend_pt"), std::string::npos) << run.error;
}

TEST(AscendBadInput, KernelsThatTheTimelineLacks) {
  const TemporaryFolder folder;
  folder.write("trace_view.json", R"json([
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","name":"a","pid":1,"tid":2,"ts":"1000.000","dur":2.5,"args":{"Task Type":"AI_CORE"}}])json");
  folder.write("kernel_details.csv", std::string(kKernels) + "b,TypeB,AI_CORE,5000,1\n");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.rows(Table::kKernels), 1u);
  EXPECT_EQ(run.quality("inconsistent_counts"), 1);
}

}  // namespace
}  // namespace stepscope::testing
