// The names and launch shapes that real training traces are full of: about 500 kernels in seven
// families.

#ifndef STEPSCOPE_BENCH_GENERATE_CATALOGUE_H_
#define STEPSCOPE_BENCH_GENERATE_CATALOGUE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bench/generate/event.h"

namespace stepscope::generate {

// Every name is stored once and known by a small number.
class NamePool {
 public:
  NameId Intern(std::string_view name);
  std::string_view Get(NameId id) const { return names_[id]; }
  size_t size() const { return names_.size(); }

 private:
  std::deque<std::string> names_;  // A deque: the map's keys point into it.
  std::unordered_map<std::string_view, NameId> ids_;
};

struct Kernel {
  NameId name = 0;
  std::string launch_text;  // Registers, shared memory, grid, block and occupancy as JSON.
  int64_t typical_ns = 0;
  bool launched_by_driver = false;  // cuLaunchKernelEx instead of cudaLaunchKernel.
};

// Each takes any variant number; variants wrap around within the family.
Kernel GemmKernel(int variant, NamePool* names);
Kernel ElementwiseKernel(int variant, NamePool* names);
Kernel ReductionKernel(int variant, NamePool* names);
Kernel LayerNormKernel(int variant, bool backward, NamePool* names);
Kernel AttentionKernel(int variant, bool backward, NamePool* names);
Kernel FusedKernel(int variant, NamePool* names);
Kernel MultiTensorKernel(int variant, NamePool* names);

}  // namespace stepscope::generate

#endif  // STEPSCOPE_BENCH_GENERATE_CATALOGUE_H_
