// What the analyses of a store cost: every result table, each from a fresh start, and the critical
// path of one step.
//
//   build/bench/analyses_bench STORE [REPEATS]        (default 5)
//
// Wall and CPU time are the least of the repeats. A table pays for what it is made of: step_times
// includes the device's intervals and the steps.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "analyses/critical_path/critical_path.h"
#include "analyses/run_analyses.h"

namespace stepscope {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

struct Cost {
  double wall_ms = std::numeric_limits<double>::max();
  double cpu_ms = std::numeric_limits<double>::max();
};

template <class Work>
Cost least_cost(int repeats, Work&& work) {
  Cost best;
  for (int i = 0; i < repeats; ++i) {
    const double wall = now_ms();
    const double cpu = cpu_ms();
    work();
    best.wall_ms = std::min(best.wall_ms, now_ms() - wall);
    best.cpu_ms = std::min(best.cpu_ms, cpu_ms() - cpu);
  }
  return best;
}

int run(const std::string& path, int repeats) {
  auto store = StoreReader::open(path);
  if (!store) {
    std::fprintf(stderr, "analyses_bench: %s\n", store.error().message().c_str());
    return 1;
  }
  std::printf("%s: %zu ranks, %llu slices, %llu kernels\n", path.c_str(), (*store)->rank_count(),
              static_cast<unsigned long long>((*store)->rows(Table::kSlices)),
              static_cast<unsigned long long>((*store)->rows(Table::kKernels)));
  std::printf("%-28s %10s %10s %10s\n", "table", "rows", "wall ms", "CPU ms");
  for (const ResultTable& described : RunAnalyses::descriptions()) {
    const std::string_view name = described.name();
    size_t rows = 0;
    const Cost cost = least_cost(repeats, [&] {
      RunAnalyses analyses(*store, {});
      const auto table = analyses.table(name);
      rows = table ? table->rows() : 0;
    });
    std::printf("%-28s %10zu %10.1f %10.1f\n", std::string(name).c_str(), rows, cost.wall_ms,
                cost.cpu_ms);
  }
  const Cost all = least_cost(repeats, [&] {
    RunAnalyses analyses(*store, {});
    for (const ResultTable& described : RunAnalyses::descriptions())
      if (!analyses.table(described.name())) std::abort();
  });
  std::printf("%-28s %10s %10.1f %10.1f\n", "all tables together", "", all.wall_ms, all.cpu_ms);

  RunAnalyses analyses(*store, {});
  const StepRow* step = middle_step(analyses.steps(0));
  if (step == nullptr) return 0;
  size_t segments = 0;
  const Cost path_cost = least_cost(repeats, [&] {
    segments = CriticalPath(**store, analyses.ranks()[0], *step).segments().size();
  });
  std::printf("%-28s %10zu %10.1f %10.1f\n", "critical path of one step", segments,
              path_cost.wall_ms, path_cost.cpu_ms);
  const CriticalPath critical(**store, analyses.ranks()[0], *step);
  const Cost what_if =
      least_cost(repeats, [&] { (void)critical.what_if({"", PathKind::kKernel, 0.5}); });
  std::printf("%-28s %10s %10.1f %10.1f\n", "what-if on it", "", what_if.wall_ms, what_if.cpu_ms);
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: analyses_bench STORE [REPEATS]\n");
    return 2;
  }
  return stepscope::run(argv[1], argc > 2 ? std::max(1, std::atoi(argv[2])) : 5);
}
