// What goes wrong around a recording: sources that throw or hang, limits, forks meanwhile.
#include "collector/recorder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "collector/process.h"
#include "collector/recording_test.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::read_back;
using testing::ReadBack;

// Does what a test wants where a source is called.
struct TestSource final : Source {
  std::function<Status()> on_start = [] { return Status(); };
  std::function<void(SourceOutput&)> on_collect = [](SourceOutput&) {};
  std::function<void()> on_stop = [] {};

  std::string_view name() const override { return "test"; }
  Status start() override { return on_start(); }
  void collect(SourceOutput& output) override { on_collect(output); }
  void stop() override { on_stop(); }
};

class RecorderWith : public ::testing::Test {
 protected:
  // One recording with `source`; `work` is the program meanwhile.
  ReadBack record(std::unique_ptr<TestSource> source, const std::function<void()>& work,
                  RecorderOptions options = {}) {
    options.folder = folder_.path();
    std::vector<std::unique_ptr<Source>> sources;
    sources.push_back(std::move(source));
    const Status started = Process::instance().start(std::move(options), std::move(sources));
    EXPECT_TRUE(started.ok());
    work();
    statistics_ = Process::instance().stop().value_or(RecordingStatistics());
    return read_back(folder_.path("stepscope.raw"));
  }

  testing::TemporaryFolder folder_;
  RecordingStatistics statistics_;
};

void record_range() { STEPSCOPE_SCOPE("work"); }

void expect_a_forked_child_records(const testing::TemporaryFolder& folder) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (stepscope_start(folder.path().c_str(), nullptr) != 0) ::_exit(2);
    record_range();
    stepscope_stop();
    ::_exit(read_back(folder.path("stepscope.raw")).ranges.size() == 1 ? 0 : 3);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(RecorderWith, ASourceThatThrowsAtItsStartIsLeftOut) {
  auto source = std::make_unique<TestSource>();
  source->on_start = []() -> Status { throw std::bad_alloc(); };
  const ReadBack run = record(std::move(source), record_range);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.ranges.size(), 1u);
  EXPECT_TRUE(run.notes.contains("source_left_out"));
}

TEST_F(RecorderWith, ASourceThatThrowsAtItsEndIsReported) {
  auto source = std::make_unique<TestSource>();
  source->on_stop = [] { throw std::bad_alloc(); };
  const ReadBack run = record(std::move(source), record_range);
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.ranges.size(), 1u);
  ASSERT_EQ(statistics_.problems.size(), 1u);
  EXPECT_NE(statistics_.problems[0].find("test: std::bad_alloc"), std::string::npos);
}

TEST_F(RecorderWith, WithoutMemoryTheRecordingEndsAndTheProgramGoesOn) {
  auto source = std::make_unique<TestSource>();
  std::atomic<bool> fails = false;
  source->on_collect = [&](SourceOutput& output) {
    output.chunk.add_note("half", "1");
    if (fails) throw std::bad_alloc();
  };
  const ReadBack run = record(std::move(source), [&] {
    record_range();
    EXPECT_TRUE(Process::instance().flush_within(std::chrono::seconds(60)));
    fails = true;
    record_range();
    EXPECT_FALSE(Process::instance().flush_within(std::chrono::milliseconds(100)));
  });
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.statistic("not_recorded"), 1);
  EXPECT_NE(statistics_.stopped_by.find("std::bad_alloc"), std::string::npos);
  const testing::TemporaryFolder next;
  EXPECT_EQ(stepscope_start(next.path().c_str(), nullptr), 0) << stepscope_last_error();
  stepscope_stop();
}

