// The forms that files of Ascend recordings have by who recorded them: MindSpore, torch_npu, or
// CANN's msprof alone. No real recording of MindSpore on an NPU is at hand; these are made by its
// documented formats.

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "deliverables/chrome_trace.h"
#include "deliverables/profiler_output.h"
#include "json/json_tree.h"
#include "tests/support/chrome_format.h"
#include "tests/support/csv_rows.h"
#include "tests/support/file_text.h"
#include "tests/support/imported_run.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::file_text;
using testing::read_csv;
using Csv = testing::CsvRows;
using Columns = std::vector<std::string>;

constexpr int64_t kStartUs = 1'704'164'645'000'000;
constexpr const char* kRun = "run/node_7_20240102030405678_ascend_ms";

std::string us(int64_t after) { return std::to_string(kStartUs + after) + ".000"; }

// A timeline, event by event.
class Timeline {
 public:
  Timeline& process(int pid, const std::string& name) {
    return add({{"ph", "M"},
                {"name", "process_name"},
                {"pid", pid},
                {"tid", 0},
                {"args", {{"name", name}}}});
  }
  Timeline& thread(int pid, int tid, const std::string& name) {
    return add({{"ph", "M"},
                {"name", "thread_name"},
                {"pid", pid},
                {"tid", tid},
                {"args", {{"name", name}}}});
  }
  Timeline& slice(int pid, int tid, const std::string& name, int64_t start, int64_t length,
                  json args = json::object()) {
    return add({{"ph", "X"},
                {"name", name},
                {"pid", pid},
                {"tid", tid},
                {"ts", us(start)},
                {"dur", length},
                {"args", std::move(args)}});
  }
  Timeline& arrow(int from_pid, int from_tid, int64_t from, int to_pid, int to_tid, int64_t to) {
    add({{"ph", "s"},
         {"name", "mindspore_to_npu"},
         {"cat", "async_npu"},
         {"id", us(to)},
         {"pid", from_pid},
         {"tid", from_tid},
         {"ts", us(from)}});
    return add({{"ph", "f"},
                {"name", "mindspore_to_npu"},
                {"cat", "async_npu"},
                {"id", us(to)},
                {"bp", "e"},
                {"pid", to_pid},
                {"tid", to_tid},
                {"ts", us(to)}});
  }
  std::string text() const { return write_json(events_); }

 private:
  Timeline& add(json event) {
    events_.push_back(std::move(event));
    return *this;
  }
  json events_ = json::array();
};

constexpr int kHost = 1;
constexpr int kDevice = 70;
constexpr int kHccl = 80;

// Two steps of 1000 us, and what comes after them. In the first a MatMul and an all-reduce, in the
// second an Add, which no timeline's args say the launch of, and a send.
Timeline training() {
  Timeline timeline;
  timeline.process(kHost, "MindSpore").thread(kHost, 11, "Thread 11");
  timeline.process(kDevice, "Ascend Hardware").thread(kDevice, 2, "Stream 2");
  timeline.slice(kHost, 11, "ProfilerStep#3", 0, 1000)
      .slice(kHost, 11, "ProfilerStep#4", 1000, 1000);
  timeline.slice(kHost, 11, "PynativeFramework::PyNativeLaunchTask::MatMul", 100, 10);
  timeline.slice(kHost, 11, "Kernel::KernelLaunch::Add", 990, 5);
  const json core = {{"Task Type", "AI_CORE"}, {"Model Id", 4294967295}, {"Task Id", 1}};
  json launched = core;
  launched["mindspore_op"] = "PynativeFramework::PyNativeLaunchTask::MatMul";
  timeline.slice(kDevice, 2, "MatMul_1", 200, 100, launched);
  timeline.slice(kDevice, 2, "Add_2", 1200, 100, core);
  timeline.slice(kDevice, 2, "Cast_3", 2500, 100, core);
  timeline.arrow(kHost, 11, 100, kDevice, 2, 200).arrow(kHost, 11, 990, kDevice, 2, 1200);
  return timeline;
}

