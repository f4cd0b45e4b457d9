#include "base/cold_reader.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

std::string write_numbers(const std::string& path, size_t bytes) {
  std::string text;
  for (size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i) + ",";
  text.resize(bytes);
  std::ofstream(path, std::ios::binary) << text;
  return text;
}

// Block edges, a last block that is no multiple of the alignment, and an empty file.
TEST(ColdReader, GivesTheBytesOfTheFileInOrder) {
  const testing::TemporaryFolder folder;
  for (const size_t bytes : {size_t{0}, size_t{5}, size_t{4} << 20, (size_t{9} << 20) + 7}) {
    const std::string path = folder.path("numbers");
    const std::string expected = write_numbers(path, bytes);
    auto file = InputFile::open(path);
    ASSERT_TRUE(file);
    const auto reader = ColdReader::open_always(*file);
    if (!reader) GTEST_SKIP() << "no direct reads on the file system of " << path;
    std::string got;
    std::string piece(3'000'001, '\0');
    ptrdiff_t count = 0;
    while ((count = reader->read(piece.data(), piece.size())) > 0)
      got.append(piece, 0, static_cast<size_t>(count));
    EXPECT_EQ(count, 0);
    EXPECT_TRUE(got == expected) << bytes;
    EXPECT_EQ(reader->read(piece.data(), piece.size()), 0) << "the end stays the end";
  }
}

TEST(ColdReader, SmallFilesGoThroughTheCache) {
  const testing::TemporaryFolder folder;
  write_numbers(folder.path("small"), 1000);
  auto file = InputFile::open(folder.path("small"));
  ASSERT_TRUE(file);
  EXPECT_EQ(ColdReader::open(*file), nullptr);
}

}  // namespace
}  // namespace stepscope
