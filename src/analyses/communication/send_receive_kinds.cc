#include "analyses/communication/send_receive_kinds.h"

#include <algorithm>
#include <string_view>

#include "analyses/common/names.h"
#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

// Other calls around a launch have names that people choose.
bool is_communication_call(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("c10d::");
}

// So many slices may lie around a call; a damaged store has them in a circle.
constexpr int kMostAround = 1000;

// The innermost call around a slice, by its row, that names a collective.
CollectiveKind kind_of_calls_around(const StoreReader& store, size_t rank, int64_t row) {
  const ColumnView& names = store.column(Table::kSlices, "name", rank);
  const ColumnView& parents = store.column(Table::kSlices, "parent", rank);
  for (int i = 0; i < kMostAround && static_cast<uint64_t>(row) < parents.rows(); ++i) {
    const std::string_view name = store.string(names.at(static_cast<uint64_t>(row)));
    const CollectiveKind kind =
        is_communication_call(name) ? collective_kind(name) : CollectiveKind::kOther;
    if (kind != CollectiveKind::kOther) return kind;
    row = parents.at(static_cast<uint64_t>(row));
  }
  return CollectiveKind::kOther;
}

}  // namespace

std::unordered_map<int64_t, CollectiveKind> send_receive_kinds(const StoreReader& store,
                                                               size_t rank) {
  std::unordered_map<int64_t, CollectiveKind> kinds;
  const auto names = classify_strings(store, [](std::string_view name) {
    return name.starts_with("nccl") && name.find("SendRecv") != std::string_view::npos;
  });
  if (std::find(names.begin(), names.end(), 1) == names.end()) return kinds;
  const auto add = [&](int64_t slice, CollectiveKind kind) {
    if (kind != CollectiveKind::kOther) kinds[slice] = kind;
  };
  const auto base = static_cast<int64_t>(store.row_base(Table::kSlices, rank));
  for_each_row<3>(store, Table::kKernels, rank, {"id", "name", "launch"}, [&](const auto& row) {
    const auto [id, name, launch] = row;
    if (class_of(names, name) != 0 && launch != kNull)
      add(id, kind_of_calls_around(store, rank, launch - base));
  });
  for_each_row<3>(store, Table::kCommunications, rank, {"id", "name", "op"}, [&](const auto& row) {
    const auto [id, name, op] = row;
    if (class_of(names, name) != 0 && op != kNull) add(id, collective_kind(store.string(op)));
  });
  return kinds;
}

}  // namespace stepscope
