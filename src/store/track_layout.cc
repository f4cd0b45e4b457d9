#include "store/track_layout.h"

#include <algorithm>
#include <limits>

namespace stepscope {
namespace {

constexpr int64_t kRoundingNs = 1000;  // old traces have whole microseconds
constexpr size_t kContainerSearch =
    64;  // open slices looked at for a container; deeper overlaps get no parent

int64_t end_of(const SliceRecord& slice) {
  if (slice.dur_ns <= 0 || (slice.flags & kFlagImpossible)) return slice.ts_ns;
  int64_t end;
  if (__builtin_add_overflow(slice.ts_ns, slice.dur_ns, &end))
    return std::numeric_limits<int64_t>::max();
  return end;
}

bool starts_before(const SliceRecord& a, const SliceRecord& b) {
  return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : a.dur_ns > b.dur_ns;
}

// Writers emit a track as sorted runs (operators, then calls, then annotations) that overlap only
// locally. Each run is merged into the end of what is sorted already, which needs memory for the
// overlap only. False when that turned out to be more work than sorting.
bool merge_runs(PodVector<SliceRecord>& slices) {
  size_t budget = 8 * slices.size() + 4096;  // records moved
  size_t sorted = 1;                         // slices[0, sorted) is in order
  while (sorted < slices.size()) {
    if (!starts_before(slices[sorted], slices[sorted - 1])) {
      ++sorted;
      continue;
    }
    size_t run_end = sorted + 1;
    while (run_end < slices.size() && !starts_before(slices[run_end], slices[run_end - 1]))
      ++run_end;
    // Everything before this place stays where it is. Galloping backwards: the overlap is usually
    // short.
    size_t reach = 1;
    while (reach < sorted && starts_before(slices[sorted], slices[sorted - reach])) reach *= 2;
    const size_t low = reach < sorted ? sorted - reach : 0;
    SliceRecord* const place = std::upper_bound(slices.begin() + low, slices.begin() + sorted,
                                                slices[sorted], starts_before);
    const auto moved = static_cast<size_t>(slices.begin() + run_end - place);
    if (moved > budget) return false;
    budget -= moved;
    std::inplace_merge(place, slices.begin() + sorted, slices.begin() + run_end, starts_before);
    sorted = run_end;
  }
  return true;
}

// For tracks without order: sorting 24-byte keys and moving each record once beats moving 48-byte
// records log n times.
void sort_by_keys(PodVector<SliceRecord>& slices) {
  struct Key {
    int64_t ts_ns;
    int64_t dur_ns;
    uint32_t index;
  };
  PodVector<Key> keys;
  keys.resize_uninitialised(slices.size());
  for (size_t i = 0; i < slices.size(); ++i) {
    keys[i] = {slices[i].ts_ns, slices[i].dur_ns, static_cast<uint32_t>(i)};
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    if (a.ts_ns != b.ts_ns) return a.ts_ns < b.ts_ns;
    if (a.dur_ns != b.dur_ns) return a.dur_ns > b.dur_ns;
    return a.index < b.index;
  });
  PodVector<SliceRecord> sorted;
  sorted.resize_uninitialised(slices.size());
  for (size_t i = 0; i < keys.size(); ++i) sorted[i] = slices[keys[i].index];
  slices.swap(sorted);
}

void sort_slices(PodVector<SliceRecord>& slices) {
  if (slices.size() > 1 && !merge_runs(slices)) sort_by_keys(slices);
}

// End time of the last slice on every depth, with "first free depth at or below d" in O(log
// depths).
class LaneEnds {
 public:
  uint32_t first_free(uint32_t from, int64_t start) {
    if (from < used_ && ends_[from] <= start) return from;  // the usual case
    while (true) {
      const uint32_t found = search(1, 0, leaves_, from, start);
      if (found < used_) return found;
      if (used_ < leaves_ && used_ >= from) return used_;
      grow();
    }
  }
  void occupy(uint32_t lane, int64_t end) {
    while (lane >= leaves_) grow();
    used_ = std::max(used_, lane + 1);
    if (ends_.size() < leaves_) ends_.resize(leaves_, std::numeric_limits<int64_t>::max());
    ends_[lane] = end;
    if (leaves_ <= kSmall) return;
    size_t node = (lane + leaves_) / 2;
    for (; node >= 1; node /= 2) tree_[node] = std::min(child(2 * node), child(2 * node + 1));
  }

 private:
  static constexpr uint32_t kSmall = 64;  // up to here a plain scan is faster than the tree

  int64_t child(size_t node) const { return node >= leaves_ ? ends_[node - leaves_] : tree_[node]; }

  void grow() {
    leaves_ *= 2;
    ends_.resize(leaves_, std::numeric_limits<int64_t>::max());
    if (leaves_ <= kSmall) return;
    tree_.assign(leaves_, std::numeric_limits<int64_t>::max());
    for (size_t node = leaves_ - 1; node >= 1; --node) {
      tree_[node] = std::min(child(2 * node), child(2 * node + 1));
    }
  }

