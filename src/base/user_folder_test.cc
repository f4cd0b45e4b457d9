#include "base/user_folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

// Sets a variable of the environment for a while.
class Setting {
 public:
  Setting(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ~Setting() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

class UserFolder : public ::testing::Test {
 protected:
  testing::TemporaryFolder folder_;
  Setting temporary_{"TMPDIR", folder_.path("tmp")};
  std::string own_ = folder_.path("tmp/stepscope-" + std::to_string(::geteuid()));

  void SetUp() override { std::filesystem::create_directories(folder_.path("tmp")); }
  static unsigned mode_of(const std::string& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
  }
};

TEST_F(UserFolder, IsThePreferredOneWhereThatCanBeWritten) {
  const std::string wanted = folder_.path("home/.cache/stepscope");
  EXPECT_EQ(writable_user_folder(wanted), wanted);
  EXPECT_TRUE(std::filesystem::is_directory(wanted));
  EXPECT_FALSE(std::filesystem::exists(own_));
}

TEST_F(UserFolder, IsElseOneThatOthersCannotWrite) {
  EXPECT_EQ(writable_user_folder(""), own_);
  EXPECT_EQ(mode_of(own_), 0700u);
  ::chmod(own_.c_str(), 0777);
  folder_.write("home", "a file, in which no folder can be made");
  EXPECT_EQ(writable_user_folder(folder_.path("home/.cache")), own_);
  EXPECT_EQ(mode_of(own_), 0700u);
}

TEST_F(UserFolder, IsNotWhatSomebodyElsePutThere) {
  std::filesystem::create_directory_symlink(folder_.path(), own_);
  EXPECT_EQ(writable_user_folder(""), "");
  std::filesystem::remove(own_);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder to another user";
  std::filesystem::create_directory(own_);
  ASSERT_EQ(::chown(own_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(writable_user_folder(""), "");
}

TEST_F(UserFolder, OfTheCache) {
  const Setting home("HOME", "/home/me");
  {
    const Setting cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(cache_folder(), "/cache/stepscope");
  }
  const Setting cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(cache_folder(), "/home/me/.cache/stepscope");
  const Setting none("HOME", std::nullopt);
  EXPECT_EQ(cache_folder(), "");
}

}  // namespace
}  // namespace stepscope
