// The host operators of a rank as a tree: which operator is called by which, what of its time is
// its own, and the device work it caused. The ground for the tables of operators and of FLOPs.
//
// Columns, not objects: 16 bytes an operator, and 4 a slice while it is built; kept only while a
// rank is analysed.
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
  std::vector<int64_t> device_total_ns;  // see device_ns(); empty without device work
  // By kind.
  std::vector<int64_t> nested_ns;       // operators and runtime calls directly inside
  std::vector<int64_t> runtime_ns;      // runtime and driver calls directly inside
  std::vector<int64_t> device_self_ns;  // of the device work it caused itself
  std::vector<int64_t> tensor_core_ns;  // what of that uses tensor cores
  std::vector<int64_t> launches;        // pieces of device work it caused itself

  // Time of the device work that an operator and what it called caused.
  int64_t device_ns(size_t op) const { return device_total_ns.empty() ? 0 : device_total_ns[op]; }

  int64_t left_out = 0;  // impossible operators
  bool has_device_work = false;
};

// O(n) in the slices of the rank.
OpTree build_op_tree(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_OPERATORS_OP_TREE_H_
