// Every file that the profilers write beside the timeline: each table is kept, those with events or
// metadata also go where they belong.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/common/ascend_recording.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

using Numbers = std::vector<int64_t>;

// Names and headers as the profilers write them, with one row.
const std::map<std::string, std::string> kFrameworkTables = {
    {"kernel_details",
     "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
     "3,Add_1,Add,AI_VECTOR_CORE,1000.5\t,2.5,0,20\n"},
    {"op_statistic",
     "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),"
     "Ratio(%)\n0,Add,AI_VECTOR_CORE,1,2.5,2.5,2.5,2.5,100\n"},
    {"api_statistic",
     "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
     "host,acl,aclrtMemcpy,2.5,1,2.5,2.5,2.5,0\n"},
    {"l2_cache", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n2,1,N/A,0.5,Add_1\n"},
    {"memory_record",
     "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,"
     "Device Type\nPTA,1000\t,1,2,1,5,NPU:0\n"},
    {"operator_memory",
     "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
     "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation "
     "Total Active(MB),Release Total Allocated(MB),Release Total Reserved(MB),Release Total "
     "Active(MB),Stream Ptr,Device Type\naten::mm,4,1000\t,1010\t,,10,,1,2,1,0,2,0,5,NPU:0\n"},
    {"npu_module_mem", "Component,Timestamp(us),Total Reserved(MB),Device\nHCCL,1000\t,2,NPU:0\n"},
    {"operator_details",
     "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self "
     "Duration(us),Device Total Duration(us),Device Self Duration With AICore(us),Device Total "
     "Duration With AICore(us)\naten::mm,,,1,2,3,4,5,6\n"},
    {"step_trace_time",
     "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
     "Communication(Not Overlapped and Exclude Receive),Preparing\n3,1,2,3,4,5,6,7,8,9\n"},
    {"static_op_mem",
     "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n"
     "0,Add_1,m,1,0,4294967295,4\n"},
    {"dataset", "Operation,Stage,Occurrences,Avg. time(us),Custom Info\nBatch,Run,3,2.5,\n"},
    {"minddata_pipeline_raw_0",
     "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
     "output_queue_usage_rate,sample_interval,parent_id,children_id\n0,Batch,4,,,,,,,[1]\n"},
    {"data_preprocess",
     "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
     "Dispatch_time(us),Total_time(us),Stream ID,Task ID\n0,1000,GetNext,1,1,2,1,3,2,1\n"},
    {"hbm", "Device_id,Metric,Read(MB/s),Write(MB/s)\n0,Average,1,2\n"},
    {"hccs", "Device_id,Mode,Max,Min,Average\n0,Tx(MB/s),3,1,2\n"},
    {"pcie", "Device_id,Mode,Min,Max,Avg\n0,Tx_p_avg(MB/s),1,3,2\n"},
    {"nic", "Device_id,Timestamp(us),Bandwidth(MB/s),funcId\n0,1000,1,0\n"},
    {"roce", "Device_id,Timestamp(us),Bandwidth(MB/s),funcId\n0,1000,1,0\n"},
    {"soc_pmu", "Device_id,Stream Id,Task Id,TLB Miss Rate,TLB Hit Rate,Op Name\n0,2,1,0,1,a\n"},
    {"task_time",
     "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),"
     "task_stop(us)\n0,Add_1,KERNEL_AIVEC,2,1,2.5,1000.5,1003\n"},
};

TEST(AscendFolderFiles, EveryTableIsKept) {
  const TemporaryFolder folder;
  const std::string out = "ASCEND_PROFILER_OUTPUT/";
  for (const auto& [name, text] : kFrameworkTables) folder.write(out + name + ".csv", text);
  folder.write(out + "communication.json", R"json({"step3":{"p2p":{},"collective":{
"hcom_allReduce__1_0_1@7":{"Communication Time Info":{"Start Timestamp(us)":1000,
"Elapse Time(ms)":1.5,"Transit Time(ms)":1,"Wait Time(ms)":0.5},"Communication Bandwidth Info":{
"SDMA":{"Transit Size(MB)":2,"Transit Time(ms)":1,"Bandwidth(GB/s)":2}}}}}})json");
  folder.write(out + "communication_matrix.json", R"json({"step3":{"p2p":{},"collective":{
"hcom_allReduce__1_0_1@7":{"0-1":{"Transport Type":"HCCS","Transit Time(ms)":1,
"Transit Size(MB)":2,"Op Name":"hcom_allReduce__1_0_1@7","Bandwidth(GB/s)":2}}}}})json");
  folder.write(out + "minddata_pipeline_summary_0.json",
               R"({"op_ids":[0,1],"num_workers":[4,1],"bottleneck_warning":"none"})");
  folder.write("profiler_info_0.json", R"({"rank_id":0,"torch_npu_version":"2.9"})");
  folder.write("profiler_metadata.json",
               R"({"distributed_args":{"world_size":4},"ENV_VARIABLES":{"HCCL_ALGO":"x"}})");
  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  for (const auto& [name, text] : kFrameworkTables) {
    EXPECT_EQ(run.source_rows(ascend_table_name(name + ".csv")), 1u) << name;
  }
  for (const char* table : {"communication", "communication_bandwidth", "communication_matrix",
                            "minddata_pipeline_summary_json"}) {
    EXPECT_EQ(run.source_rows(table), 1u) << table;
  }
  EXPECT_EQ(run.source_texts("minddata_pipeline_summary_json", "op_ids"),
            std::vector<std::string>{"[0,1]"});
  for (const char* code : {"ignored_file", "unreadable_file", "unknown_column"}) {
    EXPECT_EQ(run.quality(code), 0) << code;
  }
  // Those with events or metadata.
  EXPECT_EQ(run.column(Table::kKernels, "ts"), Numbers{1000500});
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{3});
  EXPECT_EQ(run.rows(Table::kMemory), 3u);    // a total, an allocation, its release
  EXPECT_EQ(run.rows(Table::kCounters), 1u);  // the module's memory
  EXPECT_EQ(run.column(Table::kRanks, "world_size"), Numbers{4});
  EXPECT_NE(run.texts(Table::kRanks, "versions")[0].find("HCCL_ALGO"), std::string::npos);
}

