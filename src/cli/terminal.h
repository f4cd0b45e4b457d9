// Output for people: what the terminal is, sizes and times as they are read aloud, a progress bar.
#ifndef STEPSCOPE_CLI_TERMINAL_H_
#define STEPSCOPE_CLI_TERMINAL_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/progress.h"
#include "base/result.h"

namespace stepscope {

// Columns of the terminal behind a descriptor, 0 when it is none.
size_t terminal_width(int descriptor);

// False when the user set NO_COLOR (https://no-color.org).
bool wants_colours();

// "1.5 GB" (powers of 1000, as disks and networks count).
std::string bytes_text(uint64_t bytes);
// "12.3 ms"
std::string duration_text(int64_t ns);
// 1234567 as "1,234,567".
std::string count_text(int64_t count);
// "2026-08-21 12:34:56.123 UTC"; the number itself when it is no time of this century.
std::string time_text(int64_t unix_ns);

// To standard output, completely or with an error.
Status write_out(std::string_view text);

// Shows a Progress on standard error while it lives: a bar with rate and remaining time on a
// terminal, elsewhere a line now and then. Quiet for work that takes less than a moment.
class ProgressDisplay {
 public:
  ProgressDisplay(const Progress& progress, std::string what);
  ~ProgressDisplay();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  std::string line(size_t width, double seconds) const;

  const Progress& progress_;
  std::string what_;
  bool shown_ = false;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_CLI_TERMINAL_H_
