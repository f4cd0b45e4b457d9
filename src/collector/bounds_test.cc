// Whatever a program asks for: files that can be read, memory within its bound, nothing thrown.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "collector/clock.h"
#include "collector/name_table.h"
#include "collector/record_tables.h"
#include "collector/recorder.h"
#include "collector/recording_test.h"
#include "collector/ring_registry.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::read_back;
using testing::ReadBack;

// Attaches in a thread of its own that stays.
struct Attached {
  explicit Attached(RingRegistry& rings) {
    std::thread([&] { ring = rings.attach(); }).join();
  }
  stepscope_ring* ring = nullptr;
};

bool says(const RecordingStatistics& statistics, std::string_view part) {
  return std::ranges::any_of(statistics.problems, [&](const std::string& problem) {
    return problem.find(part) != std::string::npos;
  });
}

class Bounds : public ::testing::Test {
 protected:
  // A recorder beside the process's own, with names of its own.
  RecordingStatistics record(const std::function<void(Recorder&)>& work,
                             RecorderOptions options = {}) {
    options.folder = folder_.path();
    options.min_free_bytes = 1 << 20;
    auto recorder = Recorder::start(options, names_, rings_, bell_, {});
    EXPECT_TRUE(recorder);
    work(**recorder);
    return (*recorder)->stop();
  }

  testing::TemporaryFolder folder_;
  NameTable names_;
  RingRegistry rings_;
  WriterBell bell_;
};

