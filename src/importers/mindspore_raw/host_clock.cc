#include "importers/mindspore_raw/host_clock.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/table_builder.h"
#include "json/json_tree.h"

namespace stepscope::mindspore_raw {
namespace {

// Key: value lines of host_start.log, first one wins.
std::optional<int64_t> log_value(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(text).substr(at + key.size());
  rest = rest.substr(0, rest.find('\n'));
  while (!rest.empty() && (rest.front() == ':' || rest.front() == ' ')) rest.remove_prefix(1);
  return parse_integer(rest);
}

}  // namespace

int64_t HostClock::to_realtime_ns(uint64_t counter) const {
  if (!known) return static_cast<int64_t>(counter);
  const long double ticks = static_cast<long double>(counter) - counter_start;
  const long double passed_ns = ticks * 1000 / counter_mhz;
  if (passed_ns > 9e18L || passed_ns < -9e18L) return 0;  // no counter of this host
  return start_ns == kNull ? 0
                           : std::max<int64_t>(0, plus_or_null(std::llroundl(passed_ns), start_ns));
}

HostClock find_host_clock(const std::string& window_folder) {
  HostClock clock;
  std::error_code error;
  for (std::filesystem::directory_iterator at(window_folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("PROF_")) continue;
    const std::string host = at->path().string() + "/host/";
    const auto log = read_file(host + "host_start.log", 1 << 20);
    const auto pair = read_json_file(host + "start_info");
    if (!log || !pair) continue;
    const auto raw_ns = log_value(*log, "clock_monotonic_raw");
    const auto counter = log_value(*log, "cntvct");
    const int64_t begin_us = json_integer(json_member(*pair, "collectionTimeBegin"));
    const int64_t pair_raw_ns = json_integer(json_member(*pair, "clockMonotonicRaw"));
    if (!raw_ns || !counter || begin_us == kNull || pair_raw_ns == kNull) continue;
    clock.known = true;
    clock.counter_start = *counter;
    clock.start_ns =
        plus_or_null(*raw_ns, minus_or_null(times_or_null(begin_us, 1000), pair_raw_ns));
    const auto info = read_json_file(host + "info.json");
    if (!info) return clock;
    const nlohmann::json& cpus = json_member(*info, "CPU");
    if (!cpus.is_array() || cpus.empty()) return clock;
    const std::string mhz = json_as_text(json_member(cpus[0], "Frequency"));
    double frequency = 0;
    std::from_chars(mhz.data(), mhz.data() + mhz.size(), frequency);
    if (frequency > 0) clock.counter_mhz = frequency;
    return clock;
  }
  return clock;
}

}  // namespace stepscope::mindspore_raw