  uint32_t search(size_t node, uint32_t low, uint32_t width, uint32_t from, int64_t start) const {
    if (leaves_ <= kSmall) {
      for (uint32_t lane = from; lane < used_; ++lane) {
        if (ends_[lane] <= start) return lane;
      }
      return std::numeric_limits<uint32_t>::max();
    }
    if (low + width <= from || child(node) > start) return std::numeric_limits<uint32_t>::max();
    if (width == 1) return low;
    const uint32_t left = search(2 * node, low, width / 2, from, start);
    if (left != std::numeric_limits<uint32_t>::max()) return left;
    return search(2 * node + 1, low + width / 2, width / 2, from, start);
  }

  uint32_t used_ = 0;
  uint32_t leaves_ = kSmall;
  std::vector<int64_t> ends_ = std::vector<int64_t>(kSmall, std::numeric_limits<int64_t>::max());
  std::vector<int64_t> tree_;
};

struct OpenSlice {
  int64_t end_ns;
  uint32_t index;
  uint32_t depth;
};

class Nester {
 public:
  Nester(PodVector<SliceRecord>& slices, bool on_host, const StringPool& strings,
         QualityReport& quality)
      : slices_(slices), on_host_(on_host), strings_(strings), quality_(quality) {}

  // `depth` gets the depth of every slice.
  void run(PodVector<uint32_t>& parent, PodVector<uint32_t>& depth, std::vector<uint32_t>& lanes) {
    parent.resize_uninitialised(slices_.size());
    depth.resize_uninitialised(slices_.size());
    for (uint32_t i = 0; i < slices_.size(); ++i) {
      const int64_t start = slices_[i].ts_ns;
      const int64_t end = end_of(slices_[i]);
      while (!open_.empty() && open_.back().end_ns <= start) open_.pop_back();
      const OpenSlice* container = find_container(slices_[i], start, end);
      const uint32_t least = container == nullptr ? 0 : container->depth + 1;
      const uint32_t lane = ends_.first_free(least, start);
      parent[i] = container == nullptr ? kNoSlice : container->index;
      depth[i] = lane;
      // An instant occupies its moment: without this, instants at one time would share a row and
      // hide each other.
      ends_.occupy(lane, end > start ? end : start + 1);
      if (lane >= lanes.size()) lanes.resize(lane + 1, 0);
      ++lanes[lane];
      if (end > start) open_.push_back({end, i, lane});
    }
  }

 private:
  const OpenSlice* find_container(SliceRecord& slice, int64_t start, int64_t end) {
    if (open_.empty()) return nullptr;
    const OpenSlice& top = open_.back();
    if (top.end_ns >= end) {
      if (!on_host_) note_device_overlap(slice, slices_[top.index]);
      return &top;
    }
    if (on_host_ && end - top.end_ns <= kRoundingNs) {
      slice.flags |= kFlagOutlivesParent;
      note(QualityCode::kOutlivesParent, slice, slices_[top.index]);
      return &top;
    }
    slice.flags |= kFlagOverlap;
    note(QualityCode::kStreamOverlap, slice, slices_[top.index]);
    const size_t stop = open_.size() > kContainerSearch ? open_.size() - kContainerSearch : 0;
    for (size_t at = open_.size() - 1; at > stop; --at) {
      const OpenSlice& below = open_[at - 1];
      if (below.end_ns > start && below.end_ns >= end) return &below;
    }
    return nullptr;
  }

  void note_device_overlap(SliceRecord& slice, const SliceRecord& container) {
    if (slice.kind != SliceKind::kKernel || container.kind != SliceKind::kKernel) return;
    slice.flags |= kFlagOverlap;
    note(QualityCode::kStreamOverlap, slice, container);
  }

  void note(QualityCode code, const SliceRecord& slice, const SliceRecord& other) {
    std::string example;
    if (quality_.wants_example(code)) {
      example = std::string(strings_.view(slice.name).substr(0, 60)) + " at " +
                std::to_string(slice.ts_ns) + " ns, in " +
                std::string(strings_.view(other.name).substr(0, 60));
    }
    quality_.add(code, example);
  }

  PodVector<SliceRecord>& slices_;
  const bool on_host_;
  const StringPool& strings_;
  QualityReport& quality_;
  std::vector<OpenSlice> open_;
  LaneEnds ends_;
};

}  // namespace

TrackLayout lay_out_track(PodVector<SliceRecord>& slices, TrackKind kind, const StringPool& strings,
                          QualityReport& quality) {
  sort_slices(slices);
  TrackLayout layout;
  const bool on_host =
      kind == TrackKind::kHost || kind == TrackKind::kPython || kind == TrackKind::kOther;
  Nester(slices, on_host, strings, quality).run(layout.parent, layout.row, layout.lanes);
  // Depths become rows: lane after lane, in order of time inside each.
  std::vector<uint32_t> next(layout.lanes.size());
  uint32_t first = 0;
  for (size_t lane = 0; lane < layout.lanes.size(); ++lane) {
    next[lane] = first;
    first += layout.lanes[lane];
  }
  for (uint32_t& depth_or_row : layout.row) depth_or_row = next[depth_or_row]++;
  return layout;
}

}  // namespace stepscope
