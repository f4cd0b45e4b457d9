// From the recording API to the store's tables, through a real file.
#include "importers/native/native_importer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "importers/import_run.h"
#include "json/json_tree.h"
#include "stepscope/record.h"
#include "store/store_reader.h"
#include "tests/support/imported_rank.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRank;
using testing::TemporaryFolder;

uint32_t name_of(std::string_view text) { return stepscope_name(text.data(), text.size()); }

void start(const std::string& folder, int64_t rank) {
  std::filesystem::create_directories(folder);
  stepscope_options options{};
  options.size = sizeof options;
  options.rank = rank;
  ASSERT_EQ(stepscope_start(folder.c_str(), &options), 0) << stepscope_last_error();
}

ImportedRank import_only(const std::string& folder) {
  const NativeImporter importer;
  const auto found = testing::find_candidates(importer, folder);
  EXPECT_EQ(found.size(), 1u);
  return ImportedRank(importer, found.at(0));
}

void train_steps(int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) {
    stepscope_step(step);
    const Scope forward(name_of("forward"), STEPSCOPE_MODULE);
    const uint64_t start = stepscope_ticks();
    const uint64_t args = name_of(R"({"Input Dims":[[2,3],[3,4]],"Input type":["float","float"]})");
    stepscope_put(start, stepscope_ticks() - start, STEPSCOPE_OPERATOR | STEPSCOPE_VALUES,
                  name_of("aten::mm"), args, 5 + 1);
  }
}

TEST(NativeImporter, ARunBecomesTheStoresTables) {
  const TemporaryFolder folder;
  const auto before_ns = std::chrono::system_clock::now().time_since_epoch().count();
  start(folder.path("run/FRAMEWORK"), 3);
  train_steps(10, 12);
  stepscope_end_step();
  stepscope_metadata("world_size", "8");
  stepscope_metadata("parallel", R"({"parallel_mode":"semi_auto_parallel","pipeline_stages":2})");
  stepscope_metadata("distributed_args", R"({"world_size":8})");
  stepscope_mark(name_of("checkpoint"));
  stepscope_counter(name_of("loss"), 2.5);
  stepscope_flow(STEPSCOPE_FLOW_START, name_of("arrow"), 9);
  stepscope_stop();
  const auto after_ns = std::chrono::system_clock::now().time_since_epoch().count();

  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.integers(Table::kRanks, "rank"), std::vector<int64_t>{3});
  EXPECT_EQ(run.integers(Table::kRanks, "world_size"), std::vector<int64_t>{8});
  const auto parallel = json_tree(run.texts(Table::kRanks, "parallel").at(0));
  EXPECT_EQ(parallel["pipeline_stages"], 2);
  EXPECT_EQ(parallel["distributed_args"]["world_size"], 8);
  EXPECT_EQ(run.integers(Table::kSteps, "step"), (std::vector<int64_t>{10, 11, 12}));
  EXPECT_EQ(run.integers(Table::kSteps, "complete"), (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(run.texts(Table::kOps, "input_shapes"), std::vector<std::string>(3, "[[2,3],[3,4]]"));
  EXPECT_EQ(run.integers(Table::kOps, "sequence"), std::vector<int64_t>(3, 5));
  // Three operators with the same shapes, whose text is kept once.
  EXPECT_LT(run.builder().own_args().size(), 100u);
  const auto names = run.texts(Table::kSlices, "name");
  EXPECT_EQ(std::ranges::count(names, "forward"), 3);
  EXPECT_EQ(std::ranges::count(names, "checkpoint"), 1);
  EXPECT_EQ(run.reals(Table::kCounters, "value"), std::vector<double>{2.5});
  for (const int64_t ts : run.integers(Table::kSlices, "ts")) {
    EXPECT_GE(ts, before_ns);
    EXPECT_LE(ts, after_ns);
  }
  // An operator is inside its module, which is inside its step.
  const auto depths = run.integers(Table::kSlices, "depth");
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "aten::mm") {
      EXPECT_EQ(depths[i], 2);
    }
  }
  EXPECT_EQ(run.quality("ended_abnormally"), 0);
  EXPECT_EQ(run.quality("dropped_records"), 0);
}

