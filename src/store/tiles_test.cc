// Every level of a lane's tiles, recomputed from its slices by brute force.
#include "store/tiles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

struct LaneOf {
  std::vector<int64_t> starts;
  std::vector<int64_t> durations;
};

// Every slice its own name; the file numbers them otherwise than the rank does.
struct Names {
  explicit Names(size_t count) {
    StringPool of_rank;
    StringPool of_file;
    of_file.intern("somebody else's");
    for (size_t i = 0; i < count; ++i) ids.push_back(of_rank.intern(std::to_string(i)));
    in_file.extend(of_rank, of_file);
  }
  std::vector<StringId> ids;
  StringRemap in_file;
};

void check(const LaneOf& lane_of) {
  const Names names(lane_of.starts.size());
  TileBuilder builder;
  Lane lane{};
  lane.rows = lane_of.starts.size();
  builder.add_lane(lane, lane_of.starts, lane_of.durations, names.ids, names.in_file);
  ASSERT_GT(lane.level_count, 0u);
  for (uint32_t number = 0; number < lane.level_count; ++number) {
    const TileLevel& level = builder.levels()[lane.first_level + number];
    if (number > 0) {
      ASSERT_GT(level.shift, builder.levels()[lane.first_level + number - 1].shift);
    }
    struct Bucket {
      uint32_t first = 0;
      uint32_t rows = 0;
      int64_t longest = -1;
      int64_t busy = 0;
    };
    std::map<uint64_t, Bucket> wanted;
    for (uint32_t row = 0; row < lane_of.starts.size(); ++row) {
      const auto since =
          static_cast<uint64_t>(lane_of.starts[row]) - static_cast<uint64_t>(lane_of.starts[0]);
      Bucket& bucket = wanted[since >> level.shift];
      if (bucket.rows++ == 0) bucket.first = row;
      bucket.longest = std::max(bucket.longest, lane_of.durations[row]);
      bucket.busy += lane_of.durations[row];
    }
    ASSERT_EQ(level.tiles, wanted.size());
    uint64_t counted = 0;
    size_t at = level.first_tile;
    for (auto bucket = wanted.begin(); bucket != wanted.end(); ++bucket, ++at) {
      const Tile& tile = builder.tiles()[at];
      ASSERT_EQ(tile.bucket, bucket->first);
      ASSERT_EQ(tile.first_row, bucket->second.first);
      ASSERT_EQ(lane_of.durations[tile.longest_row], bucket->second.longest);
      ASSERT_EQ(tile.name, names.in_file(names.ids[tile.longest_row]));
      ASSERT_GE(tile.longest_row, tile.first_row);
      ASSERT_LT(tile.longest_row, tile.first_row + bucket->second.rows);
      const bool last = std::next(bucket) == wanted.end();
      const uint64_t end = last ? lane_of.starts.size() : builder.tiles()[at + 1].first_row;
      ASSERT_EQ(end - tile.first_row, bucket->second.rows);
      counted += end - tile.first_row;
      // Rounded down once per level.
      const double busy = static_cast<double>(bucket->second.busy) * 256 / std::exp2(level.shift);
      ASSERT_LE(tile.busy, busy + 1);
      ASSERT_GE(tile.busy + std::exp2(2.0 * number + 1), std::min(busy, 4294967295.0));
    }
    ASSERT_EQ(counted, lane_of.starts.size());
  }
  const TileLevel& coarsest = builder.levels()[lane.first_level + lane.level_count - 1];
  EXPECT_LE(coarsest.tiles, 256u);
}

TEST(Tiles, ShortLanesHaveNone) {
  TileBuilder builder;
  Lane lane{};
  const std::vector<int64_t> rows(kMinTiledRows - 1, 0);
  builder.add_lane(lane, rows, rows, Names(rows.size()).ids, {});
  EXPECT_EQ(lane.level_count, 0u);
  EXPECT_TRUE(builder.tiles().empty());
}

TEST(Tiles, AgreeWithBruteForce) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 30; ++round) {
    LaneOf lane;
    int64_t now = static_cast<int64_t>(random() >> 2) - (int64_t{1} << 61);
    const size_t rows = kMinTiledRows + random() % 20'000;
    for (size_t i = 0; i < rows; ++i) {
      const auto length = static_cast<int64_t>(random() % (1ull << (1 + random() % 16)));
      lane.starts.push_back(now);
      lane.durations.push_back(length);
      now += length + (random() % 50 == 0 ? static_cast<int64_t>(random() % 10'000'000) : 0);
    }
    check(lane);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Tiles, AllAtOneTimeAndTheWholeRange) {
  LaneOf same{std::vector<int64_t>(5000, 7), std::vector<int64_t>(5000, 0)};
  same.durations[1234] = 5;
  check(same);
  LaneOf wide;
  for (int64_t i = 0; i < 4000; ++i) {
    wide.starts.push_back(-(int64_t{1} << 62) + i * (int64_t{1} << 51));
    wide.durations.push_back(i);
  }
  check(wide);
}

}  // namespace
}  // namespace stepscope
