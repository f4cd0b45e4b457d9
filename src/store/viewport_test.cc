#include "store/viewport.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "store/store_writer.h"
#include "tests/support/temporary_folder.h"

namespace stepscope {
namespace {

struct Span {
  int64_t start_ns;
  int64_t duration_ns;
};

// Bursts, gaps, long slices and zero lengths on one lane.
std::vector<Span> make_spans(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Span> spans;
  int64_t now = 1'790'000'000'000'000'000;
  for (size_t i = 0; i < count; ++i) {
    now += random() % 10 == 0 ? static_cast<int64_t>(random() % 1'000'000)
                              : static_cast<int64_t>(random() % 50);
    const int64_t length = random() % 100 == 0 ? static_cast<int64_t>(random() % 100'000)
                                               : static_cast<int64_t>(random() % 400);
    spans.push_back({now, length});
    now += length + 1;
  }
  return spans;
}

// Rows of other lanes lie before and behind, in the same blocks.
constexpr uint64_t kRowsBefore = 700;
constexpr size_t kLane = 1;

class ViewportTest : public ::testing::Test {
 protected:
  void build(const std::vector<Span>& spans) {
    RankBuilder rank;
    const TrackId before = rank.add_track({});
    const TrackId track = rank.add_track({});
    const TrackId behind = rank.add_track({});
    for (const TrackId other : {before, behind}) {
      for (uint64_t i = 0; i < kRowsBefore; ++i) {
        SliceRecord slice;
        slice.ts_ns = static_cast<int64_t>(i);
        rank.add_slice(other, slice);
      }
    }
    for (const Span& span : spans) {
      SliceRecord slice;
      slice.name = rank.strings.intern("slice " + std::to_string(span.start_ns));
      slice.ts_ns = span.start_ns;
      slice.dur_ns = span.duration_ns;
      rank.add_slice(track, slice);
    }
    auto writer = StoreWriter::create(folder_.path("v.stepscope"), 1);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->add_rank(0, rank, 1).ok());
    ASSERT_TRUE((*writer)->finish("{}").ok());
    auto store = StoreReader::open(folder_.path("v.stepscope"));
    ASSERT_TRUE(store.ok());
    store_ = *store;
    ASSERT_EQ(store_->lanes(0)[kLane].first_row, kRowsBefore);
    ASSERT_EQ(store_->lanes(0)[kLane].rows, spans.size());
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<StoreReader> store_;
};

TEST_F(ViewportTest, CountsEverySliceThatOverlapsTheView) {
  const auto spans = make_spans(60'000, 7);
  build(spans);
  const int64_t first = spans.front().start_ns;
  const int64_t last = spans.back().start_ns + spans.back().duration_ns;
  const ColumnView& names = store_->column(Table::kSlices, "name", 0);
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto length = static_cast<uint64_t>(last - first) >> (round % 20);
    const int64_t start =
        first + static_cast<int64_t>(random() % static_cast<uint64_t>(last - first));
    const Viewport view{start, start + static_cast<int64_t>(length) + 1, 1920};
    std::vector<ViewportItem> items;
    query_viewport(*store_, 0, kLane, view, items);
    uint64_t expected = 0;
    for (const Span& span : spans) {
      expected += span.start_ns < view.end_ns && (span.start_ns >= view.start_ns ||
                                                  span.start_ns + span.duration_ns > view.start_ns);
    }
    uint64_t counted = 0;
    int64_t before = INT64_MIN;
    for (const ViewportItem& item : items) {
      counted += item.count;
      EXPECT_GE(item.start_ns, before);
      before = item.end_ns;
      ASSERT_GE(item.slice_row, kRowsBefore);
      ASSERT_LT(item.slice_row, kRowsBefore + spans.size());
      EXPECT_EQ(item.name, names.at(item.slice_row));
      if (item.count > 1) continue;
      const Span& span = spans[item.slice_row - kRowsBefore];
      EXPECT_EQ(item.start_ns, span.start_ns);
      EXPECT_EQ(item.end_ns, span.start_ns + span.duration_ns);
    }
    EXPECT_EQ(counted, expected);
    EXPECT_LE(items.size(), 1922u);
  }
}

TEST_F(ViewportTest, NamesTheLongestOfAPixel) {
  std::vector<Span> spans;
  for (int64_t i = 0; i < 10'000; ++i) spans.push_back({i * 10, i == 4'321 ? 9 : 1});
  build(spans);
  std::vector<ViewportItem> items;
  query_viewport(*store_, 0, kLane, {0, 100'000, 1},
                 items);  // far more slices than pixels: from tiles
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].count, 10'000u);
  EXPECT_EQ(items[0].slice_row, kRowsBefore + 4'321);
  EXPECT_EQ(store_->string(items[0].name), "slice 43210");
}

// The name of a slice that is wide on screen must be there to be written on it.
TEST_F(ViewportTest, AWideSliceIsAnItemOfItsOwn) {
  for (const size_t shorts : {5u, 5'000u}) {  // from slices, and from tiles
    std::vector<Span> spans;
    int64_t now = 0;
    for (size_t i = 0; i < shorts; ++i, now += 2) spans.push_back({now, 1});
    spans.push_back({now, 100'000});
    spans.push_back({now + 100'000, 1});
    build(spans);
    std::vector<ViewportItem> items;
    query_viewport(*store_, 0, kLane, {0, 200'000, 10}, items);
    ASSERT_EQ(items.size(), 3u) << shorts;
    EXPECT_EQ(items[0].count, shorts);
    EXPECT_EQ(items[1].count, 1u);
    EXPECT_EQ(items[1].start_ns, now);
    EXPECT_EQ(items[1].end_ns, now + 100'000);
    EXPECT_EQ(store_->string(items[1].name), "slice " + std::to_string(now));
    EXPECT_EQ(items[2].count, 1u);
  }
}

TEST_F(ViewportTest, EmptyAndReversedViewsShowNothing) {
  build(make_spans(10, 1));
  std::vector<ViewportItem> items;
  query_viewport(*store_, 0, kLane, {5, 5, 100}, items);
  query_viewport(*store_, 0, kLane, {9, 5, 100}, items);
  query_viewport(*store_, 0, kLane, {INT64_MIN + 1, INT64_MIN + 2, 100}, items);
  EXPECT_TRUE(items.empty());
}

}  // namespace
}  // namespace stepscope
