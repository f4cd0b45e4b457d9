// The files of ASCEND_PROFILER_OUTPUT of real recordings, whose own files are the expectation.
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/decimal.h"
#include "deliverables/profiler_output.h"
#include "json/json_tree.h"
#include "tests/support/chrome_format.h"
#include "tests/support/csv_rows.h"
#include "tests/support/file_text.h"
#include "tests/support/imported_run.h"

namespace stepscope {
namespace {

using nlohmann::json;
using testing::file_text;
using testing::read_csv;
using Csv = testing::CsvRows;

double number(const std::string& text) { return std::stod(text); }

// A real recording, analysed into a folder, beside the files that came with it.
class RealOutput : public ::testing::Test {
 protected:
  bool analyse(const std::string& inside, size_t position = 0) {
    if (testing::shared_data().empty()) return false;
    inside_ = inside;
    position_ = position;
    run_ = std::make_unique<testing::ImportedRun>(testing::shared_data() + "/" + inside);
    EXPECT_TRUE(run_->ok()) << run_->error();
    if (!run_->ok()) return true;
    store_ = std::shared_ptr<const StoreReader>(&run_->store(), [](const StoreReader*) {});
    RunAnalyses analyses(store_, {});
    auto output = write_profiler_output(analyses, analyses.ranks()[position], out(), {});
    EXPECT_TRUE(output.ok()) << output.error().message();
    if (output.ok()) output_ = *output;
    return true;
  }
  std::string out() const { return folder_.path("out"); }
  std::string shipped(const std::string& file) const {
    return testing::shared_data() + "/" + inside_ + "/rank" + std::to_string(position_) +
           "_ascend_pt/ASCEND_PROFILER_OUTPUT/" + file;
  }

