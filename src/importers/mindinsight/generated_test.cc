// Every kind of file of a MindInsight profiler folder, both generations of columns, and broken
// ones, in small files made here.
#include <algorithm>
#include <cstring>
#include <memory>

#include <gtest/gtest.h>

#include "importers/discover.h"
#include "importers/mindinsight/mindinsight_importer.h"
#include "tests/support/imported_rank.h"

namespace stepscope {
namespace {

using testing::find_candidates;
using testing::ImportedRank;
using testing::TemporaryFolder;

class Mindinsight : public ::testing::Test {
 protected:
  std::unique_ptr<ImportedRank> import() {
    const auto candidates = find_candidates(importer_, folder_.path());
    if (candidates.size() != 1) {
      ADD_FAILURE() << candidates.size() << " candidates";
      return nullptr;
    }
    auto rank = std::make_unique<ImportedRank>(importer_, candidates[0]);
    return rank->ok() ? std::move(rank) : nullptr;
  }

  MindinsightImporter importer_;
  TemporaryFolder folder_;
};

TEST_F(Mindinsight, StepTraceWithBothOrdersOfReduceColumns) {
  for (const std::string_view columns :
       {"stream_5_parallel_0_start_point,stream_5_parallel_0_end_point,stream_5_parallel_0\n"
        "1,100,200,100,100,150,0,50,50,110,120,10\n",
        "stream_5_parallel_0,stream_5_parallel_0_start_point,stream_5_parallel_0_end_point\n"
        "1,100,200,100,100,150,0,50,50,10,110,120\n"}) {
    folder_.write("step_trace_raw_0_detail_time.csv",
                  "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,"
                  "fp_and_bp,tail," +
                      std::string(columns) +
                      "2,200,bad,100,220,250,20,30,50,0,0,0\n"
                      "-,100,200,100,100,150,0,50,50,10,110,120\n");
    const auto rank = import();
    ASSERT_TRUE(rank);
    EXPECT_EQ(rank->integers(Table::kSteps, "ts"), std::vector<int64_t>{1000});
    EXPECT_EQ(rank->integers(Table::kSteps, "dur"), std::vector<int64_t>{1000});
    EXPECT_EQ(rank->integers(Table::kCommunications, "ts"), std::vector<int64_t>{1100});
    EXPECT_EQ(rank->integers(Table::kCommunications, "dur"), std::vector<int64_t>{100});
    EXPECT_EQ(rank->quality("bad_number"), 1);
    EXPECT_EQ(rank->source_rows("step_trace_raw"), 3u);
    EXPECT_EQ(rank->quality("rank_inferred"), 1);
  }
}

TEST_F(Mindinsight, GpuStepTraceBothForms) {
  folder_.write("step_trace_profiling_0.txt",
                "start,1000 fp,1100 bp,1500 end,2000 AllReduce,1200,1300\n"
                "start,2000 fp,2100 bp,2500 end,3000\n");
  auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kSteps, "ts"), (std::vector<int64_t>{1100, 2000}));
  EXPECT_EQ(rank->integers(Table::kSteps, "dur"), (std::vector<int64_t>{900, 1000}));
  EXPECT_EQ(rank->rows(Table::kCommunications), 1u);
  folder_.write("step_trace_profiling_0.txt",
                "Conv2D 1100,1150 2100,2150\nMul 1480,1500 2480,2500\nAdam 1900,2000 2900,3000\n");
  rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kSteps, "dur"), (std::vector<int64_t>{900, 1000}));
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

TEST_F(Mindinsight, RawTaskRecords) {
  const auto task = [](uint8_t type, uint16_t id, uint64_t count, uint32_t stream) {
    std::string record = bytes_of(type) + bytes_of(uint8_t{0}) + bytes_of(uint16_t{0}) +
                         bytes_of(uint16_t{0}) + bytes_of(id) + bytes_of(count) + bytes_of(stream);
    record.resize(64);
    return record;
  };
  folder_.write("hwts.log.data.45.dev.profiler_default_tag.2.slice_0",
                task(0, 7, 100, 1) + task(0, 8, 120, 1) + task(1, 9, 130, 1));
  folder_.write("hwts.log.data.45.dev.profiler_default_tag.2.slice_1", task(1, 7, 150, 1) + "cut");
  folder_.write("Framework.host.vm.task_desc_info.2.slice_0", "Default/Add-op1 32 7 1\nbroken\n");
  const auto track = [](uint8_t report, uint16_t tag, uint64_t count) {
    return bytes_of(uint8_t{0}) + bytes_of(report) + bytes_of(uint16_t{40}) +
           bytes_of(uint32_t{0}) + bytes_of(count) + bytes_of(uint64_t{1}) + bytes_of(uint64_t{1}) +
           bytes_of(uint16_t{3}) + bytes_of(uint16_t{0}) + bytes_of(tag) + bytes_of(uint16_t{0});
  };
  folder_.write("ts_track.data.2.slice_0", track(10, 0, 80) + track(10, 2, 90) + track(3, 4, 95) +
                                               track(10, 10000, 100) + track(10, 10001, 110) +
                                               track(10, 3, 120) + track(10, 4, 140));
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->texts(Table::kKernels, "name"), std::vector<std::string>{"Default/Add-op1"});
  EXPECT_EQ(rank->integers(Table::kKernels, "ts"), std::vector<int64_t>{1000});
  EXPECT_EQ(rank->integers(Table::kKernels, "dur"), std::vector<int64_t>{500});
  EXPECT_EQ(rank->integers(Table::kKernels, "device"), std::vector<int64_t>{2});
  EXPECT_EQ(rank->integers(Table::kSteps, "ts"), std::vector<int64_t>{900});
  EXPECT_EQ(rank->integers(Table::kSteps, "dur"), std::vector<int64_t>{500});
  EXPECT_EQ(rank->rows(Table::kCommunications), 1u);
  EXPECT_EQ(rank->quality("end_without_begin"), 1);
  EXPECT_EQ(rank->quality("unfinished_operation"), 1);
  EXPECT_EQ(rank->quality("truncated_input"), 1);
  EXPECT_EQ(rank->quality("unparsable_event"), 1);
}

