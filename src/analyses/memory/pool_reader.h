// The events of a rank's memory pools in order of time, with the totals after each: those that the
// input gives, carried on where it gives none, or sums of the events where it never gives any.
#ifndef STEPSCOPE_ANALYSES_MEMORY_POOL_READER_H_
#define STEPSCOPE_ANALYSES_MEMORY_POOL_READER_H_

#include <cstdint>
#include <vector>

#include "analyses/common/bounded_math.h"
#include "analyses/common/rank_rows.h"
#include "store/store_reader.h"

namespace stepscope {

struct PoolKey {
  int64_t device_kind = kNull;
  int64_t device = kNull;
  int64_t component = kNull;
  bool operator==(const PoolKey&) const = default;
};

struct PoolEvent {
  size_t pool = 0;
  int64_t place = 0;  // among the events of its pool
  int64_t ts_ns = 0;
  int64_t bytes = kNull;
  int64_t address = kNull;
  int64_t duration_ns = kNull;
  int64_t name = kNull;
  int64_t slice = kNull;  // row of the rank
  // After the event; kNull: not known yet.
  int64_t allocated = kNull;
  int64_t reserved = kNull;
  int64_t active = kNull;
  bool gives_total = false;
};

class PoolReader {
 public:
  PoolReader(const StoreReader& store, size_t rank) : store_(store), rank_(rank) {}

  const std::vector<PoolKey>& keys() const { return keys_; }

  // Rows without a time are skipped.
  template <class Use>
  void read(Use&& use) {
    const auto first_slice = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_));
    for_each_row<12>(store_, Table::kMemory, rank_,
                     {"ts", "device_kind", "device", "component", "bytes", "address", "duration",
                      "name", "slice", "total_allocated", "total_reserved", "total_active"},
                     [&](const auto& row) {
                       if (row[0] == kNull) return;
                       PoolEvent event;
                       event.pool = pool_of({row[1], row[2], row[3]});
                       State& state = states_[event.pool];
                       event.place = state.events++;
                       event.ts_ns = row[0];
                       event.bytes = row[4];
                       event.address = row[5];
                       event.duration_ns = row[6];
                       event.name = row[7];
                       event.slice = row[8] == kNull ? kNull : row[8] - first_slice;
                       event.gives_total = row[9] != kNull;
                       state.take(event, row[9], row[10], row[11]);
                       use(event);
                     });
  }

 private:
  struct State {
    int64_t events = 0;
    bool has_totals = false;
    int64_t allocated = kNull;
    int64_t reserved = kNull;
    int64_t active = kNull;

    void take(PoolEvent& event, int64_t total, int64_t total_reserved, int64_t total_active) {
      if (total != kNull) {
        has_totals = true;
        allocated = total;
      } else if (!has_totals && event.bytes != kNull) {
        allocated = bounded_plus(allocated == kNull ? 0 : allocated, event.bytes);
      }
      if (total_reserved != kNull) reserved = total_reserved;
      if (total_active != kNull) active = total_active;
      event.allocated = allocated;
      event.reserved = reserved;
      event.active = active;
    }
  };

  size_t pool_of(const PoolKey& key) {
    if (last_ < keys_.size() && keys_[last_] == key) return last_;
    last_ = 0;
    while (last_ < keys_.size() && keys_[last_] != key) ++last_;
    if (last_ == keys_.size()) {
      keys_.push_back(key);
      states_.emplace_back();
    }
    return last_;
  }

  const StoreReader& store_;
  const size_t rank_;
  std::vector<PoolKey> keys_;
  std::vector<State> states_;
  size_t last_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_POOL_READER_H_
