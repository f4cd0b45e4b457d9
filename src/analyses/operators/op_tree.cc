#include "analyses/operators/op_tree.h"

#include <algorithm>

#include "analyses/common/names.h"
#include "analyses/common/rank_rows.h"
#include "analyses/common/saturated.h"
#include "analyses/operators/kernel_names.h"

namespace stepscope {
namespace {

// The operator around each slice of the rank, or the slice itself; the top bit marks what is inside
// a runtime call.
using Innermost = std::vector<uint32_t>;
constexpr uint32_t kInsideRuntimeCall = 0x80000000u;

// Category words by string id, each looked at once.
class RuntimeWords {
 public:
  explicit RuntimeWords(const StoreReader& store) : store_(store) {}
  bool is_runtime(int64_t category) {
    if (category == last_) return last_is_runtime_;
    last_ = category;
    last_is_runtime_ = is_runtime_category(store_.string(category));
    return last_is_runtime_;
  }

 private:
  const StoreReader& store_;
  int64_t last_ = kNull;
  bool last_is_runtime_ = false;
};

void read_kinds(const StoreReader& store, size_t rank, Innermost& innermost, OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  tree.kind.reserve(store.rows(Table::kOps, rank));
  for_each_row<7>(store, Table::kOps, rank,
                  {"id", "name", "type", "module", "input_shapes", "input_types", "cat"},
                  [&](const auto& row) {
                    const auto [id, name, type, module, shapes, types, cat] = row;
                    const uint64_t slice = static_cast<uint64_t>(id - base);
                    if (slice < innermost.size())
                      innermost[slice] = static_cast<uint32_t>(tree.kind.size());
                    tree.kind.push_back(tree.kinds.group({name, type, module, shapes, types, cat}));
                  });
}

// What of a slice lies inside `outer`: all of it, unless the input let it end later.
int64_t length_inside(const StoreReader& store, size_t rank, uint64_t outer, int64_t ts_ns,
                      int64_t dur_ns) {
  const int64_t end_ns = store.column(Table::kSlices, "ts", rank).at(outer) +
                         store.column(Table::kSlices, "dur", rank).at(outer);
  return std::clamp<int64_t>(end_ns - ts_ns, 0, dur_ns);
}

// The rows of a track are sorted by depth, so whatever contains a slice has been seen before it.
void nest(const StoreReader& store, size_t rank, Innermost& innermost, OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  RuntimeWords words(store);
  uint64_t slice = 0;
  for_each_row<5>(store, Table::kSlices, rank, {"ts", "dur", "flags", "cat", "parent"},
                  [&](const auto& row) {
                    const auto [ts, dur, flags, cat, parent] = row;
                    const uint64_t at = slice++;
                    const uint64_t outer_slice =
                        parent == kNull ? innermost.size() : static_cast<uint64_t>(parent - base);
                    const uint32_t around = outer_slice < at ? innermost[outer_slice] : kNoOp;
                    const uint32_t outer = around & kNoOp;
                    const bool possible = dur >= 0 && (flags & kFlagImpossible) == 0;
                    const uint32_t own = innermost[at];
                    int64_t inside_ns = dur;
                    if (possible && outer != kNoOp && (flags & kFlagOutlivesParent) != 0)
                      inside_ns = length_inside(store, rank, outer_slice, ts, dur);
                    if (own != kNoOp) {
                      tree.caller[own] = outer;
                      if (!possible) {
                        ++tree.left_out;
                        tree.kind[own] = kNoGroup;
                      } else if (outer != kNoOp && (around & kInsideRuntimeCall) == 0) {
                        if (tree.kind[outer] != kNoGroup)
                          add_saturated(tree.nested_ns[tree.kind[outer]], inside_ns);
                      }
                      return;
                    }
                    innermost[at] = around;
                    if (!words.is_runtime(cat)) return;
                    innermost[at] = outer | kInsideRuntimeCall;
                    if (!possible || outer == kNoOp || (around & kInsideRuntimeCall) != 0) return;
                    if (tree.kind[outer] == kNoGroup) return;
                    add_saturated(tree.nested_ns[tree.kind[outer]], inside_ns);
                    add_saturated(tree.runtime_ns[tree.kind[outer]], inside_ns);
                  });
}

void add_device_work(const StoreReader& store, size_t rank, const Innermost& innermost,
                     OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  tree.has_device_work = store.rows(Table::kKernels, rank) > 0;
  if (!tree.has_device_work) return;
  tree.device_total_ns.assign(tree.kind.size(), 0);
  KeyIndex<1> names;
  std::vector<bool> on_tensor_cores;
  for_each_row<4>(store, Table::kKernels, rank, {"op", "name", "dur", "flags"},
                  [&](const auto& row) {
                    const auto [op_slice, name, dur, flags] = row;
                    if (op_slice == kNull || dur < 0 || (flags & kFlagImpossible) != 0) return;
                    const auto slice = static_cast<uint64_t>(op_slice - base);
                    const uint32_t op = slice < innermost.size() ? innermost[slice] & kNoOp : kNoOp;
                    if (op == kNoOp) return;
                    add_saturated(tree.device_total_ns[op], dur);
                    const uint32_t kind = tree.kind[op];
                    if (kind == kNoGroup) return;
                    add_saturated(tree.device_self_ns[kind], dur);
                    ++tree.launches[kind];
                    const uint32_t known = names.group({name});
                    if (known == on_tensor_cores.size())
                      on_tensor_cores.push_back(uses_tensor_cores(store.string(name)));
                    if (on_tensor_cores[known]) add_saturated(tree.tensor_core_ns[kind], dur);
                  });
  for (size_t op = tree.caller.size(); op-- > 0;) {
    if (tree.caller[op] != kNoOp)
      add_saturated(tree.device_total_ns[tree.caller[op]], tree.device_total_ns[op]);
  }
}

}  // namespace

OpTree build_op_tree(const StoreReader& store, size_t rank) {
  OpTree tree;
  Innermost innermost(store.rows(Table::kSlices, rank), kNoOp);
  read_kinds(store, rank, innermost, tree);
  tree.caller.assign(tree.kind.size(), kNoOp);
  tree.nested_ns.assign(tree.kinds.size(), 0);
  tree.tensor_core_ns.assign(tree.kinds.size(), 0);
  tree.runtime_ns.assign(tree.kinds.size(), 0);
  tree.device_self_ns.assign(tree.kinds.size(), 0);
  tree.launches.assign(tree.kinds.size(), 0);
  nest(store, rank, innermost, tree);
  add_device_work(store, rank, innermost, tree);
  return tree;
}

}  // namespace stepscope
