// Where in the program a block was allocated: the module around the operator, and the part of the
// step (forward, backward, optimizer ...), found by walking up from the operator.
#ifndef STEPSCOPE_ANALYSES_MEMORY_ALLOCATION_PLACES_H_
#define STEPSCOPE_ANALYSES_MEMORY_ALLOCATION_PLACES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyses/common/module_names.h"
#include "store/store_reader.h"

namespace stepscope {

// What the bytes are for, as far as the place of the allocation tells.
//   before        allocated before the recording: parameters, optimizer state
//   forward       in an operator that is in none of the following: activations, mostly
//   backward      in autograd: gradients and temporaries
//   optimizer     in Optimizer.step or zero_grad
//   data          in a DataLoader
//   communication in a collective
//   operator      in an operator whose surroundings the input does not give
//   outside       in no operator
struct AllocationPlace {
  std::string module;  // "GPT_0/Block_3", "" when not known
  std::string_view category;
};

class AllocationPlaces {
 public:
  AllocationPlaces(const StoreReader& store, size_t rank);

  // `slice` is a row of the rank or kNull; `name` the operator's as the memory event gives it.
  const AllocationPlace& at(int64_t slice, int64_t name);

 private:
  const StoreReader& store_;
  const ColumnView& parents_;
  const ColumnView& names_;
  const ColumnView& categories_;
  ModuleNames modules_;
  std::unordered_map<int64_t, AllocationPlace> known_;  // by slice
  AllocationPlace outside_{"", "outside"};
  AllocationPlace operator_{"", "operator"};
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_ALLOCATION_PLACES_H_
