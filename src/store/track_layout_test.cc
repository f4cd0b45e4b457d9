// Layout of a track: rows never overlap, parents contain, nothing is lost.
#include "store/track_layout.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "store/schema.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

struct LaidOut {
  PodVector<SliceRecord> slices;
  TrackLayout layout;
  QualityReport quality;

  uint32_t depth(uint32_t index) const {
    uint32_t row = layout.row[index];
    uint32_t lane = 0;
    while (row >= layout.lanes[lane]) row -= layout.lanes[lane++];
    return lane;
  }
};

int64_t end_of(const SliceRecord& slice) {
  return slice.ts_ns + std::max<int64_t>(slice.dur_ns, 0);
}

LaidOut lay_out(std::vector<std::pair<int64_t, int64_t>> ranges, TrackKind kind) {
  LaidOut out;
  StringPool strings;
  uint32_t number = 0;
  for (const auto& [start, length] : ranges) {
    SliceRecord slice;
    slice.ts_ns = start;
    slice.dur_ns = length;
    slice.name = strings.intern("slice " + std::to_string(number++));
    out.slices.push_back(slice);
  }
  out.layout = lay_out_track(out.slices, kind, strings, out.quality);
  return out;
}

void check(const LaidOut& out, bool on_host) {
  std::vector<bool> used(out.slices.size());
  std::map<uint32_t, std::vector<uint32_t>> by_depth;
  for (uint32_t i = 0; i < out.slices.size(); ++i) {
    ASSERT_LT(out.layout.row[i], out.slices.size());
    ASSERT_FALSE(used[out.layout.row[i]]);
    used[out.layout.row[i]] = true;
    by_depth[out.depth(i)].push_back(i);
    if (i > 0) {
      ASSERT_LE(out.slices[i - 1].ts_ns, out.slices[i].ts_ns);
    }
    const uint32_t parent = out.layout.parent[i];
    const int64_t slack = on_host ? 1000 : 0;
    if (parent != kNoSlice) {
      ASSERT_LT(parent, i);
      ASSERT_LT(out.depth(parent), out.depth(i));
      ASSERT_LE(out.slices[parent].ts_ns, out.slices[i].ts_ns);
      ASSERT_GE(end_of(out.slices[parent]) + slack, end_of(out.slices[i]));
      ASSERT_GT(end_of(out.slices[parent]), out.slices[i].ts_ns);
    }
    // Nothing that contains it is more inner than its parent.
    for (uint32_t j = 0; j < i; ++j) {
      const bool contains = end_of(out.slices[j]) >= end_of(out.slices[i]) &&
                            end_of(out.slices[j]) > out.slices[i].ts_ns;
      if (contains) {
        ASSERT_NE(parent, kNoSlice);
      }
      if (contains && !on_host) {
        ASSERT_LE(j, parent);
      }
    }
  }
  for (auto& [depth, indices] : by_depth) {
    ASSERT_EQ(indices.size(), out.layout.lanes[depth]);
    for (size_t k = 1; k < indices.size(); ++k) {
      const SliceRecord& before = out.slices[indices[k - 1]];
      const SliceRecord& now = out.slices[indices[k]];
      ASSERT_LT(out.layout.row[indices[k - 1]], out.layout.row[indices[k]]);
      ASSERT_LE(end_of(before), now.ts_ns);
      if (before.dur_ns <= 0) {
        ASSERT_LT(before.ts_ns, now.ts_ns);
      }
    }
  }
}

TEST(TrackLayout, NestingOfAHandWrittenTrack) {
  const LaidOut out = lay_out({{10, 20}, {0, 100}, {40, 5}, {12, 3}, {100, 10}}, TrackKind::kHost);
  // Sorted: [0,100) [10,30) [12,15) [40,45) [100,110)
  const std::vector<uint32_t> parents(out.layout.parent.begin(), out.layout.parent.end());
  EXPECT_EQ(parents, (std::vector<uint32_t>{kNoSlice, 0, 1, 0, kNoSlice}));
  const std::vector<uint32_t> rows(out.layout.row.begin(), out.layout.row.end());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 2, 4, 3, 1}));
  EXPECT_EQ(out.layout.lanes, (std::vector<uint32_t>{2, 2, 1}));
  EXPECT_TRUE(out.quality.entries().empty());
}

TEST(TrackLayout, AChildMayOutliveItsParentByRoundingOnTheHostOnly) {
  const LaidOut host = lay_out({{0, 100}, {50, 60}}, TrackKind::kHost);
  EXPECT_EQ(host.layout.parent[1], 0u);
  EXPECT_TRUE(host.slices[1].flags & kFlagOutlivesParent);
  EXPECT_EQ(host.quality.count(QualityCode::kOutlivesParent), 1);
  const LaidOut device = lay_out({{0, 100}, {50, 60}}, TrackKind::kDevice);
  EXPECT_EQ(device.layout.parent[1], kNoSlice);
  EXPECT_TRUE(device.slices[1].flags & kFlagOverlap);
  EXPECT_EQ(device.quality.count(QualityCode::kStreamOverlap), 1);
  EXPECT_EQ(device.layout.lanes.size(), 2u);
}

TEST(TrackLayout, InstantsAtOneMomentAreAllVisible) {
  const LaidOut out = lay_out({{5, 0}, {5, 0}, {5, 0}}, TrackKind::kHost);
  EXPECT_EQ(out.layout.lanes, (std::vector<uint32_t>{1, 1, 1}));
}

TEST(TrackLayout, EqualStartsNestLongestFirst) {
  const LaidOut out = lay_out({{0, 5}, {0, 50}, {0, 5}}, TrackKind::kDevice);
  EXPECT_EQ(out.slices[0].dur_ns, 50);
  EXPECT_EQ(out.layout.parent[1], 0u);
  EXPECT_EQ(out.layout.parent[2], 1u);
  EXPECT_LT(out.slices[1].name, out.slices[2].name);  // input order among equals
}

TEST(TrackLayout, AgreesWithBruteForce) {
  std::mt19937 random(23);
  for (int round = 0; round < 400; ++round) {
    const int64_t scale = round % 2 == 0 ? 100 : 20'000;
    std::vector<std::pair<int64_t, int64_t>> ranges(1 + random() % 120);
    for (auto& [start, length] : ranges) {
      start = static_cast<int64_t>(random() % scale);
      length = static_cast<int64_t>(random() % (random() % 3 == 0 ? scale : scale / 10));
    }
    const TrackKind kind = round % 4 < 2 ? TrackKind::kDevice : TrackKind::kHost;
    check(lay_out(ranges, kind), kind == TrackKind::kHost);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// 200,000 slices that all overlap need 200,000 rows; the time must not be their square.
TEST(TrackLayout, ManyOverlapsAndDeepNestingStayFast) {
  constexpr int64_t kCount = 200'000;
  std::vector<std::pair<int64_t, int64_t>> staircase;
  std::vector<std::pair<int64_t, int64_t>> nested;
  for (int64_t i = 0; i < kCount; ++i) {
    staircase.emplace_back(i, kCount);
    nested.emplace_back(i, 2 * (kCount - i));
  }
  EXPECT_EQ(lay_out(staircase, TrackKind::kDevice).layout.lanes.size(), size_t{kCount});
  const LaidOut deep = lay_out(nested, TrackKind::kHost);
  EXPECT_EQ(deep.layout.lanes.size(), size_t{kCount});
  EXPECT_EQ(deep.layout.parent[kCount - 1], kCount - 2);
}

}  // namespace
}  // namespace stepscope
