// Writes the slices of a laid-out rank in row order, and on the way everything that follows from
// them: kernels, operators, communications, totals and tiles.
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

class SliceWriter {
 public:
  SliceWriter(StoreWriter& store, uint32_t position, LaidOutRank& laid_out, const RankLinks& links,
              const StringRemap& strings);

  Status write();

  // The time that slices cover. Instants widen it by a day at most: a profiler's end mark may be
  // days behind the data.
  int64_t first_ns() const;
  int64_t last_ns() const;

 private:
  struct Totals {
    int64_t count = 0;
    int64_t total = 0;
    int64_t min = 0;
    int64_t max = 0;
  };
  struct PendingCommunication {
    uint32_t row;
    uint32_t detail;
    int64_t ts_ns;
    int64_t end_ns;
    StringId name;
  };

  void write_track(TrackId track);
  void write_slice(TrackId track, uint32_t index, uint32_t row, uint32_t depth);
  void write_kernel(TrackId track, SliceRecord& slice, uint32_t row, SlicePlace launch);
  void write_op(const SliceRecord& slice, uint32_t row);
  Status write_communications();
  void note_launch(SliceRecord& slice, SlicePlace launch);
  void count(const SliceRecord& slice, int64_t step);
  int64_t text(StringId id) const {
    return id == kNoString ? kNull : static_cast<int64_t>(strings_(id));
  }

  StoreWriter& store_;
  const uint32_t position_;
  LaidOutRank& laid_out_;
  RankBuilder& rank_;
  const RankLinks& links_;
  const StringRemap& strings_;
  StepFinder steps_;
  StepFinder launch_steps_;
  TableWriter slices_;
  TableWriter kernels_;
  TableWriter ops_;
  std::vector<PendingCommunication> communications_;
  std::vector<Lane> lanes_;
  TileBuilder tiles_;
  std::unordered_map<uint64_t, Totals> by_name_;  // category and name
  std::unordered_map<uint64_t, Totals> by_step_;  // category and place in step_numbers_
  std::vector<int64_t> step_numbers_;
  std::unordered_map<int64_t, uint32_t> step_index_;
  // The lane that is being written, for its tiles.
  PodVector<int64_t> starts_ns_;
  PodVector<int64_t> durations_ns_;
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
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_SLICE_WRITER_H_
