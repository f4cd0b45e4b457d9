// The system's figures, from a /proc of the test's own.
#include "collector/sources/system/system_source.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/chunk_builder.h"
#include "format/chunk_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

constexpr const char* kTaskStat =
    "%d (%s) S 1 1 1 0 -1 4194304 100 0 0 0 %d %d 0 0 20 0 %d 0 5 0 0";

std::string task_stat(int id, const std::string& name, int user, int system, int threads = 1) {
  char text[256];
  std::snprintf(text, sizeof text, kTaskStat, id, name.c_str(), user, system, threads);
  return text;
}

class FakeProc {
 public:
  void machine(int user, int system, int idle, int iowait, int switches, int runnable) {
    folder_.write("stat", "cpu  " + std::to_string(user) + " 0 " + std::to_string(system) + " " +
                              std::to_string(idle) + " " + std::to_string(iowait) +
                              " 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt " +
                              std::to_string(switches) + "\nprocs_running " +
                              std::to_string(runnable) + "\n");
  }
  void process(int user) {
    folder_.write("10/stat", task_stat(10, "train (v2)", user, 5, 2));
    folder_.write("10/statm", "1000 50 20 1 0 1 0");
    folder_.write("10/task/10/stat", task_stat(10, "train (v2)", user, 0));
    folder_.write("10/task/11/stat", task_stat(11, "loader", 0, 0));
    folder_.write("10/task/11/children", "20 ");
    folder_.write("20/stat", task_stat(20, "worker", user * 2, 0));
    folder_.write("20/statm", "1000 30 20 1 0 1 0");
  }
  void bytes(int sectors, int received) {
    folder_.write("diskstats",
                  "259 0 nvme0n1 5 0 " + std::to_string(sectors) +
                      " 0 7 0 16 0 0 0 0\n259 1 nvme0n1p1 5 0 999 0 7 0 999 0 0 0 0\n");
    folder_.write("net/dev",
                  "Inter-| Receive\n face |bytes\n    lo: 77 0 0 0 0 0 0 0 77 0\n  eth0: " +
                      std::to_string(received) + " 0 0 0 0 0 0 0 30 0\n");
  }
  // Further threads with numbers from 100 on; each child is started by a thread of its own.
  void many_threads(int count, int children) {
    folder_.write("10/stat", task_stat(10, "train (v2)", 0, 5, 2 + count));
    for (int i = 0; i < count; ++i) {
      const std::string thread = "10/task/" + std::to_string(100 + i);
      folder_.write(thread + "/stat", task_stat(100 + i, "pool", 0, 0));
      if (i < count - children) continue;
      folder_.write(thread + "/children", std::to_string(1000 + i) + " ");
      folder_.write(std::to_string(1000 + i) + "/stat", task_stat(1000 + i, "late", 0, 0));
      folder_.write(std::to_string(1000 + i) + "/statm", "1000 30 20 1 0 1 0");
    }
  }
  std::string root() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

// Stands still until it is told to go on.
class Clock {
 public:
  std::function<int64_t()> now() {
    return [this] { return now_ns_; };
  }
  void advance_ms(int64_t ms) { now_ns_ += ms * 1'000'000; }