constexpr const char* kStepLane =
    R"([{"name":"process_name","pid":9,"tid":0,"args":{"name":"Step Trace"},"ph":"M"},
{"name":"thread_name","pid":9,"tid":9,"args":{"name":"Model ID:2"},"ph":"M"},
{"name":"Iteration 4","pid":9,"tid":9,"ts":100.5,"dur":20,"args":{"Iteration ID":4},"cat":"Iteration Time","ph":"X"},
{"name":"FP_BP Time 4","pid":9,"tid":9,"ts":101,"dur":9,"args":{"Iteration ID":4},"cat":"FP_BP Time","ph":"X"},
{"name":"Iteration x","pid":9,"tid":9,"ts":300,"dur":20,"cat":"Iteration Time","ph":"X"}])";

TEST(AscendFolderFiles, PartialTimelinesStandInForTheWhole) {
  const TemporaryFolder folder;
  folder.write("device_1/timeline/step_trace_1_2_4.json", kStepLane);
  folder.write("device_1/info.json.1",
               R"({"rank_id":5,"hostname":"node3","pid":"77","DeviceInfo":[{"ai_core_num":32}]})");
  folder.write("device_1/info.json.1.done", "");
  folder.write("device_1/start_info.1", R"({"collectionTimeBegin":"1000"})");
  folder.write("device_1/summary/aicpu_mi_1.csv",
               "Device_id,Node Name,Start Time(us),End Time(us),Queue Size\n"
               "1,GetNext_dequeue_wait,100\t,102.5\t,3\n1,GetNext_dequeue_wait,,1,2\n");
  const std::string path = folder.path("device_1");
  const auto recording = find_ascend_recording(path);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->rank, 5);
  const ImportedStore run(AscendTextImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kRanks, "rank"), Numbers{5});
  EXPECT_EQ(run.quality("rank_inferred"), 0);
  EXPECT_EQ(run.texts(Table::kRanks, "host"), std::vector<std::string>{"node3"});
  EXPECT_EQ(run.column(Table::kRanks, "pid"), Numbers{77});
  EXPECT_NE(run.texts(Table::kRanks, "versions")[0].find("ai_core_num"), std::string::npos);
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{4});
  EXPECT_EQ(run.column(Table::kSteps, "ts"), Numbers{100'500});
  EXPECT_EQ(run.column(Table::kSteps, "dur"), Numbers{20'000});
  EXPECT_EQ(run.texts(Table::kTracks, "kind"), std::vector<std::string>{"analysis"});
  EXPECT_EQ(run.column(Table::kQueues, "ts"), Numbers{100'000});
  EXPECT_EQ(run.column(Table::kQueues, "fetch"), Numbers{2'500});
  EXPECT_EQ(run.column(Table::kQueues, "size"), Numbers{3});
  EXPECT_EQ(run.quality("unparsable_event"), 1);
}

// shared/data/mindinsight/EXPECTED.md section 7.
TEST(AscendFolderFiles, StepsOfTheSharedProf) {
  const std::string path = shared_data_at(
      "mindinsight/tests/utils/resource/profiler/"
      "PROF_000001_20230818142704322_COJGGGCANRMICFBC/device_0");
  if (path.empty()) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA";
  const ImportedStore run(AscendTextImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kSteps, "dur"),
            (Numbers{47587810, 15369160, 15304020, 15375020, 17467030, 15528700, 15422470, 16455820,
                     15105870, 16329380}));
  EXPECT_EQ(run.column(Table::kRanks, "rank"), Numbers{0});
  EXPECT_EQ(run.quality("rank_inferred"), 0);
  EXPECT_NE(run.texts(Table::kRanks, "versions")[0].find("\"aic_frequency\":\"1000\""),
            std::string::npos);
  // Every file beside the whole timeline repeats a part of it.
  EXPECT_EQ(run.quality("ignored_file"), 30);
}

}  // namespace
}  // namespace stepscope::testing