Timeline with_collectives() {
  Timeline timeline = training();
  timeline.process(kHccl, "HCCL").thread(kHccl, 0, "Group 0 Communication");
  timeline.thread(kHccl, 1, "Plane 0");
  const auto operation = [&](const std::string& name, int64_t start) {
    timeline.slice(kHccl, 0, name, start, 50);
    timeline.slice(kHccl, 1, "Notify_Wait", start, 10,
                   {{"task type", "Notify_Wait"}, {"src rank", 0}, {"dst rank", 1}});
    timeline.slice(kHccl, 1, "Memcpy", start + 10, 20,
                   {{"task type", "Memcpy"},
                    {"src rank", 0},
                    {"dst rank", 1},
                    {"transport type", "SDMA"},
                    {"size(Byte)", 2'000'000},
                    {"link type", "HCCS"}});
  };
  operation("hcom_allReduce__1_0_1", 400);
  operation("hcom_send__1_1_1", 1400);
  operation("hcom_batchSendRecv__1_2_1", 1600);
  operation("hcom_allReduce__1_3_1", 2700);
  return timeline;
}

class AscendForms : public ::testing::Test {
 protected:
  void write_info(const std::string& level, const std::string& jit_level = "O0",
                  const std::string& run = kRun) const {
    folder_.write(run + "/profiler_info_0.json",
                  R"({"profiler_parameters": {"profiler_level": ")" + level +
                      R"("}, "jit_level": ")" + jit_level +
                      R"(", "ms_profiler_info": {"rank_id": "0", "device_id": "0"}})");
  }
  void write_timeline(const Timeline& timeline, const std::string& run = kRun) const {
    folder_.write(run + "/ASCEND_PROFILER_OUTPUT/trace_view.json", timeline.text());
  }
  ProfilerOutput analyse(const std::vector<int64_t>& steps = {}) {
    const testing::ImportedRun run(folder_.path("run"));
    EXPECT_TRUE(run.ok()) << run.error();
    if (!run.ok()) return {};
    RunAnalyses analyses(run.shared_store(), {});
    ProfilerOutputOptions options;
    options.steps = steps;
    auto written = write_profiler_output(analyses, analyses.ranks()[0], out(), options);
    EXPECT_TRUE(written.ok());
    return written.ok() ? *written : ProfilerOutput{};
  }
  std::string out(const std::string& file = "") const {
    return folder_.path("out") + (file.empty() ? "" : "/" + file);
  }
  Columns column(const std::string& file, const std::string& name) const {
    Columns cells;
    for (const auto& row : read_csv(out(file)).rows) cells.push_back(row.at(name));
    return cells;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(AscendForms, KernelsOfMindSpore) {
  write_info("Level1");
  write_timeline(training());
  analyse();
  EXPECT_EQ(column("kernel_details.csv", "Name"),
            (Columns{"PynativeFramework::PyNativeLaunchTask::MatMul/MatMul_1",
                     "Kernel::KernelLaunch::Add/Add_2", "Cast_3"}));
  // Of the launch, and of the kernel's own start where that is not known.
  EXPECT_EQ(column("kernel_details.csv", "Step ID"), (Columns{"3", "3", ""}));
  const auto errors = testing::ChromeFormat::errors(json_tree(file_text(out("trace_view.json"))));
  EXPECT_TRUE(errors.empty()) << write_json(json(errors));
  analyse({3});
  EXPECT_EQ(column("kernel_details.csv", "Step ID"), (Columns{"3", "3"}));
}

TEST_F(AscendForms, KernelsOfMindSporeAtLevel0) {
  write_info("Level0");
  write_timeline(training());
  analyse();
  EXPECT_EQ(read_csv(out("kernel_details.csv")).header,
            (Columns{"Step ID", "Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State",
                     "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)",
                     "Block Dim"}));
  EXPECT_EQ(column("kernel_details.csv", "Accelerator Core"), (Columns{"N/A", "N/A", "N/A"}));
}

TEST_F(AscendForms, AGraphThatIsSunkHasNoStepNumbers) {
  write_info("Level1", "O2");
  write_timeline(with_collectives());
  analyse();
  EXPECT_EQ(read_csv(out("kernel_details.csv")).header.front(), "Model ID");
  const json times = json_tree(file_text(out("communication.json")));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times["step0"]["collective"].size(), 4u);  // three operators and their sum
  // The marks still divide the time.
  EXPECT_EQ(column("step_trace_time.csv", "Step"), (Columns{"3", "4"}));
}