  testing::TemporaryFolder folder_;
  std::string inside_;
  size_t position_ = 0;
  std::unique_ptr<testing::ImportedRun> run_;
  std::shared_ptr<const StoreReader> store_;
  ProfilerOutput output_;
};

using Recording = std::pair<const char*, size_t>;  // folder and rank
std::string recording_name(const ::testing::TestParamInfo<Recording>& info) {
  return std::string(info.param.first) + "Rank" + std::to_string(info.param.second);
}

// Both ranks of the recordings of torch_npu, whose files are there.
class ShippedOutput : public RealOutput, public ::testing::WithParamInterface<Recording> {
 protected:
  bool analyse_recording() {
    return analyse("ascend/msinsight/text/" + std::string(GetParam().first), GetParam().second);
  }
};
// Level0 has neither statistics nor transfers.
class ShippedLevel1 : public ShippedOutput {};
INSTANTIATE_TEST_SUITE_P(Real, ShippedOutput,
                         ::testing::Values(Recording("level1", 0), Recording("level1", 1),
                                           Recording("level0", 0), Recording("level0", 1)),
                         recording_name);
INSTANTIATE_TEST_SUITE_P(Real, ShippedLevel1,
                         ::testing::Values(Recording("level1", 0), Recording("level1", 1)),
                         recording_name);

TEST_P(ShippedOutput, KernelDetailsEqualTheShippedFile) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  const Csv ours = read_csv(out() + "/kernel_details.csv");
  const Csv theirs = read_csv(shipped("kernel_details.csv"));
  ASSERT_EQ(ours.rows.size(), theirs.rows.size());
  ASSERT_EQ(ours.header.size(), theirs.header.size());
  for (size_t i = 1; i < theirs.header.size(); ++i) EXPECT_EQ(ours.header[i], theirs.header[i]);
  for (size_t i = 0; i < ours.rows.size(); ++i) {
    for (const std::string& column : theirs.header) {
      const std::string& expected = theirs.rows[i].at(column);
      const std::string& got = ours.rows[i].at(column == "Step Id" ? "Step ID" : column);
      if (column.find("Time(us)") != std::string::npos || column == "Duration(us)") {
        // The timeline has fractions of ns; the table cuts them.
        EXPECT_NEAR(number(got), number(expected), 0.0011) << i << " " << column;
      } else if (column == "Accelerator Core" && expected == "HCCL") {
        EXPECT_EQ(got, "HCCL");
      } else if (got != expected) {
        char* end = nullptr;
        EXPECT_DOUBLE_EQ(std::strtod(got.c_str(), &end), std::strtod(expected.c_str(), nullptr))
            << i << " " << column << ": " << got << ", not " << expected;
        EXPECT_NE(end, got.c_str()) << i << " " << column << ": " << got << ", not " << expected;
      }
    }
  }
}

TEST_P(ShippedLevel1, StatisticsEqualTheShippedFiles) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  const auto compare = [&](const std::string& file, const std::vector<std::string>& keys,
                           const std::map<std::string, double>& tolerances) {
    const Csv ours = read_csv(out() + "/" + file);
    const Csv theirs = read_csv(shipped(file));
    EXPECT_EQ(ours.rows.size(), theirs.rows.size()) << file;
    const auto key_of = [&](const auto& row) {
      std::string key;
      for (const std::string& name : keys) key += row.at(name) + "|";
      return key;
    };
    std::map<std::string, std::map<std::string, std::string>> by_key;
    for (const auto& row : ours.rows) by_key[key_of(row)] = row;
    for (const auto& row : theirs.rows) {
      ASSERT_TRUE(by_key.contains(key_of(row))) << file << " " << key_of(row);
      const auto& own = by_key[key_of(row)];
      for (const auto& [column, tolerance] : tolerances) {
        EXPECT_NEAR(number(own.at(column)), number(row.at(column)), tolerance)
            << file << " " << key_of(row) << column;
      }
    }
  };
  compare("op_statistic.csv", {"OP Type", "Core Type"},
          {{"Count", 0},
           {"Total Time(us)", 0.06},
           {"Min Time(us)", 0.0011},
           {"Avg Time(us)", 0.0011},
           {"Max Time(us)", 0.0011},
           {"Ratio(%)", 0.0011}});
  compare("api_statistic.csv", {"Level", "API Name"},
          {{"Count", 0},
           {"Time(us)", 0.001},
           {"Min(us)", 0.001},
           {"Avg(us)", 0.0011},
           {"Max(us)", 0.001},
           {"Variance", 0.0011}});
}

TEST_P(ShippedOutput, StepTimesEqualTheShippedFile) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  const Csv ours = read_csv(out() + "/step_trace_time.csv");
  const Csv theirs = read_csv(shipped("step_trace_time.csv"));
  EXPECT_EQ(ours.header, theirs.header);
  ASSERT_EQ(ours.rows.size(), 1u);
  for (const auto& [column, expected] : theirs.rows[0]) {
    // Theirs are floats of microseconds since 1970, which have steps of 0.25. Sums over 187 kernels
    // have the timeline's fractions of nanoseconds in them.
    const bool rough = column == "Stage" || column == "Preparing";
    EXPECT_NEAR(number(ours.rows[0].at(column)), number(expected), rough ? 0.3 : 0.05) << column;
  }
}

// Numbers of two trees of the same form, within a tolerance.
void expect_same(const json& ours, const json& theirs, double tolerance, const std::string& place) {
  if (theirs.is_object()) {
    ASSERT_TRUE(ours.is_object()) << place;
    EXPECT_EQ(ours.size(), theirs.size()) << place;
    for (const auto& [key, value] : theirs.items()) {
      ASSERT_TRUE(ours.contains(key)) << place << "/" << key;
      if (key == "Start Timestamp(us)") {
        EXPECT_NEAR(ours[key].get<double>(), value.get<double>(), 1) << place;
      } else {
        expect_same(ours[key], value, tolerance, place + "/" + key);
      }
    }
  } else if (theirs.is_array()) {
    ASSERT_EQ(ours.size(), theirs.size()) << place;
    for (size_t i = 0; i < theirs.size(); ++i) expect_same(ours[i], theirs[i], tolerance, place);
  } else if (theirs.is_number()) {
    const double expected = theirs.get<double>();
    EXPECT_NEAR(ours.get<double>(), expected, std::max(tolerance, std::abs(expected) * 1e-4))
        << place;
  } else {
    EXPECT_EQ(ours, theirs) << place;
  }
}

