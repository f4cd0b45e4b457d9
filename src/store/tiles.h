// Timeline tiles: for every lane a pyramid of power-of-two time buckets, so that a viewport of any
// width is a short sequential read. Built at import from the lane's slices; about 3.4 bytes a
// slice.
#ifndef STEPSCOPE_STORE_TILES_H_
#define STEPSCOPE_STORE_TILES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/pod_vector.h"
#include "base/string_pool.h"
#include "store/store_file.h"

namespace stepscope {

inline constexpr size_t kMinTiledRows = 512;  // shorter lanes are read directly

// A length in 16 bits, rising with it: 1,024 steps per power of two.
uint16_t tile_length(int64_t length_ns);

class TileBuilder {
 public:
  // Adds the levels of one lane, whose slices lie in row order in three arrays. `starts` is sorted;
  // durations may be 0 or negative; `name_in_store` makes a slice's name what the file calls it.
  // Fills the lane's level fields.
  void add_lane(Lane& lane, std::span<const int64_t> starts_ns,
                std::span<const int64_t> durations_ns, std::span<const StringId> names,
                const StringRemap& name_in_store);

  const std::vector<TileLevel>& levels() const { return levels_; }
  const PodVector<Tile>& tiles() const { return tiles_; }

 private:
  std::vector<TileLevel> levels_;
  PodVector<Tile> tiles_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_TILES_H_
