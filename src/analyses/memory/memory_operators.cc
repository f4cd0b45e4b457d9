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
        const auto calls = calls_.find(name);
        if (calls != calls_.end()) row.calls = calls->second;
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
  // Steps and loaders are ranges around operators, in old traces of the operators' category.
  bool is_operator_name(int64_t name) {
    const auto [known, is_new] = is_operator_.try_emplace(name, true);
    if (is_new) {
      const std::string_view text = store_.string(name);
      known->second = !text.starts_with("ProfilerStep#") && !text.starts_with("enumerate(Data");
    }
    return known->second;
  }

  void count_calls() {
    const auto first_slice = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_));
    operators_.resize(store_.rows(Table::kSlices, rank_));
    bool any = false;
    for_each_row<1>(store_, Table::kMemory, rank_, {"slice"},
                    [&](const auto& row) { any = any || row[0] != kNull; });
    if (!any) return;
    int64_t last_name = kNull;
    int64_t* calls = nullptr;
    for_each_row<2>(store_, Table::kOps, rank_, {"id", "name"}, [&](const auto& row) {
      const auto [slice, name] = row;
      operators_[static_cast<size_t>(slice - first_slice)] = is_operator_name(name);
      if (name != last_name) calls = &calls_[name];
      last_name = name;
      ++*calls;
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
  std::vector<bool> operators_;  // by slice
  std::unordered_map<int64_t, bool> is_operator_;
  std::unordered_map<int64_t, int64_t> calls_;
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
