// Small recordings in the spellings of each generation, written by the test.
#include <set>

#include <gtest/gtest.h>

#include "importers/ascend_text/ascend_text_importer.h"
#include "importers/common/ascend_recording.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

using Strings = std::vector<std::string>;
using Numbers = std::vector<int64_t>;

TEST(AscendGenerations, YearTwentyThree) {
  const TemporaryFolder folder;
  const std::string out = "host_77_20230901101010123_ascend_pt/ASCEND_PROFILER_OUTPUT/";
  // Times as numbers, process ids as decimal concatenations, no step marks.
  folder.write(out + "trace_view.json", R"json([
{"ph":"M","name":"process_name","pid":77,"tid":0,"args":{"name":"Python"}},
{"ph":"M","name":"process_name","pid":7702,"tid":0,"args":{"name":"CANN"}},
{"ph":"M","name":"process_name","pid":300,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"thread_name","pid":300,"tid":5,"args":{"name":"Stream 5"}},
{"ph":"X","name":"aten::mm","cat":"cpu_op","pid":77,"tid":77,"ts":1000.5,"dur":10,"args":{"Sequence number":4,"Fwd thread id":0,"Input Dims":"2,2;2,2"}},
{"ph":"X","name":"AscendCL@launch","pid":7702,"tid":77,"ts":1002,"dur":3,"args":{"connection_id":9,"level":"acl"}},
{"ph":"X","name":"MatMul1","pid":300,"tid":5,"ts":1020.25,"dur":5.5,"args":{"Task Type":"AI_CORE","Stream Id":5,"Task Id":1,"connection_id":9}},
{"ph":"X","name":"EVENT_WAIT","pid":300,"tid":5,"ts":1030,"dur":1,"args":{"Task Type":"EVENT_WAIT_SQE","connection_id":10}},
{"ph":"s","cat":"async_npu","name":"torch_to_npu","id":1020250,"pid":77,"tid":77,"ts":1000.5},
{"ph":"f","cat":"async_npu","name":"torch_to_npu","id":1020250,"pid":300,"tid":5,"ts":1020.25,"bp":"e"}])json");
  folder.write(out + "kernel_details.csv",
               "Step Id,Model ID,Task ID,Stream ID,Name,Type,Accelerator Core,Start Time(us),"
               "Duration(us),Wait Time(us),Block Dim,Input Shapes,Input Data Types,Input Formats,"
               "Output Shapes,Output Data Types,Output Formats\n"
               "7,4294967295,1,5,MatMul1,MatMul,AI_CORE,1020.25\t,5.5,2.5,8,\"\"\"2,2;2,2\"\"\","
               "FLOAT;FLOAT,ND;ND,\"\"\"2,2\"\"\",FLOAT,ND\n");
  folder.write(out + "memory_record.csv",
               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
               "PTA,1001.000\t,1.5,2.0,NPU:4\n");
  folder.write("host_77_20230901101010123_ascend_pt/profiler_info_2.json", "{\"config\":{}}");

  const ImportedStore run(AscendTextImporter(),
                          folder.path() + "/host_77_20230901101010123_ascend_pt");
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kRanks, "rank")[0], 2);
  EXPECT_EQ(run.texts(Table::kRanks, "host")[0], "host");
  EXPECT_EQ(run.column(Table::kRanks, "pid")[0], 77);
  EXPECT_EQ(run.texts(Table::kKernels, "name"), Strings{"MatMul1"});
  EXPECT_EQ(run.texts(Table::kKernels, "op_type"), Strings{"MatMul"});
  EXPECT_EQ(run.texts(Table::kKernels, "input_shapes"), Strings{"2,2;2,2"});
  EXPECT_EQ(run.column(Table::kKernels, "wait"), Numbers{2500});
  EXPECT_EQ(run.column(Table::kKernels, "device"), Numbers{4});  // rank 2 runs on device 4
  EXPECT_EQ(run.column(Table::kKernels, "stream"), Numbers{5});
  EXPECT_NE(run.column(Table::kKernels, "launch")[0], kNull);
  EXPECT_NE(run.column(Table::kKernels, "op")[0], kNull);
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{7});
  EXPECT_EQ(run.texts(Table::kSteps, "source"), Strings{"file"});
  EXPECT_EQ(run.column(Table::kMemory, "total_allocated"), Numbers{1572864});
  EXPECT_EQ(run.column(Table::kOps, "sequence"), Numbers{4});
}

