// One recording in both forms: which one is taken, and that both say the same.
#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/discover.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

constexpr const char* kTrace = R"json([
{"ph":"M","name":"process_name","pid":55,"tid":0,"args":{"name":"Python"}},
{"ph":"M","name":"process_name","pid":56771,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":56835,"tid":0,"args":{"name":"HCCL"}},
{"ph":"M","name":"thread_name","pid":56835,"tid":0,"args":{"name":"Group 0 Communication"}},
{"ph":"M","name":"thread_name","pid":56835,"tid":1,"args":{"name":"Plane 0"}},
{"ph":"M","name":"process_name","pid":56579,"tid":0,"args":{"name":"CANN"}},
{"ph":"X","name":"ProfilerStep#3","cat":"cpu_op","pid":55,"tid":55,"ts":"0.500","dur":3.5,"args":{}},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":55,"tid":55,"ts":"0.700","dur":0.25,"args":{"Sequence number":77}},
{"ph":"X","name":"AscendCL@aclnnMatmul","pid":56579,"tid":55,"ts":"0.800","dur":0.1,"args":{"connection_id":100}},
{"ph":"X","name":"AscendCL@hcom","pid":56579,"tid":55,"ts":"2.800","dur":0.1,"args":{"connection_id":102}},
{"ph":"X","name":"MatMul_1","pid":56771,"tid":7,"ts":"1.000","dur":0.5,"args":{"Task Type":"AI_CORE","connection_id":100}},
{"ph":"X","name":"hcom_allReduce__123_4_1","pid":56835,"tid":0,"ts":"3.000","dur":0.5,"args":{"connection_id":102,"data_type":"FP32","count":10}},
{"ph":"X","name":"Notify_Wait","pid":56835,"tid":1,"ts":"3.100","dur":0.3,"args":{"task type":"Notify_Wait","src rank":0,"dst rank":5,"transport type":"LOCAL","size(Byte)":0,"link type":"INVALID_TYPE"}},
{"ph":"s","cat":"async_npu","name":"torch_to_npu","id":1000,"pid":55,"tid":55,"ts":"0.700"},
{"ph":"f","cat":"async_npu","name":"torch_to_npu","id":1000,"pid":56771,"tid":7,"ts":"1.000","bp":"e"}])json";

constexpr const char* kKernelDetails =
    "Step Id,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
    "Input Shapes\n"
    "3,1,7,MatMul_1,MatMulV2,AI_CORE,1.000\t,0.5,\"\"\"2,3;3,4\"\"\"\n"
    "3,N/A,N/A,hcom_allReduce__123_4_1,hcom_allReduce_,COMMUNICATION,3.000\t,0.5,N/A\n";

constexpr const char* kDatabase = R"sql(
CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES (0,'KERNEL_AICORE'),(1,'MatMul_1'),(2,'AI_CORE'),(3,'MatMulV2'),
 (4,'"2,3;3,4"'),(7,'aclnnMatmul'),(8,'aten::mm'),(11,'hcom_allReduce__123_4_1'),
 (12,'group_name_5'),(13,'Notify_Wait'),(14,'Notify Wait'),(16,'ProfilerStep#3'),
 (18,'hcom_allReduce_');
CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (20000,'acl'),(50001,'op');
CREATE TABLE ENUM_HCCL_DATA_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4,'FP32');
CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (2,'LOCAL');
CREATE TABLE TASK(startNs,endNs,deviceId,connectionId,globalTaskId,taskType,streamId);
INSERT INTO TASK VALUES (1000,1500,3,100,1,0,7),(3100,3400,3,102,3,14,8);
CREATE TABLE COMPUTE_TASK_INFO(name,globalTaskId,taskType,opType,inputShapes);
INSERT INTO COMPUTE_TASK_INFO VALUES (1,1,2,3,4);
CREATE TABLE COMMUNICATION_OP(opName,startNs,endNs,connectionId,groupName,opId,dataType,count,opType,
 deviceId);
INSERT INTO COMMUNICATION_OP VALUES (11,3000,3500,102,12,1,4,10,18,3);
CREATE TABLE COMMUNICATION_TASK_INFO(name,globalTaskId,taskType,planeId,groupName,srcRank,dstRank,
 transportType,size,opId);
INSERT INTO COMMUNICATION_TASK_INFO VALUES (11,3,13,0,12,0,5,2,0,1);
CREATE TABLE CANN_API(startNs,endNs,type,globalTid,connectionId,name);
INSERT INTO CANN_API VALUES (800,900,20000,236223201335,100,7),(2800,2900,20000,236223201335,102,7);
CREATE TABLE PYTORCH_API(startNs TEXT,endNs TEXT,globalTid,connectionId,name,sequenceNumber,type);
INSERT INTO PYTORCH_API VALUES ('700','950',236223201335,1,8,77,50001),
 ('500','4000',236223201335,NULL,16,NULL,50001);
