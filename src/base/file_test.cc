// Files appear complete or not at all; reads say what is wrong.
#include "base/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/abandoned_outputs.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "stepscope-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(FileTest, OutputAppearsOnCommitOnly) {
  auto file = OutputFile::create(path("out"));
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("hello"));
  ASSERT_TRUE(file->align(64));
  EXPECT_EQ(file->position(), 64u);
  EXPECT_FALSE(fs::exists(path("out")));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(entries(), 1u);
  const auto text = read_file(path("out"), 1000);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "hello" + std::string(59, '\0'));
}

TEST_F(FileTest, AbandonedOutputLeavesTheOldFileAndNothingElse) {
  std::ofstream(path("out")) << "old";
  {
    auto file = OutputFile::create(path("out"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(std::string(3 << 20, 'x')));
    OutputFile moved = std::move(*file);
    ASSERT_TRUE(moved.append("more"));
  }
  EXPECT_EQ(entries(), 1u);
  EXPECT_EQ(*read_file(path("out"), 1000), "old");
}

TEST_F(FileTest, LargeOutputIsWhole) {
  std::string wanted;
  auto file = OutputFile::create(path("out"));
  ASSERT_TRUE(file);
  for (int i = 0; wanted.size() < (5u << 20); ++i) {
    const std::string piece = std::to_string(i) + std::string(static_cast<size_t>(i) % 977, '.');
    ASSERT_TRUE(file->append(piece));
    wanted += piece;
  }
  ASSERT_TRUE(file->commit());
  EXPECT_TRUE(*read_file(path("out"), 1ull << 30) == wanted);
}

TEST_F(FileTest, OutputInAMissingFolderSaysSo) {
  auto file = OutputFile::create(path("missing/out"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(file.error().what, "cannot write");
  EXPECT_EQ(file.error().where, path("missing/out"));
  EXPECT_FALSE(file.error().remedy.empty());
}

TEST_F(FileTest, ReadsAreBoundedByTheLimitAndTheEnd) {
  std::ofstream(path("in")) << "0123456789";
  auto too_large = read_file(path("in"), 9);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kLimit);
  auto file = InputFile::open(path("in"));
  ASSERT_TRUE(file);
  char buffer[16] = {};
  EXPECT_EQ(*file->read_at(7, buffer, sizeof buffer), 3u);
  EXPECT_EQ(std::string(buffer), "789");
  EXPECT_EQ(*file->read_at(100, buffer, sizeof buffer), 0u);
}

TEST_F(FileTest, AChangedFileIsNoticed) {
  std::ofstream(path("in")) << "one";
  auto file = InputFile::open(path("in"));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->check_unchanged());
  std::ofstream(path("in"), std::ios::app) << "two";
  const Status status = file->check_unchanged();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kChanged);
  EXPECT_EQ(status.error().where, path("in"));
}

TEST_F(FileTest, TemporaryFilesOfTheDeadAreRemoved) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto file = OutputFile::create(path("out"));
    ::_exit(file ? 0 : 1);  // as if killed: nothing is cleaned up
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const std::string left = path("out.partial.") + std::to_string(child) + ".0";
  ASSERT_TRUE(std::filesystem::exists(left));
  auto living = OutputFile::create(path("out"));
  ASSERT_TRUE(living);
  std::ofstream(path("out.partial.notes")) << "not ours";
  std::ofstream(path("other.partial.1.0")) << "of another output";
  remove_abandoned_outputs(path("out"));
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(path("out.partial.notes")));
  EXPECT_TRUE(std::filesystem::exists(path("other.partial.1.0")));
  EXPECT_TRUE(living->commit());
}

TEST_F(FileTest, WhatIsNotARegularFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& name : {path("pipe"), path("")}) {
    auto file = InputFile::open(name);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().why, "it is not a regular file");
  }
}

TEST_F(FileTest, MappedFileShowsTheBytes) {
  std::ofstream(path("in")) << "mapped";
  std::ofstream(path("empty")) << "";
  auto file = MappedFile::open(path("in"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->bytes().size(), 6u);
  EXPECT_EQ(static_cast<char>(file->bytes()[5]), 'd');
  EXPECT_TRUE(MappedFile::open(path("empty"))->bytes().empty());
  EXPECT_EQ(MappedFile::open(path("none")).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace stepscope
