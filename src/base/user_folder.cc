#include "base/user_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace stepscope {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool make_writable(const std::string& folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  return fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

// Anybody can make a folder of that name first, or a link to one.
bool make_own(const std::string& folder) {
  ::mkdir(folder.c_str(), 0700);
  struct stat about{};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) &&
         about.st_uid == ::geteuid() &&
         ((about.st_mode & 0077) == 0 || ::chmod(folder.c_str(), 0700) == 0);
}

}  // namespace

std::string writable_user_folder(const std::string& preferred) {
  if (!preferred.empty() && make_writable(preferred)) return preferred;
  std::string own = temporary_user_folder();
  return make_own(own) ? own : "";
}

std::string cache_folder() {
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/stepscope";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/stepscope";
}

std::string temporary_user_folder() {
  const std::string folder = variable("TMPDIR");
  return (folder.empty() ? "/tmp" : folder) + "/stepscope-" + std::to_string(::geteuid());
}

}  // namespace stepscope
