// Small databases made by the test: schema 1.2.0, unknown tables, and what other viewers add.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_db/db_reader.h"
#include "importers/common/ascend_recording.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

using Strings = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

void execute(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(database);
}

constexpr const char* kStrings = R"sql(
CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO STRING_IDS VALUES (0,'KERNEL_AICORE'),(1,'MatMul_1'),(2,'AI_CORE'),(3,'MatMulV2'),
 (4,'"2,3;3,4"'),(5,'N/A'),(6,'MEMCPY_ASYNC'),(7,'aclnnMatmul'),(8,'aten::mm'),(9,'frame a'),
 (10,'frame b'),(11,'hcom_allReduce__123_4_1'),(12,'group_name_5'),(13,'Notify_Wait'),
 (14,'Notify Wait'),(15,'aic_mac_ratio'),(16,'ProfilerStep#3'),(17,'static'),(18,'hcom_allReduce_'),
 (19,'QoS 0'),(20,'PTA'),(21,'app');
CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_API_TYPE VALUES (20000,'acl'),(50001,'op'),(50002,'queue'),(50003,'trace');
CREATE TABLE ENUM_HCCL_DATA_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_DATA_TYPE VALUES (4,'FP32'),(65535,'INVALID_TYPE');
CREATE TABLE ENUM_HCCL_TRANSPORT_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_TRANSPORT_TYPE VALUES (2,'LOCAL');
CREATE TABLE ENUM_HCCL_LINK_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_LINK_TYPE VALUES (65535,'INVALID_TYPE');
CREATE TABLE ENUM_HCCL_RDMA_TYPE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_HCCL_RDMA_TYPE VALUES (1,'RDMA_SEND_PAYLOAD'),(65535,'INVALID_TYPE');
CREATE TABLE ENUM_MEMCPY_OPERATION(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_MEMCPY_OPERATION VALUES (1,'host to device');
)sql";

constexpr const char* kEvents = R"sql(
CREATE TABLE TASK(startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,
 globalTaskId INTEGER,globalPid INTEGER,taskType INTEGER,contextId INTEGER,streamId INTEGER,
 taskId INTEGER,modelId INTEGER);
INSERT INTO TASK VALUES (1000,1500,3,100,1,55,0,4294967295,7,1,4294967295),
 (2000,2600,3,101,2,55,6,4294967295,7,2,4294967295),
 (3100,3400,3,102,3,55,14,4294967295,8,3,4294967295),
 (NULL,1,3,102,4,55,14,0,8,4,0);
CREATE TABLE COMPUTE_TASK_INFO(name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockNum INTEGER,
 mixBlockNum INTEGER,taskType INTEGER,opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,
 inputShapes INTEGER,outputFormats INTEGER,outputDataTypes INTEGER,outputShapes INTEGER,
 attrInfo INTEGER,opState INTEGER,hf32Eligible INTEGER,gridDim INTEGER,blockDim INTEGER);
INSERT INTO COMPUTE_TASK_INFO VALUES (1,1,20,0,2,3,5,5,4,5,5,5,5,17,5,NULL,128);
CREATE TABLE TASK_PMU_INFO(globalTaskId INTEGER,name INTEGER,value NUMERIC);
INSERT INTO TASK_PMU_INFO VALUES (1,15,0.25);
CREATE TABLE MEMCPY_INFO(globalTaskId INTEGER,size INTEGER,memcpyOperation INTEGER);
INSERT INTO MEMCPY_INFO VALUES (2,4096,1);
CREATE TABLE COMMUNICATION_OP(opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,
 groupName INTEGER,opId INTEGER PRIMARY KEY,relay INTEGER,retry INTEGER,dataType INTEGER,
 algType INTEGER,count NUMERIC,opType INTEGER,deviceId INTEGER,rankSize INTEGER);
INSERT INTO COMMUNICATION_OP VALUES (11,3000,3500,102,12,1,0,0,4,5,10,18,3,8);
CREATE TABLE COMMUNICATION_TASK_INFO(name INTEGER,globalTaskId INTEGER,taskType INTEGER,
 planeId INTEGER,groupName INTEGER,notifyId INTEGER,rdmaType INTEGER,srcRank INTEGER,
 dstRank INTEGER,transportType INTEGER,size INTEGER,dataType INTEGER,linkType INTEGER,opId INTEGER,
 isMaster INTEGER,bandwidth NUMERIC);
INSERT INTO COMMUNICATION_TASK_INFO VALUES (11,3,13,0,12,-1,1,0,5,2,0,65535,65535,1,1,2.5e9);
CREATE TABLE CANN_API(startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,
 connectionId INTEGER PRIMARY KEY,name INTEGER);
