// The input pipeline from record.h to the store's tables, through a real file.
#include "importers/native/pipeline_tables.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "format/chunk_reader.h"
#include "importers/native/native_importer.h"
#include "stepscope/record.h"
#include "tests/support/imported_rank.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::ImportedRank;
using testing::TemporaryFolder;
using Integers = std::vector<int64_t>;
using Texts = std::vector<std::string>;

uint32_t stage(const std::string& name, const char* kind, uint32_t workers, uint32_t capacity,
               uint32_t input) {
  const stepscope_stage_options about{sizeof about, kind, workers, capacity, input};
  return stepscope_stage(name.data(), name.size(), &about);
}

void start(const TemporaryFolder& folder, uint32_t system_interval_ms = 0) {
  std::filesystem::create_directories(folder.path("run"));
  stepscope_options options{};
  options.size = sizeof options;
  options.system_interval_ms = system_interval_ms;
  ASSERT_EQ(stepscope_start(folder.path("run").c_str(), &options), 0) << stepscope_last_error();
}

ImportedRank stop_and_import(const TemporaryFolder& folder) {
  stepscope_stop();
  const NativeImporter importer;
  const auto found = testing::find_candidates(importer, folder.path());
  EXPECT_EQ(found.size(), 1u);
  return ImportedRank(importer, found.at(0));
}

