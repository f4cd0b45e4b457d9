#include "store/viewport.h"

#include <algorithm>

#include "store/tiles.h"

namespace stepscope {
namespace {

// Wraps around instead of overflowing: only the times of a damaged store do.
int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

class LaneQuery {
 public:
  LaneQuery(const StoreReader& store, size_t rank, const Lane& lane, const Viewport& viewport,
            std::vector<ViewportItem>& items)
      : store_(store),
        rank_(rank),
        lane_(lane),
        view_(viewport),
        starts_(store.column(Table::kSlices, "ts", rank)),
        durations_(store.column(Table::kSlices, "dur", rank)),
        names_(store.column(Table::kSlices, "name", rank)),
        items_(items) {
    const auto span = static_cast<uint64_t>(view_.end_ns) - static_cast<uint64_t>(view_.start_ns);
    pixel_ns_ = std::max<uint64_t>(1, span / std::max(1u, view_.pixels));
    // Longer ones are told apart. Nothing else begins on their second pixel, so that one item a
    // pixel stays the rule.
    wide_ = tile_length(static_cast<int64_t>(std::min<uint64_t>(2 * pixel_ns_, INT64_MAX)));
  }

  void run() {
    if (lane_.rows == 0 || view_.end_ns <= view_.start_ns) return;
    uint64_t first = first_row_from(view_.start_ns);
    const uint64_t last = first_row_from(view_.end_ns);
    // Slices of a lane do not overlap, so only the one before can reach into the view.
    if (first > 0 &&
        plus(start(first - 1), std::max<int64_t>(duration(first - 1), 0)) > view_.start_ns)
      --first;
    if (first >= last) return;
    const TileLevel* level = coarsest_level();
    if (level == nullptr || last - first <= 2ull * view_.pixels) {
      read_slices(first, last);
    } else {
      read_tiles(*level, first, last);
    }
    flush();
  }

 private:
  int64_t start(uint64_t row) const { return starts_.at(lane_.first_row + row); }
  int64_t duration(uint64_t row) const { return durations_.at(lane_.first_row + row); }

