#include "analyses/memory/allocation_places.h"

namespace stepscope {
namespace {

constexpr int kMostLevels = 1024;

// "" when the name says nothing about the part of the step.
std::string_view category_of(std::string_view name) {
  if (name.starts_with("Optimizer.")) return "optimizer";
  if (name.starts_with("autograd::engine::")) return "backward";
  if (name.starts_with("enumerate(Data")) return "data";
  if (name.starts_with("c10d::") || name.starts_with("nccl:") || name.starts_with("gloo:"))
    return "communication";
  return "";
}

}  // namespace

AllocationPlaces::AllocationPlaces(const StoreReader& store, size_t rank)
    : store_(store),
      parents_(store.column(Table::kSlices, "parent", rank)),
      names_(store.column(Table::kSlices, "name", rank)),
      categories_(store.column(Table::kSlices, "cat", rank)),
      modules_(store) {}

const AllocationPlace& AllocationPlaces::at(int64_t slice, int64_t name) {
  if (slice == kNull) return name == kNull ? outside_ : operator_;
  const auto [place, is_new] = known_.try_emplace(slice);
  if (!is_new) return place->second;
  AllocationPlace& result = place->second;
  int64_t row = slice;
  for (int level = 0; level < kMostLevels && row >= 0 && static_cast<uint64_t>(row) < names_.rows();
       ++level) {
    const auto at = static_cast<uint64_t>(row);
    const int64_t name_here = names_.at(at);
    const std::string_view text = store_.string(name_here);
    // The outermost word wins: an optimizer may call operators with names of their own.
    if (const std::string_view category = category_of(text); !category.empty())
      result.category = category;
    if (modules_.is_module(name_here, categories_.at(at))) {
      const std::string inner = result.module;
      result.module = modules_.label(name_here);
      if (!inner.empty()) result.module += "/" + inner;
    }
    row = parents_.at(at);
  }
  // Without an operator's name it is a range that only stands around it.
  if (result.category.empty()) result.category = name == kNull ? outside_.category : "forward";
  return result;
}

}  // namespace stepscope
