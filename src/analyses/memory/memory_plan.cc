#include "analyses/memory/memory_plan.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "analyses/common/bounded_math.h"
#include "analyses/common/source_rows.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using nlohmann::json;

std::string_view last_component(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// The names of a graph's pool as its rows of `memory` have them.
class PlanPools {
 public:
  PlanPools(const StoreReader& store, const RankId& rank) {
    int64_t last_component = kNull;
    for_each_row<4>(store, Table::kMemory, rank.position,
                    {"ts", "device_kind", "device", "component"}, [&](const auto& row) {
                      const auto [ts_ns, kind, device, component] = row;
                      if (ts_ns != kNull || component == last_component) return;
                      last_component = component;
                      pools_.push_back({rank.rank, rank.window, store.string(kind), device,
                                        store.string(component)});
                    });
  }
  PoolName of(int64_t graph_id) const {
    const std::string wanted = "graph " + std::to_string(graph_id);
    const auto found = std::ranges::find(pools_, wanted, &PoolName::component);
    return found == pools_.end() ? PoolName() : *found;
  }

 private:
  std::vector<PoolName> pools_;
};

// Type, shape and format of operators' outputs (framework_raw).
class OutputInfos {
 public:
  OutputInfos(const StoreReader& store, size_t rank) : table_(store, rank, "framework_raw") {
    for (uint64_t row = 0; row < table_.rows(); ++row) {
      for (const char* column : {"full_kernel_name", "full_op_name", "op_name", "kernel_name"}) {
        const std::string_view name = table_.text(row, column);
        if (name.empty()) continue;
        rows_.try_emplace(name, row);
        rows_.try_emplace(last_component(name), row);
      }
    }
  }

  void describe(std::string_view node, int64_t output, MemoryOwnerRow& owner) const {
    auto found = rows_.find(node);
    if (found == rows_.end()) found = rows_.find(last_component(node));
    if (found == rows_.end()) return;
    const json info = json_tree(table_.text(found->second, "op_info"));
    if (!info.is_object()) return;
    auto about = info.find("output_" + std::to_string(output));
    if (about == info.end()) about = info.find("Output_" + std::to_string(output));
    if (about == info.end() || !about->is_object()) return;
    owner.data_type = text_of(*about, "data_type");
    owner.shape = text_of(*about, "shape");
    owner.format = text_of(*about, "format");
  }

 private:
  static std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : write_json(*found);
  }

  SourceRows table_;
  std::unordered_map<std::string_view, uint64_t> rows_;
};

int64_t count_of(const SourceRows& table, uint64_t row, std::string_view column) {
  return std::max<int64_t>(0, table.integer(row, column));
}

}  // namespace

int64_t plan_graph_id(const PoolName& pool) {
  std::string_view text = pool.component;
  text.remove_prefix(std::min(text.size(), std::string_view("graph ").size()));
  int64_t id = kNull;
  std::from_chars(text.data(), text.data() + text.size(), id);
  return id;
}

