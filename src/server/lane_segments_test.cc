#include "server/lane_segments.h"

#include <gtest/gtest.h>

#include "tests/support/sample_store.h"

namespace stepscope {
namespace {

class LaneSegmentsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = StoreReader::open(testing::write_sample_store(folder_, 2));
    ASSERT_TRUE(store.ok());
    analyses_ = std::make_unique<RunAnalyses>(*store, AnalysisOptions{});
    segments_ = std::make_unique<LaneSegments>(*analyses_);
  }
  const ComputedLaneView* lane(size_t rank, LaneKind kind) const {
    for (size_t i = 0; i < segments_->lanes().size(); ++i) {
      const ComputedLaneView& view = segments_->lanes()[i];
      if (view.rank_position == rank && view.lane->kind == kind)
        return segments_->find(kFirstComputedLane + i);
    }
    return nullptr;
  }
  static uint64_t count(const std::vector<SegmentItem>& items) {
    uint64_t sum = 0;
    for (const SegmentItem& item : items) sum += item.count;
    return sum;
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<RunAnalyses> analyses_;
  std::unique_ptr<LaneSegments> segments_;
};

TEST_F(LaneSegmentsTest, StepsAreNamedByTheirNumbers) {
  const ComputedLaneView* steps = lane(1, LaneKind::kStep);
  ASSERT_NE(steps, nullptr);
  std::vector<SegmentItem> items;
  const LaneSegment& first = steps->lane->segments[0];
  segments_->query(*steps, steps->rows[0], {first.start_ns, first.start_ns + 1, 10}, items);
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(segments_->name(items[0].name), std::to_string(first.number));
  EXPECT_TRUE(LaneSegments::is_own_name(items[0].name));
}

TEST_F(LaneSegmentsTest, TracksAndUnknownLanesAreNotFound) {
  EXPECT_EQ(lane(0, LaneKind::kStream), nullptr);  // it is a track
  EXPECT_EQ(segments_->find(3), nullptr);
  EXPECT_EQ(segments_->find(kFirstComputedLane + 4000), nullptr);
  EXPECT_EQ(segments_->name(UINT64_MAX), "");
  EXPECT_EQ(segments_->name((1ull << 31) + 4000), "");
}

TEST_F(LaneSegmentsTest, EverySegmentOfAViewIsCountedAtAnyWidth) {
  TimelineLane many;
  for (int64_t i = 0; i < 5000; ++i) many.segments.push_back({i * 10, i * 10 + 7, "x", kNull});
  const ComputedLaneView view{&many, 0, std::vector<ComputedRow>(1)};
  for (const uint32_t pixels : {1u, 3u, 100u, 100'000u}) {
    std::vector<SegmentItem> items;
    segments_->query(view, view.rows[0], {105, 40'003, pixels}, items);
    EXPECT_EQ(count(items), 3991u) << pixels;  // from [100, 107) to [40000, 40007)
    EXPECT_LE(items.size(), pixels + 1u);
    for (size_t i = 1; i < items.size(); ++i) EXPECT_GE(items[i].start_ns, items[i - 1].end_ns);
  }
  std::vector<SegmentItem> none;
  segments_->query(view, view.rows[0], {10, 10, 5}, none);
  segments_->query(view, view.rows[0], {60'000, 70'000, 5}, none);
  EXPECT_TRUE(none.empty());
}

// A long segment behind short ones on its first pixel is not one of "5 slices".
TEST_F(LaneSegmentsTest, AWideSegmentIsAnItemOfItsOwn) {
  TimelineLane lane;
  for (int64_t i = 0; i < 4; ++i) lane.segments.push_back({i * 10, i * 10 + 7, "short", kNull});
  lane.segments.push_back({40, 5'000, {}, 7});
  const ComputedLaneView view{&lane, 0, std::vector<ComputedRow>(1)};
  std::vector<SegmentItem> items;
  segments_->query(view, view.rows[0], {0, 10'000, 10}, items);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].count, 4u);
  EXPECT_EQ(items[1].count, 1u);
  EXPECT_EQ(items[1].start_ns, 40);
  EXPECT_EQ(segments_->name(items[1].name), "7");
}

}  // namespace
}  // namespace stepscope