INSERT INTO CANN_API VALUES (800,900,20000,236223201280,100,7),(1800,1900,20000,236223201280,101,7),
 (2800,2900,20000,236223201280,102,7);
CREATE TABLE PYTORCH_API(startNs TEXT,endNs TEXT,globalTid INTEGER,connectionId INTEGER,name INTEGER,
 sequenceNumber INTEGER,fwdThreadId INTEGER,inputDtypes INTEGER,inputShapes INTEGER,
 callchainId INTEGER,type INTEGER);
INSERT INTO PYTORCH_API VALUES ('700','950',236223201280,1,8,77,0,5,4,0,50001),
 ('500','4000',236223201280,NULL,16,NULL,NULL,NULL,NULL,NULL,50001),
 ('not a time','950',236223201280,NULL,8,NULL,NULL,NULL,NULL,NULL,50003);
CREATE TABLE CONNECTION_IDS(id INTEGER,connectionId INTEGER);
INSERT INTO CONNECTION_IDS VALUES (1,100);
CREATE TABLE PYTORCH_CALLCHAINS(id INTEGER,stack INTEGER,stackDepth INTEGER);
INSERT INTO PYTORCH_CALLCHAINS VALUES (0,10,1),(0,9,0);
CREATE TABLE STEP_TIME(id INTEGER,startNs INTEGER,endNs INTEGER);
INSERT INTO STEP_TIME VALUES (3,500,4000);
CREATE TABLE QOS(deviceId INTEGER,eventName INTEGER,bandwidth NUMERIC,timestampNs NUMERIC);
INSERT INTO QOS VALUES (3,19,17,1234);
CREATE TABLE MEMORY_RECORD(component INTEGER,timestamp INTEGER,totalAllocated INTEGER,
 totalReserved INTEGER,totalActive INTEGER,streamPtr INTEGER,deviceId INTEGER);
INSERT INTO MEMORY_RECORD VALUES (20,900,10,20,NULL,1,3);
CREATE TABLE NPU_MEM(type INTEGER,ddr NUMERIC,hbm NUMERIC,timestampNs INTEGER,deviceId INTEGER);
INSERT INTO NPU_MEM VALUES (21,1,2,900,3);
CREATE TABLE RANK_DEVICE_MAP(rankId INTEGER,deviceId INTEGER);
INSERT INTO RANK_DEVICE_MAP VALUES (9,3);
CREATE TABLE META_DATA(name TEXT,value TEXT);
INSERT INTO META_DATA VALUES ('SCHEMA_VERSION','1.2.0'),('distributed_args','{"world_size": 32}');
CREATE TABLE NewThing(a INTEGER,b TEXT,c REAL);
INSERT INTO NewThing VALUES (1,'x',0.5),(2,NULL,NULL);
)sql";

void check_events(const ImportedStore& run) {
  ASSERT_TRUE(run.store) << run.error;
  const auto names = run.texts(Table::kKernels, "name");
  ASSERT_EQ(names.size(), 3u);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(run.column(Table::kKernels, "device")[i], 3);
    EXPECT_NE(run.column(Table::kKernels, "launch")[i], kNull);
    const std::string type = run.texts(Table::kKernels, "op_type")[i];
    if (names[i] == "MatMul_1") {
      EXPECT_EQ(run.texts(Table::kKernels, "class")[i], "compute");
      EXPECT_EQ(run.texts(Table::kKernels, "grid")[i], "20");
      EXPECT_EQ(run.texts(Table::kKernels, "block")[i], "128");
      EXPECT_EQ(run.texts(Table::kKernels, "input_shapes")[i], "2,3;3,4");
      EXPECT_EQ(run.texts(Table::kKernels, "counters")[i],
                R"({"aic_mac_ratio":0.25,"op_state":"static"})");
      EXPECT_NE(run.column(Table::kKernels, "op")[i], kNull);
      EXPECT_EQ(run.column(Table::kKernels, "queue_delay")[i], 200);
      EXPECT_EQ(run.column(Table::kKernels, "step")[i], 3);
    } else if (names[i] == "MEMCPY_ASYNC") {
      EXPECT_EQ(run.column(Table::kKernels, "bytes")[i], 4096);
      EXPECT_EQ(type, "host to device");
    } else {
      EXPECT_EQ(run.texts(Table::kKernels, "class")[i], "communication");
    }
  }
  EXPECT_EQ(run.texts(Table::kOps, "name"), Strings{"aten::mm"});
  EXPECT_EQ(run.texts(Table::kOps, "stack"), Strings{"frame a;\nframe b"});
  EXPECT_EQ(run.column(Table::kOps, "sequence"), Numbers{77});
  const auto levels = run.texts(Table::kCommunications, "level");
  ASSERT_EQ(levels.size(), 2u);
  for (size_t i = 0; i < levels.size(); ++i) {
    EXPECT_EQ(run.texts(Table::kCommunications, "group")[i], "5862276114690318097");
    if (levels[i] == "op") {
      EXPECT_EQ(run.column(Table::kCommunications, "bytes")[i], 40);
      EXPECT_EQ(run.column(Table::kCommunications, "group_size")[i], 8);
      EXPECT_EQ(run.column(Table::kCommunications, "sequence")[i], 4);
    } else {
      EXPECT_EQ(run.column(Table::kCommunications, "wait")[i], 300);
      EXPECT_EQ(run.column(Table::kCommunications, "dst_rank")[i], 5);
      EXPECT_EQ(run.texts(Table::kCommunications, "algorithm")[i], "RDMA_SEND_PAYLOAD");
      EXPECT_NE(run.column(Table::kCommunications, "of")[i], kNull);
      EXPECT_DOUBLE_EQ(run.numbers(Table::kCommunications, "bandwidth")[i], 2.5);
    }
  }
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{3});
  EXPECT_EQ(run.texts(Table::kSteps, "source"), Strings{"marked"});
  EXPECT_EQ(run.column(Table::kRanks, "rank"), Numbers{9});
  EXPECT_EQ(run.column(Table::kRanks, "world_size"), Numbers{32});
  EXPECT_EQ(run.rows(Table::kMemory), 2u);
  EXPECT_EQ(run.rows(Table::kCounters), 4u);  // with the sum of both memories
  EXPECT_EQ(run.quality("unparsable_event"), 2);
  EXPECT_EQ(run.quality("bad_number"), 1);
}