 private:
  int64_t now_ns_ = 1;
};

using Series = std::map<std::string, std::vector<double>>;

// All values, and what the source said, where that is asked for.
Series collect_all(SystemSource& source, std::vector<std::string>* problems = nullptr) {
  ChunkBuilder builder;
  NameTable names;
  LastingRows lasting(builder);
  SourceOutput output{builder, names, lasting};
  source.collect(output);
  if (problems != nullptr) *problems = output.problems;
  names.visit_from(0, [&](uint32_t id, std::string_view text) { builder.add_string(id, text); });
  const auto packed = builder.pack(0);
  const testing::TemporaryFolder folder;
  const std::string path = folder.write(
      "x.raw", std::string(kRawFileMagic) +
                   std::string(reinterpret_cast<const char*>(packed.data()), packed.size()));
  auto reader = ChunkReader::open(path);
  RawChunk chunk;
  if (!reader || !reader->next(chunk)) return {};
  std::map<int64_t, std::string> texts;
  for (const RawString& string : chunk.strings) texts[string.id] = string.text;
  Series values;
  for (const RawTable& table : chunk.tables) {
    for (const int64_t bits : *table.column("value"))
      values[texts[table.key]].push_back(std::bit_cast<double>(bits));
  }
  return values;
}

// The last value of each series.
std::map<std::string, double> collect(SystemSource& source,
                                      std::vector<std::string>* problems = nullptr) {
  std::map<std::string, double> last;
  for (const auto& [series, values] : collect_all(source, problems)) last[series] = values.back();
  return last;
}

double average(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(SystemSource, SharesOfTheMachineAddUpAndRatesNeedTwoSamples) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  proc.process(10);
  proc.bytes(100, 1000);
  Clock clock;
  SystemSource source({1000, proc.root(), 10, clock.now()});
  source.sample();
  auto values = collect(source);
  EXPECT_EQ(values["machine runnable processes"], 3);
  EXPECT_EQ(values["machine processors"], 1);
  EXPECT_EQ(values["process resident bytes"], 50.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(values["process threads"], 2);
  EXPECT_FALSE(values.contains("process cpu %"));

  proc.machine(130, 60, 850, 60, 3000, 1);
  proc.process(60);
  proc.bytes(300, 5000);
  clock.advance_ms(1000);
  source.sample();
  values = collect(source);
  EXPECT_DOUBLE_EQ(values["machine cpu user %"], 30);
  EXPECT_DOUBLE_EQ(values["machine cpu system %"], 10);
  EXPECT_DOUBLE_EQ(values["machine cpu idle %"], 50);
  EXPECT_DOUBLE_EQ(values["machine cpu iowait %"], 10);
  EXPECT_DOUBLE_EQ(values["process cpu %"], 50);
  // Twice the work in the same time.
  EXPECT_DOUBLE_EQ(values["worker cpu % 20 worker"], 100);
  EXPECT_DOUBLE_EQ(values["thread cpu % 10 train (v2)"], 50);
  EXPECT_EQ(values["thread cpu % 11 loader"], 0);
  EXPECT_NEAR(values["disk read bytes/s"] / values["network received bytes/s"], 200.0 * 512 / 4000,
              1e-9);
  EXPECT_EQ(values["disk write bytes/s"], 0);
}

size_t count_of(const std::map<std::string, double>& values, std::string_view start) {
  size_t count = 0;
  for (const auto& [series, value] : values) count += series.starts_with(start) ? 1 : 0;
  return count;
}

TEST(SystemSource, WhatIsCountedInTicksIsNeverMoreThanTheProcessors) {
  FakeProc proc;
  proc.bytes(0, 0);
  Clock clock;
  SystemSource source({1, proc.root(), 10, clock.now()});
  // The only processor, and a thread that has it without a pause, in ticks of 10 ms that come up to
  // 9 ms early. The worker has twice that, which cannot be, and must not be said.
  int last_tick = -1;
  for (int ms = 0; ms <= 500; ++ms) {
    const int tick = (ms + (ms / 100) % 2 * 9) / 10;
    if (std::exchange(last_tick, tick) != tick) {
      proc.machine(tick, 0, 0, 0, 0, 1);
      proc.process(tick);
    }
    source.sample();
    clock.advance_ms(1);
  }
  const Series values = collect_all(source);
  for (const char* const series : {"machine cpu user %", "process cpu %", "worker cpu % 20 worker",
                                   "thread cpu % 10 train (v2)"}) {
    const std::vector<double>& all = values.at(series);
    EXPECT_GE(all.size(), 4u) << series;
    EXPECT_LE(all.size(), 6u) << series;
    EXPECT_LE(*std::ranges::max_element(all), 100) << series;
    EXPECT_GE(average(all), 95) << series;
  }
  EXPECT_EQ(values.at("process threads").size(), 501u);
}

TEST(SystemSource, AShortRecordingHasOneFigureOverAllOfIt) {
  FakeProc proc;
  proc.machine(0, 0, 0, 0, 0, 1);
  proc.process(0);
  Clock clock;
  SystemSource source({1000, proc.root(), 10, clock.now()});
  source.sample();
  proc.machine(1, 0, 3, 0, 0, 1);
  proc.process(1);
  clock.advance_ms(40);
  source.sample(true);
  const auto values = collect(source);
  EXPECT_DOUBLE_EQ(values.at("machine cpu user %"), 25);
  EXPECT_DOUBLE_EQ(values.at("process cpu %"), 25);
  EXPECT_DOUBLE_EQ(values.at("thread cpu % 10 train (v2)"), 25);
  EXPECT_DOUBLE_EQ(values.at("worker cpu % 20 worker"), 50);
}

TEST(SystemSource, ABusyThreadIsExactAtShortIntervals) {
  std::atomic<bool> done = false;
  std::atomic<int64_t> id = 0;
  std::thread busy([&] {
    id = ::gettid();
    while (!done) continue;
  });
  SystemSource source({1, "/proc", 0});
  ASSERT_TRUE(source.start().ok());
  ::usleep(300'000);
  source.stop();
  done = true;
  busy.join();
  const double processors = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  size_t of_the_thread = 0;
  for (const auto& [series, values] : collect_all(source)) {
    if (series.find("cpu") == std::string::npos) continue;
    const bool is_process = series == "process cpu %" || series.starts_with("worker");
    EXPECT_LE(*std::ranges::max_element(values), (is_process ? processors : 1) * 100.001) << series;
    if (!series.starts_with("thread cpu % " + std::to_string(id) + " ")) continue;
    of_the_thread = values.size();
    EXPECT_GT(average(values), 5);
  }
  EXPECT_GT(of_the_thread, 10u);  // not one for each 100 ms
}

TEST(SystemSource, OfManyThreadsTheNumberIsRightAndWhatIsMissingIsSaidOnce) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  proc.process(10);
  proc.many_threads(298, 0);
  Clock clock;
  SystemSource source({1000, proc.root(), 10, clock.now()});
  source.sample();
  clock.advance_ms(1000);
  source.sample();
  std::vector<std::string> problems;
  const auto values = collect(source, &problems);
  EXPECT_EQ(values.at("process threads"), 300);
  EXPECT_EQ(count_of(values, "thread cpu % "), 256u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], "system: the process has 300 threads: only 256 have figures of their own");
  source.sample();
  collect(source, &problems);
  EXPECT_TRUE(problems.empty());
}

TEST(SystemSource, WorkersOfLateThreadsAreFound) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  proc.process(10);
  proc.many_threads(250, 40);
  SystemSource source({1000, proc.root(), 10});
  source.sample();
  std::vector<std::string> problems;
  const auto values = collect(source, &problems);
  EXPECT_EQ(count_of(values, "worker resident bytes "), 41u);
  EXPECT_TRUE(problems.empty());
}

