// Every kind of raw MindSpore file and every known defect, in small files made here.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>

#include <gtest/gtest.h>

#include "base/own_files.h"
#include "importers/discover.h"
#include "importers/mindspore_raw/mindspore_raw_importer.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using testing::find_candidates;
using testing::ImportedRank;
using testing::TemporaryFolder;

class MindsporeRaw : public ::testing::Test {
 protected:
  // The only candidate of the folder, imported.
  std::unique_ptr<ImportedRank> import() {
    const auto candidates = find_candidates(importer_, folder_.path());
    if (candidates.size() != 1) {
      ADD_FAILURE() << candidates.size() << " candidates";
      return nullptr;
    }
    candidate_ = candidates[0];
    auto rank = std::make_unique<ImportedRank>(importer_, candidates[0]);
    return rank->ok() ? std::move(rank) : nullptr;
  }

  MindsporeRawImporter importer_;
  TemporaryFolder folder_;
  Candidate candidate_;
};

constexpr std::string_view kWindow = "node7_321_20261115040047485_ascend_ms";
constexpr int64_t kWindowStartNs = 1794715247485000000;

std::string in_window(std::string_view file) {
  return std::string(kWindow) + "/FRAMEWORK/" + std::string(file);
}

TEST_F(MindsporeRaw, OperatorsWithExactDurations) {
  // Six significant digits of a millisecond, whatever the size.
  folder_.write(in_window("cpu_op_execute_timestamp_3.txt"),
                "Default/net/c1-Conv2d/Conv2D-op12;HostCpuOps;1000,0.002574,0 9000,27.907,0 \n"
                "MatMul;HostCpuOps;2000,1234.56,0 \n"
                "Slow;HostCpuOps;3000,1.23457e+06,0 \n"
                "NoThread;HostCpuOps;4000,1\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(candidate_.rank, 3);
  EXPECT_FALSE(candidate_.rank_inferred);
  EXPECT_EQ(candidate_.unit, folder_.path() + "/" + std::string(kWindow));
  EXPECT_EQ(rank->texts(Table::kOps, "name"),
            (std::vector<std::string>{"Default/net/c1-Conv2d/Conv2D-op12", "MatMul", "Slow",
                                      "NoThread", "Default/net/c1-Conv2d/Conv2D-op12"}));
  EXPECT_EQ(rank->integers(Table::kOps, "dur"),
            (std::vector<int64_t>{2574, 1234560000, 1234570000000, 1000000, 27907000}));
  EXPECT_EQ(rank->texts(Table::kOps, "type")[0], "Conv2D");
  EXPECT_EQ(rank->texts(Table::kOps, "module")[0], "Default/net/c1-Conv2d");
  EXPECT_EQ(rank->texts(Table::kOps, "module")[1], "NULL");
  EXPECT_EQ(rank->texts(Table::kSlices, "cat")[0], "HostCpuOps");
  EXPECT_EQ(rank->texts(Table::kTracks, "process")[0], "CPU OP");
  EXPECT_EQ(rank->texts(Table::kRanks, "host")[0], "node7");
  EXPECT_EQ(rank->integers(Table::kRanks, "pid")[0], 321);
  EXPECT_EQ(rank->texts(Table::kRanks, "device_kind")[0], "CPU");
  EXPECT_EQ(rank->rows_of_role("cpu_op_execute_timestamp"), 5);
}

// MindSpore's text among the files that `analyse` made is no recording of its own.
TEST_F(MindsporeRaw, WhatAnalyseMadeIsNoRecording) {
  folder_.write("ASCEND_PROFILER_OUTPUT/cpu_op_execute_timestamp_3.txt",
                "MatMul;HostCpuOps;2000,1234.56,0 \n");
  EXPECT_EQ(find_candidates(importer_, folder_.path()).size(), 1u);
  folder_.write("ASCEND_PROFILER_OUTPUT/" + std::string(kOutputMarker), "{}");
  EXPECT_TRUE(find_candidates(importer_, folder_.path()).empty());
}

TEST_F(MindsporeRaw, ShapesByOrderElseByName) {
  folder_.write("cpu_op_execute_timestamp_0.txt",
                "Default/MatMul-op0;HostCpuOps;100,1,0 300,1,0\n"
                "Default/Relu-op1;HostCpuOps;200,1,0\n"
                "Default/Add-op2;HostCpuOps;400,1,0\n");
  // The last two are in another order than the operators: Add's shape is certain, the second
  // MatMul's is not.
  folder_.write("cpu_framework_0.txt",
                "MatMul;MatMul-op0;7;input_1:[2, 3];input_2:NoShape;\n"
                "Relu;Relu-op1;7;input_1:[5];\n"
                "Add;Add-op2;7;input_1:[9];\n"
                "MatMul;MatMul-op0;7;input_1:[4, 4];\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->texts(Table::kOps, "input_shapes"),
            (std::vector<std::string>{"[[2, 3], []]", "[[5]]", "NULL", "[[9]]"}));
  EXPECT_EQ(rank->quality("inconsistent_counts"), 2);
  EXPECT_EQ(rank->source_rows("cpu_framework"), 4u);
}

TEST_F(MindsporeRaw, MemoryOfEarlierWindowsByTheFolderName) {
  const auto line = [](int64_t ns) { return std::to_string(ns) + ",512,1073741824,512\n"; };
  folder_.write(in_window("cpu_op_execute_timestamp_0.txt"),
                "Add;HostCpuOps;" + std::to_string(kWindowStartNs + 5'000'000) + ",1,0\n");
  folder_.write(in_window("cpu_ms_memory_record_0.txt"),
                "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n" +
                    line(kWindowStartNs - 9'000'000'000) + line(kWindowStartNs - 1) +
                    line(kWindowStartNs) + line(kWindowStartNs + 6'000'000));
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kMemory, "ts"),
            (std::vector<int64_t>{kWindowStartNs, kWindowStartNs + 6'000'000}));
  EXPECT_EQ(rank->quality("left_over_records"), 2);
}

