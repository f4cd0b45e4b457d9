// The GPU source on a stand-in for CUPTI: from records in vendor layout to the raw file.
#include "collector/sources/cupti/cupti_source.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "format/chunk_reader.h"
#include "stepscope/record.h"
#include "tests/support/built_file.h"
#include "tests/support/fake_cupti/fake_cupti.h"
#include "tests/support/temporary_folder.h"

namespace stepscope::cupti {
namespace {

using testing::TemporaryFolder;

// The stand-in, through the same handle that the collector gets.
class FakeCupti {
 public:
  FakeCupti() {
    const std::string path = testing::built_file("tests/libstepscope_fake_cupti.so");
    ::setenv("STEPSCOPE_CUPTI", path.c_str(), 1);
    handle_ = ::dlopen(path.c_str(), RTLD_NOW);
    if (handle_ == nullptr) std::abort();
  }
  template <typename Function>
  auto function(const char* name, Function*) const {
    return reinterpret_cast<Function*>(::dlsym(handle_, name));
  }

 private:
  void* handle_;
};

const FakeCupti& fake() {
  static const auto* const kFake = new FakeCupti;
  return *kFake;
}

#define FAKE(name) fake().function(#name, static_cast<decltype(&::name)>(nullptr))

using Row = std::map<std::string, int64_t>;

struct Recorded {
  std::map<std::string, std::vector<Row>> tables;  // each row with its table's key as "key"
  std::map<int64_t, std::string> names;
  std::map<std::string, std::vector<std::string>> notes;

  std::string gpu(const std::string& field) const {
    const std::string& json = notes.at("gpu").at(0);
    const size_t at = json.find("\"" + field + "\":");
    if (at == std::string::npos) return "";
    const size_t from = at + field.size() + 3;
    return json.substr(from, json.find_first_of(",}", from) - from);
  }
};

Recorded read_all(const std::string& path) {
  Recorded recorded;
  auto reader = ChunkReader::open(path);
  EXPECT_TRUE(reader.ok());
  RawChunk chunk;
  while (true) {
    auto more = reader->next(chunk);
    if (!more || !*more) break;
    for (const RawString& string : chunk.strings) recorded.names[string.id] = string.text;
    for (const RawNote& note : chunk.notes)
      recorded.notes[std::string(note.name)].emplace_back(note.json);
    for (const RawTable& table : chunk.tables) {
      auto& rows = recorded.tables[std::string(table.name)];
      for (size_t row = 0; row < table.rows; ++row) {
        Row values{{"key", table.key}};
        for (size_t column = 0; column < table.columns.size(); ++column)
          values[std::string(table.column_names[column])] = table.columns[column][row];
        rows.push_back(values);
      }
    }
  }
  return recorded;
}

class CuptiSourceTest : public ::testing::Test {
 protected:
  void start(uint32_t tier, uint32_t cuda = 1300, const char* tuning = "",
             bool place_is_taken = false) {
    FAKE(fake_cupti_reset)(cuda);
    FAKE(fake_cupti_take_subscribers_place)(place_is_taken);
    ::setenv("STEPSCOPE_CUPTI_TUNING", tuning, 1);
    start_again(tier);
  }
  void start_again(uint32_t tier) {
    path_ = folder_.path("run" + std::to_string(++runs_));
    std::filesystem::create_directories(path_);
    stepscope_options options{};
    options.size = sizeof options;
    options.gpu_tier = tier;
    options.min_free_mb = 1;
    ASSERT_EQ(stepscope_start(path_.c_str(), &options), 0) << stepscope_last_error();
  }
  Recorded stop() {
    statistics_ = stepscope_stop();
    return read_all(path_ + "/stepscope.raw");
  }
  static uint32_t launch(uint32_t stream = 7, uint32_t graph = 0, int32_t grid = 10,
                         uint64_t duration = 1000) {
    const FakeLaunch kernel{
        "_ZN2at6nativeL6kernelIfEEvPT_", 0, stream, grid, graph, graph == 0 ? 0u : 5u, duration};
    return FAKE(fake_cupti_launch)(&kernel);
  }