TEST_F(AscendForms, CommunicationOfMindSpore) {
  write_info("Level1");
  write_timeline(with_collectives());
  analyse();
  const json times = json_tree(file_text(out("communication.json")));
  ASSERT_EQ(times.size(), 2u) << write_json(times);
  EXPECT_TRUE(times["step3"]["collective"].contains("hcom_allReduce__1_0_1@Group 0"));
  EXPECT_TRUE(times["step3"]["p2p"].empty());
  // Told by Send and Receive as they are spelled; what starts in no step is left out.
  EXPECT_TRUE(times["step4"]["collective"].contains("hcom_send__1_1_1@Group 0"));
  EXPECT_TRUE(times["step4"]["p2p"].contains("hcom_batchSendRecv__1_2_1@Group 0"));
  EXPECT_EQ(times["step4"]["collective"].size(), 2u);
  const json& sum = times["step3"]["collective"]["Total Op Info"];
  EXPECT_EQ(sum["Communication Time Info"]["Transit Time(ms)"], 0.02);
  EXPECT_FALSE(sum["Communication Bandwidth Info"]["HCCS"].contains("Bandwidth(GB/s)"));
  const json matrix = json_tree(file_text(out("communication_matrix.json")));
  const json& collective = matrix["step3"]["collective"];
  for (const char* place : {"top1", "middle", "bottom1", "bottom2", "bottom3"}) {
    const std::string key = "allreduce-" + std::string(place) + "@Group 0";
    ASSERT_TRUE(collective.contains(key)) << write_json(matrix);
    EXPECT_EQ(collective[key]["0-1"]["op_name"], "hcom_allReduce__1_0_1");
    EXPECT_EQ(collective[key]["0-1"]["Bandwidth(GB/s)"], 100.0);
  }
  EXPECT_EQ(collective["allreduce-total@Group 0"]["0-1"].size(), 4u);
  EXPECT_TRUE(matrix["step4"]["p2p"].contains("send-top1@Group 0"));
}

TEST_F(AscendForms, CommunicationOfTorch) {
  const std::string run = "run/node_7_20240102030405678_ascend_pt";
  write_timeline(with_collectives(), run);
  write_info("Level1", "O0", run);
  analyse();
  const json matrix = json_tree(file_text(out("communication_matrix.json")));
  EXPECT_TRUE(matrix["step4"]["p2p"].contains("send-top1@Group 0")) << write_json(matrix);
  EXPECT_TRUE(matrix["step4"]["p2p"].contains("batchsendrecv-top1@Group 0"));
  const json& collective = matrix["step3"]["collective"];
  EXPECT_FALSE(collective.contains("allreduce-bottom2@Group 0"));
  EXPECT_EQ(collective["allreduce-top1@Group 0"]["0-1"]["Op Name"], "hcom_allReduce__1_0_1");
  EXPECT_EQ(column("kernel_details.csv", "Name")[0], "MatMul_1");
}

TEST_F(AscendForms, StepTimesOfMindSpore) {
  write_info("Level1");
  write_timeline(training());
  analyse();
  EXPECT_EQ(column("step_trace_time.csv", "Step"), (Columns{"3", "4"}));
  EXPECT_EQ(column("step_trace_time.csv", "Computing"), (Columns{"100.000", "100.000"}));
  // Cut at the ends of the steps: 300..1000, and 1000..1200 with 1300..2000.
  EXPECT_EQ(column("step_trace_time.csv", "Free"), (Columns{"700.000", "900.000"}));
  EXPECT_EQ(column("step_trace_time.csv", "Stage"), (Columns{"0.000", "0.000"}));
  EXPECT_EQ(column("step_trace_time.csv", "Preparing"), (Columns{"200.000", "200.000"}));
}

