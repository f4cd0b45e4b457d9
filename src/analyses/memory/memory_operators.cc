#include "analyses/memory/memory_operators.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "analyses/common/bounded_math.h"
#include "analyses/memory/pool_reader.h"

namespace stepscope {
namespace {

constexpr int kMostLevels = 1024;

struct Use {
  int64_t self_allocations = 0;
  int64_t self_allocated = 0;
  int64_t self_increase = 0;
  int64_t allocations = 0;
  int64_t allocated = 0;
  int64_t increase = 0;
};

class OperatorUses {
 public:
  OperatorUses(const StoreReader& store, size_t rank)
      : store_(store),
        rank_(rank),
        reader_(store, rank),
        parents_(store.column(Table::kSlices, "parent", rank)),
        names_(store.column(Table::kSlices, "name", rank)) {}

  void read() {
    count_calls();
    reader_.read([&](const PoolEvent& event) {
      if (event.bytes == kNull) return;
      if (event.pool >= uses_.size()) uses_.resize(event.pool + 1);
      take_callers(event);
      auto& uses = uses_[event.pool];
      Use& self = uses[own_name_];
      self.self_increase = bounded_plus(self.self_increase, event.bytes);
      if (event.bytes > 0) {
        ++self.self_allocations;
        self.self_allocated = bounded_plus(self.self_allocated, event.bytes);
      }
      for (const int64_t name : callers_) {
        Use& use = uses[name];
        use.increase = bounded_plus(use.increase, event.bytes);
        if (event.bytes <= 0) continue;
        ++use.allocations;
        use.allocated = bounded_plus(use.allocated, event.bytes);
      }
    });
  }

  std::vector<MemoryOperatorRow> rows(const RankId& rank) const {
    std::vector<MemoryOperatorRow> all;
    for (size_t pool = 0; pool < uses_.size(); ++pool) {
      const PoolKey& key = reader_.keys()[pool];
      const size_t first = all.size();
      for (const auto& [name, use] : uses_[pool]) {
        MemoryOperatorRow row;
        static_cast<PoolName&>(row) = {rank.rank, rank.window, store_.string(key.device_kind),
                                       key.device, store_.string(key.component)};
        row.name = store_.string(name);
        if (name >= 0 && static_cast<size_t>(name) < calls_.size() &&
            calls_[static_cast<size_t>(name)] > 0)
          row.calls = calls_[static_cast<size_t>(name)];
        row.self_allocations = use.self_allocations;
        row.self_allocated_bytes = use.self_allocated;
        row.self_increase_bytes = use.self_increase;
        row.allocations = use.allocations;
        row.allocated_bytes = use.allocated;
        row.increase_bytes = use.increase;
        all.push_back(row);
      }
      std::sort(all.begin() + static_cast<ptrdiff_t>(first), all.end(),
                [](const MemoryOperatorRow& a, const MemoryOperatorRow& b) {
                  return a.self_allocated_bytes != b.self_allocated_bytes
                             ? a.self_allocated_bytes > b.self_allocated_bytes
                             : a.name < b.name;
                });
    }
    return all;
  }

 private:
  // Marks the operators and counts their calls. Steps and loaders, ranges around operators that old
  // traces have in the operators' category, are none.
  void count_calls() {
    const auto first_slice = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_));
    operators_.resize(store_.rows(Table::kSlices, rank_));
    bool any = false;
    for_each_row<1>(store_, Table::kMemory, rank_, {"slice"},
                    [&](const auto& row) { any = any || row[0] != kNull; });
    if (!any) return;
    for_each_row<1>(store_, Table::kOps, rank_, {"id"}, [&](const auto& row) {
      operators_[static_cast<size_t>(row[0] - first_slice)] = true;
    });
    calls_.resize(store_.string_count());
    std::vector<bool> is_range(store_.string_count());
    for (const std::string_view prefix : {"ProfilerStep#", "enumerate(Data"}) {
      for (const StringId name : store_.find_strings(prefix))
        is_range[name] = store_.string(name).starts_with(prefix);
    }
    size_t slice = 0;
    for_each_row<1>(store_, Table::kSlices, rank_, {"name"}, [&](const auto& row) {
      const size_t at = slice++;
      const auto name = static_cast<size_t>(row[0]);
      if (!operators_[at] || name >= calls_.size()) return;
      if (is_range[name]) {
        operators_[at] = false;
      } else {
        ++calls_[name];
      }
    });
  }

  // Operators around the event, each name once; neighbours in time mostly share them.
  void take_callers(const PoolEvent& event) {
    if (event.slice == kNull) {
      // Without the operators themselves the event's own name is all there is.
      last_slice_ = kNull;
      own_name_ = event.name;
      callers_.assign(1, event.name);
      return;
    }
    if (event.slice == last_slice_) return;
    last_slice_ = event.slice;
    callers_.clear();
    own_name_ = kNull;
    int64_t row = event.slice;
    for (int level = 0;
         level < kMostLevels && row >= 0 && static_cast<size_t>(row) < operators_.size(); ++level) {
      if (operators_[static_cast<size_t>(row)]) {
        const int64_t name = names_.at(static_cast<uint64_t>(row));
        if (own_name_ == kNull) own_name_ = name;
        if (std::ranges::find(callers_, name) == callers_.end()) callers_.push_back(name);
      }
      row = parents_.at(static_cast<uint64_t>(row));
    }
    if (callers_.empty()) callers_.push_back(kNull);
  }

  const StoreReader& store_;
  const size_t rank_;
  PoolReader reader_;
  const ColumnView& parents_;
  const ColumnView& names_;
  std::vector<bool> operators_;                         // by slice
  std::vector<int64_t> calls_;                          // by string id
  std::vector<std::unordered_map<int64_t, Use>> uses_;  // by pool, then by name
  int64_t last_slice_ = kNull;
  int64_t own_name_ = kNull;
  std::vector<int64_t> callers_;
};

}  // namespace

std::vector<MemoryOperatorRow> memory_operators(const StoreReader& store, const RankId& rank) {
  OperatorUses uses(store, rank.position);
  uses.read();
  return uses.rows(rank);
}

}  // namespace stepscope