  TemporaryFolder folder_;
  std::string path_;
  std::string statistics_;
  int runs_ = 0;
};

TEST_F(CuptiSourceTest, KernelsOfEveryCudaAreRead) {
  for (const uint32_t cuda : {1100u, 1201u, 1300u, 1304u}) {
    start(2, cuda);
    const auto before = static_cast<int64_t>(stepscope_ticks());
    const uint32_t plain = launch(7);
    const uint32_t in_graph = launch(9, 3);
    launch(7, 0, 20);
    launch(7, 0, 10, 0);
    const uint32_t copy = FAKE(fake_cupti_copy)(4096, 1);
    FAKE(fake_cupti_memset)(512);
    const Recorded recorded = stop();
    const auto after = static_cast<int64_t>(stepscope_ticks()) + 1000;

    const auto& kernels = recorded.tables.at("kernels");
    ASSERT_EQ(kernels.size(), 2u) << cuda;
    EXPECT_EQ(kernels[0].at("correlation"), plain);
    EXPECT_EQ(kernels[0].at("stream"), 7);
    if (cuda >= 1106) {
      EXPECT_EQ(kernels[0].at("duration_ticks"), 1000);
    }
    // With the clock of CUPTI the line through two readings is good to a millisecond here.
    const int64_t slack = cuda >= 1106 ? 0 : 50'000'000;
    for (const Row& kernel : kernels) {
      EXPECT_GE(kernel.at("start_ticks"), before - slack) << cuda;
      EXPECT_LE(kernel.at("start_ticks"), after + slack) << cuda;
    }
    const auto& graph = recorded.tables.at("graph_kernels");
    ASSERT_EQ(graph.size(), 1u);
    EXPECT_EQ(graph[0].at("correlation"), in_graph);
    EXPECT_EQ(graph[0].at("graph"), 3);
    EXPECT_EQ(graph[0].at("graph_node"), 5);
    // Three launches of one kernel in two shapes.
    const auto& variants = recorded.tables.at("kernel_variants");
    ASSERT_EQ(variants.size(), 2u);
    EXPECT_EQ(kernels[0].at("variant"), graph[0].at("variant"));
    EXPECT_NE(kernels[0].at("variant"), kernels[1].at("variant"));
    EXPECT_EQ(recorded.names.at(variants[0].at("name")), "void at::native::kernel<float>(float*)");
    EXPECT_EQ(variants[0].at("grid_x"), 10);
    EXPECT_EQ(variants[0].at("block_x"), 128);
    EXPECT_EQ(variants[0].at("registers"), 32);
    EXPECT_EQ(variants[0].at("dynamic_shared"), 2048);
    const auto& copies = recorded.tables.at("copies");
    ASSERT_EQ(copies.size(), 2u);
    EXPECT_EQ(copies[0].at("correlation"), copy);
    EXPECT_EQ(copies[0].at("bytes"), 4096);
    EXPECT_EQ(copies[0].at("copy_kind"), 1);
    EXPECT_EQ(copies[0].at("graph"), 0);
    EXPECT_EQ(copies[1].at("copy_kind"), 0);
    EXPECT_EQ(copies[1].at("bytes"), 512);
    // The one that CUPTI could not time is counted as lost.
    EXPECT_EQ(recorded.gpu("without_time"), "1");
    EXPECT_NE(statistics_.find("\"not_recorded\":1,"), std::string::npos) << statistics_;
    EXPECT_NE(recorded.notes.at("device").at(0).find("NVIDIA Fake"), std::string::npos);
    EXPECT_FALSE(recorded.tables.contains("runtime_calls"));
  }
}

TEST_F(CuptiSourceTest, FullHasCallsOnTheirThreads) {
  struct Way {
    uint32_t cuda;
    const char* tuning;
    bool place_is_taken;
  };
  // By callbacks; by records when told so, and when another profiler has the subscriber's place.
  for (const Way& way :
       {Way{1300, "detach=0", false}, Way{1201, "", false}, Way{1201, "subscribe=0", false},
        Way{1300, "subscribe=0", false}, Way{1300, "", true}}) {
    start(3, way.cuda, way.tuning, way.place_is_taken);
    const uint32_t first = launch();
    for (int i = 0; i < 3; ++i) launch();
    FAKE(fake_cupti_call)("cudaGetDevice");
    const uint32_t by_driver = FAKE(fake_cupti_driver_call)("cuLaunchKernel");
    FAKE(fake_cupti_driver_call)("cuCtxGetCurrent");
    FAKE(fake_cupti_synchronize)(7);
    FAKE(fake_cupti_allocate)(0x1000, 1 << 20);
    FAKE(fake_cupti_allocate)(0x1000, -(1 << 20));
    uint32_t elsewhere = 0;
    std::thread other([&] { elsewhere = launch(); });
    other.join();
    const Recorded recorded = stop();

    std::map<std::string, int> calls;
    std::map<int64_t, int64_t> thread_of;
    for (const Row& row : recorded.tables.at("runtime_calls")) {
      ++calls[recorded.names.at(row.at("name"))];
      thread_of[row.at("correlation")] = row.at("key");
      EXPECT_GE(row.at("duration_ticks"), 0);
    }
    EXPECT_EQ(calls,
              (std::map<std::string, int>{
                  {"cudaLaunchKernel", 5}, {"cudaStreamSynchronize", 1}, {"cudaMalloc", 2}}));
    EXPECT_EQ(thread_of.at(first), ::gettid());
    EXPECT_NE(thread_of.at(elsewhere), ::gettid());
    // Not the driver's part of the runtime's launches.
    const auto& of_driver = recorded.tables.at("driver_calls");
    ASSERT_EQ(of_driver.size(), 1u);
    EXPECT_EQ(recorded.names.at(of_driver[0].at("name")), "cuLaunchKernel");
    EXPECT_EQ(of_driver[0].at("correlation"), by_driver);
    const bool by_callbacks = !way.place_is_taken && std::string_view(way.tuning) != "subscribe=0";
    EXPECT_EQ(recorded.gpu("calls_by_callbacks"), by_callbacks ? "1" : "0");
    // Left out by CUPTI itself where it can be told, by us where not.
    EXPECT_EQ(recorded.gpu("unwanted_calls"), by_callbacks || way.cuda >= 1205 ? "0" : "1");
    const auto& memory = recorded.tables.at("device_memory");
    ASSERT_EQ(memory.size(), 2u);
    EXPECT_EQ(memory[0].at("bytes"), 1 << 20);
    EXPECT_EQ(memory[1].at("bytes"), -(1 << 20));
    ASSERT_EQ(recorded.tables.at("synchronizations").size(), 1u);
    const Row& sync = recorded.tables.at("synchronizations")[0];
    EXPECT_EQ(sync.at("event"), -1);
    EXPECT_EQ(sync.at("stream"), by_callbacks ? 7 : -1);
    EXPECT_EQ(sync.at("type"), 3);
    EXPECT_EQ(sync.at("key"), by_callbacks ? 1 : -1);
    EXPECT_GE(sync.at("duration_ticks"), 0);
    EXPECT_FALSE(recorded.tables.at("threads").empty());
    EXPECT_EQ(FAKE(fake_cupti_has_subscriber)(), by_callbacks) << "it stays with CUPTI";
  }
}

TEST_F(CuptiSourceTest, CallsThatCuptiTellsOfRepeatedlyAreOne) {
  start(3);
  FAKE(fake_cupti_tell_of_calls)(3);
  for (int i = 0; i < 4; ++i) launch();
  FAKE(fake_cupti_driver_call)("cuLaunchKernel");
  const Recorded recorded = stop();
  EXPECT_EQ(recorded.tables.at("runtime_calls").size(), 4u);
  EXPECT_EQ(recorded.tables.at("driver_calls").size(), 1u);
}

TEST_F(CuptiSourceTest, CuptiLeavesTheProcessAtTheEndAndComesBack) {
  for (const uint32_t tier : {1u, 2u, 3u}) {
    start(tier);
    for (uint32_t round = 1; round <= 3; ++round) {
      launch();
      EXPECT_EQ(FAKE(fake_cupti_finalized_in_callbacks)(), round - 1);
      const uint64_t kinds = FAKE(fake_cupti_enabled_kinds)();
      EXPECT_EQ(stop().tables["kernels"].size(), tier >= 2 ? 1u : 0u);
      EXPECT_EQ(FAKE(fake_cupti_finalized_in_callbacks)(), round);
      EXPECT_EQ(FAKE(fake_cupti_kinds_on_at_its_end)(), kinds) << "switched off, programs crash";
      EXPECT_EQ(FAKE(fake_cupti_has_subscriber)(), 0) << "the place is free";
      if (round < 3) start_again(tier);
    }
    EXPECT_EQ(FAKE(fake_cupti_finalized_elsewhere)(), 0u);
  }
}

TEST_F(CuptiSourceTest, CuptiStaysWhereItMayNotLeave) {
  struct Case {
    uint32_t cuda;
    const char* tuning;
    bool place_is_taken;
  };
  // Not wanted; graphs do not bear it; not seen to do it; another profiler's.
  for (const Case& stays : {Case{1300, "detach=0", false}, Case{1209, "", false},
                            Case{1305, "", false}, Case{1300, "", true}}) {
    start(3, stays.cuda, stays.tuning, stays.place_is_taken);
    stop();
    EXPECT_EQ(FAKE(fake_cupti_finalized_in_callbacks)(), 0u) << stays.cuda;
    EXPECT_EQ(FAKE(fake_cupti_enabled_kinds)(), 1ULL << kMemcpy | 1ULL << kMemset);
  }
}

TEST_F(CuptiSourceTest, CuptiStaysWhereAThreadCallsCudaAtTheEnd) {
  for (const Tier tier : {Tier::kKernels, Tier::kFull}) {
    FAKE(fake_cupti_reset)(1300);
    CuptiOptions options;
    options.tier = tier;
    {
      WriterBell bell;
      CuptiSource source(options, bell);
      ASSERT_TRUE(source.start().ok());
      source.stop();
      std::thread([] { launch(); }).join();
    }
    EXPECT_EQ(FAKE(fake_cupti_finalized_in_callbacks)(), 0u);
    EXPECT_EQ(FAKE(fake_cupti_enabled_kinds)(), 1ULL << kMemcpy | 1ULL << kMemset);
    EXPECT_EQ(FAKE(fake_cupti_enabled_callbacks)(), 0u);
  }
}

// It leaves beside threads that launch without harm only where nothing was switched off before.
TEST_F(CuptiSourceTest, CuptiStaysOnceItHasStayed) {
  FAKE(fake_cupti_reset)(1300);
  WriterBell bell;
  for (const bool a_thread_launches : {true, false}) {
    CuptiSource source(CuptiOptions{}, bell);
    ASSERT_TRUE(source.start().ok());
    source.stop();
    if (a_thread_launches) std::thread([] { launch(); }).join();
  }
  EXPECT_EQ(FAKE(fake_cupti_finalized_in_callbacks)(), 0u);
}

// The writer hangs at a disk: nothing stays switched on, and the next recording can have the GPU.
TEST_F(CuptiSourceTest, ASourceThatIsLeftBehindCostsNothing) {
  FAKE(fake_cupti_reset)(1300);
  WriterBell bell;
  CuptiOptions options;
  options.tier = Tier::kFull;
  CuptiSource source(options, bell);
  ASSERT_TRUE(source.start().ok());
  source.stop();
  EXPECT_NE(FAKE(fake_cupti_enabled_callbacks)(), 0u) << "it would leave";
  source.leave_behind();
  EXPECT_EQ(FAKE(fake_cupti_enabled_kinds)(), 1ULL << kMemcpy | 1ULL << kMemset);
  EXPECT_EQ(FAKE(fake_cupti_enabled_callbacks)(), 0u);
  CuptiSource next(CuptiOptions{}, bell);
  EXPECT_TRUE(next.start().ok());
}

// CUPTI forgets the buffers that it had when it leaves: they must not be missing later.
TEST_F(CuptiSourceTest, BuffersSurviveThatCuptiLeaves) {
  for (int round = 0; round < 70; ++round) {
    if (round == 0) {
      start(3, 1300, "buffer_kb=64");
      FAKE(fake_cupti_keep_a_buffer)(1);
    } else {
      start_again(3);
    }
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) threads.emplace_back([] { launch(); });
    for (auto& thread : threads) thread.join();
    ASSERT_EQ(stop().tables.at("kernels").size(), 3u) << round;
  }
}

TEST_F(CuptiSourceTest, WhatWasChangedIsUndoneWhenCuptiIsTaken) {
  FAKE(fake_cupti_reset)(1300);
  FAKE(fake_cupti_refuse_callbacks)(1);
  WriterBell bell;
  CuptiSource source(CuptiOptions{}, bell);
  const Status started = source.start();
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message().find("other profiler"), std::string::npos);
  EXPECT_EQ(FAKE(fake_cupti_attribute)(kAttributeBufferPerThread), 0);
}