TEST_F(MindsporeRaw, MemoryOfEarlierWindowsByThePause) {
  folder_.write("out/cpu_op_execute_timestamp_0.txt",
                "Add;HostCpuOps;5000,0.0001,0 5200,0.0001,0\n");
  folder_.write("out/cpu_ms_memory_record_0.txt",
                "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
                "1000,1,9,1\n1100,2,9,2\n4900,3,9,3\n5010,4,9,4\n5210,5,9,5\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kMemory, "total_allocated"), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(rank->quality("left_over_records"), 2);
}

TEST_F(MindsporeRaw, RuntimeEventsAndFlowMarks) {
  folder_.write(
      "rank_4/RuntimeProfilerDetail1794.csv",
      "[Step:7 step_time:1000ns, module_total_time:900ns]\n"
      "module:Kernel, event:KernelLaunch, op:Default/net/Add-op1, start_time:5000, end_time:5400, "
      "dur_time:,400,ns, tid:11, pid:10\n"
      "stage:RunGraph, event:Default, op:, start_time:5000, end_time:5900, dur_time:,900,ns, "
      "tid:10, pid:10\n"
      "module:Default, event:Default, op:flow, start_time:5100, end_time:5080, "
      "dur_time:,18446744073709551596,ns, tid:10, pid:10\n"
      "module:Python, event:PythonObserved, op:a, start_time:1, odd, start_time:5200, "
      "end_time:5100, dur_time:,18446744073709551516,ns, tid:10, pid:10\n"
      "this is no event\n");
  folder_.write("rank_4/RuntimeProfilerJson1794.json", "[]");
  folder_.write("rank_4/RuntimeProfilerSummary1794.csv",
                "[Step:7, step_time:1000ns, module_total_time:900ns]\n"
                "Module:Kernel, total_time:400ns, average_time:400.00ns, total_count:1, "
                "percent:44.4%\n"
                "Stage:Python, total_time:18446744073695853480ns, average_time:1.00ns, "
                "total_count:1, percent:1%\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(candidate_.rank, 4);
  EXPECT_TRUE(candidate_.rank_inferred);
  EXPECT_EQ(rank->rows(Table::kSlices), 4u);
  EXPECT_EQ(rank->texts(Table::kOps, "type"), std::vector<std::string>{"Add"});
  EXPECT_EQ(rank->integers(Table::kSteps, "step"), std::vector<int64_t>{7});
  EXPECT_EQ(rank->integers(Table::kSteps, "ts"), std::vector<int64_t>{5000});
  EXPECT_EQ(rank->integers(Table::kSteps, "dur"), std::vector<int64_t>{1000});
  EXPECT_EQ(rank->texts(Table::kSteps, "source"), std::vector<std::string>{"marked"});
  int instants = 0;
  int impossible = 0;
  for (const int64_t flags : rank->integers(Table::kSlices, "flags")) {
    instants += (flags & kFlagInstant) != 0;
    impossible += (flags & kFlagImpossible) != 0;
  }
  EXPECT_EQ(instants, 1);
  EXPECT_EQ(impossible, 1);
  EXPECT_EQ(rank->quality("end_before_start"), 1);
  EXPECT_EQ(rank->quality("unparsable_event"), 1);
  EXPECT_EQ(rank->quality("ignored_file"), 1);
  EXPECT_EQ(rank->quality("wide_integer"), 1);
  EXPECT_EQ(rank->source_integers("runtime_profiler_summary", "total_time_ns"),
            (std::vector<int64_t>{400, kNull}));
}

constexpr std::string_view kCpuUtilisation =
    R"({"cpu_processor_num":2,"sampling_interval":5,"time_stamp":[100,130,170],
        "device_info":{"user_utilization":[1,0,3],"idle_utilization":[4,0,5,0,6,0],
                       "odd":[1,2,3,4]},
        "process_info":{"user_utilization":[7,8]},
        "op_info":[{"op_id":1,"metrics":{"user_utilization":[9,9,9]}}]})";