CREATE TABLE CONNECTION_IDS(id,connectionId);
INSERT INTO CONNECTION_IDS VALUES (1,100);
CREATE TABLE STEP_TIME(id,startNs,endNs);
INSERT INTO STEP_TIME VALUES (3,500,4000);
)sql";

class AscendForms : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string out = "node_55_20250101101010123_ascend_pt/ASCEND_PROFILER_OUTPUT/";
    folder_.write(out + "trace_view.json", kTrace);
    folder_.write(out + "kernel_details.csv", kKernelDetails);
    folder_.write("node_55_20250101101010123_ascend_pt/profiler_info_2.json", "{}");
    const std::string path = folder_.write(out + "ascend_pytorch_profiler_2.db", "");
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(database, kDatabase, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  std::string recording() const { return folder_.path() + "/node_55_20250101101010123_ascend_pt"; }

  TemporaryFolder folder_;
};

TEST_F(AscendForms, TheRichestIsTakenAndTheOtherNamed) {
  const auto found = discover({folder_.path()}, "");
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ((*found)[0].chosen.importer->name(), "ascend_db");
  EXPECT_EQ((*found)[0].chosen.rank, 2);
  ASSERT_EQ((*found)[0].others.size(), 1u);
  EXPECT_EQ((*found)[0].others[0].importer->name(), "ascend_text");
  const auto text = discover({folder_.path()}, "ascend_text");
  ASSERT_TRUE(text.ok());
  ASSERT_EQ(text->size(), 1u);
  EXPECT_EQ((*text)[0].chosen.importer->name(), "ascend_text");
}

TEST_F(AscendForms, BothSayTheSame) {
  const ImportedStore text(AscendTextImporter(), recording());
  const ImportedStore database(AscendDbImporter(), recording());
  ASSERT_TRUE(text.store) << text.error;
  ASSERT_TRUE(database.store) << database.error;
  const auto sorted = [](auto values) {
    std::sort(values.begin(), values.end());
    return values;
  };
  const std::tuple<Table, const char*> kNumbers[] = {{Table::kKernels, "ts"},
                                                     {Table::kKernels, "dur"},
                                                     {Table::kKernels, "device"},
                                                     {Table::kKernels, "queue_delay"},
                                                     {Table::kKernels, "step"},
                                                     {Table::kCommunications, "ts"},
                                                     {Table::kCommunications, "dur"},
                                                     {Table::kCommunications, "bytes"},
                                                     {Table::kCommunications, "wait"},
                                                     {Table::kCommunications, "dst_rank"},
                                                     {Table::kCommunications, "sequence"},
                                                     {Table::kSteps, "step"},
                                                     {Table::kSteps, "ts"},
                                                     {Table::kSteps, "dur"},
                                                     {Table::kOps, "ts"},
                                                     {Table::kOps, "sequence"},
                                                     {Table::kRanks, "rank"}};
  for (const auto& [table, column] : kNumbers) {
    EXPECT_EQ(sorted(text.column(table, column)), sorted(database.column(table, column)))
        << table_spec(table).name << "." << column;
  }
  const std::tuple<Table, const char*> kTexts[] = {{Table::kKernels, "name"},
                                                   {Table::kKernels, "class"},
                                                   {Table::kKernels, "type"},
                                                   {Table::kKernels, "op_type"},
                                                   {Table::kKernels, "input_shapes"},
                                                   {Table::kCommunications, "level"},
                                                   {Table::kCommunications, "op"},
                                                   {Table::kCommunications, "transport"},
                                                   {Table::kSteps, "source"},
                                                   {Table::kRanks, "host"},
                                                   {Table::kOps, "name"}};
  for (const auto& [table, column] : kTexts) {
    EXPECT_EQ(sorted(text.texts(table, column)), sorted(database.texts(table, column)))
        << table_spec(table).name << "." << column;
  }
}

TEST(AscendSharedData, EveryRecordingIsFound) {
  const std::string path = shared_data_at("ascend/msinsight");
  if (path.empty()) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA";
  const auto found = discover({path}, "");
  ASSERT_TRUE(found.ok()) << found.error().message();
  ASSERT_EQ(found->size(), 6u);
  int64_t databases = 0;
  for (const RankSource& source : *found) {
    EXPECT_TRUE(source.chosen.rank == 0 || source.chosen.rank == 1);
    EXPECT_FALSE(source.chosen.rank_inferred);
    databases += source.chosen.importer->name() == "ascend_db";
  }
  EXPECT_EQ(databases, 2);
}

}  // namespace
}  // namespace stepscope::testing
