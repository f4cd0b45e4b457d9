#include "importers/native/still_written.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>

namespace stepscope {

std::optional<bool> is_open_in_process(const std::string& path, const std::string& host,
                                       int64_t pid) {
  namespace fs = std::filesystem;
  char here[256] = {};
  ::gethostname(here, sizeof here - 1);
  if (pid <= 0 || host != here) return std::nullopt;
  std::error_code error;
  fs::directory_iterator at("/proc/" + std::to_string(pid) + "/fd", error);
  if (error == std::errc::no_such_file_or_directory) return false;  // the process is gone
  if (error) return std::nullopt;
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code closed_meanwhile;
    if (!fs::equivalent(at->path(), path, closed_meanwhile)) continue;
    // The link says how the file is open: the process may read it too, as this one does.
    const auto how = fs::symlink_status(at->path(), closed_meanwhile).permissions();
    if ((how & fs::perms::owner_write) != fs::perms::none) return true;
  }
  return false;
}

bool is_written_lately(int64_t written_ns) {
  constexpr int64_t kSilentNs = 5'000'000'000;  // a busy machine lets the writer wait
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  // Clocks of two machines differ in both directions.
  return written_ns > now_ns - kSilentNs && written_ns < now_ns + kSilentNs;
}

}  // namespace stepscope
