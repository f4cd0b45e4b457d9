#include "analyses/timeline/scope_layers.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

constexpr size_t kDeepest = 64;

bool has_scopes(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view top = name.substr(0, slash);
  return top == "Default" || top == "Gradients" || top == "recompute_Default";
}

void split_scopes(std::string_view name, std::vector<std::string_view>& scopes) {
  scopes.clear();
  for (size_t slash = name.find('/'); slash != std::string_view::npos && scopes.size() < kDeepest;
       slash = name.find('/')) {
    scopes.push_back(name.substr(0, slash));
    name.remove_prefix(slash + 1);
  }
}

void add_rows(const StoreReader& store, Table table, size_t rank,
              std::vector<ScopedOperator>& found) {
  std::unordered_map<int64_t, bool> known;  // by name's id
  for_each_row<3>(store, table, rank, {"ts", "dur", "name"}, [&](const auto& row) {
    const auto [ts_ns, dur_ns, name] = row;
    if (dur_ns == kNull || dur_ns < 0) return;
    const auto [scoped, added] = known.try_emplace(name, false);
    if (added) scoped->second = has_scopes(store.string(name));
    if (scoped->second) found.push_back({ts_ns, ts_ns + dur_ns, store.string(name)});
  });
}

}  // namespace

std::vector<ScopedOperator> scoped_operators(const StoreReader& store, size_t rank) {
  std::vector<ScopedOperator> found;
  add_rows(store, Table::kKernels, rank, found);
  if (found.empty()) add_rows(store, Table::kOps, rank, found);
  std::stable_sort(
      found.begin(), found.end(),
      [](const ScopedOperator& a, const ScopedOperator& b) { return a.start_ns < b.start_ns; });
  return found;
}

std::vector<std::vector<ScopeSegment>> scope_layers(const std::vector<ScopedOperator>& operators,
                                                    const std::vector<int64_t>& step_starts) {
  std::vector<std::vector<ScopeSegment>> layers;
  std::vector<std::string_view> open;  // scopes of the operator before
  std::vector<std::string_view> scopes;
  int64_t busy_until_ns = std::numeric_limits<int64_t>::min();
  size_t step = 0;
  for (const ScopedOperator& one : operators) {
    if (one.start_ns < busy_until_ns) continue;
    busy_until_ns = one.end_ns;
    while (step < step_starts.size() && one.start_ns >= step_starts[step]) {
      open.clear();
      ++step;
    }
    split_scopes(one.name, scopes);
    if (scopes.size() > layers.size()) layers.resize(scopes.size());
    size_t same = 0;
    while (same < std::min(open.size(), scopes.size()) && open[same] == scopes[same]) ++same;
    for (size_t level = 0; level < scopes.size(); ++level) {
      if (level < same) {
        layers[level].back().end_ns = one.end_ns;
      } else {
        layers[level].push_back({one.start_ns, one.end_ns, scopes[level]});
      }
    }
    open = scopes;
  }
  return layers;
}

}  // namespace stepscope