// What `msprof` exports, in a run of MindSpore.
class Msprof : public AscendForms {
 protected:
  void write(const std::string& name, const std::string& text) const {
    folder_.write(std::string(kRun) + "/PROF_000001_20240102030405_ABC/" + name, text);
  }
  void write_export() const {
    Timeline timeline;
    timeline.process(kDevice, "Ascend Hardware").thread(kDevice, 2, "Stream 2");
    timeline.slice(kDevice, 2, "MatMul_1", 200, 100, {{"Task Type", "AI_CORE"}});
    write("mindstudio_profiler_output/msprof_20240102030405.json", timeline.text());
    write("mindstudio_profiler_output/memory_record_20240102030405.csv",
          "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device\n"
          "0,GE," +
              us(1) + "\t,1000,2000,NPU:0\n0,GE," + us(3) + "\t,500,2000,NPU:0\n");
    write("mindstudio_profiler_output/operator_memory_20240102030405.csv",
          "Device_id,Name,Size(KB),Allocation Time(us),Duration(us),"
          "Allocation Total Allocated(KB),Allocation Total Reserved(KB),"
          "Release Total Allocated(KB),Release Total Reserved(KB),Device\n"
          "0,MatMul_1,64," +
              us(1) +
              "\t,2.5,2048,4096,1024,4096,NPU:0\n"
              "0,Add_1,32," +
              us(2) + "\t,N/A,2048,4096,N/A,N/A,NPU:0\n");
    write("mindstudio_profiler_output/npu_mem_20240102030405.csv",
          "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n"
          "0,app,0,3000,3000," +
              us(2) + "\t\n0,device,0,9000,9000," + us(2) + "\t\n");
    write("mindstudio_profiler_output/aicpu_20240102030405.csv",
          "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),"
          "Dispatch_time(us),Total_time(us),Stream ID,Task ID\n"
          "0," +
              us(5) + "\t,Cast,1,2,3,4,5,2,9\n");
  }
};

TEST_F(Msprof, MemoryIsInMegabytes) {
  write_export();
  analyse();
  const Csv record = read_csv(out("memory_record.csv"));
  EXPECT_EQ(record.header, (Columns{"Component", "Timestamp(us)", "Total Allocated(MB)",
                                    "Total Reserved(MB)", "Total Active(MB)", "Device Type"}));
  EXPECT_EQ(column("memory_record.csv", "Component"),
            (Columns{"GE", "MindSpore+GE", "GE", "MindSpore+GE", "APP"}));
  EXPECT_EQ(column("memory_record.csv", "Total Allocated(MB)"),
            (Columns{"1", "1", "0.5", "0.5", ""}));
  EXPECT_EQ(column("memory_record.csv", "Total Reserved(MB)"), (Columns{"2", "2", "2", "2", "3"}));
  EXPECT_EQ(column("memory_record.csv", "Total Active(MB)"), (Columns{"0", "0", "0", "0", ""}));
  EXPECT_EQ(record.rows[0].at("Device Type"), "NPU:0");
  EXPECT_TRUE(record.rows[0].at("Timestamp(us)").starts_with(us(1)));

  const Csv operators = read_csv(out("operator_memory.csv"));
  ASSERT_EQ(operators.header.size(), 15u);
  ASSERT_EQ(operators.rows.size(), 2u);
  EXPECT_EQ(operators.rows[1].at("Release Time(us)"), "N/A");  // still there at the end
  const auto& row = operators.rows[0];
  EXPECT_EQ(row.at("Name"), "MatMul_1");
  EXPECT_EQ(row.at("Size(KB)"), "64");
  EXPECT_EQ(row.at("Duration(us)"), "2.500");
  EXPECT_EQ(row.at("Active Duration(us)"), "N/A");
  EXPECT_EQ(row.at("Allocation Total Allocated(MB)"), "2");
  EXPECT_EQ(row.at("Allocation Total Active(MB)"), "2");
  EXPECT_EQ(row.at("Release Total Allocated(MB)"), "1");
  EXPECT_EQ(row.at("Release Total Reserved(MB)"), "4");
  EXPECT_EQ(row.at("Device Type"), "NPU:0");
}

TEST_F(Msprof, OtherFilesUnderTheNamesOfTheFramework) {
  write_export();
  write("msprof_20240102030405.db", "a database");
  write("analyze/communication_analyzer.db", "another");
  const ProfilerOutput output = analyse();
  EXPECT_EQ(column("data_preprocess.csv", "Node"), (Columns{"Cast"}));
  EXPECT_EQ(read_csv(out("data_preprocess.csv")).header.front(), "Device_id");
  EXPECT_EQ(file_text(out("ascend_mindspore_profiler_0.db")), "a database");
  EXPECT_EQ(file_text(out("communication_analyzer.db")), "another");
  EXPECT_NE(std::ranges::find(output.files, "communication_analyzer.db"), output.files.end());
}

