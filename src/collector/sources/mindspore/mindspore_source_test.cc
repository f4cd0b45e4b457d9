// Windows of MindSpore, handed over through record.h and read back from the raw file.
#include "collector/sources/mindspore/mindspore_source.h"

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "format/chunk_reader.h"
#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

using testing::TemporaryFolder;

void write_window(const TemporaryFolder& folder, const std::string& name, int first) {
  const std::string start = std::to_string(first);
  folder.write(name + "/cpu_op_execute_timestamp_0.txt",
               "MatMul;HostCpuOps;" + start + ",0.5,0 " + start + "1,0.25,0 \n");
  folder.write(name + "/cpu_framework_0.txt",
               "MatMul;MatMul;7;input_1:[2, 3];\nMatMul;MatMul;7;input_1:[2, 3];\n");
  folder.write(name + "/cpu_op_type_info_0.csv", "");
  folder.write(name + "/cpu_op_detail_info_0.csv", "");
}

struct Read {
  std::map<std::string, size_t> rows;
  std::map<std::string, std::string> notes;
};

Read read_back(const std::string& path) {
  Read read;
  auto reader = ChunkReader::open(path);
  EXPECT_TRUE(reader.ok());
  if (!reader) return read;
  RawChunk chunk;
  while (true) {
    auto more = reader->next(chunk);
    if (!more || !*more) return read;
    for (const RawTable& table : chunk.tables) read.rows[std::string(table.name)] += table.rows;
    for (const RawNote& note : chunk.notes) read.notes[std::string(note.name)] = note.json;
  }
}

TEST(MindsporeSource, WindowsBecomeRowsAndAreRemoved) {
  const TemporaryFolder run;
  const TemporaryFolder windows;
  ASSERT_EQ(stepscope_start(run.path().c_str(), nullptr), 0) << stepscope_last_error();
  for (int i = 0; i < 3; ++i) {
    const std::string name = "w" + std::to_string(i);
    write_window(windows, name, i + 1);
    ASSERT_EQ(stepscope_import_mindspore_window(windows.path(name).c_str(), 0, INT64_MAX,
                                                STEPSCOPE_MINDSPORE_SHAPES),
              0);
  }
  windows.write("w2/somebody's own file", "");
  stepscope_stop();
  const Read read = read_back(run.path("stepscope.raw"));
  EXPECT_EQ(read.rows.at("mindspore_ops"), 6u);
  EXPECT_NE(read.notes.at("mindspore").find("\"windows\":3,\"operators\":6"), std::string::npos)
      << read.notes.at("mindspore");
  EXPECT_FALSE(std::filesystem::exists(windows.path("w0")));
  EXPECT_FALSE(std::filesystem::exists(windows.path("w1")));
  EXPECT_TRUE(std::filesystem::exists(windows.path("w2/somebody's own file")));
  EXPECT_FALSE(std::filesystem::exists(windows.path("w2/cpu_framework_0.txt")));
}

TEST(MindsporeSource, AFlushWaitsForEverythingThatWasHandedOver) {
  const TemporaryFolder run;
  const TemporaryFolder windows;
  ASSERT_EQ(stepscope_start(run.path().c_str(), nullptr), 0) << stepscope_last_error();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "w" + std::to_string(i);
    write_window(windows, name, i + 1);
    ASSERT_EQ(stepscope_import_mindspore_window(windows.path(name).c_str(), 0, INT64_MAX, 0), 0);
    if (i % 5 != 4) continue;
    ASSERT_EQ(stepscope_flush(), 0) << stepscope_last_error();
    EXPECT_EQ(read_back(run.path("stepscope.raw")).rows["mindspore_ops"], 2u * (i + 1));
  }
  stepscope_stop();
}

TEST(MindsporeSource, NothingIsTakenWhileNothingRecords) {
  const TemporaryFolder windows;
  write_window(windows, "w", 1);
  EXPECT_EQ(stepscope_import_mindspore_window(windows.path("w").c_str(), 0, 1, 0), -1);
  EXPECT_TRUE(std::filesystem::exists(windows.path("w/cpu_framework_0.txt")));
}

TEST(MindsporeSource, FoldersThatNobodyReadsDoNotPileUp) {
  const TemporaryFolder windows;
  MindsporeInbox inbox;
  for (size_t i = 0; i < MindsporeInbox::kMostFolders + 2; ++i) {
    const std::string name = "w" + std::to_string(i);
    write_window(windows, name, 1);
    MindsporeFolder folder;
    folder.path = windows.path(name);
    EXPECT_EQ(inbox.put(folder), i < MindsporeInbox::kMostFolders);
    EXPECT_EQ(std::filesystem::exists(folder.path), i < MindsporeInbox::kMostFolders);
  }
  EXPECT_EQ(inbox.turned_away(), 2);
  {
    NameTable names;
    const MindsporeSource source(inbox, names);
  }
  EXPECT_TRUE(std::filesystem::is_empty(windows.path()));
}

}  // namespace
}  // namespace stepscope