TEST(NativeImporter, RangesThatLostTheirNameAreCounted) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  for (int i = 0; i < 3; ++i) stepscope_range(stepscope_ticks(), STEPSCOPE_USER, name_of("kept"));
  name_of(std::string(20'000, 'x'));  // cut, and used by nothing
  stepscope_stop();
  EXPECT_EQ(import_only(folder.path()).quality("names_lost"), 1);

  const TemporaryFolder second;
  start(second.path("run/FRAMEWORK"), 0);
  // What the names' table returns when it is full.
  for (int i = 0; i < 3; ++i)
    stepscope_range(stepscope_ticks(), STEPSCOPE_USER, name_of("(too many names)"));
  stepscope_range(stepscope_ticks(), STEPSCOPE_USER, name_of("kept"));
  stepscope_stop();
  const ImportedRank run = import_only(second.path());
  EXPECT_EQ(run.quality("names_lost"), 3);
  EXPECT_EQ(run.quality("not_honoured"), 0);
}

TEST(NativeImporter, AStepWithTheNumberThatStandsForNoneIsSaid) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  stepscope_step(INT64_MIN);
  train_steps(1, 2);
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  EXPECT_EQ(run.integers(Table::kSteps, "step"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(run.quality("unparsable_event"), 1);
}

TEST(NativeImporter, OnlyStepsInsideOfAProfilersWindowsAreComplete) {
  const TemporaryFolder folder;
  const auto now_ns = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  start(folder.path("run/FRAMEWORK"), 0);
  int64_t began_ns = 0;
  int64_t ended_ns = 0;
  for (int64_t step = 1; step <= 4; ++step) {
    if (step == 2) began_ns = now_ns();
    if (step == 4) ended_ns = now_ns();
    stepscope_step(step);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  stepscope_end_step();
  const std::string window = "{\"began_ns\":" + std::to_string(began_ns) +
                             ",\"ended_ns\":" + std::to_string(ended_ns) + "}";
  stepscope_metadata("profiler_window", window.c_str());
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.integers(Table::kSteps, "complete"), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(run.quality("window_cut"), 2);
}

TEST(NativeImporter, AStepThatOnlyTheEndOfTheLoopBeganIsNone) {
  for (const bool works : {false, true}) {
    const TemporaryFolder folder;
    start(folder.path("run/FRAMEWORK"), 0);
    for (int64_t step = 1; step <= 3; ++step) {
      stepscope_step(step);
      if (step == 3 && !works) break;
      const Scope range(name_of("work"));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    stepscope_end_step();
    stepscope_stop();
    ImportedRank run = import_only(folder.path());
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run.integers(Table::kSteps, "complete"), std::vector<int64_t>(works ? 3 : 2, 1));
    EXPECT_EQ(run.quality("window_cut"), 0);
  }
}

TEST(NativeImporter, AStepThatBeginsAsTheOneBeforeItEndsHasALength) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  stepscope_step(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const uint64_t both = stepscope_ticks();
  stepscope_put(both, 0, STEPSCOPE_STEP | STEPSCOPE_VALUES, 0, 2, 0);
  stepscope_flush();  // the end comes behind it in the file
  stepscope_put(both, 0, STEPSCOPE_STEP_END, 0, 0, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stepscope_end_step();
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  const std::vector<int64_t> lengths = run.integers(Table::kSteps, "dur");
  ASSERT_EQ(lengths.size(), 2u);
  for (const int64_t length_ns : lengths) EXPECT_GE(length_ns, 5'000'000);
}

// Nothing is recorded inside of the steps: their lengths alone tell.
TEST(NativeImporter, AShortLastStepAmongEmptyOnesIsNotComplete) {
  for (const bool works : {false, true}) {
    const TemporaryFolder folder;
    start(folder.path("run/FRAMEWORK"), 0);
    for (int64_t step = 1; step <= 4; ++step) {
      stepscope_step(step);
      if (step < 4 || works) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    stepscope_end_step();
    stepscope_stop();
    ImportedRank run = import_only(folder.path());
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run.integers(Table::kSteps, "complete"), (std::vector<int64_t>{1, 1, 1, works}));
    EXPECT_EQ(run.quality("window_cut"), works ? 0 : 1);
  }
}

TEST(NativeImporter, LostRecordsSayWhy) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("run/FRAMEWORK"));
  stepscope_options options{};
  options.size = sizeof options;
  options.max_host_mb = 8;  // one ring
  ASSERT_EQ(stepscope_start(folder.path("run/FRAMEWORK").c_str(), &options), 0);
  stepscope_mark(name_of("first"));
  std::thread([] { stepscope_mark(name_of("second")); }).join();
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.quality("dropped_records"), 1);
  const auto& entries = run.builder().quality.entries();
  EXPECT_TRUE(entries.at(QualityCode::kDroppedRecords).example.starts_with("threads recorded"));
}

TEST(NativeImporter, AKilledProgramsRunSaysWhereItEnded) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    start(folder.path("run/FRAMEWORK"), 0);
    train_steps(1, 7);
    if (stepscope_flush() != 0) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.rows(Table::kSteps), 7u);
  EXPECT_EQ(run.quality("ended_abnormally"), 1);
  EXPECT_EQ(run.quality("still_recording"), 0);
  const auto& entries = run.builder().quality.entries();
  EXPECT_EQ(entries.at(QualityCode::kEndedAbnormally).example,
            "ended abnormally at step 7; its last second may be missing");
}

