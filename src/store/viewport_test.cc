#include "store/viewport.h"

#include <random>

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

class ViewportTest : public ::testing::Test {
 protected:
  void build(const std::vector<Span>& spans) {
    RankBuilder rank;
    const TrackId track = rank.add_track({});
    for (const Span& span : spans) {
      SliceRecord slice;
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
    ASSERT_EQ(store_->lanes(0).size(), 1u);
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<StoreReader> store_;
};

TEST_F(ViewportTest, CountsEverySliceThatOverlapsTheView) {
  const auto spans = make_spans(60'000, 7);
  build(spans);
  const int64_t first = spans.front().start_ns;
  const int64_t last = spans.back().start_ns + spans.back().duration_ns;
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto length = static_cast<uint64_t>(last - first) >> (round % 20);
    const int64_t start =
        first + static_cast<int64_t>(random() % static_cast<uint64_t>(last - first));
    const Viewport view{start, start + static_cast<int64_t>(length) + 1, 1920};
    std::vector<ViewportItem> items;
    query_viewport(*store_, 0, 0, view, items);
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
      before = item.start_ns;
      EXPECT_LT(item.slice_row, spans.size());
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
  query_viewport(*store_, 0, 0, {0, 100'000, 1}, items);  // far more slices than pixels: from tiles
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].count, 10'000u);
  EXPECT_EQ(items[0].slice_row, 4'321u);
}

TEST_F(ViewportTest, EmptyAndReversedViewsShowNothing) {
  build(make_spans(10, 1));
  std::vector<ViewportItem> items;
  query_viewport(*store_, 0, 0, {5, 5, 100}, items);
  query_viewport(*store_, 0, 0, {9, 5, 100}, items);
  query_viewport(*store_, 0, 0, {INT64_MIN + 1, INT64_MIN + 2, 100}, items);
  EXPECT_TRUE(items.empty());
}

}  // namespace
}  // namespace stepscope