TEST_F(CuptiSourceTest, NvtxRangesThatNeverEndAreCounted) {
  constexpr int64_t kMost = 1 << 16;
  start(2);
  const uint32_t first = FAKE(fake_cupti_nvtx_push)("first", nullptr);
  for (int64_t i = 1; i < kMost + 1; ++i) FAKE(fake_cupti_nvtx_push)("never ended", nullptr);
  const uint32_t last = FAKE(fake_cupti_nvtx_push)("last", nullptr);
  FAKE(fake_cupti_nvtx_pop)(first);
  FAKE(fake_cupti_nvtx_pop)(last);
  const Recorded recorded = stop();
  EXPECT_EQ(recorded.tables.at("ranges").size(), 1u) << "the last one";
  const int64_t forgotten = std::stoll(recorded.gpu("forgotten_ranges"));
  EXPECT_EQ(forgotten, kMost);
  const int64_t dropped = std::stoll(recorded.gpu("dropped"));
  EXPECT_NE(statistics_.find("\"not_recorded\":" + std::to_string(forgotten + dropped) + ","),
            std::string::npos)
      << statistics_;
  EXPECT_NE(statistics_.find("65536 NVTX ranges"), std::string::npos) << statistics_;
}

TEST_F(CuptiSourceTest, NvtxRangesAreHostRangesAndNcclsAreCollectives) {
  start(1);
  const uint32_t forward = FAKE(fake_cupti_nvtx_push)("forward", nullptr);
  const uint32_t reduce = FAKE(fake_cupti_nvtx_push)("ncclAllReduce", "NCCL");
  FAKE(fake_cupti_nvtx_pop)(reduce);
  FAKE(fake_cupti_nvtx_pop)(forward);
  FAKE(fake_cupti_nvtx_pop)(9999);  // began before the recording
  const Recorded recorded = stop();
  const auto& ranges = recorded.tables.at("ranges");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(recorded.names.at(ranges[0].at("name")), "ncclAllReduce");
  EXPECT_EQ(ranges[0].at("kind"), STEPSCOPE_COLLECTIVE);
  EXPECT_EQ(ranges[1].at("kind"), STEPSCOPE_USER);
  EXPECT_EQ(ranges[1].at("key"), ::gettid());
  EXPECT_LE(ranges[1].at("start_ticks"), ranges[0].at("start_ticks"));
}

