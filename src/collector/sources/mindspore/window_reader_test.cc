#include "collector/sources/mindspore/window_reader.h"

#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::TemporaryFolder;

class WindowReaderTest : public ::testing::Test {
 protected:
  // Window number `i` has one operator that starts at i + 1 and, as MindSpore writes them, the
  // memory records of all windows so far.
  void put(int i) {
    const std::string name = "w" + std::to_string(i);
    folders_.write(name + "/cpu_op_execute_timestamp_0.txt",
                   "MatMul;HostCpuOps;" + std::to_string(i + 1) + ",0.5,0 \n");
    std::string memory = "time,allocated,reserved,active\n";
    for (int record = 0; record <= i; ++record) memory += std::to_string(record + 1) + ",8,16,8\n";
    folders_.write(name + "/cpu_ms_memory_record_0.txt", memory);
    MindsporeFolder folder;
    folder.path = folders_.path(name);
    folder.from_ns = i + 1;
    folder.to_ns = i + 1;
    folder.memory = true;
    ASSERT_TRUE(inbox_.put(std::move(folder)));
  }

  // Each of them once, in their order, with its own memory record and no other.
  void expect_windows(const std::vector<ReadWindow>& windows, int count) {
    ASSERT_EQ(windows.size(), static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      const MindsporeWindow& rows = windows[static_cast<size_t>(i)].rows;
      ASSERT_EQ(rows.operators.size(), 1u);
      EXPECT_EQ(rows.operators[0].start_ns, i + 1);
      ASSERT_EQ(rows.memory.size(), 1u);
      EXPECT_EQ(rows.memory[0].when_ns, i + 1);
    }
    EXPECT_TRUE(std::filesystem::is_empty(folders_.path()));
  }

  // What the thread reads, until it is so many.
  std::vector<ReadWindow> take_all(size_t count) {
    std::vector<ReadWindow> all;
    while (all.size() < count) {
      for (ReadWindow& window : reader_.take()) all.push_back(std::move(window));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return all;
  }

  TemporaryFolder folders_;
  MindsporeInbox inbox_;
  NameTable names_;
  WindowReader reader_{inbox_, names_};
};

TEST_F(WindowReaderTest, WithoutAThreadTheCallerReads) {
  for (int i = 0; i < 6; ++i) put(i);
  reader_.read_down_to(4);
  EXPECT_EQ(inbox_.size(), 4u);
  reader_.read_down_to(0);
  expect_windows(reader_.take(), 6);
  EXPECT_TRUE(reader_.take().empty());
}

TEST_F(WindowReaderTest, TheThreadReadsThemAsTheyCome) {
  reader_.start_thread();
  for (int i = 0; i < 20; ++i) put(i);
  expect_windows(take_all(20), 20);
}

TEST_F(WindowReaderTest, WhatNobodyTakesIsNotReadOn) {
  reader_.start_thread();
  for (int i = 0; i < 7; ++i) put(i);
  while (inbox_.size() > 7 - WindowReader::kMostWaiting)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // time to read one too many
  EXPECT_EQ(inbox_.size(), 7 - WindowReader::kMostWaiting);
  expect_windows(take_all(7), 7);
}

TEST_F(WindowReaderTest, WhoCannotWaitReadsBesideTheThread) {
  reader_.start_thread();
  for (int i = 0; i < 60; ++i) put(i);
  reader_.read_down_to(0);
  expect_windows(reader_.take(), 60);
}

// setpriority is of the process in POSIX, and of the thread on Linux: of this one alone.
TEST_F(WindowReaderTest, OnlyTheThreadIsOfTheLowestPriority) {
  if (::getpriority(PRIO_PROCESS, 0) == 19) GTEST_SKIP() << "all of this runs at nice 19";
  reader_.start_thread();
  put(0);
  take_all(1);
  int lowest = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    const auto thread = static_cast<id_t>(std::stoi(task.path().filename()));
    const int priority = ::getpriority(PRIO_PROCESS, thread);
    EXPECT_EQ(priority == 19, name == "stepscope-ms") << name << " " << priority;
    lowest += priority == 19;
  }
  EXPECT_EQ(lowest, 1);
}

}  // namespace
}  // namespace stepscope