TEST_P(ShippedLevel1, CommunicationEqualsTheShippedFiles) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  for (const char* file : {"communication.json", "communication_matrix.json"}) {
    const json ours = json_tree(file_text(out() + "/" + file));
    const json theirs = json_tree(file_text(shipped(file)));
    expect_same(ours, theirs, 0.0002, file);
  }
}

TEST_P(ShippedOutput, IsReadAgainAsTheSameRecording) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  const testing::ImportedRun again(out());
  ASSERT_TRUE(again.ok()) << again.error();
  const auto first = device_intervals(*store_, position_);
  const auto second = device_intervals(again.store(), 0);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(first[0].compute, second[0].compute);
  EXPECT_EQ(first[0].communication, second[0].communication);
  EXPECT_EQ(first[0].events, second[0].events);
  for (const Table table :
       {Table::kOps, Table::kKernels, Table::kCommunications, Table::kSteps, Table::kCounters}) {
    EXPECT_EQ(again.store().rows(table, 0), store_->rows(table, position_))
        << table_spec(table).name;
  }
  for (const std::string file :
       {"memory_record", "operator_memory", "l2_cache", "npu_module_mem", "operator_details"}) {
    const Csv ours = read_csv(out() + "/" + file + ".csv");
    const Csv theirs = read_csv(shipped(file + ".csv"));
    EXPECT_EQ(ours.header, theirs.header) << file;
    EXPECT_EQ(ours.rows.size(), theirs.rows.size()) << file;
  }
}

// The recordings have arrows of their own to kernels that start before their launch.
TEST_P(ShippedOutput, TheTimelineKeepsTheRulesOfItsFormat) {
  if (!analyse_recording()) GTEST_SKIP() << "needs ../shared/data";
  const json timeline = json_tree(file_text(out() + "/trace_view.json"));
  const auto errors = testing::ChromeFormat::errors(timeline, true);
  EXPECT_TRUE(errors.empty()) << errors.size() << ", the first " << errors[0];
}

// The database form brings the results of the profiler's own analysis with it.
class ShippedDatabase : public RealOutput, public ::testing::WithParamInterface<Recording> {
 protected:
  double cell(const char* table, const char* column, uint64_t row) const {
    for (const SourceTableView& one : store_->source_tables(position_)) {
      if (one.name != table) continue;
      for (const auto& values : one.columns) {
        if (values.name != column) continue;
        const int64_t value = values.values.at(row);
        if (values.type == Type::kFloat64) return std::bit_cast<double>(value);
        if (values.type == Type::kInt64) return static_cast<double>(value);
        return number(std::string(store_->string(value)));
      }
    }
    ADD_FAILURE() << "no " << table << "." << column;
    return 0;
  }
  std::string word(const char* table, const char* column, uint64_t row) const {
    for (const SourceTableView& one : store_->source_tables(position_)) {
      if (one.name != table) continue;
      for (const auto& values : one.columns) {
        if (values.name == column) return std::string(store_->string(values.values.at(row)));
      }
    }
    return {};
  }
};
INSTANTIATE_TEST_SUITE_P(Real, ShippedDatabase,
                         ::testing::Values(Recording("level1", 0), Recording("level1", 1)),
                         recording_name);

