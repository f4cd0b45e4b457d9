// What one recorded range costs: record_bench [SCOPES], 2,000,000 by default.
//
// Prints nanoseconds a scope beside two reads of the time-stamp counter, which no recorder can be
// cheaper than, with the lost events, page faults and bytes on disk of the same runs. The minimum
// of several rounds counts: everything else is the scheduler's.
#include "stepscope/record.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
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

int64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct Cost {
  double ns = 0;      // by the clock on the wall, where the writer wants a processor too
  double own_ns = 0;  // of the processor time of the thread that took most
};

// The best round of `work` on as many threads at once: processors may share their parts.
Cost best_on(int threads, int64_t count, void (*work)(int64_t)) {
  Cost best{0, 1e18};
  best.ns = best_ns(count, [&](int64_t each) {
    std::vector<int64_t> own(static_cast<size_t>(threads));
    const auto timed = [&](size_t i) {
      const int64_t before = processor_ns();
      work(each);
      own[i] = processor_ns() - before;
    };
    std::vector<std::thread> others;
    for (size_t i = 1; i < own.size(); ++i) others.emplace_back(timed, i);
    timed(0);
    for (std::thread& other : others) other.join();
    const auto most = static_cast<double>(*std::max_element(own.begin(), own.end()));
    best.own_ns = std::min(best.own_ns, most / static_cast<double>(each));
  });
  return best;
}

// Records `scopes` on each of `threads` threads per round and prints the line.
void measure(const char* what, int64_t scopes, int threads) {
  const Cost two_reads = best_on(threads, scopes, read_clock_twice);
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
  const Cost scope = best_on(threads, scopes, record_scopes);
  const int64_t faults = page_faults() - faults_before;
  const std::string end = stepscope_stop();
  const int64_t events = figure(end, "events");
  std::printf(
      "%-28s %7.2f ns  %5.2f x two reads, %.2f of processor time   lost %lld of %lld, %.2f bytes "
      "an event on disk, "
      "%lld page faults\n",
      what, scope.ns, scope.ns / two_reads.ns, scope.own_ns / two_reads.own_ns,
      static_cast<long long>(figure(end, "not_recorded")),
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
  measure("scope, recording", scopes, 1);
  measure("scope, recording, 2 threads", scopes, 2);
}
