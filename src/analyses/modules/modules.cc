#include "analyses/modules/modules.h"

#include <algorithm>
#include <unordered_map>

#include "analyses/common/key_index.h"
#include "analyses/common/module_names.h"
#include "analyses/common/saturated.h"

namespace stepscope {
namespace {

// MindSpore puts it in front of every path; ranges of modules are called without it.
constexpr std::string_view kGraph = "Default/";
constexpr uint32_t kDeepest = 64;           // what is deeper counts for its ancestor
constexpr uint32_t kTop = 0;                // outside of all modules
constexpr uint32_t kInOperator = 1u << 31;  // beside the number of the module

class ModuleTree {
 public:
  ModuleTree(const StoreReader& store, const RankId& rank, ModuleNames names)
      : store_(store), rank_(rank), names_(names) {
    nodes_.emplace_back();
  }

  std::vector<ModuleRow> rows() {
    mark_operators();
    read_slices();
    if (nodes_.size() == 1) return {};
    place_operators_by_path();
    read_kernels();
    // Inner modules come after those around them.
    for (size_t i = nodes_.size(); i-- > 1;) {
      ModuleRow& row = nodes_[i].row;
      add_saturated(row.device_ns, row.device_self_ns);
      ModuleRow& around = nodes_[nodes_[i].parent].row;
      around.kernels += row.kernels;
      add_saturated(around.device_ns, row.device_ns);
    }
    std::vector<ModuleRow> rows;
    for (size_t i = 1; i < nodes_.size(); ++i) rows.push_back(std::move(nodes_[i].row));
    return rows;
  }

 private:
  struct Node {
    uint32_t parent = kTop;
    ModuleRow row;
  };

  int64_t slice_base() const {
    return static_cast<int64_t>(store_.row_base(Table::kSlices, rank_.position));
  }

  void mark_operators() {
    is_operator_.resize(store_.rows(Table::kSlices, rank_.position));
    const int64_t base = slice_base();
    for_each_row<1>(store_, Table::kOps, rank_.position, {"id"}, [&](const auto& row) {
      const auto at = static_cast<uint64_t>(row[0] - base);
      if (at < is_operator_.size()) is_operator_[at] = true;
    });
  }

  uint32_t inside(uint32_t module, int64_t name) {
    if (nodes_[module].row.level == kDeepest) return module;
    const uint32_t key = known_.group({module, name});
    if (key == node_of_key_.size()) {
      node_of_key_.push_back(static_cast<uint32_t>(nodes_.size()));
      Node node;
      node.parent = module;
      node.row.rank = rank_.rank;
      node.row.window = rank_.window;
      node.row.level = nodes_[module].row.level + 1;
      node.row.module =
          nodes_[module].row.module + (module == kTop ? "" : "/") + std::string(names_.label(name));
      nodes_.push_back(std::move(node));
    }
    return node_of_key_[key];
  }

  // Callers come before what they call.
  void read_slices() {
    const int64_t base = slice_base();
    places_.resize(is_operator_.size(), kTop);
    uint64_t slice = 0;
    for_each_row<5>(
        store_, Table::kSlices, rank_.position, {"name", "parent", "dur", "flags", "cat"},
        [&](const auto& row) {
          const auto [name, parent, dur_ns, flags, category] = row;
          const uint64_t at = slice++;
          const uint64_t outer = parent == kNull ? at : static_cast<uint64_t>(parent - base);
          uint32_t& place = places_[at];
          if (outer < at) place = places_[outer];
          if (dur_ns < 0 || (flags & kFlagImpossible) != 0) return;
          const uint32_t around = place & ~kInOperator;
          const bool is_in_operator = (place & kInOperator) != 0;
          const uint32_t inner = names_.is_module(name, category) ? inside(around, name) : around;
          if (inner != around) {
            ModuleRow& own = nodes_[inner].row;
            ++own.calls;
            add_saturated(own.host_ns, dur_ns);
            add_saturated(own.host_self_ns, dur_ns);
            place = inner;
          } else if (is_operator_[at] && !is_in_operator) {
            ++nodes_[around].row.operators;
            place = around | kInOperator;
          } else {
            return;
          }
          // What an operator calls is in its time already.
          if (!is_in_operator) add_saturated(nodes_[around].row.host_self_ns, -dur_ns);
        });
  }

  // Modules of a compiled graph are on a lane of their own: its operators are in none of their
  // slices, but name the path.
  void place_operators_by_path() {
    std::unordered_map<std::string_view, uint32_t> by_path;
    for (uint32_t i = 1; i < nodes_.size(); ++i) by_path.emplace(nodes_[i].row.module, i);
    const int64_t base = slice_base();
    for_each_row<3>(store_, Table::kOps, rank_.position, {"id", "module", "dur"},
                    [&](const auto& row) {
                      const auto [id, module, dur_ns] = row;
                      const auto at = static_cast<uint64_t>(id - base);
                      if (module == kNull || dur_ns < 0 || at >= places_.size() ||
                          places_[at] != (kTop | kInOperator))
                        return;
                      std::string_view path = store_.string(module);
                      if (path.starts_with(kGraph)) path.remove_prefix(kGraph.size());
                      const auto node = by_path.find(path);
                      if (node == by_path.end()) return;
                      ModuleRow& own = nodes_[node->second].row;
                      ++own.operators;
                      // Operators of a graph may run side by side.
                      own.host_self_ns = std::max<int64_t>(0, own.host_self_ns - dur_ns);
                      places_[at] = node->second | kInOperator;
                    });
  }

  uint32_t module_of(int64_t slice) const {
    if (slice == kNull) return kTop;
    const auto at = static_cast<uint64_t>(slice - slice_base());
    return at < places_.size() ? places_[at] & ~kInOperator : kTop;
  }

  // Device work belongs to where it was launched, or else to where its operator is: launching may
  // be another thread's work.
  void read_kernels() {
    for_each_row<4>(store_, Table::kKernels, rank_.position, {"op", "launch", "dur", "flags"},
                    [&](const auto& row) {
                      const auto [op, launch, dur_ns, flags] = row;
                      if (dur_ns < 0 || (flags & kFlagImpossible) != 0) return;
                      const uint32_t module = module_of(launch);
                      ModuleRow& own = nodes_[module == kTop ? module_of(op) : module].row;
                      ++own.kernels;
                      add_saturated(own.device_self_ns, dur_ns);
                    });
  }

  const StoreReader& store_;
  const RankId& rank_;
  ModuleNames names_;
  std::vector<Node> nodes_;
  KeyIndex<2> known_;  // module around and name
  std::vector<uint32_t> node_of_key_;
  std::vector<bool> is_operator_;  // by slice
  std::vector<uint32_t> places_;   // by slice: innermost module, and whether in an operator of it
};

}  // namespace

std::vector<ModuleRow> module_rows(const StoreReader& store, const RankId& rank) {
  const ModuleNames names(store);
  if (!names.any()) return {};
  return ModuleTree(store, rank, names).rows();
}

}  // namespace stepscope
