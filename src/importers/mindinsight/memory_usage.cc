#include "importers/mindinsight/memory_usage.h"

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "importers/common/checked_math.h"
#include "importers/common/table_builder.h"
#include "importers/common/text_file.h"
#include "importers/mindinsight/memory_plan.h"

namespace stepscope::mindinsight {
namespace {

constexpr uint64_t kMostBytes = 256ull << 20;

std::string list_text(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

class PlanTables {
 public:
  PlanTables(const std::string& path, int64_t device, RankBuilder& rank)
      : device_(device),
        rank_(rank),
        graphs_(rank, "memory_usage_graphs", path,
                {{"graph_id", Type::kInt64},
                 {"nodes", Type::kInt64},
                 {"tensors", Type::kInt64},
                 {"static_bytes", Type::kInt64},
                 {"peak_bytes", Type::kInt64},
                 {"device_bytes", Type::kInt64},
                 {"fp_start", Type::kText},
                 {"bp_end", Type::kText}}),
        nodes_(rank, "memory_usage_nodes", path,
               {{"graph_id", Type::kInt64},
                {"position", Type::kInt64},
                {"node_id", Type::kInt64},
                {"node_name", Type::kText},
                {"allocations", Type::kInt64},
                {"allocated_bytes", Type::kInt64},
                {"change_bytes", Type::kInt64},
                {"total_bytes", Type::kInt64},
                {"input_tensors", Type::kText},
                {"output_tensors", Type::kText},
                {"workspace_tensors", Type::kText}}),
        tensors_(rank, "memory_usage_tensors", path,
                 {{"graph_id", Type::kInt64},
                  {"tensor_id", Type::kInt64},
                  {"source_node", Type::kText},
                  {"source_output", Type::kInt64},
                  {"bytes", Type::kInt64},
                  {"type", Type::kText},
                  {"life_long", Type::kText},
                  {"life_start", Type::kInt64},
                  {"life_end", Type::kInt64},
                  {"first_position", Type::kInt64},
                  {"last_position", Type::kInt64}}) {}

  void add(const PlanGraph& graph, int64_t device_bytes) {
    sample(graph, "static memory", graph.static_bytes);
    for (size_t position = 0; position < graph.nodes.size(); ++position) {
      const PlanNode& node = graph.nodes[position];
      const int64_t before = position == 0 ? graph.static_bytes : graph.totals[position - 1];
      const int64_t total = graph.totals[position];
      nodes_.row({graph.id, static_cast<int64_t>(position), node.id, nodes_.text(node.name),
                  node.allocations, node.allocated_bytes, minus_or_null(total, before), total,
                  nodes_.text_or_null(list_text(node.inputs)),
                  nodes_.text_or_null(list_text(node.outputs)),
                  nodes_.text_or_null(list_text(node.workspaces))});
      sample(graph, node.name, total);
    }
    for (const PlanTensor& tensor : graph.tensors) {
      const int64_t source =
          tensor.source_position == kNull
              ? kNull
              : tensors_.text(graph.nodes[static_cast<size_t>(tensor.source_position)].name);
      tensors_.row({graph.id, tensor.id, source, tensor.source_output, tensor.size,
                    tensors_.text_or_null(tensor.type), tensors_.text_or_null(tensor.life_long),
                    tensor.life_start, tensor.life_end, tensor.first, tensor.last});
    }
    graphs_.row({graph.id, static_cast<int64_t>(graph.nodes.size()),
                 static_cast<int64_t>(graph.tensors.size()), graph.static_bytes, graph.peak_bytes,
                 device_bytes, graphs_.text_or_null(graph.fp_start),
                 graphs_.text_or_null(graph.bp_end)});
  }

 private:
  void sample(const PlanGraph& graph, std::string_view name, int64_t total_bytes) {
    MemoryRecord record;
    record.ts_ns = kNull;
    record.device = static_cast<int32_t>(std::clamp<int64_t>(device_, -1, INT32_MAX));
    record.device_kind = rank_.strings.intern("NPU");
    record.component = rank_.strings.intern("graph " + std::to_string(graph.id));
    record.name = rank_.strings.intern(name);
    record.total_allocated = total_bytes;
    rank_.memory.push_back(record);
  }

  const int64_t device_;
  RankBuilder& rank_;
  TableBuilder graphs_;
  TableBuilder nodes_;
  TableBuilder tensors_;
};

}  // namespace

int64_t read_memory_usage(const std::string& path, int64_t device, RankBuilder& rank) {
  const auto bytes = read_file(path, kMostBytes);
  if (!bytes) {
    add_unreadable(rank, path, bytes.error());
    return 0;
  }
  const MemoryPlan plan = read_memory_plan(*bytes, path, rank.quality);
  int64_t records = 0;
  if (!plan.graphs.empty()) {
    PlanTables tables(path, device, rank);
    for (const PlanGraph& graph : plan.graphs) {
      tables.add(graph, plan.device_bytes);
      records += static_cast<int64_t>(graph.nodes.size() + graph.tensors.size());
    }
  }
  add_source(rank, path, "memory_usage", records);
  return records;
}

}  // namespace stepscope::mindinsight
