// Runs independent pieces of work on a few threads and waits for all of them.
#ifndef STEPSCOPE_BASE_PARALLEL_H_
#define STEPSCOPE_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace stepscope {

// CPUs this process may use (affinity and cgroup quota considered by the kernel's affinity mask).
unsigned available_cpus();

// Calls work(index) for 0 <= index < count, on up to `threads` threads (the caller is one of them),
// in rising order of start. `work` must not throw.
void parallel_for(size_t count, unsigned threads, const std::function<void(size_t)>& work);

}  // namespace stepscope

#endif  // STEPSCOPE_BASE_PARALLEL_H_