TEST_P(ShippedDatabase, StepTimesEqualItsTable) {
  if (!analyse("ascend/msinsight/db/level1", GetParam().second))
    GTEST_SKIP() << "needs ../shared/data";
  const Csv ours = read_csv(out() + "/step_trace_time.csv");
  ASSERT_EQ(ours.rows.size(), 1u);
  const std::pair<const char*, const char*> columns[] = {
      {"Step", "step"},
      {"Computing", "computing"},
      {"Communication(Not Overlapped)", "communication_not_overlapped"},
      {"Overlapped", "overlapped"},
      {"Communication", "communication"},
      {"Free", "free"},
      {"Stage", "stage"},
      {"Bubble", "bubble"},
      {"Communication(Not Overlapped and Exclude Receive)",
       "communication_not_overlapped_and_exclude_receive"},
      {"Preparing", "preparing"}};
  // Both count whole nanoseconds.
  for (const auto& [column, theirs] : columns)
    EXPECT_NEAR(number(ours.rows[0].at(column)), cell("step_trace_time", theirs, 0), 1e-6)
        << column;
}

TEST_P(ShippedDatabase, CommunicationEqualsItsTables) {
  if (!analyse("ascend/msinsight/db/level1", GetParam().second))
    GTEST_SKIP() << "needs ../shared/data";
  const json times = json_tree(file_text(out() + "/communication.json"));
  const std::pair<const char*, const char*> columns[] = {
      {"Elapse Time(ms)", "elapse_time"},
      {"Transit Time(ms)", "transit_time"},
      {"Wait Time(ms)", "wait_time"},
      {"Synchronization Time(ms)", "synchronization_time"},
      {"Idle Time(ms)", "idle_time"}};
  for (uint64_t row = 0; row < 4; ++row) {
    const std::string name = word("comm_analyzer_time", "hccl_op_name", row) + "@" +
                             word("comm_analyzer_time", "group_name", row);
    ASSERT_TRUE(times["step50"]["collective"].contains(name)) << name;
    const json& ours = times["step50"]["collective"][name]["Communication Time Info"];
    // Theirs have fractions of nanoseconds; sums of some hundred tasks.
    for (const auto& [key, theirs] : columns)
      EXPECT_NEAR(ours[key].get<double>(), cell("comm_analyzer_time", theirs, row), 2e-4) << key;
  }
  const json matrix = json_tree(file_text(out() + "/communication_matrix.json"));
  for (uint64_t row = 0; row < 48; ++row) {
    const auto text = [&](const char* column) { return word("comm_analyzer_matrix", column, row); };
    const std::string place = text("hccl_op_name") + "@" + text("group_name");
    const std::string link = text("src_rank") + "-" + text("dst_rank");
    ASSERT_TRUE(matrix["step50"]["collective"][place].contains(link)) << place << " " << link;
    const json& ours = matrix["step50"]["collective"][place][link];
    EXPECT_NEAR(ours["Transit Size(MB)"].get<double>(),
                cell("comm_analyzer_matrix", "transit_size", row), 1e-6);
    EXPECT_NEAR(ours["Transit Time(ms)"].get<double>(),
                cell("comm_analyzer_matrix", "transit_time", row), 2e-4);
    EXPECT_EQ(ours["Transport Type"], text("transport_type"));
    EXPECT_EQ(ours.value("Op Name", ""), text("op_name"));
  }
}

TEST_F(RealOutput, MindSporeOnCpu) {
  if (!analyse("mindspore_cpu/b_graph_lenet")) GTEST_SKIP() << "needs ../shared/data";
  std::string file;
  const std::string folder = testing::shared_data() + "/mindspore_cpu/b_graph_lenet";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "trace_view.json") file = entry.path().string();
  }
  const auto operators = [](const json& events, int64_t late_ns) {
    std::multimap<std::string, std::pair<int64_t, std::string>> found;
    for (const json& event : events) {
      if (event["ph"] != "X" || event["pid"] != 2) continue;
      found.insert({event["name"],
                    {*parse_us_as_ns(event["ts"].get<std::string>()) - late_ns, event["dur"]}});
    }
    return found;
  };
  const auto ours = operators(json_tree(file_text(out() + "/trace_view.json")), 0);
  const auto theirs = operators(json_tree(file_text(file)), 37);
  EXPECT_GT(ours.size(), 100u);
  EXPECT_EQ(ours.size(), theirs.size());
  const auto errors =
      testing::ChromeFormat::errors(json_tree(file_text(out() + "/trace_view.json")));
  EXPECT_TRUE(errors.empty()) << errors.size() << ", the first " << errors[0];
}

