#include "collector/watch_rules.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/kept_chunks.h"
#include "collector/lasting_rows.h"
#include "collector/record_tables.h"
#include "collector/watch.h"
#include "format/chunk_reader.h"
#include "format/raw_file.h"

namespace stepscope {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(RollingMedian, IsThatOfTheLastValues) {
  std::mt19937 random(1);
  RollingMedian median(7);
  std::vector<int64_t> all;
  EXPECT_EQ(median.median(), 0);
  for (int i = 0; i < 1000; ++i) {
    all.push_back(static_cast<int64_t>(random() % 10));  // with many equal ones
    median.add(all.back());
    std::vector<int64_t> last(all.end() - static_cast<int64_t>(std::min<size_t>(all.size(), 7)),
                              all.end());
    std::sort(last.begin(), last.end());
    ASSERT_EQ(median.median(), last[(last.size() - 1) / 2]) << i;
    ASSERT_EQ(median.count(), last.size());
  }
}

// Steps of 100 ms one after another; returns the number of the next one.
int64_t add_ordinary(SlowSteps& rule, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, ++step)
    EXPECT_FALSE(rule.add(step, step * 100 * kMs, 100 * kMs)) << "step " << step;
  return step;
}

TEST(SlowSteps, AreReportedWhenThereAreEnoughInARow) {
  SlowSteps rule(1.5, 3);
  int64_t step = add_ordinary(rule, 1, 20);
  EXPECT_FALSE(rule.add(step++, 2000 * kMs, 160 * kMs));
  EXPECT_EQ(rule.suspicious_since_ns(), 2000 * kMs);
  EXPECT_FALSE(rule.add(step++, 2160 * kMs, 200 * kMs));
  const auto found = rule.add(step++, 2360 * kMs, 151 * kMs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 22) << "the slowest of the three";
  EXPECT_EQ(found->duration_ns, 200 * kMs);
  EXPECT_EQ(found->median_ns, 100 * kMs);
  EXPECT_EQ(found->threshold_ns, 150 * kMs);
  EXPECT_EQ(found->in_a_row, 3);
  EXPECT_FALSE(rule.suspicious_since_ns());
}

TEST(SlowSteps, AnOrdinaryStepBetweenThemStartsTheRowAgain) {
  SlowSteps rule(1.5, 2);
  int64_t step = add_ordinary(rule, 1, 20);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(rule.add(step++, 0, 300 * kMs));
    step = add_ordinary(rule, step, 2);
  }
}

TEST(SlowSteps, NothingIsJudgedBeforeThereIsSomethingToCompareWith) {
  SlowSteps rule(1.5, 1);
  EXPECT_FALSE(rule.add(1, 0, 5000 * kMs));  // compiles
  for (int64_t step = 2; step <= 10; ++step) EXPECT_FALSE(rule.add(step, 0, step * 100 * kMs));
  EXPECT_TRUE(rule.add(11, 0, 5000 * kMs));
}

TEST(SlowSteps, ALimitOfZeroIsNoRule) {
  SlowSteps rule(0, 1);
  add_ordinary(rule, 1, 20);
  EXPECT_FALSE(rule.add(21, 0, 10'000 * kMs));
}

TEST(SlowSteps, ExactlyTheThresholdIsNotSlow) {
  SlowSteps rule(2, 1);
  add_ordinary(rule, 1, 20);
  EXPECT_FALSE(rule.add(21, 0, 200 * kMs));
  EXPECT_TRUE(rule.add(22, 0, 200 * kMs + 1));
}

TEST(SlowSteps, AProgramThatStaysSlowIsReportedOnceAndThenTakenAsItIs) {
  SlowSteps rule(1.5, 3);
  int64_t step = add_ordinary(rule, 1, 63);
  int found = 0;
  for (int i = 0; i < 200; ++i) found += rule.add(step++, 0, 200 * kMs).has_value();
  EXPECT_EQ(found, 1);
  // Now 200 ms are ordinary, and what is slower than that is found again.
  for (int i = 0; i < 3; ++i) found += rule.add(step++, 0, 400 * kMs).has_value();
  EXPECT_EQ(found, 2);
}

TEST(Progress, AStallIsFoundOnceAndOnlyBehindTheFirstStep) {
  Progress rule(1000);
  EXPECT_FALSE(rule.stalled_ns(1'000'000)) << "no step yet";
  rule.seen(1'000'000);
  EXPECT_FALSE(rule.stalled_ns(1'000'999));
  EXPECT_EQ(rule.stalled_ns(1'001'000), 1000);
  EXPECT_FALSE(rule.stalled_ns(1'002'000)) << "it is the same one";
  rule.seen(900'000);  // a mark of a thread whose ring was read late
  EXPECT_FALSE(rule.stalled_ns(1'003'000));
  rule.seen(1'004'000);
  EXPECT_FALSE(rule.stalled_ns(1'004'500));
  EXPECT_TRUE(rule.stalled_ns(1'006'000));
  Progress never(0);
  never.seen(1);
  EXPECT_FALSE(never.stalled_ns(INT64_MAX));
}

TEST(RateLimit, SoManyWithinSoLongAndTheRefusedAreCounted) {
  RateLimit limit(2, 100);
  EXPECT_TRUE(limit.allow(0));
  EXPECT_TRUE(limit.allow(50));
  EXPECT_FALSE(limit.allow(60));
  EXPECT_FALSE(limit.allow(99));
  EXPECT_EQ(limit.take_refused(), 2);
  EXPECT_TRUE(limit.allow(100)) << "the first is long enough ago";
  EXPECT_FALSE(limit.allow(149));
  EXPECT_TRUE(limit.allow(150));
  EXPECT_EQ(limit.take_refused(), 1);
  EXPECT_EQ(limit.take_refused(), 0);
}

KeptChunk chunk_of(size_t bytes, int64_t ended_ns) {
  KeptChunk chunk;
  chunk.bytes.resize(bytes);
  chunk.ended_ns = ended_ns;
  return chunk;
}

TEST(KeptChunks, TheOldestGoByBytesAndByTime) {
  KeptChunks kept(250);
  for (int64_t i = 1; i <= 4; ++i) kept.add(chunk_of(100, i));
  EXPECT_EQ(kept.bytes(), 200u) << "two of them";
  kept.add(chunk_of(0, 5));
  EXPECT_EQ(kept.count(), 2u) << "an empty one is none";
  kept.forget_before(4);
  ASSERT_EQ(kept.count(), 1u);
  kept.add(chunk_of(1000, 6));
  EXPECT_EQ(kept.bytes(), 0u) << "larger than everything together may be";
  kept.add(chunk_of(10, 7));
  const auto taken = kept.take();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].ended_ns, 7);
  EXPECT_EQ(kept.bytes(), 0u);
}

constexpr std::string_view kColumns[] = {"value"};
constexpr RawTableLayout kTable{"table", kColumns};

void write_file(const std::string& path, std::span<const std::byte> packed) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(kRawFileMagic.data(), 1, kRawFileMagic.size(), file);
  std::fwrite(packed.data(), 1, packed.size(), file);
  std::fclose(file);
}

