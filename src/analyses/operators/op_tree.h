// The host operators of a rank as a tree: which operator is called by which, what of its time is
// its own, and the device work it caused. The ground for the tables of operators and of FLOPs.
//
// Columns, not objects: 32 bytes an operator and 4 a slice, kept only while a rank is analysed.
#ifndef STEPSCOPE_ANALYSES_OPERATORS_OP_TREE_H_
#define STEPSCOPE_ANALYSES_OPERATORS_OP_TREE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/common/key_index.h"
#include "store/store_reader.h"

namespace stepscope {

inline constexpr uint32_t kNoOp = 0x7FFFFFFFu;

struct OpTree {
  // What an operator is: name, type, module, input shapes, input types, category word (string ids).
  enum KeyPart : uint8_t { kName, kType, kModule, kShapes, kTypes, kCategory };
  KeyIndex<6> kinds;

  // By operator, in the order of the table `ops`; callers come before what they call.
  std::vector<uint32_t> kind;            // kNoGroup: impossible, left out
  std::vector<uint32_t> caller;          // kNoOp: outermost
  std::vector<int64_t> nested_ns;        // operators and runtime calls directly inside
  std::vector<int64_t> device_total_ns;  // of the device work it and what it called caused
  // By kind.
  std::vector<int64_t> runtime_ns;      // runtime and driver calls directly inside
  std::vector<int64_t> device_self_ns;  // of the device work it caused itself
  std::vector<int64_t> launches;        // pieces of device work it caused itself

  int64_t left_out = 0;  // impossible operators
  bool has_device_work = false;

  // The operator around a slice of the rank, or the slice itself; kNoOp when there is none.
  uint32_t op_at(uint64_t slice_row) const {
    return slice_row < innermost.size() ? innermost[slice_row] & kNoOp : kNoOp;
  }
  // By slice of the rank; the top bit marks what is inside a runtime call.
  std::vector<uint32_t> innermost;
};

// O(n) in the slices of the rank.
OpTree build_op_tree(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OP_TREE_H_