TEST_F(Mindinsight, BinaryAiCpuRecords) {
  std::string record = bytes_of(uint16_t{0x5A5A}) + bytes_of(uint16_t{0}) + bytes_of(uint16_t{4}) +
                       bytes_of(uint16_t{9}) + bytes_of(uint64_t{1000}) + std::string(32, '\0') +
                       bytes_of(uint64_t{1250});
  record.resize(108);
  record += bytes_of(uint32_t{20}) + bytes_of(uint32_t{300});
  record.resize(128);
  std::string uncounted = record;
  const auto task = bytes_of(uint16_t{25000});
  uncounted.replace(6, 2, task);
  folder_.write("DATA_PREPROCESS.dev.AICPU.0.slice_0", record + uncounted + record.substr(0, 50));
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->source_integers("aicpu_raw", "total_time_us"), std::vector<int64_t>{300});
  EXPECT_EQ(rank->source_integers("aicpu_raw", "dispatch_time_us"), std::vector<int64_t>{20});
  EXPECT_EQ(rank->integers(Table::kKernels, "dur"), std::vector<int64_t>{250'000});
  EXPECT_EQ(rank->quality("truncated_input"), 1);
}

TEST_F(Mindinsight, GpuFolder) {
  folder_.write("gpu_op_detail_info_1.csv",
                "op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us)\n"
                "Device,Add,Add-op1,Default/Add-op1,2,10\n");
  folder_.write("gpu_op_execute_timestamp_1.txt", "Default/Add-op1;GpuOps;1000,2.5 5000,3\n");
  folder_.write("activity_execute_timestamp_1.txt",
                "void k<int; 3>(float*);7;1100;1.5\nbroken;7;x;1\n");
  folder_.write("minddata_getnext_profiling_1.txt",
                "node_name start_time end_time queue_size\nGetNext 100 250 3\nGetNext 1\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->texts(Table::kRanks, "device_kind")[0], "NVIDIA GPU");
  EXPECT_EQ(rank->integers(Table::kOps, "dur"), (std::vector<int64_t>{2500, 3000}));
  EXPECT_EQ(rank->texts(Table::kKernels, "name"),
            std::vector<std::string>{"void k<int; 3>(float*)"});
  EXPECT_EQ(rank->integers(Table::kKernels, "dur"), std::vector<int64_t>{1500});
  EXPECT_EQ(rank->integers(Table::kQueues, "fetch"), std::vector<int64_t>{150});
  EXPECT_EQ(rank->quality("unparsable_event"), 2);
  EXPECT_EQ(rank->source_rows("gpu_op_detail_info"), 1u);
}

TEST_F(Mindinsight, ExecutionsWithShapesOfBothGenerations) {
  folder_.write("framework_raw_0.csv",
                "task_id,stream_id,block_dim,full_op_name,op_name,op_type,subgraph,op_info\n"
                "1,2,3,Default/Add-op1,Add-op1,AddV2,Default,\"{\"\"input_0\"\": {\"\"format\"\": "
                "\"\"ND\"\", \"\"data_type\"\": \"\"FP32\"\", \"\"shape\"\": \"\"2,3\"\"}}\"\n"
                "1,2,3,Default/Mul-op2,Mul-op2,Mul,Default,not json\n");
  folder_.write("output_timeline_data_0.txt",
                "kernel_name, stream_id, start_time(us), duration(ms)\n"
                "Default/Add-op1,5,10.5,0.002\nDefault/Mul-op2,5,20,x\n");
  folder_.write("aicpu_intermediate_0.csv",
                "serial_number,kernel_type,total_time,dispatch_time,execution_time,run_start,"
                "run_end\n2,GetNext,0.888,0.132,0.22,100,320\n");
  folder_.write("minddata_aicpu_0.txt", "GetNext_dequeue_wait 105 106 3\n");
  folder_.write("memory_usage_0.pb", "binary");
  folder_.write("notes.txt", "mine");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->texts(Table::kKernels, "name"),
            (std::vector<std::string>{"Default/Add-op1", "GetNext"}));
  EXPECT_EQ(rank->integers(Table::kKernels, "ts"), (std::vector<int64_t>{10'500, 100'000}));
  EXPECT_EQ(rank->integers(Table::kKernels, "dur"), (std::vector<int64_t>{2000, 220'000}));
  EXPECT_EQ(rank->texts(Table::kKernels, "op_type")[0], "AddV2");
  EXPECT_EQ(rank->texts(Table::kKernels, "input_shapes")[0], "[[2,3]]");
  EXPECT_EQ(rank->texts(Table::kKernels, "type")[1], "AI_CPU");
  EXPECT_EQ(rank->integers(Table::kQueues, "ts"), std::vector<int64_t>{105'000});
  EXPECT_EQ(rank->quality("ignored_file"), 1);
  EXPECT_EQ(rank->quality("unparsable_event"), 3);  // op_info, the time, the memory plan
}

TEST_F(Mindinsight, CutTimelineGivesWayToTheCompleteList) {
  folder_.write("ascend_timeline_display_0.json",
                R"([{"name":"Add-op1","ph":"X","tid":"5","ts":0.0,"dur":2.0,"pid":0},
                    {"name":"stream_5_parallel_0","ph":"X","tid":5,"ts":1.0,"dur":1,"pid":10000}])");
  folder_.write("min_cycle_counter_0.txt", "100.0\n");
  folder_.write("output_timeline_data_0.txt",
                "op_name, stream_id, start_time(ms), duration(ms)\n"
                "Default/Add-op1,5,0.001,0.002\nDefault/Add-op1,5,0.004,0.002\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->integers(Table::kKernels, "ts"), (std::vector<int64_t>{1000, 4000}));
  EXPECT_EQ(rank->integers(Table::kCommunications, "ts"), std::vector<int64_t>{2000});
  EXPECT_EQ(rank->rows(Table::kSlices), 3u);
}

TEST_F(Mindinsight, FilesOfAFolderAreNoTracesOfTheirOwn) {
  folder_.write("ascend_timeline_display_0.json",
                R"([{"name":"Add-op1","ph":"X","tid":"5","ts":0.0,"dur":2.0,"pid":0}])");
  folder_.write("PROF_1/device_0/empty", "");
  const auto sources = discover({folder_.path()}, "");
  ASSERT_TRUE(sources.ok()) << sources.error().message();
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_EQ(sources->front().chosen.importer->name(), "mindinsight");
  // Named on its own, the same file is a Chrome trace.
  const auto alone = discover({folder_.path() + "/ascend_timeline_display_0.json"}, "");
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->front().chosen.importer->name(), "kineto");
}

TEST_F(Mindinsight, FoldersInsideAreReadOrNamed) {
  folder_.write("aicore_intermediate_0_type.csv", "op_type,execution_time\nAdd,1\n");
  folder_.write("output_format_data_hwts_0.txt", "title\n");
  folder_.write("msadvisor/device_0/recommendation/a.json", R"({"model": {"old": 1}})");
  folder_.write("msadvisor/device_0/recommendation/b.json", R"({"model": {"AICPUModel": 2}})");
  folder_.write("msadvisor/device_1/recommendation/c.json", "{}");
  folder_.write("host_info/host_info_0.csv", "tid,event\n1,a\n");
  folder_.write("hccl_info/none", "");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_TRUE(rank->has_source_table("msadvisor"));
  EXPECT_EQ(rank->rows_of_role("msadvisor"), 1);
  // The dump of tasks, the earlier advice, a file among the transfers, the folder of the host.
  EXPECT_EQ(rank->quality("ignored_file"), 4);
  const auto examples = rank->texts(Table::kQuality, "example");
  EXPECT_TRUE(std::any_of(examples.begin(), examples.end(), [](const std::string& text) {
    return text.find("output_format_data_hwts_0.txt") != std::string::npos;
  }));
}

TEST_F(Mindinsight, BrokenFilesLeaveTheOthers) {
  folder_.write("step_trace_raw_0_detail_time.csv", "");
  folder_.write("flops_summary_0.json", "{\"FLOPs\": ");
  folder_.write("ascend_timeline_display_0.json", "not json");
  folder_.write("aicore_intermediate_0_type.csv", "op_type,execution_time\nAdd\nMul,1,2,3\n");
  const auto rank = import();
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->quality("unreadable_file"), 3);
  EXPECT_EQ(rank->quality("ragged_row"), 2);
  EXPECT_EQ(rank->source_rows("aicore_type"), 2u);
}

TEST_F(Mindinsight, NothingUsefulIsAnError) {
  folder_.write("step_trace_raw_0_detail_time.csv", "");
  const auto candidates = find_candidates(importer_, folder_.path());
  ASSERT_EQ(candidates.size(), 1u);
  RankBuilder builder;
  Progress progress;
  const Status status = importer_.import(candidates[0], {progress}, builder);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kBadInput);
  EXPECT_FALSE(status.error().remedy.empty());
}

}  // namespace
}  // namespace stepscope
