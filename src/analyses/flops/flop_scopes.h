// The tree of modules or scopes, with the FLOPs of what is in each.
#ifndef STEPSCOPE_ANALYSES_FLOPS_FLOP_SCOPES_H_
#define STEPSCOPE_ANALYSES_FLOPS_FLOP_SCOPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/flops/flops.h"
#include "analyses/operators/op_tree.h"

namespace stepscope {

class ScopeTree {
 public:
  static constexpr uint32_t kTop = 0;

  ScopeTree() { nodes_.emplace_back(); }

  // A scope inside another; made when it is new. Depth is bounded: deeper ones are their ancestor.
  uint32_t inside(uint32_t scope, std::string_view name);
  // The same path as `scope` has from the root, below another scope.
  uint32_t copy_below(uint32_t below, uint32_t scope);
  // "Default/network-Net/conv-Conv2d" from the top.
  uint32_t at_path(std::string_view path);

  void add(uint32_t scope, double flops) { nodes_[scope].flops += flops; }
  // Edges from the top down; none when nothing was counted outside the top.
  std::vector<FlopScopeRow> rows(const RankId& rank) const;

 private:
  struct Node {
    uint32_t parent = 0;
    uint32_t top = 0;  // the scope right below the root that it is in
    uint32_t level = 0;
    std::string name;
    std::string path;
    double flops = 0;
  };
  std::vector<Node> nodes_;  // parents before children
  std::map<std::pair<uint32_t, std::string>, uint32_t, std::less<>> index_;
};

// The module around each operator, where modules were recorded: of forward ones by the slices
// around them, of backward ones by the forward operator that autograd names. Empty when no operator
// is in one. 8 bytes an operator.
std::vector<uint32_t> module_scopes(const StoreReader& store, size_t rank, const OpTree& tree,
                                    ScopeTree& scopes);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_FLOPS_FLOP_SCOPES_H_