TEST_F(Bounds, NamesAreSpreadOverChunksThatReadersTake) {
  constexpr int kNames = 1200;
  const auto name = [](int number) {
    std::string text(16'000, 'x');
    return text.replace(0, 5, std::to_string(10'000 + number));
  };
  for (int i = 0; i < kNames / 2; ++i) names_.intern(name(i));
  record([&](Recorder&) {
    for (int i = kNames / 2; i < kNames; ++i) names_.intern(name(i));
  });
  auto reader = ChunkReader::open(folder_.path("stepscope.raw"));
  ASSERT_TRUE(reader);
  RawChunk chunk;
  size_t seen = 0;
  while (true) {
    auto more = reader->next(chunk);
    ASSERT_TRUE(more);
    if (!*more) break;
    if (chunk.number == 0) {
      ASSERT_FALSE(chunk.notes.empty()) << "readers look for the rank in the first chunk";
      EXPECT_EQ(chunk.notes[0].name, "recording");
    }
    size_t bytes = 0;
    for (const RawString& string : chunk.strings) bytes += string.text.size();
    EXPECT_LE(bytes, 5u << 20);
    for (const RawString& string : chunk.strings) seen += string.text.size() == 16'000;
  }
  EXPECT_EQ(seen, size_t{kNames});
  EXPECT_TRUE(read_back(folder_.path("stepscope.raw")).ended);
}

TEST_F(Bounds, MetadataThatAreTooLargeAreLostAndCounted) {
  const std::string large = '"' + std::string(17 << 20, 'x') + '"';
  const RecordingStatistics statistics = record([&](Recorder& recorder) {
    recorder.add_note("large", large);
    recorder.add_note("large", large);
    recorder.add_note("small", "1");
  });
  EXPECT_EQ(statistics.not_recorded, 2);
  ASSERT_EQ(statistics.problems.size(), 1u) << "said once";
  EXPECT_NE(statistics.problems[0].find("metadata"), std::string::npos);
  const ReadBack run = read_back(folder_.path("stepscope.raw"));
  EXPECT_TRUE(run.ended);
  EXPECT_TRUE(run.notes.contains("small"));
  EXPECT_FALSE(run.notes.contains("large"));
}

TEST_F(Bounds, MetadataThatAreNotJsonAreLostAndCounted) {
  const RecordingStatistics statistics = record([&](Recorder& recorder) {
    recorder.add_note("bad", "{not json");
    recorder.add_note("good", "[1,2]");
  });
  EXPECT_EQ(statistics.not_recorded, 1);
  EXPECT_TRUE(says(statistics, "not JSON"));
  const ReadBack run = read_back(folder_.path("stepscope.raw"));
  EXPECT_TRUE(run.notes.contains("good"));
  EXPECT_FALSE(run.notes.contains("bad"));
}

// Of this recording: earlier ones of the process have said theirs.
TEST_F(Bounds, NamesThatAreLostAreSaid) {
  const std::string too_long(16'385, 'x');
  names_.intern(too_long);
  const RecordingStatistics statistics = record([&](Recorder&) {
    names_.intern(too_long);
    names_.intern(too_long);
  });
  EXPECT_TRUE(says(statistics, "2 names were cut at 16384 bytes"));
  const ReadBack run = read_back(folder_.path("stepscope.raw"));
  EXPECT_TRUE(run.notes.at("names_lost").starts_with(R"({"names":2,"why":"2 names were cut)"));
}

TEST_F(Bounds, LittleMemoryIsKeptWhereNothingNeedsMore) {
  RecorderOptions options;
  options.max_host_bytes = 1 << 20;
  const RecordingStatistics statistics = record(
      [&](Recorder&) {
        const stepscope_ring* const ring = Attached(rings_).ring;
        ASSERT_NE(ring, nullptr);
        EXPECT_LT((ring->mask + 1) * sizeof(stepscope_record), 1u << 20);
        EXPECT_EQ(Attached(rings_).ring, nullptr);
      },
      options);
  EXPECT_FALSE(says(statistics, "MiB are taken"));
}

TEST_F(Bounds, MemoryThatAGpuNeedsBeyondTheBoundIsSaid) {
  RecorderOptions options;
  options.max_host_bytes = 2 << 20;
  options.source_bytes = 8 << 20;
  const RecordingStatistics statistics = record([](Recorder&) {}, options);
  ASSERT_EQ(statistics.problems.size(), 1u) << "said once";
  EXPECT_TRUE(says(statistics, "max_host_mb: up to 9 MiB are taken"));
  const ReadBack run = read_back(folder_.path("stepscope.raw"));
  EXPECT_NE(run.notes.at("not_honoured").find("max_host_mb"), std::string::npos);
}

TEST_F(Bounds, MemoryOfRingsThatThreadsHaveFromBeforeIsSaid) {
  rings_.set_limits((4 << 20) / sizeof(stepscope_record), 1);
  ASSERT_NE(Attached(rings_).ring, nullptr);
  RecorderOptions options;
  options.max_host_bytes = 2 << 20;
  EXPECT_TRUE(says(record([](Recorder&) {}, options), "max_host_mb: up to 4 MiB are taken"));
  ASSERT_EQ(::unlink(folder_.path("stepscope.raw").c_str()), 0);
  options.max_host_bytes = 64 << 20;
  EXPECT_FALSE(says(record([](Recorder&) {}, options), "MiB are taken"));
}

// Each has a ring for a moment: the writer takes it back when the thread has ended.
TEST(Threads, ThatComeAndGoLoseNothing) {
  const testing::TemporaryFolder folder;
  stepscope_options options{};
  options.size = sizeof options;
  options.max_host_mb = 64;  // 12 rings
  ASSERT_EQ(stepscope_start(folder.path().c_str(), &options), 0);
  for (int i = 0; i < 100; ++i) {
    std::thread([] { STEPSCOPE_SCOPE("short"); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const std::string statistics = stepscope_stop();
  EXPECT_NE(statistics.find("\"events\":100,\"not_recorded\":0,"), std::string::npos) << statistics;
}

// A handler that interrupts a record sets the ring's head back.
TEST(Threads, AHeadThatGoesBackIsNotFollowed) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(stepscope_start(folder.path().c_str(), nullptr), 0);
  std::thread([] {
    const uint32_t name = stepscope_name("mark", 4);
    for (int i = 0; i < 10; ++i) stepscope_mark(name);
    ASSERT_EQ(stepscope_flush(), 0);
    stepscope_thread.head -= 5;
    __atomic_store_n(&stepscope_thread.ring->head, stepscope_thread.head, __ATOMIC_RELEASE);
    ASSERT_EQ(stepscope_flush(), 0);
    for (int i = 0; i < 10; ++i) stepscope_mark(name);
  }).join();
  const std::string statistics = stepscope_stop();
  EXPECT_NE(statistics.find("\"events\":20,\"not_recorded\":1,"), std::string::npos) << statistics;
  EXPECT_NE(statistics.find("signal handler"), std::string::npos) << statistics;
}

TEST(Threads, BeyondTheBoundAreCountedAndSaid) {
  const testing::TemporaryFolder folder;
  stepscope_options options{};
  options.size = sizeof options;
  options.max_host_mb = 8;  // one ring
  ASSERT_EQ(stepscope_start(folder.path().c_str(), &options), 0);
  stepscope_mark(stepscope_name("first", 5));
  std::thread([] { stepscope_mark(stepscope_name("second", 6)); }).join();
  const std::string statistics = stepscope_stop();
  EXPECT_NE(statistics.find("\"events\":1,\"not_recorded\":1,"), std::string::npos) << statistics;
  EXPECT_NE(statistics.find(R"("lost_because":"threads recorded nothing: the rings of the others)"),
            std::string::npos)
      << statistics;
}

TEST(NameTable, SaysWhatItsBoundsTook) {
  NameTable names;
  const uint32_t whole = names.intern(std::string(16'384, 'a'));
  EXPECT_EQ(names.lost(), 0u);
  EXPECT_EQ(names.intern(std::string(16'385, 'a')), whole);
  EXPECT_EQ(names.lost(), 1u);
}

TEST(RingRegistry, KeepsALowerLimitToo) {
  RingRegistry rings;
  rings.set_limits(4096, 8);
  for (int i = 0; i < 4; ++i) rings.detach(Attached(rings).ring);
  rings.prepare(8);
  rings.set_limits(4096, 2);
  EXPECT_NE(Attached(rings).ring, nullptr);
  EXPECT_NE(Attached(rings).ring, nullptr);
  EXPECT_EQ(Attached(rings).ring, nullptr);
  EXPECT_EQ(rings.without_ring(), 1u);
}

TEST(RingRegistry, AFullRingIsNotLeftToTheNextThread) {
  RingRegistry rings;
  rings.set_limits(4096, 1);
  stepscope_ring* const ring = Attached(rings).ring;
  ring->head = ring->mask / 2;
  rings.detach(ring);
  EXPECT_EQ(Attached(rings).ring, nullptr);
  EXPECT_FALSE(rings.without_memory());
  ring->tail = ring->head;
  rings.release_ended();
  EXPECT_EQ(Attached(rings).ring, ring);
}

TEST(RingRegistry, TellsThatTheSystemHasNoMemory) {
  RingRegistry rings;
  rings.set_limits(size_t{1} << 56, 1);
  EXPECT_EQ(Attached(rings).ring, nullptr);
  EXPECT_TRUE(rings.without_memory());
}

TEST(RingRegistry, HandsOutTheRingThatIsPrepared) {
  RingRegistry rings;
  rings.set_limits(1 << 16, 8);
  std::vector<stepscope_ring*> before;
  for (int i = 0; i < 4; ++i) before.push_back(Attached(rings).ring);
  for (stepscope_ring* ring : before) rings.detach(ring);
  rings.forget_content();
  rings.give_memory_back();
  rings.prepare(1);
  const stepscope_ring* const given = Attached(rings).ring;
  std::vector<unsigned char> resident((given->mask + 1) * sizeof(stepscope_record) / 4096);
  ASSERT_EQ(::mincore(given->records, resident.size() * 4096, resident.data()), 0);
  for (const unsigned char page : resident) EXPECT_EQ(page & 1, 1);
}

TEST(RecordSorter, ARangeOfDaysBeganWhenItBegan) {
  constexpr uint64_t kTicksAnHour = 3'000'000'000ull * 3600;
  const uint64_t start = 40 * kTicksAnHour;
  const uint64_t duration = 40 * kTicksAnHour;
  stepscope_record records[4]{};
  records[0].when = start << 16 | STEPSCOPE_USER | STEPSCOPE_LONG;
  records[0].duration = UINT32_MAX;
  std::memcpy(&records[1], &duration, sizeof duration);
  stepscope_ring ring{};
  ring.records = records;
  ring.mask = 3;
  ChunkBuilder chunk;
  LastingRows lasting(chunk);
  RecordSorter sorter(chunk, lasting, 1, 30 * kTicksAnHour, start + duration + 1000);
  EXPECT_EQ(sorter.add(ring, 0, 2), 2u);
  EXPECT_EQ(sorter.take_events(), 1);
  const auto packed = chunk.pack(0);
  const testing::TemporaryFolder folder;
  auto output = RawOutput::create(folder.path(), 1 << 20, 0);
  ASSERT_TRUE(output);
  ASSERT_TRUE(output->append(packed).ok());
  const ReadBack run = read_back(folder.path("stepscope.raw"));
  ASSERT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.ranges[0].start, static_cast<int64_t>(start));
  EXPECT_EQ(run.ranges[0].duration, static_cast<int64_t>(duration));
}

// Throws what nobody expects.
struct Throwing final : Source {
  std::string_view name() const override { return "throwing"; }
  Status start() override { throw 1; }
  void collect(SourceOutput&) override {}
  void stop() override {}
};

// More of them than there are rings, before the writer's turn comes.
TEST_F(Bounds, ThreadsThatEndLeaveTheirRingToTheNext) {
  constexpr int kThreads = 200;
  RecorderOptions options;
  options.max_host_bytes = 1 << 20;  // one ring
  std::map<int64_t, std::string> recorded;
  const auto work = [&](Recorder&) {
    for (int i = 0; i < kThreads; ++i) {
      std::thread([&] {
        stepscope_ring* const ring = rings_.attach();
        ASSERT_NE(ring, nullptr) << i;
        const std::string name = "work " + std::to_string(i);
        recorded[::gettid()] = name;
        for (int range = 0; range < 3; ++range) {
          stepscope_record& record = ring->records[ring->head & ring->mask];
          record.when = stepscope_ticks() << 16 | STEPSCOPE_USER;
          record.duration = 1;
          record.name = names_.intern(name);
          __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
        }
        rings_.detach(ring);
      }).join();
    }
  };
  const RecordingStatistics statistics = record(work, options);
  EXPECT_EQ(statistics.events, 3 * kThreads);
  EXPECT_EQ(statistics.not_recorded, 0);
  EXPECT_EQ(statistics.threads, kThreads);
  const ReadBack run = read_back(folder_.path("stepscope.raw"));
  for (const testing::ReadRange& range : run.ranges) EXPECT_EQ(range.name, recorded[range.thread]);
}

TEST_F(Bounds, AStartThatFailsLeavesNoFile) {
  RecorderOptions options;
  options.folder = folder_.path();
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<Throwing>());
  EXPECT_ANY_THROW((void)Recorder::start(options, names_, rings_, bell_, std::move(sources)));
  EXPECT_NE(::access(folder_.path("stepscope.raw").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace stepscope