TEST_F(CuptiSourceTest, ATierSwitchesItsKindsOnAndStopAllOffButCopies) {
  const auto on = [](uint32_t kind) { return (FAKE(fake_cupti_enabled_kinds)() >> kind & 1) != 0; };
  for (const uint32_t tier : {1u, 2u, 3u}) {
    start(tier, 1300, "detach=0");
    EXPECT_TRUE(on(kMemory));
    EXPECT_EQ(on(kConcurrentKernel), tier >= 2);
    EXPECT_EQ(on(kMemcpy), tier >= 2);
    EXPECT_FALSE(on(kRuntimeApi)) << "calls come by callbacks";
    EXPECT_EQ(FAKE(fake_cupti_has_subscriber)(), 1);
    EXPECT_EQ(FAKE(fake_cupti_attribute)(kAttributeBufferPerThread), 1);
    stop();
    for (uint32_t kind = 0; kind < 64; ++kind)
      EXPECT_EQ(on(kind), tier >= 2 && (kind == kMemcpy || kind == kMemset)) << kind;
    EXPECT_EQ(FAKE(fake_cupti_attribute)(kAttributeBufferPerThread), 0);
    EXPECT_EQ(FAKE(fake_cupti_buffers_outstanding)(), 0u);
  }
}

// Switched off while a thread copies, they would crash the program: see CuptiSource::stop.
TEST_F(CuptiSourceTest, RecordsOfCopiesStayOnWithoutABuffer) {
  FAKE(fake_cupti_reset)(1300);
  WriterBell bell;
  CuptiSource source(CuptiOptions{}, bell);
  ASSERT_TRUE(source.start().ok());
  FAKE(fake_cupti_copy)(1, 1);
  EXPECT_EQ(FAKE(fake_cupti_buffers_outstanding)(), 1u);
  source.stop();
  FAKE(fake_cupti_copy)(1, 1);
  EXPECT_EQ(FAKE(fake_cupti_buffers_outstanding)(), 0u);
}

