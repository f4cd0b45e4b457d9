// What a long recording takes beside time: steady_bench [STEPS [RANGES]], 10,000 steps of 1,000.
//
// A step is a millisecond of work with its ranges, a counter and a mark. Printed are the memory of
// the process at the start, in the middle and at the end, page faults and allocations of the thread
// that records after its first step, and how long stop() takes beside a step. The goals are:
// memory within 5 %, no faults, no allocations, stop() within one step.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "stepscope/record.h"
#include "tests/support/temporary_folder.h"

namespace {

thread_local int64_t allocations = 0;

}  // namespace

// glibc's own functions below: everything that allocates in this program comes through here.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);

void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
}

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double resident_mib() {
  long all = 0;
  long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &all, &resident) != 2) return 0;
  std::fclose(file);
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

int64_t faults_of_thread() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

double step(int64_t number, int64_t ranges, uint32_t counter, uint32_t mark) {
  const auto start = Clock::now();
  stepscope_step(number);
  for (int64_t i = 0; i < ranges; ++i) {
    STEPSCOPE_SCOPE("range");
    asm volatile("" : : : "memory");
  }
  stepscope_counter(counter, static_cast<double>(number));
  stepscope_mark(mark);
  while (ms_since(start) < 1) {
    asm volatile("" : : : "memory");
  }
  return ms_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoll(argv[1]) : 10'000;
  const int64_t ranges = argc > 2 ? std::atoll(argv[2]) : 1'000;
  const uint32_t counter = stepscope_name("loss", 4);
  const uint32_t mark = stepscope_name("mark", 4);
  const stepscope::testing::TemporaryFolder folder;
  stepscope_options options{};
  options.size = sizeof options;
  options.system_interval_ms = 1000;
  std::vector<double> times(static_cast<size_t>(steps));
  const auto before_start = Clock::now();
  if (stepscope_start(folder.path().c_str(), &options) != 0) {
    std::fprintf(stderr, "%s\n", stepscope_last_error());
    return 1;
  }
  std::printf("start              %8.2f ms\n", ms_since(before_start));
  // What the writer needs for its chunks has come together after its first second.
  const int64_t settled = std::max<int64_t>(1, steps / 5);
  double settled_mib = 0;
  double middle_mib = 0;
  int64_t faults = 0;
  int64_t allocated = 0;
  for (int64_t number = 0; number < steps; ++number) {
    if (number == settled) settled_mib = resident_mib();
    if (number == steps / 2) middle_mib = resident_mib();
    const int64_t faults_before = faults_of_thread();
    const int64_t allocations_before = allocations;
    times[static_cast<size_t>(number)] = step(number, ranges, counter, mark);
    if (number == 0) continue;
    faults += faults_of_thread() - faults_before;
    allocated += allocations - allocations_before;
  }
  const double end_mib = resident_mib();
  const auto before_stop = Clock::now();
  const std::string end = stepscope_stop();
  const double stop_ms = ms_since(before_stop);
  std::sort(times.begin(), times.end());
  const double median_ms = times[times.size() / 2];
  std::printf(
      "memory             %8.2f MiB at step %lld, %.2f in the middle, %.2f at the end: %+.1f %%\n",
      settled_mib, static_cast<long long>(settled), middle_mib, end_mib,
      (end_mib / settled_mib - 1) * 100);
  std::printf("page faults        %8lld, allocations %lld of the recording thread after step 0\n",
              static_cast<long long>(faults), static_cast<long long>(allocated));
  std::printf("step               %8.3f ms median, %.3f least, %.3f at 99 %%\n", median_ms,
              times.front(), times[times.size() * 99 / 100]);
  std::printf("stop               %8.2f ms = %.2f steps\n", stop_ms, stop_ms / median_ms);
  std::printf("%s\n", end.c_str());
}