TEST_F(Msprof, WithoutMarksAllTimeIsStepZero) {
  write_export();
  analyse();
  EXPECT_EQ(column("step_trace_time.csv", "Step"), (Columns{"0"}));
  EXPECT_EQ(column("step_trace_time.csv", "Stage"), (Columns{"0.000"}));
  EXPECT_EQ(read_csv(out("kernel_details.csv")).header.front(), "Model ID");
}

void add_sample(RankBuilder& rank, std::string_view component, int64_t ts_ns, int64_t kilobytes) {
  MemoryRecord sample;
  sample.ts_ns = ts_ns;
  sample.component = rank.strings.intern(component);
  sample.total_allocated = kilobytes * 1024;
  sample.total_reserved = 2 * kilobytes * 1024;
  sample.device_kind = rank.strings.intern(component == "GE" ? "NPU" : "CPU");
  sample.device = component == "GE" ? 5 : -1;
  rank.memory.push_back(sample);
}

TEST(MindSporeMemory, EachSampleIsFollowedByTheSum) {
  const testing::TemporaryFolder folder;
  testing::MadeRun run;
  run.rank.info.rank = 3;
  run.rank.info.source_format = "native";
  run.rank.info.device_kind = "Ascend NPU";
  add_sample(run.rank, "MindSpore", 1000, 4000);
  add_sample(run.rank, "GE", 2000, 1000);
  add_sample(run.rank, "MindSpore", 3000, 6000);
  ASSERT_TRUE(
      write_profiler_output(run.analyses(), run.analyses().ranks()[0], folder.path("out"), {}));
  const Csv record = read_csv(folder.path("out") + "/memory_record.csv");
  const std::vector<std::array<std::string, 3>> expected = {
      {"MindSpore", "4", "NPU:3"}, {"MindSpore+GE", "4", "NPU:3"},
      {"GE", "1", "NPU:5"},        {"MindSpore+GE", "5", "NPU:5"},
      {"MindSpore", "6", "NPU:3"}, {"MindSpore+GE", "7", "NPU:3"}};
  ASSERT_EQ(record.rows.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(record.rows[i].at("Component"), expected[i][0]) << i;
    EXPECT_EQ(record.rows[i].at("Total Allocated(MB)"), expected[i][1]) << i;
    EXPECT_EQ(record.rows[i].at("Device Type"), expected[i][2]) << i;
  }
}

// The transfers of collectives stay transfers, and kernels keep the types that only the table
// knows.
TEST_F(AscendForms, AChromeExportIsReadAgainAsTheSameRecording) {
  write_info("Level1");
  write_timeline(with_collectives());
  folder_.write(std::string(kRun) + "/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
                "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
                "MatMul_1,MatMul,AI_VECTOR_CORE," +
                    us(200) +
                    ",100\n"
                    "Add_2,Add,MIX_AIV," +
                    us(1200) +
                    ",100\n"
                    "Cast_3,Cast,AI_CORE," +
                    us(2500) +
                    ",100\n"
                    "hcom_allReduce__1_0_1,hcom_allReduce_,HCCL," +
                    us(400) + ",50\n");
  const testing::ImportedRun run(folder_.path("run"));
  ASSERT_TRUE(run.ok()) << run.error();
  std::string text;
  const auto written = write_chrome_trace(run.store(), 0, {}, [&](std::string_view part) {
    text += part;
    return Status();
  });
  ASSERT_TRUE(written.ok());
  const testing::ImportedRun again(folder_.write("exported.json", text));
  ASSERT_TRUE(again.ok()) << again.error();
  const Columns types = {"AI_VECTOR_CORE", "MIX_AIV", "AI_CORE", "HCCL"};
  for (const std::string& type : types) {
    const auto all = run.texts("kernels", "type");
    EXPECT_NE(std::find(all.begin(), all.end(), type), all.end()) << type;
  }
  for (const auto& [table, column] : {std::pair{"kernels", "name"},
                                      {"kernels", "type"},
                                      {"kernels", "class"},
                                      {"communications", "name"},
                                      {"communications", "level"},
                                      {"communications", "op"},
                                      {"communications", "transport"},
                                      {"communications", "link"}}) {
    EXPECT_EQ(again.texts(table, column), run.texts(table, column)) << table << "." << column;
  }
}

}  // namespace
}  // namespace stepscope
