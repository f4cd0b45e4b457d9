// One recording in both forms: which one is taken, and that both say the same.
#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/ascend_text/counter_names.h"
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
{"ph":"f","cat":"async_npu","name":"torch_to_npu","id":1000,"pid":56771,"tid":7,"ts":"1.000","bp":"e"},
{"ph":"M","name":"process_name","pid":56803,"tid":0,"args":{"name":"AI Core Freq"}},
{"ph":"M","name":"process_name","pid":56867,"tid":0,"args":{"name":"NPU MEM"}},
{"ph":"M","name":"process_name","pid":57091,"tid":0,"args":{"name":"HBM"}},
{"ph":"M","name":"process_name","pid":57187,"tid":0,"args":{"name":"LLC"}},
{"ph":"M","name":"process_name","pid":57251,"tid":0,"args":{"name":"QoS"}},
{"ph":"M","name":"process_name","pid":56931,"tid":0,"args":{"name":"Acc PMU"}},
{"ph":"M","name":"process_name","pid":57123,"tid":0,"args":{"name":"Stars Soc Info"}},
{"ph":"M","name":"process_name","pid":56899,"tid":0,"args":{"name":"DDR"}},
{"ph":"M","name":"process_name","pid":56963,"tid":0,"args":{"name":"HCCS"}},
{"ph":"M","name":"process_name","pid":56639,"tid":0,"args":{"name":"CPU Usage"}},
{"ph":"M","name":"process_name","pid":56671,"tid":0,"args":{"name":"Memory Usage"}},
{"ph":"C","name":"AI Core Freq","pid":56803,"tid":0,"ts":"1.000","args":{"MHz":1800}},
{"ph":"C","name":"APP/DDR","pid":56867,"tid":0,"ts":"1.100","args":{"KB":2.0}},
{"ph":"C","name":"APP/HBM","pid":56867,"tid":0,"ts":"1.100","args":{"KB":2160232.0}},
{"ph":"C","name":"APP/Memory","pid":56867,"tid":0,"ts":"1.100","args":{"KB":2160234.0}},
{"ph":"C","name":"Device/HBM","pid":56867,"tid":0,"ts":"1.200","args":{"KB":3.0}},
{"ph":"C","name":"Device/MEMORY","pid":56867,"tid":0,"ts":"1.200","args":{"KB":3.0}},
{"ph":"C","name":"HBM 0/Read","pid":57091,"tid":0,"ts":"1.300","args":{"Read(MB/s)":25.15459934882248}},
{"ph":"C","name":"HBM 1/Write","pid":57091,"tid":0,"ts":"1.300","args":{"Write(MB/s)":0.0}},
{"ph":"C","name":"LLC 0 Read/Throughput","pid":57187,"tid":0,"ts":"1.400","args":{"Throughput(MB/s)":17327.251}},
{"ph":"C","name":"LLC 0 Read/Hit Rate","pid":57187,"tid":0,"ts":"1.400","args":{"Hit Rate(%)":0.801}},
{"ph":"C","name":"QoS OTHERS","pid":57251,"tid":0,"ts":"1.500","args":{"value":1876}},
{"ph":"C","name":"read_bandwidth","pid":56931,"tid":0,"ts":"1.600","args":{"value":1,"acc_id":2}},
{"ph":"C","name":"write_band_width","pid":56931,"tid":0,"ts":"1.600","args":{"value":3,"acc_id":2}},
{"ph":"C","name":"read_ost","pid":56931,"tid":0,"ts":"1.600","args":{"value":4,"acc_id":2}},
{"ph":"C","name":"write_ost","pid":56931,"tid":0,"ts":"1.600","args":{"value":5,"acc_id":2}},
{"ph":"C","name":"Mata Bw Level","pid":57123,"tid":0,"ts":"1.700","args":{"Mata Bw Level":1}},
{"ph":"C","name":"L2 Buffer Bw Level","pid":57123,"tid":0,"ts":"1.700","args":{"L2 Buffer Bw Level":0}},
{"ph":"C","name":"DDR/Read","pid":56899,"tid":0,"ts":"1.800","args":{"Read(MB/s)":12.0}},
{"ph":"C","name":"DDR/Write","pid":56899,"tid":0,"ts":"1.800","args":{"Write(MB/s)":3.0}},
{"ph":"C","name":"Rx","pid":56963,"tid":0,"ts":"1.900","args":{"Rx(MB/s)":0.5}},
{"ph":"C","name":"Tx","pid":56963,"tid":0,"ts":"1.900","args":{"Tx(MB/s)":1.5}},
{"ph":"C","name":"CPU 7","pid":56639,"tid":0,"ts":"2.000","args":{"Usage(%)":12.5}},
{"ph":"C","name":"CPU Avg","pid":56639,"tid":0,"ts":"2.000","args":{"Usage(%)":6.25}},
{"ph":"C","name":"Memory Usage","pid":56671,"tid":0,"ts":"2.100","args":{"Usage(%)":33.5}}])json";

