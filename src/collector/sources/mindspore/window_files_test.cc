// The text files of MindSpore's CPU profiler, whole, odd and hostile.
#include "collector/sources/mindspore/window_files.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/sources/mindspore/token_reader.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::TemporaryFolder;

class WindowFiles : public ::testing::Test {
 protected:
  void operators(std::string_view text) {
    read_mindspore_operators(folder_.write("ops", text), names_, short_names_, window_);
  }
  void shapes(std::string_view text) {
    read_mindspore_shapes(folder_.write("launches", text), names_, short_names_, window_);
  }
  std::string text(uint32_t name) {
    std::string found = "?";
    names_.visit_from(0, [&](uint32_t id, std::string_view known) {
      if (id == name) found = known;
    });
    return found;
  }

  TemporaryFolder folder_;
  NameTable names_;
  StringPool short_names_;
  MindsporeWindow window_;
};

TEST_F(WindowFiles, ExecutionsOfAllOperatorsInOrderOfTheirStart) {
  operators(
      "Default/net/c1-Conv2d/Conv2D-op0;HostCpuOps;1794715241818786543,24.621,0 "
      "1794715241946214078,0.002043,0 \n"
      "MatMul;HostCpuOps;1794715241900000000,1234.56,0\n");
  ASSERT_EQ(window_.operators.size(), 3u);
  EXPECT_EQ(window_.operators[0].start_ns, 1794715241818786543);
  EXPECT_EQ(window_.operators[0].duration_ns, 24'621'000);
  EXPECT_EQ(text(window_.operators[0].name), "Default/net/c1-Conv2d/Conv2D-op0");
  EXPECT_EQ(text(window_.operators[1].name), "MatMul");
  EXPECT_EQ(window_.operators[1].duration_ns, 1'234'560'000);
  EXPECT_EQ(window_.operators[2].duration_ns, 2043);
  EXPECT_EQ(window_.unreadable, 0);
}

TEST_F(WindowFiles, OddLinesAreCountedAndTheRestIsRead) {
  operators(
      "a;b;HostCpuOps;5,1\n"  // a separator in the name
      "\n"                    // nothing
      "no separator 5,1,0\n"  // three words that belong to no operator
      "x;HostCpuOps;7,1,0 8 -9,1,0 9,x,0 99999999999999999999,1,0 10,-1,0 11,2,0");
  ASSERT_EQ(window_.operators.size(), 3u);
  EXPECT_EQ(text(window_.operators[0].name), "a;b");
  EXPECT_EQ(window_.operators[1].start_ns, 7);
  EXPECT_EQ(window_.operators[2].start_ns, 11);
  EXPECT_EQ(window_.unreadable, 3 + 5);
}

TEST_F(WindowFiles, TokensBeyondAllMeasureArePassedOver) {
  const std::string endless(200'000, 'x');
  operators(endless + ";HostCpuOps;1,1,0\ny;HostCpuOps;2,1,0 " + endless + " 3,1,0 " + endless);
  // The first line has lost its name, and with it what makes its words executions.
  ASSERT_EQ(window_.operators.size(), 2u);
  EXPECT_EQ(window_.operators[0].start_ns, 2);
  EXPECT_EQ(window_.operators[1].start_ns, 3);
  EXPECT_GE(window_.unreadable, 3);
}

TEST_F(WindowFiles, LinesLongerThanTheBufferAreReadWhole) {
  std::string line = "MatMul;HostCpuOps;";
  constexpr int kCount = 50'000;
  for (int i = 0; i < kCount; ++i) line += std::to_string(1794715241818786543 + i) + ",0.002043,0 ";
  operators(line + "\nAdd;HostCpuOps;1,1,0");
  ASSERT_EQ(window_.operators.size(), size_t{kCount} + 1);
  for (int i = 0; i < kCount; ++i)
    ASSERT_EQ(window_.operators[static_cast<size_t>(i) + 1].start_ns, 1794715241818786543 + i);
  EXPECT_EQ(window_.unreadable, 0);
}

TEST_F(WindowFiles, ShapesByOrderAndWhereANameHasOnlyOne) {
  operators(
      "Default/a/MatMul-op0;HostCpuOps;10,1,0 40,1,0\nDefault/b/MatMul-op0;HostCpuOps;20,1,0\n"
      "ReLU;HostCpuOps;30,1,0\n");
  shapes(
      "MatMul;MatMul-op0;7;input_1:[2, 3];input_2:[3, 4];\n"
      "MatMul;MatMul-op0;7;input_1:[5];input_2:NoShape;\n"
      ";;7;\n"
      "MatMul;MatMul-op0;7;input_1:[2, 3];input_2:[3, 4];\n"
      "short\n");
  ASSERT_EQ(window_.operators.size(), 4u);
  EXPECT_EQ(text(window_.operators[0].input_shapes), "[[2, 3], [3, 4]]");
  EXPECT_EQ(text(window_.operators[1].input_shapes), "[[5], []]");
  EXPECT_EQ(window_.operators[2].input_shapes, 0u) << "PyNative mode does not say";
  EXPECT_EQ(text(window_.operators[3].input_shapes), "[[2, 3], [3, 4]]");
  EXPECT_EQ(window_.without_shapes, 1);
  EXPECT_EQ(window_.unreadable, 1);
}

TEST_F(WindowFiles, MemoryOfTheWindowOnly) {
  const std::string first =
      "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
      "10,512,1024,512\n20,1024,1024,1024\n";
  uint64_t skip = 0;
  read_mindspore_memory(folder_.write("memory", first), 0, 25, skip, window_);
  EXPECT_EQ(window_.memory.size(), 2u);
  EXPECT_EQ(skip, first.size());
  window_ = {};
  read_mindspore_memory(folder_.write("memory", first + "30,1,2,1\nbad,1,2,1\n40,1,2\n50,1,2,1\n"),
                        25, 45, skip, window_);
  ASSERT_EQ(window_.memory.size(), 1u);
  EXPECT_EQ(window_.memory[0].when_ns, 30);
  EXPECT_EQ(window_.unreadable, 2);
  // Another file: what was read before says nothing about it.
  window_ = {};
  read_mindspore_memory(folder_.write("memory", first + "30,1,2,1"), 25, 45, skip, window_);
  EXPECT_EQ(window_.memory.size(), 1u);
}

TEST_F(WindowFiles, FilesThatAreNotThere) {
  read_mindspore_operators("/nowhere", names_, short_names_, window_);
  read_mindspore_shapes("/nowhere", names_, short_names_, window_);
  uint64_t skip = 0;
  read_mindspore_memory("/nowhere", 0, 1, skip, window_);
  EXPECT_EQ(window_.unreadable, 2);
}

// Against the numbers in shared/data/mindspore_cpu/expected.json.
TEST_F(WindowFiles, RealGraphRecording) {
  const char* const shared = std::getenv("STEPSCOPE_SHARED_DATA");
  const std::string root =
      std::string(shared == nullptr ? "" : shared) + "/mindspore_cpu/b_graph_lenet";
  if (shared == nullptr || !std::filesystem::exists(root)) GTEST_SKIP() << "needs the real traces";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (name == "cpu_op_execute_timestamp_0.txt")
      read_mindspore_operators(entry.path(), names_, short_names_, window_);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() == "cpu_framework_0.txt")
      read_mindspore_shapes(entry.path(), names_, short_names_, window_);
  }
  EXPECT_EQ(window_.operators.size(), 12u * 43);
  EXPECT_EQ(window_.without_shapes, 0);
  EXPECT_EQ(window_.unreadable, 0);
}

}  // namespace
}  // namespace stepscope
