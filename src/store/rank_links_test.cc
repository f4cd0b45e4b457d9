// Links between slices: launches, operators, arrows, steps.
#include "store/rank_links.h"

#include <gtest/gtest.h>

#include "store/schema.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::device_track;
using testing::host_track;
using testing::slice_of;

LaidOutRank lay_out(RankBuilder& rank) {
  LaidOutRank out;
  out.rank = &rank;
  for (TrackId track = 0; track < rank.track_count(); ++track) {
    out.layouts.push_back(
        lay_out_track(rank.slices(track), rank.track(track).kind, rank.strings, rank.quality));
    out.first_row.push_back(static_cast<uint32_t>(out.row_count));
    out.row_count += rank.slices(track).size();
  }
  return out;
}

// Steps of 1 make a table by id, steps of 7 a hash table.
TEST(IdIndex, FindsWhatWasInsertedFirst) {
  for (const PackedId step : {1u, 7u}) {
    constexpr PackedId kLowest = 1000;
    IdRange ids;
    for (uint32_t i = 0; i < 100'000; ++i) ids.add(kLowest + i * step);
    IdIndex index(ids);
    for (uint32_t i = 0; i < 100'000; ++i) ASSERT_TRUE(index.insert(kLowest + i * step, i));
    EXPECT_FALSE(index.insert(kLowest + step, 99));
    EXPECT_EQ(index.find(kLowest + step), 1u);
    EXPECT_EQ(index.find(kLowest - 1), kNoSlice);
    EXPECT_EQ(index.find(kLowest + 99'999 * step), 99'999u);
    EXPECT_EQ(index.find(kLowest + 99'999 * step + 1), kNoSlice);
    EXPECT_EQ(index.find(kNoId), kNoSlice);
    EXPECT_EQ(index.find(0xFFFFFFFFu), kNoSlice);
    index.replace(kLowest + step, 99);
    EXPECT_EQ(index.find(kLowest + step), 99u);
  }
}

TEST(IdIndex, WithoutIdsFindsNothing) { EXPECT_EQ(IdIndex({}).find(0), kNoSlice); }

// Ids that are multiples of a large power of two must not all fall on one slot.
TEST(IdIndex, RoundNumbersStayFast) {
  constexpr uint32_t kCount = 1 << 16;
  IdIndex index({kCount, 0, (kCount - 1) << 15});
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_TRUE(index.insert(i << 15, i));
  for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(index.find(i << 15), i);
}

TEST(PackedIds, WideIdsAreEqualWhenTheIdsAre) {
  RankBuilder rank;
  const int64_t wide[] = {int64_t{1} << 31, -1, INT64_MAX, kNoId, 0xFFFFFFFFll};
  for (const int64_t id : wide) {
    EXPECT_EQ(rank.pack_id(id), rank.pack_id(id)) << id;
    EXPECT_EQ(rank.unpack_id(rank.pack_id(id)), id);
  }
  EXPECT_EQ(rank.pack_id(5), 5u);
  EXPECT_EQ(rank.unpack_id(kNoId), kNull);
  EXPECT_EQ(rank.pack_id(kNull), kNoId);
}

TEST(SliceFinder, StartsThereElseInnermostAround) {
  RankBuilder rank;
  const TrackId track = host_track(rank, "main");
  rank.add_slice(track, slice_of(rank, "outer", 0, 100));
  rank.add_slice(track, slice_of(rank, "annotation", 10, 50, SliceKind::kAnnotation));
  rank.add_slice(track, slice_of(rank, "op", 10, 40, SliceKind::kOp));
  rank.add_slice(track, slice_of(rank, "inner op", 10, 30, SliceKind::kOp));
  rank.add_slice(track, slice_of(rank, "late", 70, 5));
  const LaidOutRank out = lay_out(rank);
  SliceFinder finder(out);
  const auto name = [&](int64_t ts) {
    const SlicePlace place = finder.at(track, ts);
    return place.found() ? std::string(rank.strings.view(rank.slices(track)[place.index].name))
                         : "none";
  };
  EXPECT_EQ(name(-1), "none");
  EXPECT_EQ(name(0), "outer");
  EXPECT_EQ(name(10), "op");  // operators before others, the outermost of them
  EXPECT_EQ(name(35), "inner op");
  EXPECT_EQ(name(45), "op");
  EXPECT_EQ(name(55), "annotation");
  EXPECT_EQ(name(65), "outer");
  EXPECT_EQ(name(75), "outer");
  EXPECT_EQ(name(99), "outer");
  EXPECT_EQ(name(100), "none");
  // Backwards, too: only the cost depends on the last question.
  EXPECT_EQ(name(72), "late");
  EXPECT_EQ(name(10), "op");
  EXPECT_EQ(name(-1), "none");
  EXPECT_EQ(name(1000), "none");
}

TEST(Links, OfSeveralCallsWithOneIdTheArrowDecides) {
  RankBuilder rank;
  const TrackId track = host_track(rank, "main");
  SliceRecord call = slice_of(rank, "cudaFree", 0, 1, SliceKind::kLaunchCall);
  call.correlation = rank.pack_id(5);
  rank.add_slice(track, call);
  call = slice_of(rank, "cudaLaunchKernel", 10, 1, SliceKind::kLaunchCall);
  call.correlation = rank.pack_id(5);
  call.flags = kFlagFlowStart;
  rank.add_slice(track, call);
  LaidOutRank out = lay_out(rank);
  const RankLinks links = index_links(out, 2);
  EXPECT_EQ(out.place(links.launches.find(5)).index, 1u);
  EXPECT_EQ(rank.quality.count(QualityCode::kDuplicateId), 1);
}

TEST(Links, WideCorrelationsLinkToo) {
  RankBuilder rank;
  const TrackId host = host_track(rank, "main");
  const TrackId device = device_track(rank, 0, 7);
  SliceRecord call = slice_of(rank, "cudaLaunchKernel", 0, 1, SliceKind::kLaunchCall);
  call.correlation = rank.pack_id(4'000'000'000);  // CUPTI's ids are 32 bits, unsigned
  rank.add_slice(host, call);
  SliceRecord kernel = slice_of(rank, "kernel", 5, 1, SliceKind::kKernel);
  kernel.correlation = rank.pack_id(4'000'000'000);
  rank.add_slice(device, kernel);
  LaidOutRank out = lay_out(rank);
  const RankLinks links = index_links(out, 2);
  EXPECT_TRUE(out.place(links.launches.find(rank.slices(device)[0].correlation)).found());
}

class Flows : public ::testing::Test {
 protected:
  Flows() : host_(host_track(rank_, "main")), device_(device_track(rank_, 0, 7)) {
    rank_.add_slice(host_, slice_of(rank_, "a", 0, 10, SliceKind::kOp));
    rank_.add_slice(host_, slice_of(rank_, "b", 20, 10, SliceKind::kOp));
    rank_.add_slice(host_, slice_of(rank_, "c", 40, 10, SliceKind::kOp));
    rank_.add_slice(device_, slice_of(rank_, "k", 100, 10, SliceKind::kKernel));
  }
  void add(FlowPhase phase, TrackId track, int64_t ts_ns, std::string_view id) {
    rank_.flows.push_back({ts_ns, kTextFlowId | rank_.strings.intern(id),
                           rank_.strings.intern("kind"), track, phase});
  }
  std::vector<std::pair<uint32_t, uint32_t>> join() {
    LaidOutRank out = lay_out(rank_);
    const RankLinks links = index_links(out, 2);
    std::vector<std::pair<uint32_t, uint32_t>> rows;
    join_flows(out, links,
               [&](const Flow& flow) { rows.emplace_back(flow.from_row, flow.to_row); });
    return rows;
  }

  RankBuilder rank_;
  TrackId host_;
  TrackId device_;
};

TEST_F(Flows, StartAndEndInAnyOrder) {
  add(FlowPhase::kEnd, device_, 100, "1");
  add(FlowPhase::kStart, host_, 0, "1");
  EXPECT_EQ(join(), (std::vector<std::pair<uint32_t, uint32_t>>{{0, 3}}));
}

TEST_F(Flows, StepsMakeAChain) {
  add(FlowPhase::kStart, host_, 5, "1");  // inside a, not at its start
  add(FlowPhase::kStep, host_, 20, "1");
  add(FlowPhase::kEnd, host_, 40, "1");
  EXPECT_EQ(join(), (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {1, 2}}));
}

TEST_F(Flows, OneStartManyEnds) {
  add(FlowPhase::kStart, host_, 0, "1");
  add(FlowPhase::kEnd, host_, 20, "1");
  add(FlowPhase::kEnd, device_, 100, "1");
  EXPECT_EQ(join(), (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {0, 3}}));
}

TEST_F(Flows, UnpairedEndsAreCountedByName) {
  add(FlowPhase::kEnd, host_, 0, "no start");
  add(FlowPhase::kStart, host_, 20, "no end");
  add(FlowPhase::kStart, host_, 0, "no slice");
  add(FlowPhase::kEnd, host_, 999, "no slice");
  EXPECT_TRUE(join().empty());
  EXPECT_EQ(rank_.quality.count(QualityCode::kFlowEndWithoutStart), 1);
  EXPECT_EQ(rank_.quality.count(QualityCode::kFlowStartWithoutEnd), 1);
  EXPECT_EQ(rank_.quality.count(QualityCode::kFlowWithoutSlice), 1);
}

TEST_F(Flows, FlagsOnSlicesAreArrowsToo) {
  rank_.launch_flow_kind = rank_.strings.intern("ac2g");
  SliceRecord call = slice_of(rank_, "launch", 60, 5, SliceKind::kLaunchCall);
  call.correlation = 9;
  call.flags = kFlagFlowStart;
  rank_.add_slice(host_, call);
  SliceRecord unreached = slice_of(rank_, "launch", 70, 5, SliceKind::kLaunchCall);
  unreached.correlation = 10;
  unreached.flags = kFlagFlowStart;
  rank_.add_slice(host_, unreached);
  for (const PackedId id : {9u, 9u, 11u}) {
    SliceRecord kernel =
        slice_of(rank_, "k2", 200 + 20 * static_cast<int64_t>(rank_.slices(device_).size()), 5,
                 SliceKind::kKernel);
    kernel.correlation = id;
    kernel.flags = kFlagFlowEnd;
    rank_.add_slice(device_, kernel);
  }
  // Rows: a b c launch launch, then k k2 k2 k2.
  EXPECT_EQ(join(), (std::vector<std::pair<uint32_t, uint32_t>>{{3, 6}, {3, 7}}));
  EXPECT_EQ(rank_.quality.count(QualityCode::kFlowEndWithoutStart), 1);
  EXPECT_EQ(rank_.quality.count(QualityCode::kFlowStartWithoutEnd), 1);
}

// A hundred thousand arrows into one moment with a hundred thousand slices: not their product.
TEST(SliceFinder, ManySlicesAtOneTimeStayFast) {
  RankBuilder rank;
  const TrackId track = host_track(rank, "main");
  constexpr int64_t kCount = 100'000;
  for (int64_t i = 0; i < kCount; ++i) rank.add_slice(track, slice_of(rank, "same", 0, kCount - i));
  const LaidOutRank out = lay_out(rank);
  SliceFinder finder(out);
  for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(finder.at(track, 0).index, 0u);
  for (int64_t i = 0; i < 1000; ++i) finder.at(track, kCount - 1);  // deepest walk
}

TEST(StepFinder, AgreesWithASearchInAnyOrder) {
  std::vector<StepRecord> steps;
  for (int64_t i = 0; i < 1000; ++i) {
    StepRecord step;
    step.step = i + 5;
    step.ts_ns = i * 100;
    step.dur_ns = i % 3 == 0 ? 100 : 60;
    steps.push_back(step);
  }
  StepFinder finder(steps);
  for (int64_t i = 0; i < 200'000; ++i) {
    const int64_t ts = i * 7919 % 100'200 - 100;
    const int64_t at = ts / 100;
    const bool inside = ts >= 0 && at < 1000 && ts % 100 < steps[static_cast<size_t>(at)].dur_ns;
    ASSERT_EQ(finder.step_at(ts), inside ? at + 5 : kNull) << ts;
  }
  const std::vector<StepRecord> none;
  EXPECT_EQ(StepFinder(none).step_at(0), kNull);
}

}  // namespace
}  // namespace stepscope