TEST(NativeImporter, ACaptureOfASignalSaysThatAllUntilItIsWritten) {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    stepscope_watch_options rules{};
    rules.size = sizeof rules;
    rules.signals = 1u << SIGTERM;
    if (stepscope_watch(folder.path("runs").c_str(), &rules, nullptr) != 0) ::_exit(1);
    train_steps(1, 7);
    ::kill(::getpid(), SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.rows(Table::kSteps), 7u);
  EXPECT_EQ(run.quality("dropped_records"), 0);
  const auto& entries = run.builder().quality.entries();
  EXPECT_EQ(entries.at(QualityCode::kEndedAbnormally).example,
            "ended abnormally at step 7; all until SIGTERM is written");
}

TEST(NativeImporter, ARunThatGoesOnIsNotTakenForAKilledOne) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  train_steps(1, 7);
  ASSERT_EQ(stepscope_flush(), 0);
  ImportedRank growing = import_only(folder.path());
  stepscope_stop();
  ASSERT_TRUE(growing.ok());
  EXPECT_EQ(growing.rows(Table::kSteps), 7u);
  EXPECT_EQ(growing.quality("ended_abnormally"), 0);
  EXPECT_EQ(growing.quality("still_recording"), 1);
  const auto& entries = growing.builder().quality.entries();
  EXPECT_EQ(entries.at(QualityCode::kStillRecording).example, "still recording at step 7");
  ImportedRank stopped = import_only(folder.path());
  ASSERT_TRUE(stopped.ok());
  EXPECT_EQ(stopped.quality("still_recording"), 0);
  EXPECT_EQ(stopped.quality("ended_abnormally"), 0);
}

// The file of a program that is killed meanwhile does not change, and its store is made again.
TEST(NativeImporter, AStoreOfARunThatGoesOnIsMadeAgain) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    start(folder.path("run/FRAMEWORK"), 0);
    train_steps(1, 7);
    if (stepscope_flush() != 0 || ::write(ready[1], "r", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  ::kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  Progress progress;
  const auto codes = [&] {
    const auto run = import_run({folder.path("run")}, {}, progress);
    EXPECT_TRUE(run.ok());
    const auto store = StoreReader::open(run->store_path);
    EXPECT_TRUE(store.ok());
    std::vector<std::string> found;
    const auto& column = (*store)->column(Table::kQuality, "code", 0);
    for (uint64_t row = 0; row < column.rows(); ++row)
      found.emplace_back((*store)->string(column.at(row)));
    return found;
  };
  EXPECT_EQ(std::ranges::count(codes(), "still_recording"), 1);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(std::ranges::count(codes(), "ended_abnormally"), 1);
  for (const int end : ready) ::close(end);
}

TEST(NativeImporter, ACapturesRunSaysWhyAndHasNamesAndTimes) {
  const TemporaryFolder folder;
  stepscope_watch_options rules{};
  rules.size = sizeof rules;
  ASSERT_EQ(stepscope_watch(folder.path("captures").c_str(), &rules, nullptr), 0);
  const auto before_ns = std::chrono::system_clock::now().time_since_epoch().count();
  train_steps(1, 3);
  stepscope_trigger("loss_is_nan", "the loss of step 3 is \"nan\"");
  stepscope_stop();
  ImportedRank run = import_only(folder.path("captures"));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.integers(Table::kSteps, "step"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_GE(run.integers(Table::kSteps, "ts").front(), before_ns);
  const auto versions = json_tree(run.texts(Table::kRanks, "versions").at(0));
  ASSERT_EQ(versions["triggers"].size(), 1u);
  EXPECT_EQ(versions["triggers"][0]["kind"], "loss_is_nan");
  EXPECT_EQ(versions["triggers"][0]["what"], "the loss of step 3 is \"nan\"");
  EXPECT_EQ(versions["triggers"][0]["step"], 3);
  const auto names = run.texts(Table::kSlices, "name");
  EXPECT_EQ(std::ranges::count(names, "trigger: loss_is_nan"), 1);
  EXPECT_EQ(std::ranges::count(names, "forward"), 3);
  EXPECT_EQ(run.quality("ended_abnormally"), 0);
  EXPECT_EQ(run.quality("unparsable_event"), 0);
}

TEST(NativeImporter, OpenRangesAndRepeatedNumbersOfStepsAreNoted) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  train_steps(1, 3);
  train_steps(1, 2);
  stepscope_end_step();
  stepscope_metadata("open_ranges", "2");
  stepscope_stop();
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.rows(Table::kSteps), 5u);
  EXPECT_EQ(run.quality("duplicate_id"), 2);
  EXPECT_EQ(run.quality("unfinished_operation"), 2);
}

TEST(NativeImporter, ADamagedFileKeepsWhatIsWhole) {
  const TemporaryFolder folder;
  start(folder.path("run/FRAMEWORK"), 0);
  train_steps(1, 3);
  stepscope_stop();
  const std::string path = folder.path("run/FRAMEWORK/stepscope.raw");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 7);
  ImportedRank run = import_only(folder.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.rows(Table::kSteps), 3u);
  EXPECT_EQ(run.quality("truncated_input"), 1);
  EXPECT_EQ(run.quality("ended_abnormally"), 1);
}

}  // namespace
}  // namespace stepscope
