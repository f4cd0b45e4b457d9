#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace stepscope {

unsigned available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

void parallel_for(size_t count, unsigned threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto drain = [&] {
    for (size_t index = next.fetch_add(1); index < count; index = next.fetch_add(1)) work(index);
  };
  std::vector<std::thread> helpers;
  const size_t wanted = std::min<size_t>(std::max(1u, threads), std::max<size_t>(count, 1));
  for (size_t helper = 1; helper < wanted; ++helper) helpers.emplace_back(drain);
  drain();
  for (auto& helper : helpers) helper.join();
}

}  // namespace stepscope
