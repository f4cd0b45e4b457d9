// Test support: watching, and the runs that come of it.
#ifndef STEPSCOPE_COLLECTOR_WATCHING_TEST_H_
#define STEPSCOPE_COLLECTOR_WATCHING_TEST_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "collector/recording_test.h"
#include "stepscope/record.h"

namespace stepscope::testing {

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Waits until `condition` holds; false after ten seconds.
inline bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    sleep_ms(10);
  }
  return false;
}

inline stepscope_watch_options watch_rules() {
  stepscope_watch_options chosen{};
  chosen.size = sizeof chosen;
  return chosen;
}

inline std::vector<std::string> runs_in(const std::string& folder) {
  std::set<std::string> runs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    runs.insert(entry.path());
  return {runs.begin(), runs.end()};
}

inline ReadBack read_run(const std::string& run) {
  return read_back(run + "/FRAMEWORK/stepscope.raw");
}

inline std::vector<int64_t> steps_of(const ReadBack& run) {
  std::vector<int64_t> steps;
  for (const auto& value : run.values) {
    if (value.kind == STEPSCOPE_STEP) steps.push_back(value.value1);
  }
  return steps;
}

inline int64_t count_named(const ReadBack& run, const std::string& name) {
  int64_t count = 0;
  for (const auto& range : run.ranges) count += range.name == name;
  return count;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace stepscope::testing

#endif  // STEPSCOPE_COLLECTOR_WATCHING_TEST_H_