TEST(AscendGenerations, Current) {
  const TemporaryFolder folder;
  const std::string out = "ASCEND_PROFILER_OUTPUT/";
  // (os pid << 10) | (sort << 5) | device: device 6 here.
  folder.write(out + "trace_view.json", R"json([
{"ph":"M","name":"process_name","pid":102854,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"M","name":"process_name","pid":102918,"tid":0,"args":{"name":"Communication"}},
{"ph":"M","name":"thread_name","pid":102918,"tid":0,"args":{"name":"Group 0 Communication"}},
{"ph":"M","name":"thread_name","pid":102918,"tid":1,"args":{"name":"Plane 0"}},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"Surprise"}},
{"ph":"X","name":"FlashAttention","pid":102854,"tid":2,"ts":"1000000000000000.001","dur":7.25,"args":{"Task Type":"MIX_AIC","Physic Stream Id":2,"Task Id":1,"connection_id":5}},
{"ph":"X","name":"MEMCPY_ASYNC","pid":102854,"tid":2,"ts":"1000000000000020.000","dur":1,"args":{"Task Type":"SDMA","size(B)":4096,"bandwidth(GB/s)":4.0,"operation":"host to device","connection_id":6}},
{"ph":"X","name":"hcom_allGather__042_3_1","pid":102918,"tid":0,"ts":"1000000000000010.000","dur":9,"args":{"connection_id":8,"data_type":"BFP16","alg_type":"RING","count":100,"rank size":8}},
{"ph":"X","name":"Notify_Wait","pid":102918,"tid":1,"ts":"1000000000000011.000","dur":4,"args":{"task type":"Notify_Wait","src rank":1,"dst rank":3,"transport type":"LOCAL","size(Byte)":0,"link type":"INVALID_TYPE"}},
{"ph":"X","name":"Memcpy","pid":102918,"tid":1,"ts":"1000000000000015.000","dur":2,"args":{"task type":"Memcpy","src rank":1,"dst rank":4294967295,"transport type":"SDMA","size(Byte)":1024,"link type":"HCCS","bandwidth(GB/s)":0.5}},
{"ph":"X","name":"?","pid":1,"tid":1,"ts":"1000000000000015.000","dur":2}])json");
  folder.write(out + "kernel_details.csv",
               "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
               "Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,aic_mac_ratio,"
               "some_new_metric\n"
               ",6,4294967295,1,2,FlashAttention,FlashAttentionScore,static,MIX_AIC,"
               "1000000000000000.001\t,7.250,0.000000,20,40,0.5,x\"y\n"
               ",6,4294967295,N/A,N/A,hcom_allGather__042_3_1,hcom_allGather_,N/A,COMMUNICATION,"
               "1000000000000010.000\t,9.000,0.000000,0,0,N/A,N/A\n");
  folder.write("profiler_info.json", R"json({"rank_id":"11","torch_npu_version":"2.9"})json");
  folder.write("profiler_metadata.json",
               R"json({"distributed_args":{"world_size":16,"rank":11}})json");

  const ImportedStore run(AscendTextImporter(), folder.path());
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kRanks, "rank")[0], 11);
  EXPECT_EQ(run.column(Table::kRanks, "world_size")[0], 16);
  const auto names = run.texts(Table::kKernels, "name");
  const auto types = run.texts(Table::kKernels, "type");
  ASSERT_EQ(names.size(), 3u);
  const auto devices = run.column(Table::kKernels, "device");
  EXPECT_EQ(std::set<int64_t>(devices.begin(), devices.end()), std::set<int64_t>{6});
  const auto counters = run.texts(Table::kKernels, "counters");
  const auto bytes = run.column(Table::kKernels, "bytes");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "FlashAttention") {
      EXPECT_EQ(types[i], "MIX_AIC");
      EXPECT_EQ(counters[i],
                R"json({"OP State":"static","aic_mac_ratio":0.5,"some_new_metric":"x\"y"})json");
    } else if (names[i] == "MEMCPY_ASYNC") {
      EXPECT_EQ(bytes[i], 4096);
    } else {
      EXPECT_EQ(types[i], "COMMUNICATION");
    }
  }
  const auto levels = run.texts(Table::kCommunications, "level");
  ASSERT_EQ(levels.size(), 3u);
  for (size_t i = 0; i < levels.size(); ++i) {
    const std::string op = run.texts(Table::kCommunications, "op")[i];
    const int64_t to = run.column(Table::kCommunications, "dst_rank")[i];
    if (levels[i] == "op") {
      EXPECT_EQ(op, "hcom_allGather");
      EXPECT_EQ(run.column(Table::kCommunications, "bytes")[i], 200);
      EXPECT_EQ(run.column(Table::kCommunications, "group_size")[i], 8);
      EXPECT_EQ(run.column(Table::kCommunications, "sequence")[i], 3);
      continue;
    }
    EXPECT_NE(run.column(Table::kCommunications, "of")[i], kNull);
    if (op == "Notify_Wait") {
      EXPECT_EQ(run.column(Table::kCommunications, "wait")[i], 4000);
      EXPECT_EQ(to, 3);
    } else {
      EXPECT_EQ(run.column(Table::kCommunications, "transit")[i], 2000);
      EXPECT_EQ(to, 1);  // 4294967295 is the rank itself
      EXPECT_EQ(run.texts(Table::kCommunications, "link")[i], "HCCS");
    }
  }
  EXPECT_EQ(run.quality("unknown_process"), 1);
  EXPECT_EQ(run.quality("no_steps"), 1);
}