// Fills a disk budget of 1 MiB with what does not compress, however late the writer comes to it.
// Returns the number of records.
int64_t reach_the_budget() {
  constexpr int64_t kMost = 50'000'000;
  uint64_t noise = 1;
  int64_t done = 0;
  while (done < kMost && Process::instance().problems().empty()) {
    for (int i = 0; i < 1000; ++i, ++done) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      stepscope_queue_get(stepscope_ticks(), 0, noise, static_cast<int64_t>(noise));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done;
}

TEST_F(RecorderWith, BehindALimitTheEventsOfSourcesAreCounted) {
  auto source = std::make_unique<TestSource>();
  std::atomic<int64_t> ready = 10;
  source->on_collect = [&](SourceOutput& output) { output.events += ready.exchange(0); };
  RecorderOptions options;
  options.max_disk_bytes = 1 << 20;
  int64_t recorded = 0;
  record(
      std::move(source),
      [&] {
        recorded = reach_the_budget();
        ready += 1000;
      },
      options);
  EXPECT_NE(statistics_.stopped_by.find("disk budget"), std::string::npos);
  EXPECT_EQ(statistics_.events + statistics_.not_recorded, recorded + 10 + 1000);
}

// The space that is to stay free is taken by somebody else while recording goes on. 1 GiB below and
// 3 above leave room for what other programs write meanwhile.
TEST_F(RecorderWith, AtTheFreeSpaceFloorRecordingEndsAndTheProgramGoesOn) {
  constexpr uint64_t kRoom = uint64_t{1} << 30;
  constexpr off_t kTaken = off_t{4} << 30;  // set aside, not written
  struct statvfs disk{};
  ASSERT_EQ(::statvfs(folder_.path().c_str(), &disk), 0);
  const uint64_t free_bytes = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  if (free_bytes < 2 * kTaken) GTEST_SKIP() << "needs 8 GiB of free disk";
  RecorderOptions options;
  options.min_free_bytes = free_bytes - kRoom;
  int failed = -1;
  const ReadBack run = record(
      std::make_unique<TestSource>(),
      [&] {
        record_range();
        EXPECT_TRUE(Process::instance().flush_within(std::chrono::seconds(60)));
        const int other = ::open(folder_.path("other").c_str(), O_WRONLY | O_CREAT, 0600);
        failed = ::posix_fallocate(other, 0, kTaken);
        ::close(other);
        for (int i = 0; i < 1000; ++i) record_range();
      },
      options);
  ::unlink(folder_.path("other").c_str());
  if (failed != 0) GTEST_SKIP() << "this file system cannot set space aside";
  EXPECT_NE(statistics_.stopped_by.find("are to stay free"), std::string::npos)
      << statistics_.stopped_by;
  EXPECT_TRUE(run.ended) << "the end is told in the file itself";
  EXPECT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(statistics_.not_recorded, 1000);
}

// A full ring is asked for room at every record.
TEST_F(RecorderWith, BehindALimitTheWriterIsNotWokenByEveryRecord) {
  RecorderOptions options;
  options.max_disk_bytes = 1 << 20;
  options.ring_bytes = 64 << 10;
  int64_t switches = 0;
  record(
      std::make_unique<TestSource>(),
      [&] {
        reach_the_budget();
        rusage before{};
        rusage after{};
        ::getrusage(RUSAGE_SELF, &before);
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
        while (std::chrono::steady_clock::now() < until) record_range();
        ::getrusage(RUSAGE_SELF, &after);
        switches = after.ru_nvcsw - before.ru_nvcsw;
      },
      options);
  EXPECT_NE(statistics_.stopped_by.find("disk budget"), std::string::npos);
  EXPECT_LT(switches, 200) << "it looks around ten times by itself";
}

// The memory of a ring is touched before it is used.
// As daemons do: close every descriptor there is, then open files of their own.
TEST_F(RecorderWith, AFileOfTheProgramUnderOurDescriptorIsNotTouched) {
  const std::string raw = folder_.path("stepscope.raw");
  const std::string own = folder_.path("own");
  int descriptor = -1;
  const ReadBack run = record(std::make_unique<TestSource>(), [&] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone) == raw)
        descriptor = std::stoi(entry.path().filename());
    }
    ASSERT_GE(descriptor, 0);
    const int opened = ::open(own.c_str(), O_WRONLY | O_CREAT, 0600);
    ASSERT_EQ(::dup2(opened, descriptor), descriptor);
    ::close(opened);
    stepscope_mark(stepscope_name("mark", 4));
    EXPECT_NE(stepscope_flush(), 0);
  });
  EXPECT_FALSE(run.ended);
  EXPECT_EQ(statistics_.not_recorded, 1);
  EXPECT_NE(statistics_.stopped_by.find("the program has closed this file"), std::string::npos)
      << statistics_.stopped_by;
  EXPECT_EQ(std::filesystem::file_size(own), 0u);
  EXPECT_EQ(::close(descriptor), 0) << "it is still the program's";
}

TEST_F(RecorderWith, ARingIsNotLargerThanTheBudget) {
  RecorderOptions options;
  options.max_host_bytes = 16 << 20;
  options.ring_bytes = uint64_t{1} << 30;
  const int64_t before = testing::resident_bytes();
  int64_t meanwhile = 0;
  const ReadBack run = record(
      std::make_unique<TestSource>(),
      [&] {
        record_range();
        meanwhile = testing::resident_bytes();
      },
      options);
  EXPECT_EQ(run.ranges.size(), 1u);
  EXPECT_LT(meanwhile - before, 64 << 20);
}