constexpr const char* kModules =
    "Component,Timestamp(us),Total Reserved(MB),Device\nHCCL,1.500\t,404.0625,NPU:3\n";

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
 (18,'hcom_allReduce_'),(20,'app'),(21,'device'),(22,'read'),(23,'write'),(24,'QoS OTHERS');
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
CREATE TABLE AICORE_FREQ(deviceId,timestampNs,freq);
INSERT INTO AICORE_FREQ VALUES (3,1000,1800);
CREATE TABLE NPU_MEM(type,ddr,hbm,timestampNs,deviceId);
INSERT INTO NPU_MEM VALUES (20,2048,2212077568,1100,3),(21,NULL,3072,1200,3);
CREATE TABLE HBM(deviceId,timestampNs,bandwidth,hbmId,type);
INSERT INTO HBM VALUES (3,1300,26376509,0,22),(3,1300,0,1,23);
CREATE TABLE LLC(deviceId,llcId,timestampNs,hitRate REAL,throughput,mode);
INSERT INTO LLC VALUES (3,0,1400,80.10000000000001,18168939544,22);
CREATE TABLE QOS(deviceId,eventName,bandwidth,timestampNs);
INSERT INTO QOS VALUES (3,24,1967128576,1500);
CREATE TABLE ACC_PMU(accId,readBwLevel,writeBwLevel,readOstLevel,writeOstLevel,timestampNs,deviceId);
INSERT INTO ACC_PMU VALUES (2,1,3,4,5,1600,3);
CREATE TABLE SOC_BANDWIDTH_LEVEL(l2BufferBwLevel,mataBwLevel,timestampNs,deviceId);
INSERT INTO SOC_BANDWIDTH_LEVEL VALUES (0,1,1700,3);
CREATE TABLE DDR(deviceId,timestampNs,read,write);
INSERT INTO DDR VALUES (3,1800,12,3);
CREATE TABLE HCCS(deviceId,timestampNs,txThroughput,rxThroughput);
INSERT INTO HCCS VALUES (3,1900,1572864,524288);
CREATE TABLE CPU_USAGE(timestampNs,cpuId,usage REAL);
INSERT INTO CPU_USAGE VALUES (2000,7,12.5);
CREATE TABLE HOST_MEM_USAGE(timestampNs,usage REAL);
INSERT INTO HOST_MEM_USAGE VALUES (2100,33.5);
CREATE TABLE HOST_DISK_USAGE(timestampNs,readRate REAL,writeRate REAL,usage REAL);
INSERT INTO HOST_DISK_USAGE VALUES (2200,1024,NULL,NULL);
CREATE TABLE ENUM_MODULE(id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO ENUM_MODULE VALUES (3,'HCCL');
CREATE TABLE NPU_MODULE_MEM(moduleId,timestampNs,totalReserved,deviceId);
INSERT INTO NPU_MODULE_MEM VALUES (3,1500,423690240,3);
)sql";

class AscendForms : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string out = "node_55_20250101101010123_ascend_pt/ASCEND_PROFILER_OUTPUT/";
    folder_.write(out + "trace_view.json", kTrace);
    folder_.write(out + "kernel_details.csv", kKernelDetails);
    folder_.write(out + "npu_module_mem.csv", kModules);
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

// Process and name of a counter that one form lacks, and why.
struct OnlyHere {
  const char* process;
  const char* name;
  const char* reason;
};
constexpr OnlyHere kOnlyInText[] = {
    {"CPU Usage", "CPU Avg Usage (%)", "the database has the processors, not their mean"}};
constexpr OnlyHere kOnlyInDatabase[] = {
    {"Disk Usage", "Disk Usage/readRate (B/s)", "the timeline has how busy the disk is only"}};

// Process, name, device, time, value.
using Sample = std::tuple<std::string, std::string, int64_t, int64_t, double>;
using Samples = std::multiset<Sample>;

