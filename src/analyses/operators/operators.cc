#include "analyses/operators/operators.h"

#include <algorithm>

#include "analyses/common/saturated.h"
#include "analyses/operators/kernel_names.h"
#include "analyses/operators/operator_groups.h"

namespace stepscope {
namespace {

// Whether a call is made inside one of the same operator, whose time includes it.
bool is_recursive(const OpTree& tree, const OperatorGroups& groups, uint32_t op) {
  const uint32_t own = groups.operator_of(tree.kind[op]);
  for (uint32_t at = tree.caller[op]; at != kNoOp; at = tree.caller[at]) {
    if (tree.kind[at] != kNoGroup && groups.operator_of(tree.kind[at]) == own) return true;
  }
  return false;
}

// Tasks that are not operators of a graph but what a library launches.
bool is_plain_kernel(std::string_view type, std::string_view work_class) {
  return work_class == "memory" || type == "DEVICE" || type == "CUDA" || type == "MTIA" ||
         type == "HPU" || type == "MEMCPY" || type == "MEMSET";
}

}  // namespace

std::string_view operator_type_in(std::string_view name) {
  // A scope, when there is one, ends at the last slash; parameters of templates may contain others.
  const std::string_view last = name.substr(name.rfind('/') + 1);
  if (const size_t number = last.rfind("-op"); number != std::string_view::npos && number > 0) {
    const std::string_view digits = last.substr(number + 3);
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos)
      return last.substr(0, number);
  }
  if (last.starts_with("aclnn") || last.starts_with("aclop")) {
    const std::string_view type = last.substr(last.rfind('_') + 1);
    if (!type.empty()) return type;
  }
  return last.empty() ? name : last;
}

std::string_view host_category(const StoreReader& store, const OpTree& tree, uint32_t kind) {
  const int64_t word = tree.kinds.key(kind)[OpTree::kCategory];
  return !tree.has_device_work || store.string(word) == "HostCpuOps" ? kHostCpuOperators
                                                                     : kHostOperators;
}

OperatorTables host_operators(const StoreReader& store, const RankId& rank, const OpTree& tree) {
  std::vector<OperatorKind> kinds(tree.kinds.size());
  for (uint32_t i = 0; i < kinds.size(); ++i) {
    const auto& key = tree.kinds.key(i);
    OperatorKind& kind = kinds[i];
    kind.category = host_category(store, tree, i);
    kind.name = store.string(key[OpTree::kName]);
    kind.type = key[OpTree::kType] == kNull ? kind.name : store.string(key[OpTree::kType]);
    kind.module = key[OpTree::kModule];
    kind.shapes = key[OpTree::kShapes];
    kind.types = key[OpTree::kTypes];
    kind.self_ns = -tree.nested_ns[i];
    kind.runtime_ns = tree.runtime_ns[i];
    kind.launches = tree.launches[i];
    kind.device_self_ns = tree.device_self_ns[i];
  }
  OperatorGroups groups(store, std::move(kinds));
  const auto for_each_call = [&](auto&& use) {
    uint32_t op = 0;
    for_each_row<1>(store, Table::kOps, rank.position, {"dur"}, [&](const auto& row) {
      if (tree.kind[op] != kNoGroup) use(op, row[0]);
      ++op;
    });
  };
  for_each_call([&](uint32_t op, int64_t dur_ns) {
    OperatorKind& kind = groups.kind(tree.kind[op]);
    kind.add_call(dur_ns);
    add_saturated(kind.self_ns, dur_ns);
    if (tree.caller[op] != kNoOp && is_recursive(tree, groups, op)) return;
    add_saturated(kind.total_ns, dur_ns);
    add_saturated(kind.device_total_ns, tree.device_ns(op));
  });
  groups.begin_durations();
  for_each_call([&](uint32_t op, int64_t dur_ns) { groups.add_duration(tree.kind[op], dur_ns); });
  OperatorTables tables = groups.finish(rank);
  tables.left_out = tree.left_out;
  return tables;
}

OperatorTables device_operators(const StoreReader& store, const RankId& rank) {
  enum KeyPart : uint8_t { kName, kType, kOpType, kClass, kShapes, kTypes };
  KeyIndex<6> index;
  std::vector<uint32_t> kind_of;  // by task
  kind_of.reserve(store.rows(Table::kKernels, rank.position));
  int64_t left_out = 0;
  for_each_row<8>(
      store, Table::kKernels, rank.position,
      {"name", "type", "op_type", "class", "input_shapes", "input_types", "dur", "flags"},
      [&](const auto& row) {
        const auto [name, type, op_type, work_class, shapes, types, dur, flags] = row;
        const bool possible = dur >= 0 && (flags & kFlagImpossible) == 0;
        if (!possible) ++left_out;
        kind_of.push_back(possible ? index.group({name, type, op_type, work_class, shapes, types})
                                   : kNoGroup);
      });
  std::vector<OperatorKind> kinds(index.size());
  for (uint32_t i = 0; i < kinds.size(); ++i) {
    const auto& key = index.key(i);
    OperatorKind& kind = kinds[i];
    kind.category = key[kType] == kNull ? "DEVICE" : store.string(key[kType]);
    kind.name = store.string(key[kName]);
    kind.shapes = key[kShapes];
    kind.types = key[kTypes];
    kind.is_operator = !is_plain_kernel(kind.category, store.string(key[kClass]));
    kind.type = !kind.is_operator       ? kernel_kind(kind.name)
                : key[kOpType] != kNull ? store.string(key[kOpType])
                                        : operator_type_in(kind.name);
  }
  OperatorGroups groups(store, std::move(kinds));
  const auto for_each_task = [&](auto&& use) {
    size_t task = 0;
    for_each_row<1>(store, Table::kKernels, rank.position, {"dur"}, [&](const auto& row) {
      const uint32_t kind = kind_of[task++];
      if (kind != kNoGroup) use(kind, row[0]);
    });
  };
  for_each_task([&](uint32_t number, int64_t dur_ns) {
    OperatorKind& kind = groups.kind(number);
    kind.add_call(dur_ns);
    ++kind.launches;
    for (int64_t* sum :
         {&kind.total_ns, &kind.self_ns, &kind.device_self_ns, &kind.device_total_ns})
      add_saturated(*sum, dur_ns);
  });
  groups.begin_durations();
  for_each_task([&](uint32_t kind, int64_t dur_ns) { groups.add_duration(kind, dur_ns); });
  OperatorTables tables = groups.finish(rank);
  tables.left_out = left_out;
  return tables;
}

}  // namespace stepscope
