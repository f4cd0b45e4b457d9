#include "importers/mindinsight/memory_plan.h"

#include <algorithm>
#include <unordered_map>

#include "importers/common/checked_math.h"
#include "importers/mindinsight/wire_reader.h"

namespace stepscope::mindinsight {
namespace {

constexpr size_t kMostRecords = 4'000'000;
// A size beyond a pebibyte is damage.
constexpr uint64_t kLargestSize = 1ull << 50;

class PlanReader {
 public:
  PlanReader(const std::string& path, QualityReport& quality) : path_(path), quality_(quality) {}

  // Field numbers as in MindSpore's memory_profiling.proto, 1.3 to 2.3.
  MemoryPlan read(std::string_view bytes) {
    MemoryPlan plan;
    WireReader reader(bytes);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1 && field.is_bytes) {
        if (!has_room()) break;
        plan.graphs.push_back(read_graph(field.bytes, reader.bytes_position(field)));
      } else if (field.number == 2 && !field.is_bytes) {
        plan.device_bytes = number(field, reader);
      } else {
        not_understood(field, reader, "the file");
      }
    }
    check_end(reader);
    return plan;
  }

 private:
  PlanGraph read_graph(std::string_view bytes, size_t offset) {
    PlanGraph graph;
    WireReader reader(bytes, offset);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1 && !field.is_bytes) {
        graph.id = number(field, reader);
      } else if (field.number == 2 && !field.is_bytes) {
        graph.static_bytes = size(field, reader);
      } else if (field.number == 3 && field.is_bytes) {
        if (!has_room()) break;
        graph.nodes.push_back(read_node(field.bytes, reader.bytes_position(field)));
      } else if (field.number == 4 && field.is_bytes) {
        if (!has_room()) break;
        graph.tensors.push_back(read_tensor(field.bytes, reader.bytes_position(field)));
      } else if (field.number == 5 && field.is_bytes) {
        graph.fp_start = field.bytes;
      } else if (field.number == 6 && field.is_bytes) {
        graph.bp_end = field.bytes;
      } else {
        not_understood(field, reader, "a graph");
      }
    }
    check_end(reader);
    return graph;
  }

  PlanNode read_node(std::string_view bytes, size_t offset) {
    PlanNode node;
    WireReader reader(bytes, offset);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1 && field.is_bytes) {
        node.name = field.bytes;
      } else if (field.number == 2 && !field.is_bytes) {
        node.id = number(field, reader);
      } else if (field.number == 3) {
        add_ids(field, reader, node.inputs);
      } else if (field.number == 4) {
        add_ids(field, reader, node.outputs);
      } else if (field.number == 5) {
        add_ids(field, reader, node.workspaces);
      } else {
        not_understood(field, reader, "a node");
      }
    }
    check_end(reader);
    return node;
  }

  PlanTensor read_tensor(std::string_view bytes, size_t offset) {
    PlanTensor tensor;
    WireReader reader(bytes, offset);
    WireField field;
    while (reader.next(field)) {
      if (field.number == 1 && !field.is_bytes) {
        tensor.id = number(field, reader);
      } else if (field.number == 2 && !field.is_bytes) {
        tensor.size = size(field, reader);
      } else if (field.number == 3 && field.is_bytes) {
        tensor.type = field.bytes;
      } else if (field.number == 4 && !field.is_bytes) {
        tensor.life_start = number(field, reader);
      } else if (field.number == 5 && !field.is_bytes) {
        tensor.life_end = number(field, reader);
      } else if (field.number == 6 && field.is_bytes) {
        tensor.life_long = field.bytes;
      } else {
        not_understood(field, reader, "a tensor");
      }
    }
    check_end(reader);
    return tensor;
  }

  // Lists are packed, but a writer may give their numbers one by one.
  void add_ids(const WireField& field, const WireReader& reader, std::vector<int64_t>& ids) {
    if (!field.is_bytes) {
      if (has_room()) ids.push_back(number(field, reader));
      return;
    }
    WireReader list(field.bytes);
    while (!list.at_end()) {
      const auto id = list.take_varint();
      if (!id) return unparsable(reader);
      if (!has_room()) return;
      WireField one;
      one.value = *id;
      ids.push_back(number(one, reader));
    }
  }

  // Signed in the first versions, unsigned later; the same bytes for every number that makes sense.
  int64_t number(const WireField& field, const WireReader& reader) {
    const auto value = static_cast<int64_t>(field.value);
    if (value != kNull) return value;
    quality_.add(QualityCode::kBadNumber, place(reader));
    return 0;
  }
  int64_t size(const WireField& field, const WireReader& reader) {
    if (field.value <= kLargestSize) return static_cast<int64_t>(field.value);
    quality_.add(QualityCode::kBadNumber, place(reader) + ": a size");
    return 0;
  }

  bool has_room() {
    if (++records_ <= kMostRecords) return true;
    if (records_ == kMostRecords + 1) {
      quality_.add(QualityCode::kLimitReached,
                   path_ + ": more than " + std::to_string(kMostRecords) + " records");
    }
    return false;
  }
  std::string place(const WireReader& reader) const {
    return path_ + " byte " + std::to_string(reader.position());
  }
  void unparsable(const WireReader& reader) {
    quality_.add(QualityCode::kUnparsableEvent, place(reader));
  }
  void check_end(const WireReader& reader) {
    if (reader.damaged()) unparsable(reader);
  }
  void not_understood(const WireField& field, const WireReader& reader, std::string_view where) {
    quality_.add(
        QualityCode::kNotUnderstood,
        place(reader) + ": field " + std::to_string(field.number) + " of " + std::string(where));
  }

  const std::string& path_;
  QualityReport& quality_;
  size_t records_ = 0;
};