Samples counters_of(const ImportedStore& run) {
  const auto processes = run.texts(Table::kTracks, "process");
  const auto threads = run.texts(Table::kTracks, "thread");
  const auto devices = run.column(Table::kTracks, "device");
  const auto tracks = run.column(Table::kCounters, "track");
  const auto times = run.column(Table::kCounters, "ts");
  const auto values = run.numbers(Table::kCounters, "value");
  Samples samples;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const auto track = static_cast<size_t>(tracks[i]);
    samples.emplace(processes[track], threads[track], devices[track], times[i], values[i]);
  }
  return samples;
}

// Takes out what only this form has; it must be there.
void leave_out(std::span<const OnlyHere> only, Samples& samples) {
  for (const OnlyHere& one : only) {
    const size_t gone = std::erase_if(samples, [&](const Sample& sample) {
      return std::get<0>(sample) == one.process && std::get<1>(sample) == one.name;
    });
    EXPECT_GT(gone, 0u) << one.name << ": " << one.reason;
  }
}

TEST_F(AscendForms, CountersHaveTheSameNamesUnitsAndValues) {
  const ImportedStore text(AscendTextImporter(), recording());
  const ImportedStore database(AscendDbImporter(), recording());
  ASSERT_TRUE(text.store) << text.error;
  ASSERT_TRUE(database.store) << database.error;
  Samples of_text = counters_of(text);
  Samples of_database = counters_of(database);
  EXPECT_TRUE(of_text.contains({"HBM", "HBM 0/Read (B/s)", 3, 1300, 26376509}));
  EXPECT_TRUE(of_text.contains({"NPU MEM", "APP/HBM (bytes)", 3, 1100, 2212077568}));
  EXPECT_TRUE(of_text.contains({"LLC", "LLC 0 Read/Hit Rate (%)", 3, 1400, 0.801 * 100}));
  leave_out(kOnlyInText, of_text);
  leave_out(kOnlyInDatabase, of_database);
  EXPECT_EQ(of_text.size(), 24u);
  EXPECT_EQ(of_text, of_database);
}

TEST(AscendCounters, NamesOfOurOwnExportStay) {
  for (const char* name : {"HBM 0/Read (B/s)", "APP/DDR (bytes)", "AI Core Freq (MHz)",
                           "LLC 0 Read/Hit Rate (%)", "QoS OTHERS (B/s)", "Mata Bw Level"}) {
    const std::string process = std::string(name).substr(0, 3);
    const CounterMeaning meaning = counter_meaning(process, name);
    EXPECT_EQ(meaning.name, name);
    EXPECT_EQ(meaning.factor, 1);
    EXPECT_FALSE(meaning.whole);
  }
}

// The recordings of the shared data are two runs, so only their names can be compared.
TEST(AscendSharedData, CountersOfBothFormsHaveTheSameNames) {
  const std::string path = shared_data_at("ascend/msinsight");
  if (path.empty()) GTEST_SKIP() << "needs the shared data: STEPSCOPE_SHARED_DATA";
  for (const char* rank : {"/level1/rank0_ascend_pt", "/level1/rank1_ascend_pt"}) {
    const auto names = [&](const Importer& importer, const std::string& form) {
      const ImportedStore run(importer, path + "/" + form + rank);
      EXPECT_TRUE(run.store) << run.error;
      std::set<std::pair<std::string, std::string>> found;
      for (const Sample& sample : counters_of(run))
        found.emplace(std::get<0>(sample), std::get<1>(sample));
      return found;
    };
    auto of_text = names(AscendTextImporter(), "text");
    auto of_database = names(AscendDbImporter(), "db");
    // Databases of schema 1.0.0 have no table QOS.
    EXPECT_EQ(of_text.erase({"QoS", "QoS OTHERS (B/s)"}), 1u);
    // The profiler's own lists of modules differ in number 74.
    EXPECT_EQ(of_text.erase({"NPU module memory", "AML/totalReserved (bytes)"}), 1u);
    EXPECT_EQ(of_database.erase({"NPU module memory", "AMP/totalReserved (bytes)"}), 1u);
    EXPECT_GT(of_text.size(), 100u);
    for (const auto& [process, name] : of_text)
      EXPECT_TRUE(of_database.contains({process, name}))
          << "text only: " << process << ", " << name;
    for (const auto& [process, name] : of_database)
      EXPECT_TRUE(of_text.contains({process, name})) << "db only: " << process << ", " << name;
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