constexpr std::string_view kPipeline =
    R"({"sampling_interval":5,"op_info":[
        {"op_id":0,"op_type":"BatchOp","num_workers":1,"children":[1],"metrics":null},
        {"op_id":1,"op_type":"MapOp","num_workers":2,
         "metrics":{"output_queue":{"length":16,"size":[0,8,16]}}}]})";

TEST_F(MindsporeRaw, MinddataOnTheWallClock) {
  folder_.write("minddata_cpu_utilization_0.json", kCpuUtilisation);
  folder_.write("pipeline_profiling_0.json", kPipeline);
  folder_.write("dataset_iterator_profiling_0.txt",
                "0 1 1 0 110\n0 2 1 24 110\n0 0 1 20 110\n1 16 1 3 110\n1 16 nine 3 110\n");
  folder_.write("clock.json", R"({"realtime_minus_monotonic_ns": 1000000000000})");
  const auto rank = import();
  ASSERT_TRUE(rank);
  const auto at_ms = [](int64_t ms) { return ms * 1'000'000 + 1'000'000'000'000; };
  EXPECT_EQ(rank->texts(Table::kQueues, "stage"),
            (std::vector<std::string>{"MapOp_1", "MapOp_1", "MapOp_1", "dataset_iterator"}));
  EXPECT_EQ(rank->integers(Table::kQueues, "ts"),
            (std::vector<int64_t>{at_ms(100), at_ms(130), at_ms(170), at_ms(110)}));
  EXPECT_EQ(rank->integers(Table::kQueues, "size"), (std::vector<int64_t>{0, 8, 16, 3}));
  EXPECT_EQ(rank->integers(Table::kQueues, "fetch")[3], 20'000'000);
  EXPECT_EQ(rank->integers(Table::kQueues, "push")[3], 0);
  EXPECT_EQ(rank->quality("clock_coarse"), 0);
  EXPECT_EQ(rank->quality("unparsable_event"), 1);
  // Two entries per sample: the second is no sample. One entry short: the first is missing.
  const auto tracks = rank->texts(Table::kTracks, "thread");
  const auto owner = rank->integers(Table::kCounters, "track");
  const auto values = rank->reals(Table::kCounters, "value");
  const auto times = rank->integers(Table::kCounters, "ts");
  std::vector<double> idle;
  std::vector<int64_t> process_times;
  for (size_t i = 0; i < owner.size(); ++i) {
    const std::string& name = tracks[static_cast<size_t>(owner[i])];
    if (name == "device idle_utilization") idle.push_back(values[i]);
    if (name == "process user_utilization") process_times.push_back(times[i]);
  }
  EXPECT_EQ(idle, (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(process_times, (std::vector<int64_t>{at_ms(130), at_ms(170)}));
  EXPECT_EQ(rank->quality("inconsistent_counts"), 2);  // the list of four, and user's last sample
  // The stages as those of any other pipeline, each with its workers' processor time.
  EXPECT_EQ(rank->texts(Table::kStages, "stage"),
            (std::vector<std::string>{"MapOp_1", "BatchOp_0", "dataset_iterator"}));
  EXPECT_EQ(rank->integers(Table::kStages, "workers"), (std::vector<int64_t>{2, 1, kNull}));
  EXPECT_EQ(rank->integers(Table::kStages, "capacity"), (std::vector<int64_t>{16, kNull, 16}));
  EXPECT_EQ(rank->integers(Table::kStages, "position"), (std::vector<int64_t>{2, 1, 0}));
  const auto processes = rank->texts(Table::kTracks, "process");
  const auto of_map = std::ranges::find(processes, "MapOp_1") - processes.begin();
  ASSERT_LT(of_map, std::ssize(processes));
  EXPECT_EQ(tracks[static_cast<size_t>(of_map)], "user_utilization");
  EXPECT_EQ(rank->source_texts("minddata_pipeline", "children"),
            (std::vector<std::string>{"[1]", "[]"}));
  EXPECT_EQ(rank->source_integers("minddata_pipeline", "parent_id"),
            (std::vector<int64_t>{kNull, 0}));
}

TEST_F(MindsporeRaw, MachineUseThatWasCutToHalfItsSamples) {
  folder_.write("minddata_cpu_utilization_0.json",
                R"({"time_stamp":[100,130,170,200],
                    "device_info":{"user_utilization":[0,0,80,1],
                                   "sys_utilization":[0,0,0,0],
                                   "context_switch_count":[0,0,5,0,6,0,7,0]}})");
  const auto rank = import();
  ASSERT_TRUE(rank);
  const auto tracks = rank->texts(Table::kTracks, "thread");
  const auto owner = rank->integers(Table::kCounters, "track");
  const auto values = rank->reals(Table::kCounters, "value");
  std::map<std::string, std::vector<double>> series;
  for (size_t i = 0; i < owner.size(); ++i)
    series[tracks[static_cast<size_t>(owner[i])]].push_back(values[i]);
  EXPECT_EQ(series["device user_utilization"], (std::vector<double>{0, 80}));
  EXPECT_EQ(series["device context_switch_count"], (std::vector<double>{0, 5, 6, 7}));
  EXPECT_EQ(series["device sys_utilization"], (std::vector<double>{0, 0}));
  EXPECT_EQ(rank->quality("inconsistent_counts"), 2) << "samples, said once for both lists";
}

TEST_F(MindsporeRaw, MinddataWithoutAClockStaysMonotonic) {
  folder_.write("pipeline_profiling_2.json", kPipeline);
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(candidate_.rank, 2);
  EXPECT_EQ(rank->integers(Table::kQueues, "ts"), (std::vector<int64_t>{0, 5'000'000, 10'000'000}));
  EXPECT_EQ(rank->quality("clock_coarse"), 2);  // no times of its own, no clock pair
}

// --- binary files of Ascend ---

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}
std::string tlv(uint16_t type, const std::string& value) {
  return bytes_of(type) + bytes_of(static_cast<uint32_t>(value.size())) + value;
}

