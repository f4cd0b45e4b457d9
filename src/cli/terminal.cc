#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace stepscope {
namespace {

constexpr auto kQuietTime = std::chrono::milliseconds(500);
constexpr auto kBarPeriod = std::chrono::milliseconds(100);
constexpr auto kLinePeriod = std::chrono::seconds(5);
constexpr size_t kBarWidth = 30;

// Three digits: 1.23, 12.3, 123.
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  return size >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

}  // namespace

size_t terminal_width(int descriptor) {
  if (isatty(descriptor) == 0) return 0;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return no_colour == nullptr || *no_colour == '\0';
}

std::string bytes_text(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + kUnits[unit];
}

std::string duration_text(int64_t ns) {
  const auto value = static_cast<double>(ns);
  const double size = std::abs(value);
  if (size < 1000) return fmt::format("{} ns", ns);
  if (size < 999.5e3) return three_digits(value / 1e3) + " us";
  if (size < 999.5e6) return three_digits(value / 1e6) + " ms";
  if (size < 120e9) return three_digits(value / 1e9) + " s";
  if (size < 7200e9) return fmt::format("{:.1f} min", value / 60e9);
  return fmt::format("{:.1f} h", value / 3600e9);
}

std::string count_text(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string time_text(int64_t unix_ns) {
  constexpr int64_t kBillion = 1'000'000'000;
  if (unix_ns < 946'684'800 * kBillion) return fmt::format("{} ns", count_text(unix_ns));
  const time_t seconds = unix_ns / kBillion;
  tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[64];
  const size_t length = strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:03} UTC", std::string_view(buffer, length),
                     unix_ns % kBillion / 1'000'000);
}

Status write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return system_error("cannot write", "standard output", errno);
}

ProgressDisplay::ProgressDisplay(const Progress& progress, std::string what)
    : progress_(progress), what_(std::move(what)), thread_([this] { run(); }) {}

ProgressDisplay::~ProgressDisplay() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::string ProgressDisplay::line(size_t width, double seconds) const {
  const uint64_t total = progress_.total_bytes();
  const uint64_t done =
      total == 0 ? progress_.done_bytes() : std::min(progress_.done_bytes(), total);
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = what_ + ": ";
  if (total > 0) {
    const double part = static_cast<double>(done) / static_cast<double>(total);
    if (width >= 60) {
      const auto filled = static_cast<size_t>(part * kBarWidth);
      text += fmt::format("[{:<{}}] ", std::string(filled, '#'), kBarWidth);
    }
    text += fmt::format("{:3.0f} % of {}", part * 100, bytes_text(total));
  } else {
    text += bytes_text(done);
  }
  text += fmt::format(", {}/s", bytes_text(static_cast<uint64_t>(rate)));
  if (total > done && rate > 0) {
    text += fmt::format(
        ", {} left",
        duration_text(static_cast<int64_t>(static_cast<double>(total - done) / rate * 1e9)));
  }
  if (progress_.cancelled()) text += ", stopping";
  return width > 0 ? text.substr(0, width - 1) : text;
}

void ProgressDisplay::run() {
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const bool bar = terminal_width(STDERR_FILENO) > 0;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kQuietTime, [this] { return over_; });
  while (!over_) {
    // Nothing to show while nothing is read: the work is looking around, or has all it needs.
    if (progress_.done_bytes() > 0) {
      const std::string text = line(terminal_width(STDERR_FILENO), elapsed());
      std::fprintf(stderr, bar ? "\r\x1b[K%s" : "%s\n", text.c_str());
      std::fflush(stderr);
      shown_ = true;
    }
    const auto period = bar ? std::chrono::duration_cast<std::chrono::milliseconds>(kBarPeriod)
                            : std::chrono::duration_cast<std::chrono::milliseconds>(kLinePeriod);
    changed_.wait_for(lock, period, [this] { return over_; });
  }
  if (shown_ && bar) std::fputs("\r\x1b[K", stderr);
}

}  // namespace stepscope