// CUPTI keeps a buffer back while one copy in it is under way, with all the kernels before it.
TEST_F(CuptiSourceTest, KernelsAreThereAlsoWhereThreadsGoOnCopying) {
  for (const uint32_t tier : {2u, 3u}) {
    start(tier, 1300, "detach=0");
    for (int i = 0; i < 3; ++i) launch();
    FAKE(fake_cupti_keep_copies_under_way)(1);
    EXPECT_EQ(stop().tables.at("kernels").size(), 3u);
    start_again(tier);
    launch();
    const Recorded next = stop();
    EXPECT_EQ(next.tables.at("kernels").size(), 1u);
    EXPECT_EQ(next.gpu("late_kernels"), "0");
  }
}

TEST_F(CuptiSourceTest, WorkBetweenRecordingsIsOfNone) {
  struct Way {
    bool in_a_buffer;  // that CUPTI had in hand at the end, and writes on to
    bool timed;
  };
  for (const Way& way : {Way{false, false}, Way{true, true}, Way{true, false}}) {
    start(3, 1300, "detach=0");
    FAKE(fake_cupti_keep_a_buffer)(way.in_a_buffer);
    FAKE(fake_cupti_time_copies_with_kernels_only)(!way.timed);
    FAKE(fake_cupti_copy)(1, 1);
    EXPECT_EQ(stop().tables.at("copies").size(), 1u);
    for (int i = 0; i < 3; ++i) {
      FAKE(fake_cupti_copy)(2, 1);
      FAKE(fake_cupti_memset)(2);
    }
    // One that was launched just before kernels were switched off.
    FAKE(fake_cupti_switch)(kConcurrentKernel, way.in_a_buffer && way.timed);
    launch();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // they take a moment
    start_again(3);
    FAKE(fake_cupti_copy)(3, 1);
    const Recorded recorded = stop();
    ASSERT_EQ(recorded.tables.at("copies").size(), 1u);
    EXPECT_EQ(recorded.tables.at("copies")[0].at("bytes"), 3);
    EXPECT_EQ(recorded.gpu("elsewhere"), way.in_a_buffer ? way.timed ? "7" : "6" : "0");
    EXPECT_FALSE(recorded.tables.contains("kernels"));
    const bool came_late = way.in_a_buffer && way.timed;
    EXPECT_EQ(recorded.gpu("late_kernels"), came_late ? "1" : "0");
    EXPECT_EQ(recorded.notes.contains("not_honoured"), came_late);
    EXPECT_EQ(recorded.gpu("dropped"), "0");
    EXPECT_EQ(recorded.gpu("buffers_refused"), "0");
    EXPECT_NE(statistics_.find("\"not_recorded\":0,"), std::string::npos) << statistics_;
    start_again(1);  // asks for none
    FAKE(fake_cupti_copy)(4, 1);
    EXPECT_FALSE(stop().tables.contains("copies"));
  }
}