TEST(SystemSource, WorkersThatHaveNoFiguresAreSaidOnce) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  proc.process(10);
  proc.many_threads(100, 64);
  SystemSource source({1000, proc.root(), 10});
  source.sample();
  source.sample();
  std::vector<std::string> problems;
  const auto values = collect(source, &problems);
  EXPECT_EQ(count_of(values, "worker resident bytes "), 64u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("only 64 workers"), std::string::npos) << problems[0];
}

TEST(SystemSource, WhatTheWriterLeavesTooLongIsCountedAndSaidOnce) {
  FakeProc proc;
  proc.machine(100, 50, 800, 50, 1000, 3);
  SystemSourceOptions options{1000, proc.root(), 10};
  options.most_waiting = 3;
  SystemSource source(options);
  ChunkBuilder chunk;
  NameTable names;
  LastingRows lasting(chunk);
  SourceOutput output{chunk, names, lasting};
  for (int look = 1; look <= 2; ++look) {
    // A machine without processes has two figures, and rates from the second sample on.
    source.sample();
    source.sample();
    source.collect(output);
    EXPECT_GE(output.not_recorded, look) << "of four or more three are kept";
  }
  ASSERT_EQ(output.problems.size(), 1u);
  EXPECT_EQ(output.problems[0],
            "system: samples are missing: more of them waited for the disk than are kept");
}

TEST(SystemSource, WithoutProcItSaysSo) {
  SystemSource source({1000, "/nowhere", 1});
  const Status started = source.start();
  ASSERT_FALSE(started.ok());
  EXPECT_NE(started.error().message().find("/nowhere/stat"), std::string::npos);
}

TEST(SystemSource, TheRealProcGivesPlausibleFigures) {
  SystemSource source({5, "/proc", 0});
  ASSERT_TRUE(source.start().ok());
  ::usleep(60'000);
  source.stop();
  const auto values = collect(source);
  ASSERT_TRUE(values.contains("process resident bytes"));
  EXPECT_GT(values.at("process resident bytes"), 1 << 20);
  EXPECT_GE(values.at("process threads"), 1);
}

TEST(ProcFiles, BrokenTextsAreNothing) {
  EXPECT_FALSE(parse_machine(""));
  EXPECT_FALSE(parse_machine("ctxt 5\n"));
  EXPECT_FALSE(parse_task("12 no parentheses"));
  EXPECT_FALSE(parse_task(") backwards ("));
  EXPECT_EQ(parse_task("7 (x) S")->cpu, 0);
  EXPECT_EQ(parse_task(task_stat(7, "x) S (y", 1, 2))->started, 5);
  EXPECT_EQ(parse_network("garbage\n: \n").in, 0);
  EXPECT_EQ(parse_disks("8 0 sda\n").in, 0);
}

}  // namespace
}  // namespace stepscope