TEST(AscendGenerations, MindSpore) {
  const TemporaryFolder folder;
  const std::string root = "h_5_20250101101010123_ascend_ms/";
  const std::string out = root + "ASCEND_PROFILER_OUTPUT/";
  folder.write(out + "trace_view.json", R"json([
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"MindSpore"}},
{"ph":"M","name":"process_name","pid":2,"tid":0,"args":{"name":"CPU OP"}},
{"ph":"M","name":"process_name","pid":3,"tid":0,"args":{"name":"Scope Layer"}},
{"ph":"M","name":"process_name","pid":9000,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","cat":"","name":"Kernel::KernelLaunch::Default/MatMul-op1","pid":1,"tid":5,"ts":"2000.000","dur":"10.000","args":{}},
{"ph":"X","cat":"","name":"PythonProfilerStep#3","pid":1,"tid":5,"ts":"1990.000","dur":"100.000","args":{}},
{"ph":"X","cat":"","name":"ReLU-op2","pid":2,"tid":6,"ts":"2001.000","dur":"1.000","args":{}},
{"ph":"X","cat":"","name":"Default","pid":3,"tid":0,"ts":"2001.000","dur":"1.000","args":{}},
{"ph":"X","name":"MatMul_kernel","pid":9000,"tid":1,"ts":"2020.000","dur":"6.000","args":{"Task Type":"AI_CORE","connection_id":1}},
{"ph":"s","cat":"async_npu","name":"mindspore_to_npu","id":"2020.000","pid":1,"tid":5,"ts":"2000.000","bp":"e"},
{"ph":"f","cat":"async_npu","name":"mindspore_to_npu","id":"2020.000","pid":9000,"tid":1,"ts":"2020.000","bp":"e"}])json");
  folder.write(out + "kernel_details.csv",
               "Step ID,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,"
               "Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
               "3,1,1,1,Kernel::KernelLaunch::Default/MatMul-op1/MatMul_kernel,MatMul,static,"
               "AI_CORE,2020.000\t,6.000,0,1\n");
  folder.write(out + "memory_record.csv",
               "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),"
               "Device Type\nMindSpore,2000.000\t,1.5,2.0,0,NPU:0\n");
  folder.write(out + "dataset.csv",
               "Operation,Stage,Occurrences,Avg. time (us),Custom Info\nMap,run,3,1.25,\n");
  folder.write(out + "minddata_pipeline_raw_0.csv", "op_id,op_type\n0,Batch\n");
  folder.write(
      root + "profiler_info_0.json",
      R"json({"ms_profiler_info":{"rank_id":"0","device_id":"0"},"ms_version":"2.7"})json");

  const ImportedStore run(AscendTextImporter(), folder.path() + "/" + root);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.texts(Table::kKernels, "op_type"), Strings{"MatMul"});
  EXPECT_NE(run.column(Table::kKernels, "op")[0], kNull);
  EXPECT_EQ(run.rows(Table::kOps), 2u);  // the launch and the CPU operator
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{3});
  EXPECT_EQ(run.texts(Table::kSteps, "source"), Strings{"marked"});
  EXPECT_EQ(run.column(Table::kMemory, "total_allocated"), Numbers{1536000});  // MB of 1000 KB
  EXPECT_EQ(run.source_rows("dataset"), 1u);
  EXPECT_EQ(run.source_rows("minddata_pipeline_raw"), 1u);
  EXPECT_EQ(run.quality("inconsistent_counts"), 0);
}

