// What a small trace means, written down by hand: nesting, steps, links, delays, arrows, memory.
#include <algorithm>

#include "tests/support/imported_run.h"
#include "tests/support/trace_text.h"

namespace stepscope {
namespace {

using testing::ImportedRun;
using testing::TemporaryFolder;

// Two steps on thread 100. Step 1: aten::linear > aten::addmm > cudaLaunchKernel(correlation 1),
// and its backward on thread 200. Step 2: a copy, launched by a call outside any operator. Kernels
// run on stream 7; k3's launch is not in the trace. Times are microseconds.
constexpr const char* kTrace = R"json({
  "schemaVersion": 1, "baseTimeNanoseconds": 1000000000,
  "deviceProperties": [{"id": 0, "name": "Test GPU", "totalGlobalMem": 1}],
  "distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 1},
  "traceEvents": [
  {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":100,"ts":0.000,"dur":100.000,"args":{"External id":1}},
  {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":9,"tid":100,"ts":100.000,"dur":50.500},
  {"ph":"X","cat":"cpu_op","name":"aten::linear","pid":9,"tid":100,"ts":10.000,"dur":40.000,"args":{"External id":5,"Sequence number":77,"Input Dims":[[2,3],[]],"Input type":["float",""]}},
  {"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":9,"tid":100,"ts":12.000,"dur":30.000,"args":{"External id":6}},
  {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":100,"ts":20.000,"dur":5.000,"args":{"cbid":211,"correlation":1,"External id":6}},
  {"ph":"s","id":1,"pid":9,"tid":100,"ts":20.000,"cat":"ac2g","name":"ac2g"},
  {"ph":"X","cat":"kernel","name":"k1","pid":0,"tid":7,"ts":30.250,"dur":9.000,"args":{"External id":6,"device":0,"stream":7,"correlation":1,"grid":[4,1,1],"block":[128,1,1],"registers per thread":32,"shared memory":1024,"est. achieved occupancy %":50}},
  {"ph":"f","id":1,"pid":0,"tid":7,"ts":30.250,"cat":"ac2g","name":"ac2g","bp":"e"},
  {"ph":"X","cat":"cpu_op","name":"LinearBackward","pid":9,"tid":200,"ts":60.000,"dur":20.000,"args":{"External id":8,"Sequence number":77,"Fwd thread id":1}},
  {"ph":"s","id":77,"pid":9,"tid":100,"ts":10.000,"cat":"fwdbwd","name":"fwdbwd"},
  {"ph":"f","id":77,"pid":9,"tid":200,"ts":60.000,"cat":"fwdbwd","name":"fwdbwd","bp":"e"},
  {"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":100,"ts":90.000,"dur":5.000,"args":{"correlation":2}},
  {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pinned -> Device)","pid":0,"tid":7,"ts":110.000,"dur":10.000,"args":{"stream":7,"correlation":2,"bytes":4096}},
  {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":130.000,"dur":4.000,"args":{"stream":7,"correlation":3,"Collective name":"allreduce","In msg nelems":1000,"dtype":"BFloat16","Group size":8,"Process Group Name":"0","Seq":4}},
  {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":100,"ts":15.000,"args":{"Device Type":1,"Device Id":0,"Addr":140000,"Bytes":512,"Total Allocated":2048,"Total Reserved":4096}},
  {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}},
  {"ph":"M","name":"process_name","pid":9,"args":{"name":"python"}}
  ]})json";

class Meaning : public ::testing::Test {
 protected:
  Meaning() : run_(folder_.write("t.json", kTrace)) {}
  void SetUp() override { ASSERT_TRUE(run_.ok()) << run_.error(); }

  // The one row of `table` whose slice has this name.
  size_t row(std::string_view table, const std::string& name) const {
    const auto names = run_.texts(table, "name");
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  int64_t value(std::string_view table, std::string_view column, const std::string& name) const {
    return run_.column(table, column)[row(table, name)];
  }
  std::string text(std::string_view table, std::string_view column, const std::string& name) const {
    return std::string(run_.store().string(value(table, column, name)));
  }
  // The name of the slice that a column refers to.
  std::string named(std::string_view table, std::string_view column,
                    const std::string& name) const {
    const int64_t slice = value(table, column, name);
    return slice == kNull ? "NULL" : run_.texts("slices", "name")[static_cast<size_t>(slice)];
  }

  TemporaryFolder folder_;
  ImportedRun run_;
};

TEST_F(Meaning, TimesAreAbsoluteNanoseconds) {
  EXPECT_EQ(value("slices", "ts", "k1"), 1000030250);
  EXPECT_EQ(value("slices", "dur", "ProfilerStep#2"), 50500);
  EXPECT_EQ(run_.column("ranks", "first_ns"), std::vector<int64_t>{1000000000});
  EXPECT_EQ(run_.column("ranks", "last_ns"), std::vector<int64_t>{1000150500});
}

TEST_F(Meaning, NestingOnTheThread) {
  EXPECT_EQ(value("slices", "depth", "ProfilerStep#1"), 0);
  EXPECT_EQ(value("slices", "depth", "aten::linear"), 1);
  EXPECT_EQ(value("slices", "depth", "aten::addmm"), 2);
  EXPECT_EQ(value("slices", "depth", "cudaLaunchKernel"), 3);
  EXPECT_EQ(value("slices", "depth", "cudaMemcpyAsync"), 1);
  EXPECT_EQ(named("slices", "parent", "cudaLaunchKernel"), "aten::addmm");
  EXPECT_EQ(named("slices", "parent", "aten::addmm"), "aten::linear");
  EXPECT_EQ(named("slices", "parent", "aten::linear"), "ProfilerStep#1");
  EXPECT_EQ(named("slices", "parent", "ProfilerStep#1"), "NULL");
  EXPECT_EQ(named("slices", "parent", "LinearBackward"), "NULL");
}

TEST_F(Meaning, StepsAndWhatBelongsToThem) {
  EXPECT_EQ(run_.column("steps", "step"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(run_.column("steps", "dur"), (std::vector<int64_t>{100000, 50500}));
  EXPECT_EQ(value("slices", "step", "aten::linear"), 1);
  EXPECT_EQ(value("slices", "step", "LinearBackward"), 1);
  EXPECT_EQ(value("slices", "step", "Memcpy HtoD (Pinned -> Device)"), 1);  // launched in step 1
  EXPECT_EQ(value("slices", "step", "ncclDevKernel_AllReduce"), 2);  // launch unknown: by time
}

TEST_F(Meaning, KernelsLinkToLaunchAndOperator) {
  EXPECT_EQ(named("kernels", "launch", "k1"), "cudaLaunchKernel");
  EXPECT_EQ(named("kernels", "op", "k1"), "aten::addmm");
  EXPECT_EQ(value("kernels", "queue_delay", "k1"), 10250);
  EXPECT_EQ(named("kernels", "launch", "Memcpy HtoD (Pinned -> Device)"), "cudaMemcpyAsync");
  EXPECT_EQ(named("kernels", "op", "Memcpy HtoD (Pinned -> Device)"), "NULL");
  EXPECT_EQ(value("kernels", "launch", "ncclDevKernel_AllReduce"), kNull);
  EXPECT_EQ(value("kernels", "queue_delay", "ncclDevKernel_AllReduce"), kNull);
  EXPECT_EQ(run_.quality("launch_outside_window"), 1);
}

TEST_F(Meaning, DetailsOfKernelsAndOperators) {
  EXPECT_EQ(text("kernels", "class", "k1"), "compute");
  EXPECT_EQ(text("kernels", "class", "ncclDevKernel_AllReduce"), "communication");
  EXPECT_EQ(text("kernels", "class", "Memcpy HtoD (Pinned -> Device)"), "memory");
  EXPECT_EQ(value("kernels", "bytes", "Memcpy HtoD (Pinned -> Device)"), 4096);
  EXPECT_EQ(text("kernels", "grid", "k1"), "[4,1,1]");
  EXPECT_EQ(value("kernels", "registers", "k1"), 32);
  EXPECT_EQ(value("kernels", "stream", "k1"), 7);
  EXPECT_EQ(value("kernels", "device", "k1"), 0);
  EXPECT_EQ(text("ops", "input_shapes", "aten::linear"), "[[2,3],[]]");
  EXPECT_EQ(value("ops", "sequence", "LinearBackward"), 77);
  EXPECT_EQ(run_.column("communications", "bytes"), std::vector<int64_t>{2000});
  EXPECT_EQ(run_.column("communications", "group_size"), std::vector<int64_t>{8});
  EXPECT_EQ(run_.column("communications", "sequence"), std::vector<int64_t>{4});
}

TEST_F(Meaning, Arrows) {
  const auto names = run_.texts("slices", "name");
  const auto from = run_.column("flows", "from_slice");
  const auto to = run_.column("flows", "to_slice");
  const auto kind = run_.texts("flows", "kind");
  std::vector<std::string> arrows;
  for (size_t i = 0; i < from.size(); ++i) {
    arrows.push_back(kind[i] + " " + names[static_cast<size_t>(from[i])] + " -> " +
                     names[static_cast<size_t>(to[i])]);
  }
  std::sort(arrows.begin(), arrows.end());
  EXPECT_EQ(arrows, (std::vector<std::string>{"ac2g cudaLaunchKernel -> k1",
                                              "fwdbwd aten::linear -> LinearBackward"}));
}

TEST_F(Meaning, MemoryEventsKnowTheirOperator) {
  EXPECT_EQ(run_.column("memory", "bytes"), std::vector<int64_t>{512});
  EXPECT_EQ(run_.column("memory", "total_allocated"), std::vector<int64_t>{2048});
  EXPECT_EQ(run_.texts("memory", "device_kind"), std::vector<std::string>{"CUDA"});
  EXPECT_EQ(run_.texts("memory", "name"), std::vector<std::string>{"aten::addmm"});
}

TEST_F(Meaning, TheRankAndItsTracks) {
  EXPECT_EQ(run_.column("ranks", "rank"), std::vector<int64_t>{2});
  EXPECT_EQ(run_.column("ranks", "rank_inferred"), std::vector<int64_t>{0});
  EXPECT_EQ(run_.texts("ranks", "device_name"), std::vector<std::string>{"Test GPU"});
  EXPECT_EQ(run_.texts("ranks", "device_kind"), std::vector<std::string>{"NVIDIA GPU"});
  const auto thread = run_.texts("tracks", "thread");
  EXPECT_EQ(std::count(thread.begin(), thread.end(), "stream 7 "), 1);
}

TEST_F(Meaning, ArgsAreTheTextOfTheFile) {
  const auto args = run_.store().args(0, row("slices", "cudaLaunchKernel"));
  ASSERT_TRUE(args);
  EXPECT_EQ(*args, R"({"cbid":211,"correlation":1,"External id":6})");
}

}  // namespace
}  // namespace stepscope
