#include "server/zip_stream.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

// Python reads it: another program's opinion of what a zip archive is.
TEST(ZipStream, IsReadByOthers) {
  const testing::TemporaryFolder folder;
  std::string bytes;
  ZipStream zip([&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  });
  const std::string text = "0123456789abcdef";
  ASSERT_TRUE(zip.begin_file("empty.json").ok());
  ASSERT_TRUE(zip.end_file().ok());
  ASSERT_TRUE(zip.begin_file("long.json").ok());
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(zip.write(text).ok());
  ASSERT_TRUE(zip.end_file().ok());
  ASSERT_TRUE(zip.finish().ok());
  EXPECT_LT(bytes.size(), 100'000u);
  std::ofstream(folder.path("a.zip"), std::ios::binary) << bytes;
  const std::string check =
      "python3 -c \"import zipfile; z = zipfile.ZipFile('" + folder.path("a.zip") +
      "'); assert z.testzip() is None; assert z.namelist() == ['empty.json', 'long.json']; "
      "assert z.read('long.json') == b'" +
      text + "' * 100000; assert z.read('empty.json') == b''\"";
  EXPECT_EQ(std::system(check.c_str()), 0);
}

TEST(ZipStream, StopsWhenNobodyReads) {
  ZipStream zip(
      [](std::string_view) -> Status { return Error{ErrorCode::kCancelled, "gone", "", "", ""}; });
  EXPECT_FALSE(zip.begin_file("a").ok());
}

}  // namespace
}  // namespace stepscope
