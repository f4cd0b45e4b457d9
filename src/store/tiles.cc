#include "store/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace stepscope {
namespace {

constexpr size_t kRowsPerTile = 8;      // on average, in the finest level
constexpr unsigned kLevelStep = 2;      // each level's buckets are four times wider
constexpr size_t kCoarsestTiles = 256;  // no level is coarser than this

unsigned bit_length(uint64_t value) { return 64 - std::countl_zero(value); }

// Two neighbours share a bucket of 2^s ns exactly when the bit length of (a xor b) is at most s, so
// one pass gives the number of non-empty buckets of every width.
unsigned finest_shift(std::span<const int64_t> starts) {
  std::array<size_t, 65> by_length{};
  const int64_t origin = starts.front();
  uint64_t before = 0;
  for (const int64_t start : starts.subspan(1)) {
    const auto now = static_cast<uint64_t>(start) - static_cast<uint64_t>(origin);
    ++by_length[bit_length(before ^ now)];
    before = now;
  }
  // Bucket numbers are 32 bits.
  const unsigned least = std::max(0, static_cast<int>(bit_length(before)) - 32);
  const size_t most_tiles = starts.size() / kRowsPerTile;
  size_t tiles = 1;
  unsigned shift = 64;
  while (shift > least && tiles + by_length[shift] <= most_tiles) tiles += by_length[shift--];
  return std::min(shift, 63u);
}

uint16_t busy_units(int64_t busy_ns, unsigned shift) {
  const auto wide = (static_cast<unsigned __int128>(std::max<int64_t>(busy_ns, 0)) << 8) >> shift;
  constexpr uint16_t kMost = std::numeric_limits<uint16_t>::max();
  return wide > kMost ? kMost : static_cast<uint16_t>(wide);
}

}  // namespace

uint16_t tile_length(int64_t length_ns) {
  const auto length = static_cast<uint64_t>(std::max<int64_t>(length_ns, 0));
  if (length < 1024) return static_cast<uint16_t>(length);
  const unsigned shift = bit_length(length) - 11;
  return static_cast<uint16_t>((shift + 1) << 10 | ((length >> shift) & 1023));
}

void TileBuilder::add_lane(Lane& lane, std::span<const int64_t> starts,
                           std::span<const int64_t> durations, std::span<const StringId> names,
                           const StringRemap& name_in_store) {
  lane.first_level = static_cast<uint32_t>(levels_.size());
  lane.level_count = 0;
  if (starts.size() < kMinTiledRows) return;
  const auto origin = static_cast<uint64_t>(starts.front());
  unsigned shift = finest_shift(starts);
  TileLevel level{shift, 0, tiles_.size()};
  int64_t busy_ns = 0;
  const auto close_tile = [&] {
    Tile& tile = tiles_.back();
    const StringId name = names[tile.longest_row];
    tile.busy = busy_units(busy_ns, shift);
    tile.longest = tile_length(durations[tile.longest_row]);
    tile.name = name == kNoString ? kNoTileName : name_in_store(name);
  };
  for (size_t row = 0; row < starts.size(); ++row) {
    const auto bucket =
        static_cast<uint32_t>((static_cast<uint64_t>(starts[row]) - origin) >> shift);
    if (level.tiles == 0 || tiles_.back().bucket != bucket) {
      if (level.tiles > 0) close_tile();
      busy_ns = 0;
      const auto number = static_cast<uint32_t>(row);
      tiles_.push_back({bucket, number, number, 0, 0, kNoTileName});
      ++level.tiles;
    } else if (durations[row] > durations[tiles_.back().longest_row]) {
      tiles_.back().longest_row = static_cast<uint32_t>(row);
    }
    busy_ns += std::max<int64_t>(durations[row], 0);
  }
  close_tile();
  levels_.push_back(level);
  ++lane.level_count;
  while (level.tiles > kCoarsestTiles && shift + kLevelStep < 64) {
    shift += kLevelStep;
    TileLevel coarser{shift, 0, tiles_.size()};
    for (uint64_t at = level.first_tile; at < level.first_tile + level.tiles; ++at) {
      Tile fine = tiles_[at];
      fine.bucket >>= kLevelStep;
      fine.busy = static_cast<uint16_t>(fine.busy >> kLevelStep);
      if (coarser.tiles == 0 || tiles_.back().bucket != fine.bucket) {
        tiles_.push_back(fine);
        ++coarser.tiles;
        continue;
      }
      Tile& tile = tiles_.back();
      if (durations[fine.longest_row] > durations[tile.longest_row]) {
        tile.longest_row = fine.longest_row;
        tile.longest = fine.longest;
        tile.name = fine.name;
      }
      const uint32_t busy = uint32_t{tile.busy} + fine.busy;
      tile.busy =
          static_cast<uint16_t>(std::min<uint32_t>(busy, std::numeric_limits<uint16_t>::max()));
    }
    levels_.push_back(coarser);
    ++lane.level_count;
    level = coarser;
  }
}

}  // namespace stepscope
