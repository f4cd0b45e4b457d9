// The result tables about memory.
#ifndef STEPSCOPE_ANALYSES_MEMORY_MEMORY_ROWS_H_
#define STEPSCOPE_ANALYSES_MEMORY_MEMORY_ROWS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/result_table.h"

namespace stepscope {

inline constexpr double kNoShare = std::numeric_limits<double>::quiet_NaN();

// Every row names its pool: what one allocator hands out on one device of one rank.
struct PoolName {
  int64_t rank = 0;
  int64_t window = 0;
  std::string_view device_kind;
  int64_t device = kNull;
  std::string_view component;
};

// A column of a row that is a PoolName.
template <class Row, auto Member>
constexpr Field<Row> pool_field(std::string_view name, Unit unit, std::string_view doc) {
  using Of = result_table_internal::MemberOf<decltype(Member)>;
  return {name, unit, result_table_internal::kind_of<typename Of::ValueType>(), doc,
          [](const Row& row) { return to_value(row.*Member); }};
}
template <class Row, size_t N>
constexpr std::array<Field<Row>, N + 5> with_pool(const Field<Row> (&own)[N]) {
  std::array<Field<Row>, N + 5> all = {
      pool_field<Row, &PoolName::rank>("rank", Unit::kNone, "rank"),
      pool_field<Row, &PoolName::window>("window", Unit::kNone, "recording window of the rank"),
      pool_field<Row, &PoolName::device_kind>("device_kind", Unit::kNone, "CPU, CUDA, NPU ..."),
      pool_field<Row, &PoolName::device>("device", Unit::kNone, "device, -1 for the host"),
      pool_field<Row, &PoolName::component>("component", Unit::kNone,
                                            "allocator, or graph of a memory plan"),
  };
  for (size_t i = 0; i < N; ++i) all[i + 5] = own[i];
  return all;
}

struct MemoryRow : PoolName {
  std::string_view source;
  int64_t events = 0;
  int64_t allocations = 0;
  int64_t releases = 0;
  int64_t samples = 0;
  int64_t allocated_bytes = 0;
  int64_t released_bytes = 0;
  int64_t capacity_bytes = kNull;
  int64_t static_bytes = kNull;
  int64_t peak_bytes = kNull;
  int64_t peak_ts = kNull;
  int64_t peak_position = kNull;
  int64_t peak_step = kNull;
  double peak_share = kNoShare;
  int64_t peak_active_bytes = kNull;
  int64_t peak_reserved_bytes = kNull;
  int64_t peak_reserved_ts = kNull;
  int64_t reserved_at_peak_bytes = kNull;
  int64_t fragmentation_bytes = kNull;
  double fragmentation_share = kNoShare;
  int64_t end_bytes = kNull;
  int64_t unreleased_blocks = 0;
  int64_t unreleased_bytes = 0;
  int64_t unknown_releases = 0;
  int64_t unknown_released_bytes = 0;
  int64_t lost_releases = 0;
  double mean_lifetime_ns = kNoShare;
  double churn = kNoShare;
  int64_t growth_bytes_per_step = kNull;
  double growing_share = kNoShare;
  bool leak_suspected = false;
};
inline constexpr auto kMemoryFields = with_pool<MemoryRow>({
    field<&MemoryRow::source>("source", Unit::kNone,
                              "events (allocations and releases), samples (totals) or plan"),
    field<&MemoryRow::events>("events", Unit::kCount, "rows of the input"),
    field<&MemoryRow::allocations>("allocations", Unit::kCount, "allocations"),
    field<&MemoryRow::releases>("releases", Unit::kCount, "releases"),
    field<&MemoryRow::samples>("samples", Unit::kCount, "samples of the totals"),
    field<&MemoryRow::allocated_bytes>("allocated_bytes", Unit::kBytes, "sum of the allocations"),
    field<&MemoryRow::released_bytes>("released_bytes", Unit::kBytes, "sum of the releases"),
    field<&MemoryRow::capacity_bytes>("capacity_bytes", Unit::kBytes, "memory of the device"),
    field<&MemoryRow::static_bytes>(
        "static_bytes", Unit::kBytes,
        "allocated before the first event; plan: outside the graph's tensors"),
    field<&MemoryRow::peak_bytes>("peak_bytes", Unit::kBytes, "most that was allocated at once"),
    field<&MemoryRow::peak_ts>("peak_ts", Unit::kTimestamp,
                               "when most was allocated, the first time"),
    field<&MemoryRow::peak_position>("peak_position", Unit::kNone,
                                     "at which event of the pool, or node of the plan"),
    field<&MemoryRow::peak_step>("peak_step", Unit::kNone, "in which step"),
    field<&MemoryRow::peak_share>("peak_share", Unit::kShare, "peak over capacity"),
    field<&MemoryRow::peak_active_bytes>("peak_active_bytes", Unit::kBytes, "most in use at once"),
    field<&MemoryRow::peak_reserved_bytes>("peak_reserved_bytes", Unit::kBytes,
                                           "most that the allocator reserved"),
    field<&MemoryRow::peak_reserved_ts>("peak_reserved_ts", Unit::kTimestamp,
                                        "when most was reserved"),
    field<&MemoryRow::reserved_at_peak_bytes>("reserved_at_peak_bytes", Unit::kBytes,
                                              "reserved when most was allocated"),
    field<&MemoryRow::fragmentation_bytes>("fragmentation_bytes", Unit::kBytes,
                                           "reserved but not allocated, then"),
    field<&MemoryRow::fragmentation_share>("fragmentation_share", Unit::kShare,
                                           "of what was reserved then"),
    field<&MemoryRow::end_bytes>("end_bytes", Unit::kBytes, "allocated after the last event"),
    field<&MemoryRow::unreleased_blocks>("unreleased_blocks", Unit::kCount,
                                         "blocks of the recording that live at its end"),
    field<&MemoryRow::unreleased_bytes>("unreleased_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryRow::unknown_releases>("unknown_releases", Unit::kCount,
                                        "releases of blocks from before the recording"),
    field<&MemoryRow::unknown_released_bytes>("unknown_released_bytes", Unit::kBytes,
                                              "their bytes"),
    field<&MemoryRow::lost_releases>("lost_releases", Unit::kCount,
                                     "addresses allocated twice without a release between"),
    field<&MemoryRow::mean_lifetime_ns>(
        "mean_lifetime_ns", Unit::kNanoseconds,
        "mean time from allocation to release, of blocks that were released"),
    field<&MemoryRow::churn>("churn", Unit::kNone, "allocated_bytes over peak_bytes"),
    field<&MemoryRow::growth_bytes_per_step>("growth_bytes_per_step", Unit::kBytes,
                                             "how much more is allocated at the end of each step"),
    field<&MemoryRow::growing_share>(
        "growing_share", Unit::kShare,
        "share of the complete steps, without the first, that end with more than the one before"),
    field<&MemoryRow::leak_suspected>("leak_suspected", Unit::kNone,
                                      "allocated memory grows from step to step"),
});

// A point of the curve: in time, and in order of execution (`position`).
struct MemoryPoint : PoolName {
  int64_t position = 0;
  int64_t ts = kNull;
  int64_t step = kNull;
  int64_t allocated_bytes = kNull;
  int64_t reserved_bytes = kNull;
  int64_t active_bytes = kNull;
  int64_t static_bytes = kNull;
  int64_t change_bytes = kNull;
  int64_t operator_bytes = kNull;
  std::string_view name;
  std::string_view mark;
};
inline constexpr auto kMemoryPointFields = with_pool<MemoryPoint>({
    field<&MemoryPoint::position>("position", Unit::kNone,
                                  "event of the pool, or node of the plan"),
    field<&MemoryPoint::ts>("ts", Unit::kTimestamp, "time; NULL in a plan"),
    field<&MemoryPoint::step>("step", Unit::kNone, "step"),
    field<&MemoryPoint::allocated_bytes>("allocated_bytes", Unit::kBytes, "allocated after it"),
    field<&MemoryPoint::reserved_bytes>("reserved_bytes", Unit::kBytes, "reserved after it"),
    field<&MemoryPoint::active_bytes>("active_bytes", Unit::kBytes, "in use after it"),
    field<&MemoryPoint::static_bytes>("static_bytes", Unit::kBytes, "static memory of the plan"),
    field<&MemoryPoint::change_bytes>("change_bytes", Unit::kBytes,
                                      "allocated (positive) or released by it"),
    field<&MemoryPoint::operator_bytes>("operator_bytes", Unit::kBytes,
                                        "outputs and workspace of the plan's node"),
    field<&MemoryPoint::name>("name", Unit::kNone, "operator or node"),
    field<&MemoryPoint::mark>("mark", Unit::kNone,
                              "fp_start or bp_end: where forward starts and backward ends"),
});

struct MemoryOperatorRow : PoolName {
  std::string_view name;
  int64_t calls = kNull;
  int64_t self_allocations = 0;
  int64_t self_allocated_bytes = 0;
  int64_t self_increase_bytes = 0;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t increase_bytes = 0;
};
inline constexpr auto kMemoryOperatorFields = with_pool<MemoryOperatorRow>({
    field<&MemoryOperatorRow::name>("name", Unit::kNone, "operator; empty: in no operator"),
    field<&MemoryOperatorRow::calls>("calls", Unit::kCount, "calls of the operator"),
    field<&MemoryOperatorRow::self_allocations>("self_allocations", Unit::kCount,
                                                "allocations by the operator itself"),
    field<&MemoryOperatorRow::self_allocated_bytes>("self_allocated_bytes", Unit::kBytes,
                                                    "their bytes"),
    field<&MemoryOperatorRow::self_increase_bytes>("self_increase_bytes", Unit::kBytes,
                                                   "less what was released in it"),
    field<&MemoryOperatorRow::allocations>("allocations", Unit::kCount,
                                           "with the operators that it called"),
    field<&MemoryOperatorRow::allocated_bytes>("allocated_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryOperatorRow::increase_bytes>("increase_bytes", Unit::kBytes,
                                              "less what was released in them"),
});

// A block (or tensor of a plan) that holds memory at a moment.
struct MemoryOwnerRow : PoolName {
  std::string name;
  int64_t bytes = 0;
  double share = kNoShare;
  int64_t blocks = 1;
  std::string_view category;
  std::string module;
  int64_t start_ts = kNull;
  int64_t end_ts = kNull;
  int64_t lifetime_ns = kNull;
  int64_t first_position = kNull;
  int64_t last_position = kNull;
  int64_t step = kNull;
  std::string_view tensor_type;
  std::string data_type;
  std::string shape;
  std::string format;
};
inline constexpr auto kMemoryOwnerFields = with_pool<MemoryOwnerRow>({
    field<&MemoryOwnerRow::name>("name", Unit::kNone, "operator or tensor"),
    field<&MemoryOwnerRow::bytes>("bytes", Unit::kBytes, "bytes"),
    field<&MemoryOwnerRow::share>("share", Unit::kShare, "of what is allocated then"),
    field<&MemoryOwnerRow::blocks>("blocks", Unit::kCount, "blocks in this row"),
    field<&MemoryOwnerRow::category>(
        "category", Unit::kNone,
        "before, forward, backward, optimizer, data, communication, operator, outside, tensor"),
    field<&MemoryOwnerRow::module>("module", Unit::kNone, "modules around the operator"),
    field<&MemoryOwnerRow::start_ts>("start_ts", Unit::kTimestamp, "when it was allocated"),
    field<&MemoryOwnerRow::end_ts>("end_ts", Unit::kTimestamp, "when it was released; NULL: not"),
    field<&MemoryOwnerRow::lifetime_ns>("lifetime_ns", Unit::kNanoseconds,
                                        "time from its allocation to its release"),
    field<&MemoryOwnerRow::first_position>("first_position", Unit::kNone,
                                           "plan: first node that it lives at"),
    field<&MemoryOwnerRow::last_position>("last_position", Unit::kNone, "plan: last node"),
    field<&MemoryOwnerRow::step>("step", Unit::kNone, "step in which it was allocated"),
    field<&MemoryOwnerRow::tensor_type>("tensor_type", Unit::kNone, "plan: kind of tensor"),
    field<&MemoryOwnerRow::data_type>("data_type", Unit::kNone, "element type"),
    field<&MemoryOwnerRow::shape>("shape", Unit::kNone, "shape"),
    field<&MemoryOwnerRow::format>("format", Unit::kNone, "layout on the device"),
});

struct MemoryStepRow : PoolName {
  int64_t step = 0;
  bool complete = true;
  int64_t start_bytes = kNull;
  int64_t peak_bytes = kNull;
  int64_t end_bytes = kNull;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t releases = 0;
  int64_t released_bytes = 0;
  int64_t kept_blocks = 0;
  int64_t kept_bytes = 0;
  int64_t unreleased_blocks = 0;
  int64_t unreleased_bytes = 0;
  double churn = kNoShare;
};
inline constexpr auto kMemoryStepFields = with_pool<MemoryStepRow>({
    field<&MemoryStepRow::step>("step", Unit::kNone, "step"),
    field<&MemoryStepRow::complete>("complete", Unit::kNone, "the recording has all of it"),
    field<&MemoryStepRow::start_bytes>("start_bytes", Unit::kBytes, "allocated at its start"),
    field<&MemoryStepRow::peak_bytes>("peak_bytes", Unit::kBytes, "most allocated in it"),
    field<&MemoryStepRow::end_bytes>("end_bytes", Unit::kBytes, "allocated at its end"),
    field<&MemoryStepRow::allocations>("allocations", Unit::kCount, "allocations"),
    field<&MemoryStepRow::allocated_bytes>("allocated_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryStepRow::releases>("releases", Unit::kCount, "releases"),
    field<&MemoryStepRow::released_bytes>("released_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryStepRow::kept_blocks>("kept_blocks", Unit::kCount,
                                       "blocks allocated in it that live at its end"),
    field<&MemoryStepRow::kept_bytes>("kept_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryStepRow::unreleased_blocks>("unreleased_blocks", Unit::kCount,
                                             "of these, those that live at the recording's end"),
    field<&MemoryStepRow::unreleased_bytes>("unreleased_bytes", Unit::kBytes, "their bytes"),
    field<&MemoryStepRow::churn>("churn", Unit::kNone, "allocated_bytes over peak_bytes"),
});

struct MemoryLeakRow : PoolName {
  std::string_view name;
  std::string module;
  std::string_view category;
  int64_t steps = 0;
  int64_t blocks = 0;
  int64_t bytes = 0;
  int64_t bytes_per_step = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
};
inline constexpr auto kMemoryLeakFields = with_pool<MemoryLeakRow>({
    field<&MemoryLeakRow::name>("name", Unit::kNone, "operator that allocated the blocks"),
    field<&MemoryLeakRow::module>("module", Unit::kNone, "modules around it"),
    field<&MemoryLeakRow::category>("category", Unit::kNone, "as in memory_owners"),
    field<&MemoryLeakRow::steps>("steps", Unit::kCount, "steps that left blocks behind"),
    field<&MemoryLeakRow::blocks>("blocks", Unit::kCount, "blocks that were never released"),
    field<&MemoryLeakRow::bytes>("bytes", Unit::kBytes, "their bytes"),
    field<&MemoryLeakRow::bytes_per_step>("bytes_per_step", Unit::kBytes, "bytes over steps"),
    field<&MemoryLeakRow::first_step>("first_step", Unit::kNone, "first of the steps"),
    field<&MemoryLeakRow::last_step>("last_step", Unit::kNone, "last of the steps"),
});

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_MEMORY_MEMORY_ROWS_H_
