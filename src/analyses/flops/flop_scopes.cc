#include "analyses/flops/flop_scopes.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "analyses/common/key_index.h"
#include "analyses/common/module_names.h"

namespace stepscope {
namespace {

constexpr uint32_t kDeepest = 64;

// The innermost module around every slice of the rank.
std::vector<uint32_t> modules_of_slices(const StoreReader& store, size_t rank, ModuleNames& names,
                                        ScopeTree& scopes) {
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  std::vector<uint32_t> modules(store.rows(Table::kSlices, rank), ScopeTree::kTop);
  KeyIndex<2> known;  // module around and name
  std::vector<uint32_t> nodes;
  uint64_t slice = 0;
  for_each_row<3>(store, Table::kSlices, rank, {"name", "parent", "cat"}, [&](const auto& row) {
    const auto [name, parent, category] = row;
    const uint64_t at = slice++;
    const uint64_t outer = parent == kNull ? at : static_cast<uint64_t>(parent - base);
    uint32_t module = outer < at ? modules[outer] : ScopeTree::kTop;
    if (names.is_module(name, category)) {
      const uint32_t key = known.group({module, name});
      if (key == nodes.size()) nodes.push_back(scopes.inside(module, names.label(name)));
      module = nodes[key];
    }
    modules[at] = module;
  });
  return modules;
}

}  // namespace

uint32_t ScopeTree::inside(uint32_t scope, std::string_view name) {
  if (nodes_[scope].level == kDeepest) return scope;
  const auto key = std::pair(scope, std::string(name));
  const auto [found, is_new] = index_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    Node node;
    node.parent = scope;
    node.level = nodes_[scope].level + 1;
    node.top = scope == kTop ? found->second : nodes_[scope].top;
    node.name = name;
    node.path = scope == kTop ? std::string(name) : nodes_[scope].path + "/" + std::string(name);
    nodes_.push_back(std::move(node));
  }
  return found->second;
}

uint32_t ScopeTree::copy_below(uint32_t below, uint32_t scope) {
  std::vector<uint32_t> path;
  for (uint32_t at = scope; at != kTop; at = nodes_[at].parent) path.push_back(at);
  for (size_t i = path.size(); i-- > 0;) below = inside(below, std::string(nodes_[path[i]].name));
  return below;
}

uint32_t ScopeTree::at_path(std::string_view path) {
  uint32_t scope = kTop;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) scope = inside(scope, path.substr(begin, end - begin));
    begin = end + 1;
  }
  return scope;
}

std::vector<FlopScopeRow> ScopeTree::rows(const RankId& rank) const {
  std::vector<double> flops(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 1;) {
    flops[i] += nodes_[i].flops;
    flops[nodes_[i].parent] += flops[i];
  }
  std::vector<FlopScopeRow> rows;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    if (flops[i] <= 0) continue;
    const Node& node = nodes_[i];
    FlopScopeRow row;
    row.rank = rank.rank;
    row.window = rank.window;
    row.level = node.level;
    row.source = node.parent == kTop ? "Total" : nodes_[node.parent].path;
    row.target = node.path;
    row.name = node.parent == kTop ? node.name : node.name + "(" + nodes_[node.top].name + ")";
    row.flops = flops[i];
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FlopScopeRow& a, const FlopScopeRow& b) {
    return std::pair(a.level, -a.flops) < std::pair(b.level, -b.flops);
  });
  return rows;
}

std::vector<uint32_t> module_scopes(const StoreReader& store, size_t rank, const OpTree& tree,
                                    ScopeTree& scopes) {
  ModuleNames names(store);
  if (tree.kind.empty() || !names.any()) return {};
  std::vector<uint32_t> scope_of_op(tree.kind.size(), ScopeTree::kTop);
  std::vector<uint32_t> modules = modules_of_slices(store, rank, names, scopes);
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  std::vector<std::pair<int64_t, uint32_t>> forward;   // sequence and scope
  std::vector<std::pair<uint32_t, int64_t>> backward;  // operators that name a forward one
  uint32_t op = 0;
  bool any = false;
  for_each_row<3>(store, Table::kOps, rank, {"id", "sequence", "forward_thread"},
                  [&](const auto& row) {
                    const auto [id, sequence, forward_thread] = row;
                    const auto slice = static_cast<uint64_t>(id - base);
                    const uint32_t scope = slice < modules.size() ? modules[slice] : 0;
                    scope_of_op[op] = scope;
                    any = any || scope != ScopeTree::kTop;
                    if (sequence != kNull) {
                      const bool is_backward = forward_thread != kNull && forward_thread > 0;
                      if (is_backward)
                        backward.emplace_back(op, sequence);
                      else if (scope != ScopeTree::kTop)
                        forward.emplace_back(sequence, scope);
                    }
                    ++op;
                  });
  if (!any) return {};
  modules = {};  // the peak of memory is here
  // Of forward operators with one number the last made the backward one.
  std::stable_sort(forward.begin(), forward.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const uint32_t gradients = scopes.inside(ScopeTree::kTop, "Gradients");
  std::unordered_map<uint32_t, uint32_t> gradient_scopes;
  for (const auto& [at, sequence] : backward) {
    const auto after =
        std::upper_bound(forward.begin(), forward.end(), sequence,
                         [](int64_t number, const auto& entry) { return number < entry.first; });
    if (after == forward.begin() || std::prev(after)->first != sequence ||
        scope_of_op[at] != ScopeTree::kTop)
      continue;
    const uint32_t scope = std::prev(after)->second;
    const auto [known, is_new] = gradient_scopes.try_emplace(scope, gradients);
    if (is_new) known->second = scopes.copy_below(gradients, scope);
    scope_of_op[at] = known->second;
  }
  // What a backward operator calls is in its scope. Callers come before what they call.
  for (size_t i = 0; i < scope_of_op.size(); ++i) {
    if (scope_of_op[i] == ScopeTree::kTop && tree.caller[i] != kNoOp)
      scope_of_op[i] = scope_of_op[tree.caller[i]];
  }
  return scope_of_op;
}

}  // namespace stepscope