struct HostEvent {
  uint64_t flow = ~uint64_t{0};
  uint64_t start = 0;
  uint64_t end = 0;
  uint16_t module = 0;
  uint16_t event = 0;
  uint16_t stage = 0;
  bool is_stage = false;
  std::string name = {};
};

std::string op_range(const HostEvent& event) {
  return tlv(0, bytes_of(uint64_t{77}) + bytes_of(event.flow) + bytes_of(uint64_t{0}) +
                    bytes_of(event.start) + bytes_of(event.end) + bytes_of(int32_t{42}) +
                    bytes_of(event.module) + bytes_of(event.event) + bytes_of(event.stage) +
                    bytes_of(int8_t{0}) + bytes_of(uint8_t{0}) +
                    bytes_of(static_cast<uint8_t>(event.is_stage)) + bytes_of(uint8_t{0}) +
                    tlv(13, event.name));
}

TEST_F(MindsporeRaw, BinaryHostEvents) {
  HostEvent step{.start = 1000, .end = 3000, .module = 5, .event = 53, .name = "ProfilerStep#9"};
  HostEvent launch{
      .flow = 5, .start = 2000, .end = 2100, .module = 4, .event = 4, .name = "Default/Add-op3"};
  HostEvent mark{.flow = 5, .start = 1500, .end = 1500, .name = "flow"};
  HostEvent stage{.start = 1400, .end = 1600, .stage = 3, .is_stage = true};
  HostEvent strange{.start = 2500, .end = 2600, .module = 99, .event = 4, .name = "x"};
  const std::string window(kWindow);
  folder_.write(in_window("mindspore.op_range"),
                op_range(step) + op_range(launch) + op_range(mark) + op_range(stage) +
                    op_range(strange) + std::string("\0\0\x09", 3));
  folder_.write(window + "/PROF_1/host/host_start.log",
                "[Host]\nclock_monotonic_raw: 5000\ncntvct: 1000\n");
  folder_.write(window + "/PROF_1/host/start_info",
                R"({"collectionTimeBegin": "9000", "clockMonotonicRaw": "4000"})");
  folder_.write(window + "/PROF_1/host/info.json", R"({"CPU": [{"Frequency": "100.000000"}]})");
  folder_.write(window + "/profiler_info_6.json", R"({"ms_version": "2.10.0"})");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(candidate_.rank, 6);
  EXPECT_EQ(candidate_.richness, MindsporeRawImporter::kHostOfNpuRichness);
  // Counter 1000 is 5000 + (9000 us - 4000 ns) = 9001000 ns; a tick is 10 ns.
  EXPECT_EQ(rank->integers(Table::kSteps, "step"), std::vector<int64_t>{9});
  EXPECT_EQ(rank->integers(Table::kSteps, "ts"), std::vector<int64_t>{9'001'000});
  EXPECT_EQ(rank->integers(Table::kSteps, "dur"), std::vector<int64_t>{20'000});
  EXPECT_EQ(rank->integers(Table::kOps, "ts")[0], 9'011'000);
  EXPECT_EQ(rank->texts(Table::kOps, "type")[0], "Add");
  EXPECT_EQ(rank->texts(Table::kFlows, "kind"), std::vector<std::string>{"async_mindspore"});
  const auto names = rank->texts(Table::kSlices, "name");
  EXPECT_NE(std::ranges::find(names, "RunGraph"), names.end());
  EXPECT_NE(std::ranges::find(names, "Kernel::KernelLaunch::Default/Add-op3"), names.end());
  EXPECT_NE(std::ranges::find(names, "module 99::KernelLaunch::x"), names.end());
  EXPECT_EQ(rank->quality("unknown_category"), 1);
  EXPECT_EQ(rank->quality("truncated_input"), 1);
  EXPECT_EQ(rank->quality("clock_coarse"), 0);
}

TEST_F(MindsporeRaw, BinaryMemoryAndShapes) {
  const auto event = [](uint64_t ns, uint64_t address, uint64_t size, uint64_t used) {
    return tlv(0, bytes_of(int32_t{1}) + bytes_of(uint64_t{77}) + bytes_of(uint64_t{42}) +
                      bytes_of(ns) + bytes_of(address) + bytes_of(size) + bytes_of(used) +
                      bytes_of(uint64_t{99}) + bytes_of(uint64_t{4096}) + bytes_of(uint64_t{0}) +
                      bytes_of(uint64_t{0}) + bytes_of(uint64_t{0}) + bytes_of(uint32_t{3}) +
                      std::string(4, '\0') + tlv(13, "Add"));
  };
  constexpr uint64_t kFree = ~uint64_t{0};
  folder_.write("FRAMEWORK/mindspore.memory_usage",
                event(10, 0xA0, kFree, 0) + event(20, 0xB0, 512, 512) + event(30, 0xB0, kFree, 0) +
                    tlv(0, "short"));
  folder_.write("FRAMEWORK/mindspore.record_shapes",
                tlv(3, tlv(0, "Add") + tlv(1, "2,3;4") + tlv(2, "Float32;Int64")));
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kMemory, "bytes"), (std::vector<int64_t>{kNull, 512, -512}));
  EXPECT_EQ(rank->integers(Table::kMemory, "total_reserved")[1], 4096);
  EXPECT_EQ(rank->integers(Table::kMemory, "device")[1], 1);
  EXPECT_EQ(rank->texts(Table::kMemory, "name")[1], "Add");
  EXPECT_EQ(rank->quality("unparsable_event"), 1);
  EXPECT_EQ(rank->source_texts("record_shapes", "shapes"), std::vector<std::string>{"2,3;4"});
}