TEST(AscendGenerations, ProfilerOutputInParts) {
  const TemporaryFolder folder;
  const std::string out = "PROF_000001_20240101_ABC/mindstudio_profiler_output/";
  const auto event = [](const char* name, const char* ts) {
    return std::string(
               R"json([{"ph":"M","name":"process_name","pid":4128,"tid":0,"args":{"name":"Ascend Hardware"}},)json") +
           R"json({"ph":"X","name":")json" + name + R"json(","pid":4128,"tid":3,"ts":")json" + ts +
           R"json(","dur":2.5,"args":{"Task Type":"AI_CORE","connection_id":1}}])json";
  };
  folder.write(out + "msprof_slice_0_20240101120000.json", event("a", "1000.000"));
  folder.write(out + "msprof_slice_1_20240101120000.json", event("b", "2000.000"));
  const std::string header =
      "Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),"
      "Task Duration(us),Task Wait Time(us)\n";
  folder.write(out + "op_summary_slice_0_20240101120000.csv",
               header + "1,1,1,3,a,TypeA,AI_CORE,1000.000\t,2.5,0\n");
  folder.write(out + "op_summary_slice_1_20240101120000.csv",
               header + "1,1,2,3,b,TypeB,AI_CORE,2000.000\t,2.5,N/A\n");
  folder.write(out + "operator_memory_20240101120000.csv",
               "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),"
               "Allocation Total Allocated(KB),Allocation Total Reserved(KB),"
               "Release Total Allocated(KB),Release Total Reserved(KB),Device\n"
               "1,a,4.5,1000\t,10,8,16,4,16,NPU:1\n");
  folder.write(
      out + "npu_module_mem_20240101120000.csv",
      "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n1,GE,1000\t,3,NPU:1\n");

  folder.write(out + "step_trace_20240101120000.csv",
               "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),"
               "Iteration Time(us)\n1,4,N/A,N/A,2000\t,1500.5\n");

  const std::string path = folder.path() + "/PROF_000001_20240101_ABC";
  std::vector<Candidate> found;
  EXPECT_TRUE(AscendTextImporter().probe_folder(list_folder(path), found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].unit, path);
  EXPECT_EQ(found[0].rank, kNull);
  const ImportedStore run(AscendTextImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.rows(Table::kKernels), 2u);
  EXPECT_EQ(run.source_rows("op_summary"), 2u);
  EXPECT_EQ(run.column(Table::kSteps, "step"), Numbers{4});
  EXPECT_EQ(run.column(Table::kSteps, "ts"), Numbers{499500});
  EXPECT_EQ(run.quality("rank_inferred"), 1);
  EXPECT_EQ(run.column(Table::kMemory, "bytes"), (Numbers{4608, -4608}));
  EXPECT_EQ(run.column(Table::kMemory, "ts"), (Numbers{1000000, 1010000}));
  EXPECT_EQ(run.numbers(Table::kCounters, "value"), std::vector<double>{3072});
}

