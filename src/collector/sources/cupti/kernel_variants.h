// KernelVariants: numbers for what kernels are launched with (name, grid, block, registers, shared
// memory), so that a launch is written as one small number. The writer thread's.
#ifndef STEPSCOPE_COLLECTOR_SOURCES_CUPTI_KERNEL_VARIANTS_H_
#define STEPSCOPE_COLLECTOR_SOURCES_CUPTI_KERNEL_VARIANTS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>

#include "collector/source.h"
#include "collector/sources/cupti/cupti_abi.h"

namespace stepscope::cupti {

class KernelVariants {
 public:
  // The number of the record's variant; a new one is written to `kernel_variants` first.
  int64_t number(const KernelRecord& record, SourceOutput& output);

 private:
  struct Key {
    uint32_t name;
    int32_t registers;
    int32_t grid[3];
    int32_t block[3];
    int32_t static_shared;
    int32_t dynamic_shared;
    bool operator==(const Key& other) const { return std::memcmp(this, &other, sizeof other) == 0; }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };
  struct KnownName {
    std::string mangled;
    uint32_t id = 0;
  };

  uint32_t name_of(const char* mangled, NameTable& names);

  // By address: CUPTI gives every launch of a kernel the same one. Compared all the same, because
  // a program that unloads a module (Triton does) may find the address used again.
  std::unordered_map<const char*, KnownName> names_;
  std::unordered_map<Key, int64_t, KeyHash> numbers_;
  int64_t next_number_ = 1;
};

}  // namespace stepscope::cupti

#endif  // STEPSCOPE_COLLECTOR_SOURCES_CUPTI_KERNEL_VARIANTS_H_
