#include "analyses/operators/op_tree.h"

#include <algorithm>

#include "analyses/common/rank_rows.h"
#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

constexpr uint32_t kInsideRuntimeCall = 0x80000000u;

// Category words by string id, each looked at once.
class RuntimeWords {
 public:
  explicit RuntimeWords(const StoreReader& store) : store_(store) {}
  bool is_runtime(int64_t category) {
    if (category == last_) return last_is_runtime_;
    last_ = category;
    const std::string_view word = store_.string(category);
    last_is_runtime_ =
        word.ends_with("runtime") || word.ends_with("Runtime") || word.ends_with("driver");
    return last_is_runtime_;
  }

 private:
  const StoreReader& store_;
  int64_t last_ = kNull;
  bool last_is_runtime_ = false;
};

void read_kinds(const StoreReader& store, size_t rank, OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  tree.kind.reserve(store.rows(Table::kOps, rank));
  for_each_row<7>(store, Table::kOps, rank,
                  {"id", "name", "type", "module", "input_shapes", "input_types", "cat"},
                  [&](const auto& row) {
                    const auto [id, name, type, module, shapes, types, cat] = row;
                    const uint64_t slice = static_cast<uint64_t>(id - base);
                    if (slice < tree.innermost.size())
                      tree.innermost[slice] = static_cast<uint32_t>(tree.kind.size());
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
void nest(const StoreReader& store, size_t rank, OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  RuntimeWords words(store);
  uint64_t slice = 0;
  for_each_row<5>(
      store, Table::kSlices, rank, {"ts", "dur", "flags", "cat", "parent"}, [&](const auto& row) {
        const auto [ts, dur, flags, cat, parent] = row;
        const uint64_t at = slice++;
        const uint64_t outer_slice =
            parent == kNull ? tree.innermost.size() : static_cast<uint64_t>(parent - base);
        const uint32_t around = outer_slice < at ? tree.innermost[outer_slice] : kNoOp;
        const uint32_t outer = around & kNoOp;
        const bool possible = dur >= 0 && (flags & kFlagImpossible) == 0;
        const uint32_t own = tree.innermost[at];
        int64_t inside_ns = dur;
        if (possible && outer != kNoOp && (flags & kFlagOutlivesParent) != 0)
          inside_ns = length_inside(store, rank, outer_slice, ts, dur);
        if (own != kNoOp) {
          tree.caller[own] = outer;
          if (!possible) {
            ++tree.left_out;
            tree.kind[own] = kNoGroup;
          } else if (outer != kNoOp && (around & kInsideRuntimeCall) == 0) {
            add_saturated(tree.nested_ns[outer], inside_ns);
          }
          return;
        }
        tree.innermost[at] = around;
        if (!words.is_runtime(cat)) return;
        tree.innermost[at] = outer | kInsideRuntimeCall;
        if (!possible || outer == kNoOp || (around & kInsideRuntimeCall) != 0) return;
        add_saturated(tree.nested_ns[outer], inside_ns);
        if (tree.kind[outer] != kNoGroup)
          add_saturated(tree.runtime_ns[tree.kind[outer]], inside_ns);
      });
}

void add_device_work(const StoreReader& store, size_t rank, OpTree& tree) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  tree.has_device_work = store.rows(Table::kKernels, rank) > 0;
  for_each_row<3>(store, Table::kKernels, rank, {"op", "dur", "flags"}, [&](const auto& row) {
    const auto [op_slice, dur, flags] = row;
    if (op_slice == kNull || dur < 0 || (flags & kFlagImpossible) != 0) return;
    const uint32_t op = tree.op_at(static_cast<uint64_t>(op_slice - base));
    if (op == kNoOp) return;
    add_saturated(tree.device_total_ns[op], dur);
    if (tree.kind[op] == kNoGroup) return;
    add_saturated(tree.device_self_ns[tree.kind[op]], dur);
    ++tree.launches[tree.kind[op]];
  });
  for (size_t op = tree.caller.size(); op-- > 0;) {
    if (tree.caller[op] != kNoOp)
      add_saturated(tree.device_total_ns[tree.caller[op]], tree.device_total_ns[op]);
  }
}

}  // namespace

OpTree build_op_tree(const StoreReader& store, size_t rank) {
  OpTree tree;
  tree.innermost.assign(store.rows(Table::kSlices, rank), kNoOp);
  read_kinds(store, rank, tree);
  tree.caller.assign(tree.kind.size(), kNoOp);
  tree.nested_ns.assign(tree.kind.size(), 0);
  tree.device_total_ns.assign(tree.kind.size(), 0);
  tree.runtime_ns.assign(tree.kinds.size(), 0);
  tree.device_self_ns.assign(tree.kinds.size(), 0);
  tree.launches.assign(tree.kinds.size(), 0);
  nest(store, rank, tree);
  add_device_work(store, rank, tree);
  return tree;
}

}  // namespace stepscope
