// Folders that others write into.
#include "base/folder.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

namespace fs = std::filesystem;

TEST(Folder, PathsOrTheProblem) {
  std::string pattern = (fs::temp_directory_path() / "stepscope-folder-XXXXXX").string();
  const fs::path folder = ::mkdtemp(pattern.data());
  std::error_code problem;
  EXPECT_TRUE(paths_in(folder, problem).empty());
  EXPECT_FALSE(problem);
  for (const char* const name : {"b", "a"}) std::ofstream(folder / name) << "text";
  auto paths = paths_in(folder, problem);
  EXPECT_FALSE(problem);
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, (std::vector<fs::path>{folder / "a", folder / "b"}));
  fs::remove_all(folder);
  EXPECT_TRUE(paths_in(folder, problem).empty());
  EXPECT_EQ(problem, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(paths_in(folder, problem).empty());  // a problem of before is not one of now
}

}  // namespace
}  // namespace stepscope
