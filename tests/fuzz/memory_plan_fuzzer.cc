// Any bytes as a memory plan (memory_usage_N.pb): no position leaves its graph, and the peak is the
// largest total.
#include "importers/mindinsight/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stepscope;
  QualityReport quality;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto plan = mindinsight::read_memory_plan(bytes, "fuzz.pb", quality);
  for (const mindinsight::PlanGraph& graph : plan.graphs) {
    const auto nodes = static_cast<int64_t>(graph.nodes.size());
    if (graph.totals.size() != graph.nodes.size()) std::abort();
    int64_t peak = kNull;
    for (const int64_t total : graph.totals) peak = std::max(peak, total);
    if (peak != graph.peak_bytes) std::abort();
    for (const mindinsight::PlanTensor& tensor : graph.tensors) {
      if (tensor.first != kNull && (tensor.first < 0 || tensor.last < tensor.first)) std::abort();
      if (tensor.last >= nodes && tensor.last != kNull) std::abort();
      if (tensor.source_position >= nodes) std::abort();
    }
  }
  return 0;
}