TEST(AscendDbGenerated, SchemaOneTwo) {
  const TemporaryFolder folder;
  const std::string path = folder.write("msprof_20250101.db", "");
  execute(path, std::string(kStrings) + kEvents);
  const ImportedStore run(AscendDbImporter(), path);
  check_events(run);
  EXPECT_EQ(run.quality("unknown_column"), 1);
  EXPECT_EQ(run.source_rows("new_thing"), 2u);
  EXPECT_EQ(run.source_numbers("new_thing", "c"), std::vector<double>{0.5});
}

TEST(AscendDbGenerated, ShapesAndTypesInEachOthersColumn) {
  const TemporaryFolder folder;
  const std::string path = folder.write("msprof_20250101.db", "");
  execute(path, std::string(kStrings) + kEvents +
                    "INSERT INTO STRING_IDS VALUES (40,'float;\r\nfloat');"
                    "UPDATE PYTORCH_API SET inputDtypes=4, inputShapes=40 WHERE startNs='700';");
  const ImportedStore run(AscendDbImporter(), path);
  check_events(run);
  EXPECT_EQ(run.texts(Table::kOps, "input_shapes"), Strings{"\"2,3;3,4\""});
  EXPECT_EQ(run.texts(Table::kOps, "input_types"), Strings{"float;\r\nfloat"});
  EXPECT_EQ(run.quality("repaired_event"), 1);
}

TEST(AscendDbGenerated, SameAfterAnotherViewer) {
  const TemporaryFolder folder;
  const std::string path = folder.write("ascend_pytorch_profiler_9.db", "");
  execute(path, std::string(kStrings) + kEvents);
  const ImportedStore before(AscendDbImporter(), path);
  execute(path, R"sql(
ALTER TABLE TASK ADD COLUMN depth INTEGER;
ALTER TABLE CANN_API ADD COLUMN depth INTEGER;
ALTER TABLE COMPUTE_TASK_INFO ADD COLUMN waitNs INTEGER;
UPDATE TASK SET depth=4; UPDATE COMPUTE_TASK_INFO SET waitNs=9;
CREATE TABLE OVERLAP_ANALYSIS(id INTEGER PRIMARY KEY AUTOINCREMENT,deviceId INTEGER,startNs INTEGER,
 endNs INTEGER,type INTEGER);
INSERT INTO OVERLAP_ANALYSIS VALUES (1,3,1000,1500,0);
CREATE TABLE status_info(id INTEGER PRIMARY KEY AUTOINCREMENT,key TEXT,value TEXT);
CREATE TABLE connectionCats(connectionId INT,cat);
)sql");
  const ImportedStore after(AscendDbImporter(), path);
  check_events(before);
  check_events(after);
  for (const Table table : {Table::kTracks, Table::kSlices, Table::kKernels, Table::kOps,
                            Table::kCommunications, Table::kFlows, Table::kCounters}) {
    EXPECT_EQ(after.rows(table), before.rows(table)) << table_spec(table).name;
  }
  EXPECT_EQ(after.column(Table::kKernels, "wait"), before.column(Table::kKernels, "wait"));
  EXPECT_EQ(after.quality("ignored_file"), 3);
}