MemoryPlans memory_plans(const StoreReader& store, const RankId& rank) {
  MemoryPlans plans;
  const SourceRows graphs(store, rank.position, "memory_usage_graphs");
  if (!graphs.exists()) return plans;
  const PlanPools pools(store, rank);
  struct Graph {
    size_t row;
    std::string_view fp_start;
    std::string_view bp_end;
  };
  std::unordered_map<int64_t, Graph> by_id;
  for (uint64_t row = 0; row < graphs.rows(); ++row) {
    const int64_t id = graphs.integer(row, "graph_id");
    MemoryRow overview;
    static_cast<PoolName&>(overview) = pools.of(id);
    overview.source = "plan";
    overview.events = graphs.integer(row, "nodes");
    // Every tensor of a plan is allocated and released once.
    overview.allocations = graphs.integer(row, "tensors");
    overview.releases = overview.allocations;
    overview.capacity_bytes = graphs.integer(row, "device_bytes");
    overview.static_bytes = graphs.integer(row, "static_bytes");
    overview.peak_bytes = graphs.integer(row, "peak_bytes");
    if (overview.capacity_bytes > 0)
      overview.peak_share =
          static_cast<double>(overview.peak_bytes) / static_cast<double>(overview.capacity_bytes);
    by_id.try_emplace(
        id, Graph{plans.overview.size(), graphs.text(row, "fp_start"), graphs.text(row, "bp_end")});
    plans.overview.push_back(overview);
  }

  const SourceRows nodes(store, rank.position, "memory_usage_nodes");
  for (uint64_t row = 0; row < nodes.rows(); ++row) {
    const auto found = by_id.find(nodes.integer(row, "graph_id"));
    if (found == by_id.end()) continue;
    MemoryRow& overview = plans.overview[found->second.row];
    MemoryPoint point;
    static_cast<PoolName&>(point) = overview;
    point.position = nodes.integer(row, "position");
    point.allocated_bytes = nodes.integer(row, "total_bytes");
    point.change_bytes = nodes.integer(row, "change_bytes");
    point.operator_bytes = count_of(nodes, row, "allocated_bytes");
    point.static_bytes = overview.static_bytes;
    point.name = nodes.text(row, "node_name");
    const std::string_view name = last_component(point.name);
    if (!name.empty() && name == last_component(found->second.fp_start)) point.mark = "fp_start";
    if (!name.empty() && name == last_component(found->second.bp_end)) point.mark = "bp_end";
    if (overview.peak_position == kNull && point.allocated_bytes == overview.peak_bytes)
      overview.peak_position = point.position;
    plans.curve.push_back(point);

    MemoryOperatorRow op;
    static_cast<PoolName&>(op) = overview;
    op.name = point.name;
    op.self_allocations = count_of(nodes, row, "allocations");
    op.self_allocated_bytes = point.operator_bytes;
    op.self_increase_bytes = point.change_bytes;
    op.allocations = op.self_allocations;
    op.allocated_bytes = op.self_allocated_bytes;
    op.increase_bytes = op.self_increase_bytes;
    plans.operators.push_back(op);
    overview.allocated_bytes = bounded_plus(overview.allocated_bytes, op.self_allocated_bytes);
  }
  return plans;
}

std::vector<MemoryOwnerRow> plan_owners_at(const StoreReader& store, const RankId& rank,
                                           int64_t graph_id, int64_t position) {
  std::vector<MemoryOwnerRow> owners;
  const SourceRows graphs(store, rank.position, "memory_usage_graphs");
  const SourceRows tensors(store, rank.position, "memory_usage_tensors");
  const PoolName pool = PlanPools(store, rank).of(graph_id);
  const OutputInfos infos(store, rank.position);
  int64_t total = 0;
  for (uint64_t row = 0; row < tensors.rows(); ++row) {
    const int64_t first = tensors.integer(row, "first_position");
    const int64_t last = tensors.integer(row, "last_position");
    if (tensors.integer(row, "graph_id") != graph_id || first == kNull) continue;
    if (position < first || position > last) continue;
    MemoryOwnerRow owner;
    static_cast<PoolName&>(owner) = pool;
    const std::string_view node = tensors.text(row, "source_node");
    const int64_t output = tensors.integer(row, "source_output");
    if (node.empty()) {
      owner.name = "tensor " + std::to_string(tensors.integer(row, "tensor_id"));
    } else {
      owner.name = std::string(node);
      if (output != kNull) owner.name += ":" + std::to_string(output);
      infos.describe(node, output, owner);
    }
    owner.category = "tensor";
    owner.bytes = count_of(tensors, row, "bytes");
    owner.tensor_type = tensors.text(row, "type");
    owner.first_position = first;
    owner.last_position = last;
    total = bounded_plus(total, owner.bytes);
    owners.push_back(std::move(owner));
  }
  for (uint64_t row = 0; row < graphs.rows(); ++row) {
    const int64_t bytes = graphs.integer(row, "static_bytes");
    if (graphs.integer(row, "graph_id") != graph_id || bytes <= 0) continue;
    MemoryOwnerRow owner;
    static_cast<PoolName&>(owner) = pool;
    owner.name = "(static memory)";
    owner.category = "before";
    owner.bytes = bytes;
    total = bounded_plus(total, bytes);
    owners.push_back(std::move(owner));
  }
  for (MemoryOwnerRow& owner : owners) {
    if (total > 0) owner.share = static_cast<double>(owner.bytes) / static_cast<double>(total);
  }
  std::ranges::stable_sort(owners, std::greater<>(), &MemoryOwnerRow::bytes);
  return owners;
}

}  // namespace stepscope