// --- discovery ---

TEST_F(MindsporeRaw, RawFilesBeforeTraceView) {
  const std::string window(kWindow);
  folder_.write(in_window("cpu_op_execute_timestamp_0.txt"), "Add;HostCpuOps;1000,1,0\n");
  folder_.write(window + "/ASCEND_PROFILER_OUTPUT/trace_view.json",
                R"([{"ph":"X","name":"Add","pid":2,"tid":0,"ts":"1.037","dur":"1","args":{}}])");
  const auto sources = discover({folder_.path()}, "");
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_EQ(sources->front().chosen.importer->name(), "mindspore_raw");
  ASSERT_EQ(sources->front().others.size(), 1u);
  EXPECT_EQ(sources->front().others[0].importer->name(), "ascend_text");
}

TEST_F(MindsporeRaw, TheJsonTwinIsNoTraceOfItsOwn) {
  folder_.write("rank_0/RuntimeProfilerDetail5.csv",
                "module:Kernel, event:KernelLaunch, op:Add, start_time:5, end_time:6, "
                "dur_time:,1,ns, tid:1, pid:1\n");
  folder_.write("rank_0/RuntimeProfilerJson5.json",
                R"([{"ph":"X","name":"a","pid":"1","tid":"1","ts":5.0e15,"dur":1}])");
  folder_.write("rank_0/graphs/graph.ir", "text");
  const auto sources = discover({folder_.path()}, "");
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_EQ(sources->front().chosen.importer->name(), "mindspore_raw");
}