// Where a tensor lives; leaves it unplaced when the bound that counts is not a node.
void place_tensor(PlanTensor& tensor, int64_t nodes) {
  const bool starts = tensor.life_start >= 0 && tensor.life_start < nodes;
  const bool ends = tensor.life_end >= 0;
  const int64_t last = std::min(tensor.life_end, nodes - 1);
  if (nodes == 0) return;
  if (tensor.life_long == "LifeLongGraphAll") {
    tensor.first = 0;
    tensor.last = nodes - 1;
  } else if (tensor.life_long == "LifeLongGraphStart" && ends) {
    tensor.first = 0;
    tensor.last = last;
  } else if (tensor.life_long == "LifeLongGraphEnd" && starts) {
    tensor.first = tensor.life_start;
    tensor.last = nodes - 1;
  } else if (tensor.life_long == "LifeLongNone" && starts && tensor.life_end >= tensor.life_start) {
    tensor.first = tensor.life_start;
    tensor.last = last;
  }
}

// Bytes in use while each node runs: the static memory and every tensor that lives then.
void sum_up(PlanGraph& graph, const std::string& path, QualityReport& quality) {
  const auto nodes = static_cast<int64_t>(graph.nodes.size());
  std::vector<int64_t> change(graph.nodes.size() + 1, 0);
  for (PlanTensor& tensor : graph.tensors) {
    place_tensor(tensor, nodes);
    if (tensor.first == kNull) {
      quality.add(QualityCode::kInconsistentCounts,
                  path + ": the lifetime of tensor " + std::to_string(tensor.id) + " of graph " +
                      std::to_string(graph.id) + " is not within its nodes");
      continue;
    }
    const bool end_counts =
        tensor.life_long == "LifeLongGraphStart" || tensor.life_long == "LifeLongNone";
    if (end_counts && tensor.life_end > nodes) {
      quality.add(QualityCode::kInconsistentCounts,
                  path + ": tensor " + std::to_string(tensor.id) + " ends behind the last node");
    }
    auto& from = change[static_cast<size_t>(tensor.first)];
    auto& until = change[static_cast<size_t>(tensor.last) + 1];
    from = plus_or_null(from, tensor.size);
    until = minus_or_null(until, tensor.size);
  }
  int64_t total = graph.static_bytes;
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    total = plus_or_null(total, change[node]);
    graph.totals.push_back(total);
    graph.peak_bytes = std::max(graph.peak_bytes, total);
  }
  if (total == kNull) quality.add(QualityCode::kBadNumber, path + ": the sum of the sizes");
}

// Which node makes each tensor.
void find_sources(PlanGraph& graph, const std::string& path, QualityReport& quality) {
  std::unordered_map<int64_t, PlanTensor*> by_id;
  for (PlanTensor& tensor : graph.tensors) {
    if (!by_id.try_emplace(tensor.id, &tensor).second) {
      quality.add(QualityCode::kDuplicateId, path + ": tensor " + std::to_string(tensor.id));
    }
  }
  for (size_t position = 0; position < graph.nodes.size(); ++position) {
    PlanNode& node = graph.nodes[position];
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const auto tensor = by_id.find(node.outputs[i]);
      if (tensor == by_id.end()) continue;
      tensor->second->source_position = static_cast<int64_t>(position);
      tensor->second->source_output = static_cast<int64_t>(i);
    }
    // The writer lists the outputs a second time as workspaces.
    std::vector<int64_t> made = node.outputs;
    made.insert(made.end(), node.workspaces.begin(), node.workspaces.end());
    std::ranges::sort(made);
    made.erase(std::unique(made.begin(), made.end()), made.end());
    node.allocations = static_cast<int64_t>(made.size());
    for (const int64_t id : made) {
      const auto tensor = by_id.find(id);
      if (tensor != by_id.end()) {
        node.allocated_bytes = plus_or_null(node.allocated_bytes, tensor->second->size);
        continue;
      }
      quality.add(QualityCode::kInconsistentCounts, path + ": node " + std::to_string(node.id) +
                                                        " makes tensor " + std::to_string(id) +
                                                        ", which the graph does not have");
    }
  }
}

}  // namespace

MemoryPlan read_memory_plan(std::string_view bytes, const std::string& path,
                            QualityReport& quality) {
  MemoryPlan plan = PlanReader(path, quality).read(bytes);
  for (PlanGraph& graph : plan.graphs) {
    sum_up(graph, path, quality);
    find_sources(graph, path, quality);
  }
  return plan;
}

}  // namespace stepscope::mindinsight