  // The first row that starts at `ns` or later. Blocks that hold rows of this lane only come first:
  // their bases are their first starts, and lie together while the rows lie all over the file.
  uint64_t first_row_from(int64_t ns) const {
    const uint64_t lane_end = lane_.first_row + lane_.rows;
    size_t block = lane_.first_row / kBlockRows + 1;
    const size_t block_end = std::max<size_t>(block, lane_end / kBlockRows);
    for (size_t after = block_end; block < after;) {
      const size_t middle = block + (after - block) / 2;
      if (starts_.base(middle) < ns) {
        block = middle + 1;
      } else {
        after = middle;
      }
    }
    uint64_t low = std::max<uint64_t>((block - 1) * kBlockRows, lane_.first_row) - lane_.first_row;
    uint64_t high = (block == block_end ? lane_end : block * kBlockRows) - lane_.first_row;
    while (low < high) {
      const uint64_t middle = low + (high - low) / 2;
      if (start(middle) < ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const TileLevel* coarsest_level() const {
    const auto levels = store_.tile_levels(rank_).subspan(lane_.first_level, lane_.level_count);
    const TileLevel* best = nullptr;
    for (const TileLevel& level : levels) {
      if ((1ull << level.shift) <= pixel_ns_) best = &level;
    }
    return best;
  }

  // Where the pixel of `ns` ends. Mostly it is the next one, and no division is needed.
  int64_t pixel_end(int64_t ns) const {
    const auto pixel_ns = static_cast<int64_t>(pixel_ns_);
    const int64_t next = plus(pixel_end_ns_, pixel_ns);
    if (ns >= pixel_end_ns_ && ns < next) return next;
    if (ns <= view_.start_ns) return plus(view_.start_ns, pixel_ns);
    const uint64_t into = static_cast<uint64_t>(ns) - static_cast<uint64_t>(view_.start_ns);
    return plus(ns, static_cast<int64_t>(pixel_ns_ - into % pixel_ns_));
  }

  // Takes the slices that an item stands for, the longest of which has that length; neighbours on
  // one pixel become one item, unless the last of them is wide.
  void add(const ViewportItem& item, uint16_t longest, bool is_estimate = false) {
    const bool is_wide = item.count == 1 && longest > wide_;
    if (pending_.count > 0 && item.start_ns < pixel_end_ns_ && !is_wide) {
      pending_.count += item.count;
      pending_.end_ns = std::max(pending_.end_ns, item.end_ns);
      if (longest > pending_longest_) {
        pending_longest_ = longest;
        pending_.slice_row = item.slice_row;
        pending_.name = item.name;
      }
      return;
    }
    flush();
    pending_ = item;
    pending_is_estimate_ = is_estimate;
    pixel_end_ns_ = pixel_end(item.start_ns);
    pending_longest_ = longest;
  }

  void flush() {
    if (pending_.count == 0) return;
    if (pending_is_estimate_) make_exact();
    items_.push_back(pending_);
    last_end_ns_ = pending_.end_ns;
    pending_.count = 0;
  }

  // A slice that stands for itself alone has its own times: people read them. Of several the
  // estimate stays, behind the one before, which may reach into its bucket.
  void make_exact() {
    if (pending_.count == 1) {
      pending_.start_ns = starts_.at(pending_.slice_row);
      pending_.end_ns =
          plus(pending_.start_ns, std::max<int64_t>(durations_.at(pending_.slice_row), 0));
    } else {
      pending_.start_ns = std::max(pending_.start_ns, last_end_ns_);
      pending_.end_ns = std::max(pending_.end_ns, plus(pending_.start_ns, 1));
    }
  }

  void read_slices(uint64_t first, uint64_t last) {
    int64_t starts[kBlockRows];
    int64_t durations[kBlockRows];
    int64_t names[kBlockRows];
    for (uint64_t row = lane_.first_row + first; row < lane_.first_row + last;) {
      const size_t block = row / kBlockRows;
      const size_t rows = starts_.decode(block, starts);
      durations_.decode(block, durations);
      names_.decode(block, names);
      const uint64_t block_first = block * kBlockRows;
      const uint64_t stop = std::min<uint64_t>(lane_.first_row + last, block_first + rows);
      for (; row < stop; ++row) {
        const int64_t length = std::max<int64_t>(durations[row - block_first], 0);
        const int64_t start_ns = starts[row - block_first];
        add({start_ns, plus(start_ns, length), row, names[row - block_first], 1},
            tile_length(length));
      }
    }
  }

  // Tiles begin at fixed times, the view does not: slices before the first whole tile and behind
  // the last are read one by one.
  void read_tiles(const TileLevel& level, uint64_t first, uint64_t last) {
    const auto tiles = store_.tiles(rank_).subspan(level.first_tile, level.tiles);
    const auto begin =
        std::lower_bound(tiles.begin(), tiles.end(), first,
                         [](const Tile& tile, uint64_t row) { return tile.first_row < row; });
    const auto end = std::lower_bound(begin, tiles.end(), last, [](const Tile& tile, uint64_t row) {
      return tile.first_row < row;
    });
    const uint64_t whole_from = begin == end ? last : begin->first_row;
    read_slices(first, std::min<uint64_t>(whole_from, last));
    for (auto tile = begin; tile != end; ++tile) {
      const uint64_t next = tile + 1 == tiles.end() ? lane_.rows : (tile + 1)->first_row;
      if (next > last ||
          next <= tile->first_row) {  // the view ends inside it (or the store is damaged)
        read_slices(tile->first_row, last);
        break;
      }
      if (tile->longest > wide_) {
        read_wide(*tile, next);
        continue;
      }
      const int64_t start_ns = plus(
          lane_.first_ns, static_cast<int64_t>(static_cast<uint64_t>(tile->bucket) << level.shift));
      const int64_t covered_ns =
          static_cast<int64_t>((static_cast<uint64_t>(tile->busy) << level.shift) >> 8);
      // The bucket's own start stands for the start of its first slice: right to less than a pixel.
      add({start_ns, plus(start_ns, std::max<int64_t>(covered_ns, 1)),
           lane_.first_row + std::min<uint64_t>(tile->longest_row, lane_.rows - 1),
           tile->name == kNoTileName ? kNull : int64_t{tile->name}, next - tile->first_row},
          tile->longest, true);
    }
  }

  // A tile is no longer than a pixel: a wide slice is the last that begins in it. Those before it
  // are one item, which the first of them stands for.
  void read_wide(const Tile& tile, uint64_t next) {
    const uint64_t wide = next - 1;
    const int64_t wide_start = start(wide);
    if (wide > tile.first_row)
      add({start(tile.first_row), wide_start, lane_.first_row + tile.first_row,
           names_.at(lane_.first_row + tile.first_row), wide - tile.first_row},
          tile_length(std::max<int64_t>(duration(tile.first_row), 0)));
    const int64_t length = std::max<int64_t>(duration(wide), 0);
    add({wide_start, plus(wide_start, length), lane_.first_row + wide,
         names_.at(lane_.first_row + wide), 1},
        tile_length(length));
  }

  const StoreReader& store_;
  const size_t rank_;
  const Lane& lane_;
  const Viewport& view_;
  const ColumnView& starts_;
  const ColumnView& durations_;
  const ColumnView& names_;
  std::vector<ViewportItem>& items_;
  uint64_t pixel_ns_ = 1;
  uint16_t wide_ = 0;  // tile_length() above which a slice is an item of its own
  ViewportItem pending_;
  int64_t pixel_end_ns_ = 0;  // of the pending item
  uint16_t pending_longest_ = 0;
  bool pending_is_estimate_ = false;
  int64_t last_end_ns_ = INT64_MIN;  // of the item before it
};

}  // namespace

void query_viewport(const StoreReader& store, size_t rank, size_t lane, const Viewport& viewport,
                    std::vector<ViewportItem>& items) {
  LaneQuery(store, rank, store.lanes(rank)[lane], viewport, items).run();
}

}  // namespace stepscope