TEST(AscendGenerations, EveryProcessOfTheProfilerIsKnown) {
  const TemporaryFolder folder;
  std::string text = "[";
  int pid = 5;
  for (const char* process : {"DPU", "CCU", "Block Detail", "Fusion Task", "OS Runtime API"}) {
    const std::string place = R"json("pid":)json" + std::to_string(pid++) + R"json(,"tid":1)json";
    text += R"json({"ph":"M","name":"process_name",)json" + place + R"json(,"args":{"name":")json" +
            process + R"json("}},{"ph":"X","name":"work",)json" + place +
            R"json(,"ts":"10","dur":1},)json";
  }
  text.back() = ']';
  const ImportedStore run(AscendTextImporter(), folder.write("msprof_1.json", text));
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.texts(Table::kTracks, "kind"),
            (Strings{"device", "device", "device", "device", "host"}));
  EXPECT_EQ(run.quality("unknown_process"), 0);
  EXPECT_EQ(run.rows(Table::kKernels), 0u);  // work beside the streams
}

TEST(AscendGenerations, TheLastStepOfACutTimelineIsIncomplete) {
  const TemporaryFolder folder;
  const std::string path = folder.write("msprof_1.json", R"json([
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"Python"}},
{"ph":"X","name":"ProfilerStep#4","pid":1,"tid":1,"ts":"10","dur":5},
{"ph":"X","name":"ProfilerStep#5","pid":1,"tid":1,"ts":"20","dur":5},
{"ph":"X","name":"cut)json");
  const ImportedStore run(AscendTextImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kSteps, "complete"), (Numbers{1, 0}));
  EXPECT_EQ(run.quality("window_cut"), 1);
}

// As our own export writes it.
TEST(AscendGenerations, ATimelineWithABaseOfItsTimes) {
  const TemporaryFolder folder;
  const ImportedStore run(AscendTextImporter(), folder.write("again.json", R"json({
"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"distributedInfo":{"rank":3},"traceEvents":[
{"ph":"M","name":"process_name","pid":7,"tid":0,"args":{"name":"Ascend Hardware"}},
{"ph":"X","name":"MatMul_1","cat":"AI_CORE","pid":7,"tid":2,"ts":1.500,"dur":3,"args":{"Task Type":"AI_CORE"}}]})json"));
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.column(Table::kKernels, "ts"), Numbers{1700000000000001500});
  EXPECT_EQ(run.texts(Table::kKernels, "type"), Strings{"AI_CORE"});
  EXPECT_EQ(run.column(Table::kRanks, "rank"), Numbers{3});
}

TEST(AscendGenerations, NamesOfTables) {
  EXPECT_EQ(ascend_table_name("/x/op_summary_slice_0_20240101120000.csv"), "op_summary");
  EXPECT_EQ(ascend_table_name("l2_cache.csv"), "l2_cache");
  EXPECT_EQ(ascend_table_name("minddata_pipeline_raw_12.csv"), "minddata_pipeline_raw");
  EXPECT_EQ(ascend_table_name("msprof_20240101120000.json"), "msprof");
  EXPECT_EQ(ascend_table_name("Some-Table.csv"), "some_table");
}

}  // namespace
}  // namespace stepscope::testing