size_t rows_in(std::span<const std::byte> packed, const std::string& path) {
  write_file(path, packed);
  auto reader = ChunkReader::open(path);
  RawChunk chunk;
  if (!reader || !*reader->next(chunk) || chunk.tables.size() != 1) return 0;
  return chunk.tables[0].rows;
}

TEST(LastingRows, ArePartOfEveryCaptureAndBounded) {
  const std::string path = ::testing::TempDir() + "lasting_rows_test.raw";
  ChunkBuilder chunk;
  LastingRows rows(chunk, true);
  rows.add(kTable, 0, {1});
  EXPECT_TRUE(chunk.empty()) << "no file is open";
  EXPECT_EQ(rows_in(rows.pack(0), path), 1u);
  rows.set_writes(true);
  rows.add(kTable, 0, {2});
  EXPECT_EQ(rows_in(chunk.pack(0), path), 1u) << "the new one";
  EXPECT_EQ(rows_in(rows.pack(0), path), 2u) << "both, for the next capture";
  rows.set_writes(false);
  std::mt19937_64 random(1);
  for (size_t i = 0; i < LastingRows::kMostBytes; ++i)
    rows.add(kTable, 0, {static_cast<int64_t>(random())});
  EXPECT_LT(rows.pack(0).size(), 2 * LastingRows::kMostBytes);
  const std::string long_text(1000, 'x');
  for (int i = 0; i < 5000; ++i)
    rows.add_note("note " + std::to_string(i), "\"" + long_text + "\"");
  EXPECT_LT(rows.pack(0).size(), 2 * LastingRows::kMostBytes);
}

TEST(LastingRows, OfMostNotesTheLastOneCountsAndThreadsHaveOneEach) {
  ChunkBuilder chunk;
  LastingRows rows(chunk, true);
  rows.add_note("step_times", "1");
  rows.add_note("python_threads", R"({"1":"loader"})");
  rows.add_note("step_times", "2");
  rows.add_note("python_threads", R"({"2":"saver"})");
  rows.add_note("python_threads", R"({"1":"loader"})");
  const std::string path = ::testing::TempDir() + "lasting_notes_test.raw";
  write_file(path, rows.pack(0));
  auto reader = ChunkReader::open(path);
  RawChunk read;
  ASSERT_TRUE(reader && *reader->next(read));
  std::string notes;
  for (const RawNote& note : read.notes) notes += std::string(note.json) + " ";
  EXPECT_EQ(notes, R"(2 {"1":"loader"} {"2":"saver"} )");
}

TEST(LastingRows, InAnOrdinaryRecordingTheyGoIntoTheChunk) {
  ChunkBuilder chunk;
  LastingRows rows(chunk);
  rows.add(kTable, 0, {1});
  rows.add_note("note", "1");
  EXPECT_FALSE(chunk.empty());
  EXPECT_TRUE(rows.pack(0).empty());
}

TEST(Watch, ACauseHasTheLastStepThatWasReadAfterItWasHeard) {
  Watch watch({});
  const auto read_step = [&](int64_t number) {
    std::vector<StepMark> marks = {{static_cast<uint64_t>(number), number, false, 1}};
    watch.see(marks, {});
  };
  TriggerCause cause;
  cause.kind = "told";
  watch.trigger(cause);  // while the rings are being read: steps before it may be in them still
  read_step(4);
  EXPECT_TRUE(watch.causes(0).empty());
  watch.hear();
  read_step(5);
  const auto causes = watch.causes(0);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].step, 5);
  EXPECT_TRUE(watch.causes(0).empty());
}

}  // namespace
}  // namespace stepscope