// Waits until the recording has a value of a series that begins so; it takes two samples.
bool is_sampled(const TemporaryFolder& folder, const std::string& series) {
  for (int tries = 0; tries < 600; ++tries) {
    stepscope_flush();
    auto reader = ChunkReader::open(folder.path("run/stepscope.raw"));
    if (!reader) return false;
    RawChunk chunk;
    for (auto more = reader->next(chunk); more && *more; more = reader->next(chunk)) {
      for (const RawString& string : chunk.strings)
        if (string.text.starts_with(series)) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

TEST(PipelineTables, StagesStandInTheOrderOfTheData) {
  const uint32_t images = stage("images", "read", 4, 64, 0);
  const uint32_t labels = stage("labels", "read", 1, 64, 0);
  const TemporaryFolder folder;
  start(folder);
  // Some are told while recording.
  const uint32_t zip = stage("zip", "zip", 1, 16, images);
  stepscope_stage_input(zip, labels);
  const uint32_t batch = stage("batch", nullptr, 0, 0, zip);
  stage("batch", "batch", 2, 0, zip);  // said anew
  ImportedRank run = stop_and_import(folder);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.texts(Table::kStages, "stage"), (Texts{"images", "labels", "zip", "batch"}));
  EXPECT_EQ(run.texts(Table::kStages, "kind"), (Texts{"read", "read", "zip", "batch"}));
  EXPECT_EQ(run.integers(Table::kStages, "workers"), (Integers{4, 1, 1, 2}));
  EXPECT_EQ(run.integers(Table::kStages, "capacity"), (Integers{64, 64, 16, kNull}));
  EXPECT_EQ(run.integers(Table::kStages, "position"), (Integers{2, 2, 1, 0}));
  const auto consumers = run.texts(Table::kStages, "consumer");
  EXPECT_EQ(Texts(consumers.begin(), consumers.begin() + 3), (Texts{"zip", "zip", "batch"}));
  EXPECT_EQ(run.quality("unknown_category"), 0);
  for (const uint32_t one : {images, labels, zip, batch}) stepscope_end_stage(one);
  const TemporaryFolder later;
  start(later);
  EXPECT_EQ(stop_and_import(later).rows(Table::kStages), 0u) << "ended stages are forgotten";
}

TEST(PipelineTables, QueuesHaveSizesCapacitiesAndWaits) {
  const uint32_t decode = stage("decode", "map", 2, 8, 0);
  const TemporaryFolder folder;
  start(folder);
  stepscope_step(1);
  stepscope_queue_size(decode, 5);
  for (int64_t item = 0; item < 3; ++item) {
    const uint64_t begin = stepscope_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    stepscope_queue_get(begin, decode, static_cast<uint64_t>(item), item);
  }
  stepscope_queue_put(stepscope_now(), decode, UINT64_MAX, -1);
  const uint64_t begin = stepscope_now();
  stepscope_end_range(begin, STEPSCOPE_PIPELINE, decode);
  stepscope_end_step();
  ImportedRank run = stop_and_import(folder);
  stepscope_end_stage(decode);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run.texts(Table::kQueues, "stage"), Texts(5, "decode"));
  EXPECT_EQ(run.integers(Table::kQueues, "size"), (Integers{5, 0, 1, 2, kNull}));
  EXPECT_EQ(run.integers(Table::kQueues, "capacity"), Integers(5, 8));
  EXPECT_EQ(run.integers(Table::kQueues, "batch"), (Integers{kNull, 0, 1, 2, kNull}));
  const Integers waits = run.integers(Table::kQueues, "fetch");
  EXPECT_EQ(waits[0], kNull);
  for (size_t i = 1; i < 4; ++i) EXPECT_GE(waits[i], 2'000'000);
  EXPECT_EQ(waits[4], kNull);
  EXPECT_NE(run.integers(Table::kQueues, "push")[4], kNull);
  // Waits and work are slices under the stage's name, inside their step.
  const Texts names = run.texts(Table::kSlices, "name");
  const Texts categories = run.texts(Table::kSlices, "cat");
  const Integers steps = run.integers(Table::kSlices, "step");
  EXPECT_EQ(std::ranges::count(categories, "pipeline_get"), 3);
  EXPECT_EQ(std::ranges::count(categories, "pipeline_put"), 1);
  EXPECT_EQ(std::ranges::count(categories, "pipeline"), 1);
  EXPECT_EQ(std::ranges::count(names, "decode"), 5);
  EXPECT_EQ(std::ranges::count(steps, 1), static_cast<int64_t>(names.size()));
}

TEST(PipelineTables, WorkersRangesAndProcessorTimeAreTheirStages) {
  const uint32_t decode = stage("decode", "map", 2, 8, 0);
  const std::string address = stepscope_worker_address();
  const TemporaryFolder folder;
  start(folder, 20);
  int until_seen[2];
  ASSERT_EQ(::pipe(until_seen), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(until_seen[1]);
    if (stepscope_join(address.c_str()) != 0) ::_exit(2);
    for (int item = 0; item < 4; ++item) {
      const uint64_t begin = stepscope_now();
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (std::chrono::steady_clock::now() < until) continue;
      stepscope_end_range(begin, STEPSCOPE_PIPELINE, 0);
    }
    char end = 0;
    ::_exit(::read(until_seen[0], &end, 1) == 0 ? 0 : 3);
  }
  ::close(until_seen[0]);
  stepscope_stage_worker(decode, child);
  std::thread helper([&] {
    stepscope_stage_worker(decode, 0);
    EXPECT_TRUE(is_sampled(folder, "thread cpu % " + std::to_string(::gettid()) + " "));
  });
  helper.join();
  EXPECT_TRUE(is_sampled(folder, "worker cpu % " + std::to_string(child) + " "));
  ::close(until_seen[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  ImportedRank run = stop_and_import(folder);
  stepscope_end_stage(decode);
  ASSERT_TRUE(run.ok());
  const Texts processes = run.texts(Table::kTracks, "process");
  const Texts threads = run.texts(Table::kTracks, "thread");
  const Texts kinds = run.texts(Table::kTracks, "kind");
  const Texts pids = run.texts(Table::kTracks, "pid");
  const Texts slices = run.texts(Table::kSlices, "name");
  const Integers tracks = run.integers(Table::kSlices, "track");
  ASSERT_EQ(std::ranges::count(slices, "decode"), 4);
  for (size_t i = 0; i < slices.size(); ++i) {
    if (slices[i] != "decode") continue;
    EXPECT_EQ(processes[static_cast<size_t>(tracks[i])], "decode");
    EXPECT_EQ(pids[static_cast<size_t>(tracks[i])], std::to_string(child));
  }
  int of_the_process = 0;
  int of_the_thread = 0;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (processes[i] != "decode" || kinds[i] != "counter" || threads[i] != "cpu %") continue;
    (pids[i] == std::to_string(child) ? of_the_process : of_the_thread) += 1;
  }
  EXPECT_EQ(of_the_process, 1);
  EXPECT_EQ(of_the_thread, 1);
}

}  // namespace
}  // namespace stepscope
