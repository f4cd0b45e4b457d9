// Rings of worker processes: who gets which, and whose the records in them are.
#include "collector/worker_rings.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/sanitizers.h"
#include "collector/recording_test.h"
#include "collector/watching_test.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::read_back;
using testing::ReadBack;

void put_record(uint32_t name) { stepscope_end_range(stepscope_now(), STEPSCOPE_PIPELINE, name); }

// Stays closed for those who wait at it until it is opened, once and for all.
class Gate {
 public:
  Gate() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Gate() {
    open();
    ::close(ends_[0]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // In a child, which has both ends from its parent.
  void wait() {
    open();
    char nothing = 0;
    (void)!::read(ends_[0], &nothing, 1);
  }
  // Waits no longer than that; whether it is open.
  bool wait_ms(int most) {
    open();
    pollfd end{ends_[0], POLLIN, 0};
    return ::poll(&end, 1, most) != 0;
  }

 private:
  int ends_[2] = {-1, -1};
};

template <typename Work>
pid_t fork_for(Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  work();
  ::_exit(0);
}

void join_or_exit(const std::string& address) {
  if (stepscope_join(address.c_str()) != 0) ::_exit(2);
}

// Whether it ended well.
bool wait_for(pid_t child) {
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

int count_well_ended(const std::vector<pid_t>& children) {
  int count = 0;
  for (const pid_t child : children) count += wait_for(child);
  return count;
}

bool joins(const std::string& address) {
  return wait_for(fork_for([&] { join_or_exit(address); }));
}

// That many workers, which have joined, write one record while something records and have ended.
void use_rings(const std::string& address, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(wait_for(fork_for([&] {
      join_or_exit(address);
      put_record(0);
    }))) << i;
  }
}

// Workers that have joined and write records, where something records, until the gate opens.
std::vector<pid_t> living_workers(const std::string& address, size_t count, Gate& gate) {
  std::vector<pid_t> workers;
  for (size_t i = 0; i < count; ++i) {
    Gate ready;
    const pid_t worker = fork_for([&] {
      join_or_exit(address);
      ready.open();
      do put_record(0);
      while (!gate.wait_ms(1));
    });
    ready.wait();
    workers.push_back(worker);
  }
  return workers;
}

// What a worker maps.
SharedWorkerArea* map_area(const std::string& address) {
  const int file = ::open(address.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory =
      ::mmap(nullptr, sizeof(SharedWorkerArea), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<SharedWorkerArea*>(memory);
}

TEST(WorkerRings, OfEndedWorkersAreUsedAgainWhileNothingRecords) {
  WorkerRings rings;
  use_rings(rings.address(), 3 * kMostWorkerRings);
  EXPECT_EQ(rings.turned_away(), 0);
}

TEST(WorkerRings, OfLivingWorkersAreNot) {
  WorkerRings rings;
  const std::string address = rings.address();
  Gate end;
  const auto workers = living_workers(address, kMostWorkerRings, end);
  EXPECT_FALSE(joins(address));
  EXPECT_EQ(rings.turned_away(), 1);
  end.open();
  EXPECT_EQ(count_well_ended(workers), int{kMostWorkerRings});
  EXPECT_TRUE(joins(address));
}

TEST(WorkerRings, AProcessThatHasAnEndedWorkersIdIsNotTheWorker) {
  WorkerRings rings;
  const std::string address = rings.address();
  Gate end;
  const auto workers = living_workers(address, kMostWorkerRings, end);
  SharedWorkerArea* const area = map_area(address);
  ASSERT_NE(area, nullptr);
  for (SharedRing& shared : area->rings) shared.owner.fetch_sub(uint64_t{1} << 32);  // older
  EXPECT_TRUE(joins(address));
  end.open();
  EXPECT_EQ(count_well_ended(workers), int{kMostWorkerRings});
  ::munmap(area, sizeof *area);
}

TEST(WorkerRings, WorkersThatJoinAtOnceGetOneEach) {
  WorkerRings rings;
  const std::string address = rings.address();
  use_rings(address, kMostWorkerRings);
  rings.start();
  Gate begin;
  std::vector<pid_t> workers;
  workers.reserve(kMostWorkerRings);
  for (size_t i = 0; i < kMostWorkerRings; ++i) {
    workers.push_back(fork_for([&] {
      begin.wait();
      join_or_exit(address);
      for (int record = 0; record < 100; ++record) put_record(static_cast<uint32_t>(::getpid()));
    }));
  }
  begin.open();
  EXPECT_EQ(count_well_ended(workers), int{kMostWorkerRings});
  std::map<int64_t, uint64_t> records;
  rings.drain([&](int64_t process, const stepscope_ring& ring, uint64_t tail, uint64_t head) {
    records[process] += head - tail;
    for (; tail != head; ++tail) EXPECT_EQ(ring.records[tail & ring.mask].name, process);
  });
  EXPECT_EQ(records.size(), kMostWorkerRings);
  for (const auto& [process, count] : records) EXPECT_EQ(count, 100u) << process;
}

TEST(WorkerRings, RecordsThatNobodyHasTakenYetKeepTheirRing) {
  WorkerRings rings;
  const std::string address = rings.address();
  rings.start();
  use_rings(address, kMostWorkerRings);
  EXPECT_FALSE(joins(address));
  rings.stop();
  EXPECT_FALSE(joins(address)) << "a recording that ends still asks for them";
  uint64_t records = 0;
  rings.drain([&](int64_t, const stepscope_ring&, uint64_t tail, uint64_t head) {
    records += head - tail;
  });
  EXPECT_EQ(records, kMostWorkerRings);
  EXPECT_TRUE(joins(address));
}

// Workers that come and go while somebody drains: none is taken for another, no record is lost.
TEST(WorkerRings, RecordsAreThoseOfTheirWorkerWheneverARingPassesOn) {
  constexpr int kWorkers = 600;
  constexpr int kRecords = 20;
  WorkerRings rings;
  const std::string address = rings.address();
  rings.start();
  std::atomic<bool> ended = false;
  int64_t records = 0;
  int64_t mistaken = 0;
  const auto drain = [&] {
    rings.drain([&](int64_t process, const stepscope_ring& ring, uint64_t tail, uint64_t head) {
      records += static_cast<int64_t>(head - tail);
      for (; tail != head; ++tail) mistaken += ring.records[tail & ring.mask].name != process;
    });
  };
  std::thread reader([&] {
    while (!ended) {
      drain();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  int64_t joined = 0;
  for (int round = 0; round < kWorkers / 60; ++round) {
    std::vector<pid_t> workers;
    workers.reserve(60);
    for (int i = 0; i < 60; ++i) {
      workers.push_back(fork_for([&] {
        join_or_exit(address);
        for (int record = 0; record < kRecords; ++record)
          put_record(static_cast<uint32_t>(::getpid()));
      }));
    }
    joined += count_well_ended(workers);
  }
  ended = true;
  reader.join();
  drain();
  EXPECT_GT(joined, kWorkers / 2);
  EXPECT_EQ(records, joined * kRecords);
  EXPECT_EQ(mistaken, 0);
}

TEST(WorkerRings, AreFreeBehindAWatchThatKeptNothing) {
  const std::string address = stepscope_worker_address();
  const testing::TemporaryFolder folder;
  const stepscope_watch_options rules = testing::watch_rules();
  ASSERT_EQ(stepscope_watch(folder.path().c_str(), &rules, nullptr), 0) << stepscope_last_error();
  Gate end;
  const auto workers = living_workers(address, kMostWorkerRings, end);
  stepscope_stop();
  end.open();
  EXPECT_EQ(count_well_ended(workers), int{kMostWorkerRings});
  Gate end_of_next;
  const auto next = living_workers(address, kMostWorkerRings, end_of_next);
  end_of_next.open();
  EXPECT_EQ(count_well_ended(next), int{kMostWorkerRings});
}

TEST(WorkerRings, AWorkerThatJoinsAfterManyOthersIsRecorded) {
  const std::string address = stepscope_worker_address();
  use_rings(address, 2 * kMostWorkerRings);
  Gate begin;
  Gate joined;
  const pid_t worker = fork_for([&] {
    join_or_exit(address);
    joined.open();
    begin.wait();
    put_record(0);
  });
  joined.wait();
  const testing::TemporaryFolder folder;
  ASSERT_EQ(stepscope_start(folder.path().c_str(), nullptr), 0) << stepscope_last_error();
  begin.open();
  EXPECT_TRUE(wait_for(worker));
  stepscope_stop();
  const ReadBack run = read_back(folder.path("stepscope.raw"));
  ASSERT_EQ(run.ranges.size(), 1u);
  EXPECT_EQ(run.ranges[0].thread, worker);
}

constexpr const char* kWorkerBehindExec = "worker-behind-exec";

// What that worker does. It must be a program that has joined and done nothing else.
void join_and_fork(const char* address) {
  join_or_exit(address);
  for (int i = 0; i < 50; ++i) put_record(0);
  const pid_t child = fork_for([] {
    const bool records = stepscope_now() != 0;
    stepscope_end_range(stepscope_ticks(), STEPSCOPE_PIPELINE, 0);
    for (int i = 0; i < 37; ++i) put_record(0);
    if (records) ::_exit(3);
  });
  if (!wait_for(child)) ::_exit(4);
  for (int i = 0; i < 50; ++i) put_record(0);
  ::_exit(0);
}

// Before main(): this program stands for the worker's too.
__attribute__((constructor)) void be_worker_if_asked(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[0], kWorkerBehindExec) == 0) join_and_fork(arguments[1]);
}

TEST(WorkerRings, AChildOfAWorkerBehindExecRecordsNothing) {
  const std::string address = stepscope_worker_address();
  const testing::TemporaryFolder folder;
  ASSERT_EQ(stepscope_start(folder.path().c_str(), nullptr), 0) << stepscope_last_error();
  const pid_t worker = fork_for([&] {
    ::execl("/proc/self/exe", kWorkerBehindExec, address.c_str(), nullptr);
    ::_exit(5);
  });
  int status = -1;
  EXPECT_EQ(::waitpid(worker, &status, 0), worker);
  EXPECT_EQ(status, 0) << "exit code " << WEXITSTATUS(status);
  stepscope_stop();
  const ReadBack run = read_back(folder.path("stepscope.raw"));
  EXPECT_EQ(run.ranges.size(), 100u);
  for (const auto& range : run.ranges) EXPECT_EQ(range.thread, worker);
  EXPECT_EQ(run.statistic("not_recorded"), 0);
}

// Until not the smallest piece is to be had.
void use_all_memory() {
  const rlimit nothing_more{0, 0};
  if (::setrlimit(RLIMIT_AS, &nothing_more) != 0) ::_exit(6);
  for (size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) {
    while (void* const piece = std::malloc(bytes)) *static_cast<volatile char*>(piece) = 1;
  }
}

TEST(WorkerRings, JoiningWithoutMemoryFailsAndThrowsNothing) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "these end where there is no memory";
  const std::string address = stepscope_worker_address();
  for (const std::string& at : {address, std::string("/nonexistent")}) {
    EXPECT_TRUE(wait_for(fork_for([&] {
      use_all_memory();
      try {
        if (stepscope_join(at.c_str()) == 0) ::_exit(2);
      } catch (const std::exception&) {
        ::_exit(3);
      }
      if (*stepscope_last_error() == '\0') ::_exit(4);
    }))) << at;
  }
}

}  // namespace
}  // namespace stepscope