// They have no time when kernels are switched off: those in the midst of the recording are lost.
TEST_F(CuptiSourceTest, CopiesWithoutATimeAreLostBetweenKernelsAndElsewhereAtTheEdges) {
  start(3, 1300);
  FAKE(fake_cupti_time_copies_with_kernels_only)(1);
  const auto record_kernels = [](bool on) { FAKE(fake_cupti_switch)(kConcurrentKernel, on); };
  record_kernels(false);
  for (int i = 0; i < 3; ++i) FAKE(fake_cupti_copy)(1, 1);
  record_kernels(true);
  launch();
  record_kernels(false);
  for (int i = 0; i < 2; ++i) FAKE(fake_cupti_memset)(1);
  record_kernels(true);
  launch();
  record_kernels(false);
  FAKE(fake_cupti_copy)(1, 1);
  const Recorded recorded = stop();
  EXPECT_EQ(recorded.gpu("without_time"), "2");
  EXPECT_EQ(recorded.gpu("elsewhere"), "4");
  EXPECT_NE(statistics_.find("\"not_recorded\":2,"), std::string::npos) << statistics_;
  EXPECT_NE(statistics_.find(R"("lost_because":"CUPTI gave no times)"), std::string::npos)
      << statistics_;
}

TEST_F(CuptiSourceTest, ThreadsThatFillManyBuffersLoseNothingUncounted) {
  constexpr int kThreads = 4;
  constexpr int kLaunches = 20'000;
  for (int round = 0; round < 2; ++round) {
    start(3, 1300, "buffer_kb=64,ready=8,buffers=48,flush_ms=100");
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kLaunches; ++i) {
          launch(static_cast<uint32_t>(thread), 0, i % 100 + 1);
          if (i % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
    for (auto& thread : threads) thread.join();
    const Recorded recorded = stop();
    const auto kernels = static_cast<int64_t>(recorded.tables.at("kernels").size());
    const auto calls = static_cast<int64_t>(recorded.tables.at("runtime_calls").size());
    const int64_t dropped = std::stoll(recorded.gpu("dropped"));
    EXPECT_EQ(kernels + calls + dropped, 2 * kThreads * kLaunches);
    EXPECT_GT(kernels, 0);
    // What was lost must be where the user looks for it.
    EXPECT_NE(statistics_.find("\"not_recorded\":" + std::to_string(dropped) + ","),
              std::string::npos)
        << statistics_;
    EXPECT_EQ(recorded.tables.at("kernel_variants").size(), 100u);
  }
}

// Recordings begin and end while threads launch: kernels that are recorded have their calls.
TEST_F(CuptiSourceTest, ThreadsLaunchWhileRecordingsBeginAndEnd) {
  constexpr size_t kThreads = 3;
  FAKE(fake_cupti_reset)(1300);
  ::setenv("STEPSCOPE_CUPTI_TUNING", "", 1);
  std::atomic<int> launches = 0;
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&](const std::stop_token& done) {
      while (!done.stop_requested()) {
        launch();
        ++launches;
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    start_again(3);
    for (const int before = launches; launches < before + 100;) std::this_thread::yield();
    const Recorded recorded = stop();
    std::set<int64_t> calls;
    for (const Row& row : recorded.tables.at("runtime_calls")) calls.insert(row.at("correlation"));
    size_t without_call = 0;
    for (const Row& row : recorded.tables.at("kernels"))
      without_call += !calls.contains(row.at("correlation"));
    // Those of calls that were under way when it began, or ended.
    EXPECT_LE(without_call, 2 * kThreads);
    EXPECT_GT(calls.size(), 50u);
  }
}

TEST_F(CuptiSourceTest, WithoutBuffersRecordsAreCountedAsLost) {
  FAKE(fake_cupti_reset)(1300);
  WriterBell bell;
  CuptiOptions options;
  options.buffer_bytes = 64 << 10;
  options.buffers_ready = 1;
  options.buffers_most = 1;
  CuptiSource source(options, bell);
  ASSERT_TRUE(source.start().ok());
  EXPECT_FALSE(source.waiting());
  constexpr int kLaunches = 1000;
  for (int i = 0; i < kLaunches; ++i) launch();
  EXPECT_TRUE(source.waiting());
  source.stop();
  ChunkBuilder chunk;
  NameTable names;
  LastingRows lasting(chunk);
  SourceOutput output{chunk, names, lasting};
  while (source.waiting()) source.collect(output);
  source.collect(output);
  EXPECT_GT(output.events, 0);
  EXPECT_GT(output.not_recorded, 0);
  EXPECT_EQ(output.events + output.not_recorded, kLaunches);
}

TEST(CuptiOptions, AreTunedByWords) {
  CuptiOptions options;
  const auto unknown = options.tune("buffer_kb=128,flush_ms=0,per_thread=0,what=1,ready=x");
  EXPECT_EQ(options.buffer_bytes, 128u << 10);
  EXPECT_EQ(options.flush_every_ms, 0);
  EXPECT_FALSE(options.buffer_per_thread);
  EXPECT_EQ(unknown, (std::vector<std::string>{"what=1", "ready=x"}));
  EXPECT_TRUE(options.tune(nullptr).empty());
}

TEST(ApiCalls, NamesLoseTheirVersionOnly) {
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_api_name("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel_ptsz");
  EXPECT_EQ(plain_api_name("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(plain_api_name("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_TRUE(driver_call_is_wanted("cuLaunchKernel_ptsz"));
  EXPECT_FALSE(driver_call_is_wanted("cuCtxGetCurrent"));
  EXPECT_FALSE(runtime_call_is_wanted("cudaGetDevice"));
}

// What CUPTI says once must outlast the seconds that a watch keeps.
TEST_F(CuptiSourceTest, EveryCaptureOfAWatchKnowsVariantsAndDevices) {
  FAKE(fake_cupti_reset)(1300);
  ::setenv("STEPSCOPE_CUPTI_TUNING", "buffer_kb=64,flush_ms=1", 1);
  stepscope_watch_options rules{};
  rules.size = sizeof rules;
  rules.keep_ms = 1500;
  rules.capture_ms = 1;
  stepscope_options options{};
  options.size = sizeof options;
  options.gpu_tier = 2;
  options.min_free_mb = 1;
  const std::string output = folder_.path("captures");
  ASSERT_EQ(stepscope_watch(output.c_str(), &rules, &options), 0) << stepscope_last_error();
  const auto captures = [&] {
    std::set<std::string> runs;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(output, error))
      runs.insert(entry.path().string());
    return runs;
  };
  for (size_t round = 1; round <= 2; ++round) {
    for (int kernel = 0; kernel < 1000; ++kernel) launch();  // fill buffers, which come then
    ASSERT_EQ(stepscope_flush(), 0);
    stepscope_trigger("asked", "to see the kernels");
    for (int i = 0; i < 1000 && captures().size() < round; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    // Long enough for what was kept to be forgotten.
    std::this_thread::sleep_for(std::chrono::milliseconds(3000));
  }
  stepscope_stop();
  ASSERT_EQ(captures().size(), 2u);
  for (const std::string& run : captures()) {
    Recorded recorded = read_all(run + "/FRAMEWORK/stepscope.raw");
    ASSERT_FALSE(recorded.tables["kernels"].empty()) << run;
    std::set<int64_t> variants;
    for (const Row& row : recorded.tables["kernel_variants"]) {
      variants.insert(row.at("variant"));
      EXPECT_FALSE(recorded.names[row.at("name")].empty());
    }
    for (const Row& row : recorded.tables["kernels"])
      EXPECT_TRUE(variants.contains(row.at("variant"))) << run;
    EXPECT_EQ(recorded.notes["device"].size(), 1u);
    EXPECT_EQ(recorded.notes["trigger"].size(), 1u);
  }
}

}  // namespace
}  // namespace stepscope::cupti