TEST_F(RealOutput, DataPipelineOfMindSpore) {
  if (!analyse("mindspore_cpu/d_dataset_map")) GTEST_SKIP() << "needs ../shared/data";
  const Csv raw = read_csv(out() + "/minddata_pipeline_raw_0.csv");
  ASSERT_EQ(raw.rows.size(), 3u);
  EXPECT_EQ(raw.rows[1].at("op_type"), "MapOp");
  EXPECT_EQ(raw.rows[1].at("num_workers"), "2");
  EXPECT_EQ(raw.rows[1].at("output_queue_length"), "16");
  EXPECT_EQ(raw.rows[1].at("sample_interval"), "5");
  EXPECT_EQ(raw.rows[1].at("parent_id"), "0");
  EXPECT_EQ(raw.rows[1].at("children_id"), "[2]");
  EXPECT_EQ(raw.rows[0].at("parent_id"), "");
  EXPECT_TRUE(raw.rows[2].at("output_queue_size").starts_with("[16, 16, 16"));
  const json summary = json_tree(file_text(out() + "/minddata_pipeline_summary_0.json"));
  EXPECT_EQ(summary["pipeline_ops"], json({"Batch(id=0)", "Map(id=1)", "Generator(id=2)"}));
  EXPECT_EQ(summary["parent_id"], json({-1, 0, 1}));
  EXPECT_EQ(summary["queue_empty_freq_pct"][1], 100.0);
  EXPECT_EQ(summary["bottleneck_warning"], json({"Map(id=1)"}));
  // Map's queue is empty, Generator's behind it full (over 50 percentage points).
  EXPECT_EQ(summary["queue_analysis_details"],
            json({"Map(id=1): it is slower than GeneratorOp_2: raise num_parallel_workers or "
                  "prefetch_size"}));
  EXPECT_TRUE(summary["cpu_analysis_details"].is_array());
  EXPECT_NE(
      file_text(out() + "/minddata_pipeline_summary_0.csv").find("op_names,Batch,Map,Generator"),
      std::string::npos);
}

// MindSpore's own rule (a processor use under 20 % and an input queue under 10 % full) would name
// Batch in both of these, which waits for the operator that is slow.
TEST_F(RealOutput, TheSlowOperatorOfADataPipelineIsNamed) {
  if (!analyse("mindspore_cpu/d_dataset_generator")) GTEST_SKIP() << "needs ../shared/data";
  json summary = json_tree(file_text(out() + "/minddata_pipeline_summary_0.json"));
  EXPECT_EQ(summary["bottleneck_warning"], json({"Generator(id=2)"}));
  ASSERT_TRUE(analyse("mindspore_cpu/d_dataset_consumer"));
  summary = json_tree(file_text(out() + "/minddata_pipeline_summary_0.json"));
  EXPECT_EQ(summary["bottleneck_warning"], json::array());
}

TEST_F(RealOutput, StatisticsOfARunOnTheHost) {
  if (!analyse("mindspore_cpu/h_data_parallel", 1)) GTEST_SKIP() << "needs ../shared/data";
  const Csv operators = read_csv(out() + "/op_statistic.csv");
  ASSERT_FALSE(operators.rows.empty());
  EXPECT_EQ(operators.rows[0].at("OP Type"), "MatMul");
  EXPECT_EQ(operators.rows[0].at("Core Type"), "HOST_CPU");
  EXPECT_EQ(operators.rows[0].at("Count"), "32");
  EXPECT_EQ(operators.rows[0].at("Total Time(us)"), "216355.172");
  EXPECT_EQ(read_csv(out() + "/step_trace_time.csv").rows.size() > 0, true);
}

}  // namespace
}  // namespace stepscope
