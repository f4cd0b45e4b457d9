// Writes the slices of a laid-out rank in row order, with the totals and tiles that follow from
// them.
#ifndef STEPSCOPE_STORE_SLICE_WRITER_H_
#define STEPSCOPE_STORE_SLICE_WRITER_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/string_pool.h"
#include "store/rank_links.h"
#include "store/store_writer.h"
#include "store/tiles.h"

namespace stepscope {

// Calls visit(track, index in the sorted track, row in the table, depth) for every slice, in row
// order.
template <typename Visit, typename EndLane>
void for_each_row(const LaidOutRank& laid_out, Visit visit, EndLane end_lane) {
  PodVector<uint32_t> order;
  for (TrackId track = 0; track < laid_out.layouts.size(); ++track) {
    const TrackLayout& layout = laid_out.layouts[track];
    order.resize_uninitialised(layout.row.size());
    for (uint32_t i = 0; i < layout.row.size(); ++i) order[layout.row[i]] = i;
    uint32_t row = 0;
    for (uint32_t depth = 0; depth < layout.lanes.size(); ++depth) {
      const uint32_t first = row;
      for (; row < first + layout.lanes[depth]; ++row)
        visit(track, order[row], laid_out.first_row[track] + row, depth);
      end_lane(track, depth, laid_out.first_row[track] + first, layout.lanes[depth]);
    }
  }
}

// In two halves that share nothing while they run, because this is the longest table by far: call
// each once, on any threads, then finish().
class SliceWriter {
 public:
  SliceWriter(StoreWriter& store, uint32_t position, const LaidOutRank& laid_out,
              const StringRemap& strings);

  // Where and what: track, time, name, nesting.
  void write_places();
  // Everything else, with totals and tiles.
  void write_links();
  Status finish();

  // The time that slices cover. Instants widen it by a day at most: a profiler's end mark may be
  // days behind the data.
  int64_t first_ns() const;
  int64_t last_ns() const;
  int64_t zero_durations() const { return zero_durations_; }

 private:
  struct Totals {
    int64_t count = 0;
    int64_t total = 0;
    int64_t min = 0;
    int64_t max = 0;
  };

  void write_place(TrackId track, uint32_t index, uint32_t depth);
  void write_link(TrackId track, uint32_t index);
  int64_t step_of(TrackId track, uint32_t index, const SliceRecord& slice);
  void count(const SliceRecord& slice, int64_t step);
  Status write_totals();
  Status write_tiles();
  int64_t text(StringId id) const {
    return id == kNoString ? kNull : static_cast<int64_t>(strings_(id));
  }

  StoreWriter& store_;
  const uint32_t position_;
  const LaidOutRank& laid_out_;
  const RankBuilder& rank_;
  const StringRemap& strings_;
  StepFinder steps_;
  StepFinder launch_steps_;
  TableWriter slices_;
  std::vector<Lane> lanes_;
  TileBuilder tiles_;
  std::unordered_map<uint64_t, Totals> by_name_;  // category and name
  std::unordered_map<uint64_t, Totals> by_step_;  // category and place in step_numbers_
  std::vector<int64_t> step_numbers_;
  std::unordered_map<int64_t, uint32_t> step_index_;
  // The lane that is being written, for its tiles.
  PodVector<int64_t> starts_ns_;
  PodVector<int64_t> durations_ns_;
  PodVector<StringId> names_;
  // Caches of the last key: runs of equal category and step are the rule.
  uint64_t last_name_key_ = ~0ull;
  Totals* last_name_ = nullptr;
  uint64_t last_step_key_ = ~0ull;
  Totals* last_step_ = nullptr;
  int64_t last_step_number_ = kNull;
  uint32_t last_step_index_ = 0;
  struct Range {
    int64_t first_ns = kNull;
    int64_t last_ns = kNull;
    void widen(int64_t from_ns, int64_t to_ns) {
      if (first_ns == kNull || from_ns < first_ns) first_ns = from_ns;
      if (last_ns == kNull || to_ns > last_ns) last_ns = to_ns;
    }
  };
  Range ranges_;
  Range instants_;
  int64_t zero_durations_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_SLICE_WRITER_H_
