// What a watch takes from a program in which nothing happens: watch_bench [SECONDS], 30 by default.
//
// Prints what marking a step costs while nothing records, while something does and while it is
// watched, and, of a program with 1,000 ranges in a step of about 2 ms, the resident memory and the
// share of a core that the writer takes. The goals are a microsecond a step, and memory that is
// flat once the seconds that are kept have gone by.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of several rounds: everything else is the scheduler's.
double step_ns() {
  constexpr int kRounds = 9;
  constexpr int64_t kSteps = 20'000;
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int64_t step = 1; step <= kSteps; ++step) stepscope_step(step);
    best = std::min(best, seconds_since(start) * 1e9 / static_cast<double>(kSteps));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the writer catches up
  }
  return best;
}

double resident_mib() {
  long all = 0;
  long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &resident) != 2) return 0;
  std::fclose(file);
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

stepscope_watch_options rules() {
  stepscope_watch_options chosen{};
  chosen.size = sizeof chosen;
  chosen.keep_ms = 5000;
  chosen.slow_factor = 1e6;  // nothing happens
  chosen.no_progress_ms = 600'000;
  return chosen;
}

void require(int failed) {
  if (failed == 0) return;
  std::fprintf(stderr, "%s\n", stepscope_last_error());
  std::exit(1);
}

// Returns how many steps there were.
int64_t train(double seconds) {
  const auto begin = Clock::now();
  int64_t step = 0;
  double said = 0;
  while (seconds_since(begin) < seconds) {
    stepscope_step(++step);
    const auto step_begin = Clock::now();
    for (int range = 0; range < 1000; ++range) STEPSCOPE_SCOPE("operator");
    while (seconds_since(step_begin) < 0.002) {
    }
    if (seconds_since(begin) >= said) {
      std::printf("%-28s %7.1f MiB after %4.0f s\n", "resident", resident_mib(), said);
      said += std::max(5.0, seconds / 6);
    }
  }
  return step;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 30;
  const stepscope::testing::TemporaryFolder folder;
  std::printf("%-28s %7.2f ns\n", "step, off", step_ns());
  require(stepscope_start(folder.path().c_str(), nullptr));
  std::printf("%-28s %7.2f ns\n", "step, recording", step_ns());
  stepscope_stop();
  const std::string output = folder.path("captures");
  const stepscope_watch_options chosen = rules();
  require(stepscope_watch(output.c_str(), &chosen, nullptr));
  std::printf("%-28s %7.2f ns\n", "step, watched", step_ns());
  stepscope_stop();

  require(stepscope_watch(output.c_str(), &chosen, nullptr));
  const int64_t steps = train(seconds);
  const std::string end = stepscope_stop();
  const size_t at = end.find("\"writer_cpu_seconds\":");
  const double writer = std::atof(end.c_str() + at + sizeof "\"writer_cpu_seconds\":" - 1);
  std::printf("%-28s %7.2f %% of a core, %.0f ranges a second\n", "writer", 100 * writer / seconds,
              1000 * static_cast<double>(steps) / seconds);
  std::printf("%-28s %s\n", "captures", ::access(output.c_str(), F_OK) == 0 ? "some" : "none");
}