TEST_F(MindsporeRaw, SeveralRanksInOneFolder) {
  folder_.write("cpu_op_execute_timestamp_0.txt", "A;HostCpuOps;1,1,0\n");
  folder_.write("cpu_op_execute_timestamp_5.txt", "B;HostCpuOps;1,1,0\n");
  const auto candidates = find_candidates(importer_, folder_.path());
  ASSERT_EQ(candidates.size(), 2u);
  EXPECT_NE(candidates[0].unit, candidates[1].unit);
  for (const Candidate& candidate : candidates) {
    ImportedRank rank(importer_, candidate);
    ASSERT_TRUE(rank.ok());
    EXPECT_EQ(rank.texts(Table::kOps, "name"),
              std::vector<std::string>{candidate.rank == 0 ? "A" : "B"});
  }
}

TEST_F(MindsporeRaw, FilesThatNobodyDescribesAreNamed) {
  folder_.write(in_window("cpu_op_execute_timestamp_0.txt"), "Add;HostCpuOps;5000,1,0\n");
  folder_.write(in_window("mindspore.py_stack"), "\1\2\3");
  folder_.write(in_window("mindspore.new_kind"), "?");
  folder_.write(in_window("parallel_strategy_0.json"),
                R"({"config":{"rankId":0,"parallelType":"auto_parallel"},"graph":{}})");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->quality("not_understood"), 1);
  EXPECT_EQ(rank->quality("ignored_file"), 1);
  EXPECT_NE(rank->texts(Table::kRanks, "parallel")[0].find("auto_parallel"), std::string::npos);
  EXPECT_EQ(rank->source_rows("parallel_strategy"), 1u);
}

}  // namespace
}  // namespace stepscope
