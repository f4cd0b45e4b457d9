// What connects the slices of a rank: launches by correlation, operators by external id, arrows,
// steps.
#ifndef STEPSCOPE_STORE_RANK_LINKS_H_
#define STEPSCOPE_STORE_RANK_LINKS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/pod_vector.h"
#include "store/rank_builder.h"
#include "store/track_layout.h"

namespace stepscope {

struct SlicePlace {
  TrackId track = 0;
  uint32_t index = kNoSlice;  // in the sorted track
  bool found() const { return index != kNoSlice; }
};

// The rank after layout: sorted slices, their rows, and the way back.
struct LaidOutRank {
  RankBuilder* rank = nullptr;
  std::vector<TrackLayout> layouts;  // one per track
  std::vector<uint32_t> first_row;   // of each track in the slices table
  // For tracks with device work: the launching call of each slice (see place()), kNoSlice for
  // others.
  std::vector<PodVector<uint32_t>> launches;
  uint64_t row_count = 0;

  // The slice that IdIndex names by one number.
  SlicePlace place(uint32_t slice) const;
  uint32_t row(TrackId track, uint32_t index) const {
    return first_row[track] + layouts[track].row[index];
  }
};

// The ids an index will hold: how many, and between which bounds.
struct IdRange {
  size_t count = 0;
  PackedId lowest = kNoId;
  PackedId highest = 0;
  void add(PackedId id) {
    ++count;
    lowest = count == 1 ? id : std::min(lowest, id);
    highest = std::max(highest, id);
  }
};

// Map from packed id to a slice; the first slice of an id wins, later ones are counted. A slice is
// named by one number: the first row of its track plus its index there.
//
// Profilers count their ids up, so a table by id is usually at most half empty: then it is one,
// 4 bytes an id, and neighbours in time are neighbours in memory. Ids that are strewn about get
// open addressing, 8 bytes a slot, four of five slots used.
class IdIndex {
 public:
  explicit IdIndex(const IdRange& ids);
  // False when the id is there already.
  bool insert(PackedId id, uint32_t slice);
  // Makes an id that is there name another slice.
  void replace(PackedId id, uint32_t slice);
  // kNoSlice when there is none.
  uint32_t find(PackedId id) const;

 private:
  struct Slot {
    PackedId id = kNoId;
    uint32_t slice = kNoSlice;
  };
  size_t slot_of(PackedId id) const;
  size_t next(size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }

  PackedId lowest_;
  std::vector<uint32_t> by_id_;  // from lowest_ on; empty: slots_ is used
  std::vector<Slot> slots_;
};

struct RankLinks {
  IdIndex launches;   // by correlation
  IdIndex operators;  // by external id
};
RankLinks index_links(LaidOutRank& laid_out, unsigned threads);

// Fills laid_out.launches and marks device work that starts before its launch or has none in the
// input.
void resolve_launches(LaidOutRank& laid_out, const RankLinks& links, unsigned threads);

// The slice of a track that starts at a moment, else the innermost one that contains it, else not
// found. Remembers where it was on each track: O(log of the distance to the last question there).
class SliceFinder {
 public:
  explicit SliceFinder(const LaidOutRank& laid_out)
      : laid_out_(laid_out), last_(laid_out.layouts.size()) {}
  SlicePlace at(TrackId track, int64_t ts_ns);

 private:
  const SliceRecord* first_after(TrackId track, int64_t ts_ns);

  const LaidOutRank& laid_out_;
  std::vector<size_t> last_;  // index of a slice near the last answer
};

struct Flow {
  uint32_t from_row;
  uint32_t to_row;
  StringId kind;
};
// Arrows from flow records and from the launch flags of slices, handed on one by one: there is one
// for almost every kernel. Frees the flow records.
void join_flows(LaidOutRank& laid_out, const RankLinks& links,
                const std::function<void(const Flow&)>& take);

// Step of a moment. Steps must be sorted by start.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<StepRecord>& steps) : steps_(steps) {}
  // kNull outside steps. Cheap for rising times.
  int64_t step_at(int64_t ts_ns);

 private:
  const std::vector<StepRecord>& steps_;
  size_t hint_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_RANK_LINKS_H_
