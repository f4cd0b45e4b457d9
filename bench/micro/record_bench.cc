// What one recorded range costs: record_bench [SCOPES], 2,000,000 by default.
//
// Prints nanoseconds a scope beside two reads of the time-stamp counter, which no recorder can be
// cheaper than, with the lost events, page faults and bytes on disk of the same runs. The minimum
// of several rounds counts: everything else is the scheduler's.
#include "stepscope/record.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace {

constexpr int kRounds = 7;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename Work>
double best_ns(int64_t count, Work work) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work(count);
    best = std::min(best, seconds_since(start) * 1e9 / static_cast<double>(count));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the writer catches up
  }
  return best;
}

void read_clock_twice(int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += stepscope_ticks();
    sum -= stepscope_ticks();
  }
  asm volatile("" : : "r"(sum));
}

void record_scopes(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    STEPSCOPE_SCOPE("scope");
    asm volatile("" : : : "memory");
  }
}

void empty_loop(int64_t count) {
  for (int64_t i = 0; i < count; ++i) asm volatile("" : : : "memory");
}

// What nothing that can be switched on is cheaper than.
std::atomic<uint32_t> flag = 0;
void test_a_flag(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (flag.load(std::memory_order_relaxed) != 0) [[unlikely]]
      std::abort();
    asm volatile("" : : : "memory");
  }
}

int64_t figure(const std::string& json, const std::string& name) {
  const size_t at = json.find("\"" + name + "\":");
  return at == std::string::npos ? 0 : std::atoll(json.c_str() + at + name.size() + 3);
}

int64_t page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

// Records `scopes` on each of `threads` threads per round and prints the line.
void measure(const char* what, int64_t scopes, int threads, double two_reads) {
  const stepscope::testing::TemporaryFolder folder;
  stepscope_options options{};
  options.size = sizeof options;
  options.ring_kb = 32 * 1024;  // a round fits: what is measured is recording, not the disk
  if (stepscope_start(folder.path().c_str(), &options) != 0) {
    std::fprintf(stderr, "%s\n", stepscope_last_error());
    std::exit(1);
  }
  record_scopes(1000);  // attaches the thread
  const int64_t faults_before = page_faults();
  const double ns = best_ns(scopes, [&](int64_t count) {
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(record_scopes, count);
    record_scopes(count);
    for (std::thread& other : others) other.join();
  });
  const int64_t faults = page_faults() - faults_before;
  const std::string end = stepscope_stop();
  const int64_t events = figure(end, "events");
  std::printf(
      "%-28s %7.2f ns  %5.2f x two reads   lost %lld of %lld, %.2f bytes an event on disk, "
      "%lld page faults\n",
      what, ns, ns / two_reads, static_cast<long long>(figure(end, "not_recorded")),
      static_cast<long long>(events + figure(end, "not_recorded")),
      static_cast<double>(figure(end, "bytes")) / static_cast<double>(std::max<int64_t>(events, 1)),
      static_cast<long long>(faults));
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t scopes = argc > 1 ? std::atoll(argv[1]) : 2'000'000;
  const double two_reads = best_ns(scopes, read_clock_twice);
  const double loop = best_ns(scopes, empty_loop);
  const double off = best_ns(scopes, record_scopes);
  std::printf("%-28s %7.2f ns\n", "two clock reads", two_reads);
  std::printf("%-28s %7.2f ns  (%.2f with the loop)\n", "scope, off", off - loop, off);
  const double tested = best_ns(scopes, test_a_flag);
  std::printf("%-28s %7.2f ns  (%.2f with the loop)\n", "a flag tested", tested - loop, tested);
  measure("scope, recording", scopes, 1, two_reads);
  measure("scope, recording, 2 threads", scopes, 2, two_reads);
}
