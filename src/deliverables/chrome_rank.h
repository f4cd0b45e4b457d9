// The columns of one rank that a Chrome trace needs, by row, and what is left of them after the
// user's choice of time and steps.
#ifndef STEPSCOPE_DELIVERABLES_CHROME_RANK_H_
#define STEPSCOPE_DELIVERABLES_CHROME_RANK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "deliverables/chrome_trace.h"
#include "store/store_reader.h"

namespace stepscope {

struct ChromeSlice {
  uint64_t row;
  int64_t ts_ns;
  int64_t end_ns;  // ts for impossible lengths: where it ends for the layout
  int64_t dur_ns;
  uint32_t track;
  int64_t flags;
};

class ChromeRank {
 public:
  ChromeRank(const StoreReader& store, size_t rank, const ChromeTraceOptions& options);

  const StoreReader& store() const { return store_; }
  size_t position() const { return rank_; }
  uint64_t slice_count() const { return ts_.rows(); }
  ChromeSlice slice(uint64_t row) const;
  std::string_view name(uint64_t row) const { return store_.string(name_.at(row)); }
  std::string_view cat(uint64_t row) const { return store_.string(cat_.at(row)); }
  int64_t correlation(uint64_t row) const { return correlation_.at(row); }
  int64_t external_id(uint64_t row) const { return external_id_.at(row); }
  // As the table of kernels says it; "" for what is no kernel.
  std::string_view kernel_type(uint64_t row) const;
  bool chosen(uint64_t row) const;
  bool chosen_time(int64_t ts_ns) const;

  int64_t number(Table table, std::string_view column, uint64_t row = 0) const {
    return store_.column(table, column, rank_).at(row);
  }
  std::string_view text(Table table, std::string_view column, uint64_t row = 0) const {
    return store_.string(number(table, column, row));
  }
  uint64_t rows(Table table) const { return store_.rows(table, rank_); }
  // For events outside of every operator: a host thread that runs nothing at the time, or readers
  // would give the event to what it runs. The first track when all are busy.
  uint32_t idle_host_track(int64_t ts_ns) const;
  // Unix ns that the file's times count from.
  int64_t base_ns() const { return base_ns_; }

 private:
  bool covers(const Lane& lane, int64_t ts_ns) const;

  const StoreReader& store_;
  size_t rank_;
  const ColumnView& track_;
  const ColumnView& ts_;
  const ColumnView& dur_;
  const ColumnView& name_;
  const ColumnView& cat_;
  const ColumnView& step_;
  const ColumnView& correlation_;
  const ColumnView& external_id_;
  const ColumnView& flags_;
  const ColumnView& kernel_id_;  // slices, in rising order
  const ColumnView& kernel_type_;
  int64_t from_ns_;
  int64_t to_ns_;
  // With chosen steps: the time they cover, for what belongs to no step.
  int64_t steps_from_ns_;
  int64_t steps_to_ns_;
  std::unordered_set<int64_t> steps_;
  int64_t base_ns_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CHROME_RANK_H_