TEST(AscendDbGenerated, OverlapLanesOfTheProfilerItself) {
  const TemporaryFolder folder;
  const std::string path = folder.write("msprof_1.db", "");
  execute(path, std::string(kStrings) + kEvents + R"sql(
CREATE TABLE OVERLAP_ANALYSIS(id INTEGER PRIMARY KEY,deviceId INTEGER,startNs INTEGER,
 endNs INTEGER,type INTEGER);
INSERT INTO OVERLAP_ANALYSIS VALUES (1,3,1000,1500,0),(2,3,1500,2000,3);
)sql");
  const ImportedStore run(AscendDbImporter(), path);
  check_events(run);
  const auto kinds = run.texts(Table::kTracks, "kind");
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "analysis"), 2);
}

TEST(AscendDbGenerated, AnalysisAloneAndTheChoiceOfForm) {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/x_ascend_pt/ASCEND_PROFILER_OUTPUT/";
  folder.write("x_ascend_pt/profiler_info_4.json", "{}");
  const std::string path = folder.write("x_ascend_pt/ASCEND_PROFILER_OUTPUT/analysis.db", "");
  execute(path,
          "CREATE TABLE StepTraceTime(step TEXT,computing NUMERIC);"
          "INSERT INTO StepTraceTime VALUES ('50',12.5),(NULL,1);");
  folder.write("x_ascend_pt/ASCEND_PROFILER_OUTPUT/op_statistic.csv", "OP Type,Count\nAdd,3\n");
  std::vector<Candidate> found;
  EXPECT_TRUE(AscendDbImporter().probe_folder(list_folder(folder.path() + "/x_ascend_pt"), found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 4);
  EXPECT_LT(found[0].richness, 20);  // less than text without a timeline
  const ImportedStore run(AscendDbImporter(), found[0].path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.source_rows("step_trace_time"), 2u);
  EXPECT_EQ(run.source_rows("op_statistic"), 1u);

  execute(folder.write("x_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_4.db", ""),
          std::string(kStrings) + kEvents);
  found.clear();
  EXPECT_TRUE(AscendDbImporter().probe_folder(list_folder(folder.path() + "/x_ascend_pt"), found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_GT(found[0].richness, 90);  // more than text with one
  EXPECT_EQ(found[0].unit, folder.path() + "/x_ascend_pt");
}

TEST(AscendDbGenerated, AStepWithoutAnEndIsIncomplete) {
  const TemporaryFolder folder;
  const std::string path = folder.write("msprof_1.db", "");
  execute(path, std::string(kStrings) + kEvents + R"sql(
DROP TABLE IF EXISTS STEP_TIME;
CREATE TABLE STEP_TIME(id INTEGER,startNs INTEGER,endNs INTEGER);
INSERT INTO STEP_TIME VALUES (7,1000,2000),(8,2000,NULL);
)sql");
  const ImportedStore run(AscendDbImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kSteps, "step"), (Numbers{7, 8}));
  EXPECT_EQ(run.column(Table::kSteps, "complete"), (Numbers{1, 0}));
  EXPECT_EQ(run.quality("window_cut"), 1);
  EXPECT_EQ(run.quality("unfinished_operation"), 1);
}

TEST(AscendDbGenerated, SnakeCase) {
  EXPECT_EQ(snake_case("CommAnalyzerTime"), "comm_analyzer_time");
  EXPECT_EQ(snake_case("NEW_TABLE"), "new_table");
}

// What `analyse` copied beside its other files is not another form of the run.
TEST(AscendRecordingFiles, CopiesOfDatabasesInOurOwnOutputAreNotRead) {
  const TemporaryFolder folder;
  folder.write("run/FRAMEWORK/stepscope.raw", "");
  folder.write("run/ASCEND_PROFILER_OUTPUT/trace_view.json", "[]");
  folder.write("run/ASCEND_PROFILER_OUTPUT/ascend_mindspore_profiler_0.db", "x");
  folder.write("run/ASCEND_PROFILER_OUTPUT/communication_analyzer.db", "x");
  auto recording = find_ascend_recording(folder.path("run"));
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->has_database());
  folder.write("run/ASCEND_PROFILER_OUTPUT/files.stepscope.json", "{}");
  recording = find_ascend_recording(folder.path("run"));
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->has_database());
}

}  // namespace
}  // namespace stepscope::testing
