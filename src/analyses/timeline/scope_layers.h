// Scopes of operators as layers of a timeline: `Default/network/conv1/Conv2D-op11` lies in Default
// (level 1), network (2) and conv1 (3). At each level, neighbours in time with the same scope are
// one segment.
#ifndef STEPSCOPE_ANALYSES_TIMELINE_SCOPE_LAYERS_H_
#define STEPSCOPE_ANALYSES_TIMELINE_SCOPE_LAYERS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

struct ScopeSegment {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view name;
  bool operator==(const ScopeSegment&) const = default;
};

struct ScopedOperator {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string_view name;  // with its scopes
};

// Layers by level; [0] is the outermost. Operators that start before the one before them has ended
// run beside it and are left out, as in the reference. A change at a level changes all below it,
// and steps end all scopes. `operators` by start; `step_starts` sorted.
std::vector<std::vector<ScopeSegment>> scope_layers(const std::vector<ScopedOperator>& operators,
                                                    const std::vector<int64_t>& step_starts);

// Those of a rank's operators, on the device or else on the host, whose names have scopes.
std::vector<ScopedOperator> scoped_operators(const StoreReader& store, size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_TIMELINE_SCOPE_LAYERS_H_