TEST_F(RecorderWith, NothingWaitsForAStopThatHangs) {
  std::atomic<bool> is_stopping = false;
  std::atomic<bool> goes_on = false;
  auto source = std::make_unique<TestSource>();
  source->on_stop = [&] {
    is_stopping = true;
    while (!goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  RecorderOptions options;
  options.folder = folder_.path();
  ASSERT_TRUE(Process::instance().start(std::move(options), std::move(sources)).ok());
  std::thread stopping([] { stepscope_stop(); });
  while (!is_stopping) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  const testing::TemporaryFolder childs;
  expect_a_forked_child_records(childs);
  EXPECT_STREQ(stepscope_outer_folder(), "");
  stepscope_metadata("said meanwhile", "1");
  EXPECT_EQ(stepscope_start(childs.path().c_str(), nullptr), -1);
  EXPECT_NE(std::string(stepscope_last_error()).find("does not get done"), std::string::npos);
  goes_on = true;
  stopping.join();
  EXPECT_TRUE(read_back(folder_.path("stepscope.raw")).ended);
}

// A disk that hangs: a pipe in the file's place, which takes 4 KiB and then nothing until it is
// read.
class HangingDisk {
 public:
  explicit HangingDisk(const std::string& folder) : path_(folder + "/stepscope.raw") {
    const std::string beginning = path_ + ".begin";
    EXPECT_EQ(::mkfifo(beginning.c_str(), 0600), 0);
    reader_ = ::open(beginning.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    EXPECT_GE(::fcntl(reader_, F_SETPIPE_SZ, 4096), 4096);
  }
  ~HangingDisk() { ::close(reader_); }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;

  // It answers again: what was written until the file was closed, in a file of its own.
  ReadBack come_back() const {
    std::string bytes;
    char buffer[4096];
    for (ssize_t got = 1; got != 0;) {
      got = ::read(reader_, buffer, sizeof buffer);
      if (got > 0) bytes.append(buffer, static_cast<size_t>(got));
      if (got < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ofstream(path_ + ".read", std::ios::binary) << bytes;
    return read_back(path_ + ".read");
  }

 private:
  std::string path_;
  int reader_ = -1;
};

constexpr int64_t kHangingEvents = 20'000;

RecorderOptions impatient(const std::string& folder) {
  RecorderOptions options;
  options.folder = folder;
  options.patience = std::chrono::milliseconds(200);
  return options;
}

void record_noise() {
  uint64_t noise = 1;
  for (int64_t done = 0; done < kHangingEvents; ++done) {
    noise = noise * 6364136223846793005u + 1442695040888963407u;
    stepscope_queue_get(stepscope_ticks(), 0, noise, static_cast<int64_t>(noise));
  }
}

TEST_F(RecorderWith, AStopDoesNotWaitForADiskThatHangs) {
  const HangingDisk disk(folder_.path());
  ASSERT_TRUE(Process::instance().start(impatient(folder_.path()), {}).ok());
  record_noise();
  const auto statistics = Process::instance().stop();
  ASSERT_TRUE(statistics);
  EXPECT_NE(statistics->stopped_by.find("the disk was waited for"), std::string::npos)
      << statistics->stopped_by;
  EXPECT_EQ(statistics->events + statistics->not_recorded, kHangingEvents);
  EXPECT_GT(statistics->not_recorded, 0);
  // Its rings are not for another one now.
  const testing::TemporaryFolder next;
  EXPECT_EQ(stepscope_start(next.path().c_str(), nullptr), -1);
  EXPECT_NE(std::string(stepscope_last_error()).find("waits for its disk"), std::string::npos);
  EXPECT_FALSE(Process::instance().stop());

  const ReadBack run = disk.come_back();
  EXPECT_TRUE(run.ended);
  EXPECT_EQ(run.values.size(), static_cast<size_t>(kHangingEvents));
  for (int i = 0; i < 1000 && stepscope_start(next.path().c_str(), nullptr) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  record_range();
  stepscope_stop();
  EXPECT_EQ(read_back(next.path("stepscope.raw")).ranges.size(), 1u);
}

TEST_F(RecorderWith, AProgramEndsThoughItsDiskHangs) {
  const HangingDisk disk(folder_.path());
  int said[2];
  ASSERT_EQ(::pipe(said), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(said[1], STDERR_FILENO);
    ::close(said[1]);
    ::alarm(60);
    if (!Process::instance().start(impatient(folder_.path()), {}).ok()) ::_exit(2);
    record_noise();
    std::exit(7);
  }
  ::close(said[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(said[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  ::close(said[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_NE(text.find("stepscope: recording stopped"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

// A forked child has nothing to do with what its parent left behind.
TEST_F(RecorderWith, AForkedChildDoesNotWaitForItsParentsDisk) {
  const HangingDisk disk(folder_.path());
  ASSERT_TRUE(Process::instance().start(impatient(folder_.path()), {}).ok());
  record_noise();
  ASSERT_TRUE(Process::instance().stop());
  expect_a_forked_child_records(testing::TemporaryFolder());
  EXPECT_TRUE(disk.come_back().ended);
}

}  // namespace
}  // namespace stepscope
