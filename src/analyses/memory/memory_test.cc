#include "analyses/memory/memory.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

#include "analyses/memory/address_map.h"
#include "analyses/memory/memory_curve.h"
#include "tests/support/made_run.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

using testing::add_step;
using testing::host_track;
using testing::MadeRun;
using testing::slice_of;

// Allocations and releases on GPU 0, with running totals that start at `before`.
class Gpu {
 public:
  Gpu(RankBuilder& rank, TrackId track, int64_t before)
      : rank_(rank), track_(track), total_(before) {}

  void change(int64_t ts_ns, int64_t address, int64_t bytes) {
    MemoryRecord record;
    record.ts_ns = ts_ns;
    record.address = address;
    record.bytes = bytes;
    total_ += bytes;
    reserved_ = std::max(reserved_, total_ + 100);
    record.total_allocated = total_;
    record.total_reserved = reserved_;
    record.device = 0;
    record.device_kind = rank_.strings.intern("CUDA");
    record.track = track_;
    rank_.memory.push_back(record);
  }

 private:
  RankBuilder& rank_;
  TrackId track_;
  int64_t total_;
  int64_t reserved_ = 0;
};

template <class Rows>
auto find_name(const Rows& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, [](const auto& row) { return row.name; });
  if (found == rows.end()) ADD_FAILURE() << "no row " << name;
  return found == rows.end() ? typename Rows::value_type() : *found;
}

TEST(AddressMap, FindsWhatIsThereAndNothingElse) {
  AddressMap map;
  EXPECT_EQ(map.take(5), AddressMap::kNone);
  // More than one growth, with addresses that are multiples of a page, and removal in another
  // order.
  for (uint32_t i = 0; i < 5000; ++i) EXPECT_EQ(map.put(int64_t{i} << 21, i), AddressMap::kNone);
  EXPECT_EQ(map.put(int64_t{7} << 21, 9999), 7u);
  for (uint32_t i = 0; i < 5000; i += 3) EXPECT_NE(map.take(int64_t{i} << 21), AddressMap::kNone);
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint32_t expected = i % 3 == 0 ? AddressMap::kNone : i == 7 ? 9999 : i;
    EXPECT_EQ(map.take(int64_t{i} << 21), expected);
  }
}

// Step 1 (0..1000): mm allocates 400 in a module and 50 for itself, releases the 50; step 2
// (1000..2000): backward allocates 300, then releases the 400.
class SmallTraining : public ::testing::Test {
 protected:
  SmallTraining() {
    RankBuilder& rank = run.rank;
    rank.info.versions_json = R"({"deviceProperties":[{"id":0,"totalGlobalMem":10000}]})";
    const TrackId thread = host_track(rank, "python");
    rank.add_slice(thread, slice_of(rank, "nn.Module: Net_0", 50, 500, SliceKind::kPython));
    rank.add_slice(thread, slice_of(rank, "nn.Module: Linear_1", 60, 400, SliceKind::kPython));
    rank.add_slice(thread, slice_of(rank, "aten::linear", 100, 300, SliceKind::kOp));
    rank.add_slice(thread, slice_of(rank, "aten::mm", 150, 200, SliceKind::kOp));
    rank.add_slice(thread, slice_of(rank, "autograd::engine::evaluate_function: Mm", 1100, 300,
                                    SliceKind::kOp));
    rank.add_slice(thread, slice_of(rank, "aten::mm", 1150, 100, SliceKind::kOp));
    add_step(rank, 1, 0, 1000);
    add_step(rank, 2, 1000, 1000);
    Gpu gpu(rank, thread, 1000);
    gpu.change(160, 0x100, 400);  // in mm of linear
    gpu.change(170, 0x200, 50);   // likewise
    gpu.change(180, 0x200, -50);
    gpu.change(1160, 0x300, 300);  // in mm of backward: the peak
    gpu.change(1300, 0x100, -400);
    gpu.change(1500, 0x900, -600);  // from before the recording
  }
  MadeRun run;
};

TEST_F(SmallTraining, CurveHasTheEndsOfThePasses) {
  RunAnalyses& analyses = run.analyses();
  std::map<int64_t, std::string_view> marks;
  for (const MemoryPoint& point : analyses.memory_curve()) {
    if (!point.mark.empty()) marks[point.ts] = point.mark;
  }
  // Forward starts at 100 with aten::linear, backward ends at 1400 with autograd's node. Step 2 has
  // no forward pass: to step_trace it begins with the first operator that does not say backward.
  EXPECT_EQ(marks, (std::map<int64_t, std::string_view>{
                       {160, "fp_start"}, {1160, "fp_start"}, {1500, "bp_end"}}));
}

// A part of the curve has the marks of the moments inside of it: 100 lies before, and the point at
// 1160, which is the first after it, does not take its mark over; 1400 lies behind.
TEST_F(SmallTraining, APartOfTheCurveHasTheMarksInsideOfIt) {
  const auto marks_in = [&](int64_t first_ns, int64_t last_ns) {
    std::map<int64_t, std::string_view> marks;
    for (const MemoryPoint& point : run.analyses().memory_curve_in({first_ns, last_ns, 100})) {
      if (!point.mark.empty()) marks[point.ts] = point.mark;
    }
    return marks;
  };
  using Marks = std::map<int64_t, std::string_view>;
  EXPECT_EQ(marks_in(0, 200), (Marks{{160, "fp_start"}}));
  EXPECT_EQ(marks_in(120, 200), (Marks{}));  // the pass began before
  EXPECT_EQ(marks_in(200, 1145), (Marks{}));
  EXPECT_EQ(marks_in(1000, 1300), (Marks{{1160, "fp_start"}}));
  EXPECT_EQ(marks_in(1200, 1399), (Marks{}));
  EXPECT_EQ(marks_in(1400, 2000), (Marks{{1500, "bp_end"}}));
  EXPECT_EQ(marks_in(1401, 2000), (Marks{}));
}

TEST_F(SmallTraining, Overview) {
  const MemoryRow row = run.analyses().memory().overview.at(0);
  EXPECT_EQ(row.source, "events");
  EXPECT_EQ(row.device_kind, "CUDA");
  EXPECT_EQ(row.allocations, 3);
  EXPECT_EQ(row.releases, 3);
  EXPECT_EQ(row.allocated_bytes, 750);
  EXPECT_EQ(row.released_bytes, 1050);
  EXPECT_EQ(row.static_bytes, 1000);
  EXPECT_EQ(row.peak_bytes, 1700);
  EXPECT_EQ(row.peak_ts, 1160);
  EXPECT_EQ(row.peak_step, 2);
  EXPECT_EQ(row.peak_position, 3);
  EXPECT_DOUBLE_EQ(row.peak_share, 0.17);
  EXPECT_EQ(row.peak_reserved_bytes, 1800);
  EXPECT_EQ(row.reserved_at_peak_bytes, 1800);
  EXPECT_EQ(row.fragmentation_bytes, 100);
  EXPECT_EQ(row.end_bytes, 700);
  EXPECT_EQ(row.unreleased_blocks, 1);
  EXPECT_EQ(row.unreleased_bytes, 300);
  EXPECT_EQ(row.unknown_releases, 1);
  EXPECT_EQ(row.unknown_released_bytes, 600);
  EXPECT_DOUBLE_EQ(row.mean_lifetime_ns, (1140 + 10) / 2.0);
  EXPECT_FALSE(row.leak_suspected);
}

// Ranges that a program names stand around allocations, but are not the operators that made them.
TEST(MemoryOfRanges, IsOutsideOfOperators) {
  MadeRun run;
  RankBuilder& rank = run.rank;
  const TrackId thread = host_track(rank, "python");
  rank.add_slice(thread, slice_of(rank, "load batch", 100, 100, SliceKind::kAnnotation));
  rank.add_slice(thread, slice_of(rank, "aten::mm", 300, 100, SliceKind::kOp));
  rank.add_slice(thread,
                 slice_of(rank, "Optimizer.step#SGD.step", 500, 100, SliceKind::kAnnotation));
  add_step(rank, 1, 0, 1000);
  Gpu gpu(rank, thread, 0);
  gpu.change(150, 0x100, 400);
  gpu.change(350, 0x200, 300);
  gpu.change(550, 0x300, 200);
  std::map<int64_t, std::string_view> categories;
  for (const MemoryOwnerRow& row : run.analyses().memory().owners)
    categories[row.bytes] = row.category;
  EXPECT_EQ(categories, (std::map<int64_t, std::string_view>{
                            {400, "outside"}, {300, "forward"}, {200, "optimizer"}}));
  const auto& operators = run.analyses().memory_operators();
  EXPECT_EQ(find_name(operators, "aten::mm").self_increase_bytes, 300);
  EXPECT_EQ(find_name(operators, "").self_increase_bytes, 600);
}

TEST_F(SmallTraining, OwnersAddUpToThePeak) {
  const MemoryResult& memory = run.analyses().memory();
  int64_t sum = 0;
  for (const MemoryOwnerRow& row : memory.owners) sum += row.bytes;
  EXPECT_EQ(sum, 1700);
  ASSERT_EQ(memory.owners.size(), 3u);
  EXPECT_EQ(memory.owners[0].category, "before");
  EXPECT_EQ(memory.owners[0].bytes, 1000);
  EXPECT_EQ(memory.owners[1].name, "aten::mm");
  EXPECT_EQ(memory.owners[1].category, "forward");
  EXPECT_EQ(memory.owners[1].module, "Net_0/Linear_1");
  EXPECT_EQ(memory.owners[1].lifetime_ns, 1140);
  EXPECT_EQ(memory.owners[1].step, 1);
  EXPECT_EQ(memory.owners[2].category, "backward");
  EXPECT_EQ(memory.owners[2].end_ts, kNull);
  EXPECT_EQ(memory.peak.size(), 3u);
  EXPECT_DOUBLE_EQ(memory.peak[1].share, 400.0 / 1700);
}

TEST_F(SmallTraining, OwnersAtAnyMoment) {
  RunAnalyses& analyses = run.analyses();
  const MemoryRow pool = analyses.memory().overview.at(0);
  const auto early = analyses.memory_owners_at(pool, 175, 10);
  ASSERT_EQ(early.size(), 3u);
  EXPECT_EQ(early[2].bytes, 50);
  const auto few = analyses.memory_owners_at(pool, 175, 1);
  ASSERT_EQ(few.size(), 3u);
  EXPECT_EQ(few[2].name, "(others)");
  EXPECT_EQ(few[2].bytes, 50);
  const auto none = analyses.memory_owners_at(pool, 1, 10);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].bytes, 1000);
}

TEST_F(SmallTraining, OperatorsByThemselvesAndWithWhatTheyCall) {
  const auto& rows = run.analyses().memory_operators();
  const MemoryOperatorRow mm = find_name(rows, "aten::mm");
  EXPECT_EQ(mm.calls, 2);
  EXPECT_EQ(mm.self_allocations, 3);
  EXPECT_EQ(mm.self_allocated_bytes, 750);
  EXPECT_EQ(mm.self_increase_bytes, 700);
  const MemoryOperatorRow linear = find_name(rows, "aten::linear");
  EXPECT_EQ(linear.self_allocations, 0);
  EXPECT_EQ(linear.allocated_bytes, 450);
  EXPECT_EQ(linear.increase_bytes, 400);
  const MemoryOperatorRow backward = find_name(rows, "autograd::engine::evaluate_function: Mm");
  EXPECT_EQ(backward.self_increase_bytes, -400);
  EXPECT_EQ(backward.increase_bytes, -100);
  const MemoryOperatorRow outside = find_name(rows, "");
  EXPECT_EQ(outside.self_increase_bytes, -600);
  int64_t increase = 0;
  for (const MemoryOperatorRow& row : rows) increase += row.self_increase_bytes;
  EXPECT_EQ(increase, 750 - 1050);
}

TEST_F(SmallTraining, StepsAndCurve) {
  const auto& steps = run.analyses().memory().steps;
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].start_bytes, 1000);
  EXPECT_EQ(steps[0].peak_bytes, 1450);
  EXPECT_EQ(steps[0].end_bytes, 1400);
  EXPECT_EQ(steps[0].kept_blocks, 1);
  EXPECT_EQ(steps[0].unreleased_blocks, 0);
  EXPECT_EQ(steps[1].unreleased_bytes, 300);
  EXPECT_EQ(steps[1].released_bytes, 1000);
  const auto& curve = run.analyses().memory_curve();
  ASSERT_EQ(curve.size(), 6u);
  EXPECT_EQ(curve[3].allocated_bytes, 1700);
  EXPECT_EQ(curve[3].change_bytes, 300);
  EXPECT_EQ(curve[3].step, 2);
  EXPECT_EQ(curve[3].name, "aten::mm");
  EXPECT_EQ(run.analyses().memory_curve_in({1000, 1200, 10}).size(), 1u);
}

TEST(MemoryCurve, ThinningKeepsTheExtremes) {
  MadeRun run;
  const TrackId thread = host_track(run.rank, "python");
  Gpu gpu(run.rank, thread, 0);
  for (int64_t i = 0; i < 10'000; ++i) {
    gpu.change(10 * i, i, i == 7777 ? 1'000'000 : 10);
    gpu.change(10 * i + 5, i, i == 7777 ? -1'000'000 : -10);
  }
  const auto points = run.analyses().memory_curve_in({0, 1'000'000, 100});
  EXPECT_LE(points.size(), 110u);
  EXPECT_GE(points.size(), 60u);
  EXPECT_EQ(std::ranges::max(points, {}, &MemoryPoint::allocated_bytes).allocated_bytes, 1'000'000);
  EXPECT_EQ(points.front().ts, 0);
  EXPECT_EQ(points.back().ts, 99'995);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &MemoryPoint::ts));
}

// Every step allocates and releases 1000, and `leak` more that stays.
void train(MadeRun& run, int64_t steps, int64_t leak, bool are_marked = true) {
  const TrackId thread = host_track(run.rank, "python");
  Gpu gpu(run.rank, thread, 5000);
  for (int64_t step = 0; step < steps; ++step) {
    int64_t start_ns = step * 1000;
    if (are_marked) add_step(run.rank, 10 + step, start_ns, 1000);
    for (const char* name : {"aten::copy_", "aten::view", "aten::t", "aten::add"})
      run.rank.add_slice(thread, slice_of(run.rank, name, start_ns++, 1, SliceKind::kOp));
    run.rank.add_slice(thread, slice_of(run.rank, "aten::mm", start_ns + 100, 300, SliceKind::kOp));
    run.rank.add_slice(thread,
                       slice_of(run.rank, "aten::stack", start_ns + 500, 100, SliceKind::kOp));
    gpu.change(start_ns + 150, 1, 1000);
    if (step == 0) gpu.change(start_ns + 160, 2, 700);  // optimizer state, once
    if (leak > 0) gpu.change(start_ns + 550, 1000 + step, leak);
    gpu.change(start_ns + 900, 1, -1000);
  }
}

TEST(MemoryLeaks, GrowthIsFoundAndNamed) {
  MadeRun run;
  train(run, 6, 64);
  const MemoryResult& memory = run.analyses().memory();
  EXPECT_TRUE(memory.overview.at(0).leak_suspected);
  EXPECT_EQ(memory.overview[0].growth_bytes_per_step, 64);
  EXPECT_EQ(memory.overview[0].growing_share, 1);
  ASSERT_EQ(memory.leaks.size(), 1u);
  EXPECT_EQ(memory.leaks[0].name, "aten::stack");
  EXPECT_EQ(memory.leaks[0].steps, 4);
  EXPECT_EQ(memory.leaks[0].bytes_per_step, 64);
  EXPECT_EQ(memory.leaks[0].first_step, 10);
}

TEST(MemoryLeaks, GrowthIsFoundWithoutMarksToo) {
  MadeRun run;
  train(run, 8, 64, /*are_marked=*/false);
  ASSERT_EQ(run.analyses().steps().at(0).source, "inferred");
  const MemoryResult& memory = run.analyses().memory();
  EXPECT_TRUE(memory.overview.at(0).leak_suspected);
  EXPECT_EQ(memory.overview[0].growth_bytes_per_step, 64);
  EXPECT_EQ(memory.leaks.at(0).name, "aten::stack");
  EXPECT_EQ(memory.steps.size(), run.analyses().steps().size());
}

TEST(MemoryLeaks, AHealthyRunHasNone) {
  MadeRun run;
  train(run, 6, 0);
  const MemoryResult& memory = run.analyses().memory();
  EXPECT_FALSE(memory.overview.at(0).leak_suspected);
  EXPECT_TRUE(memory.leaks.empty());
  EXPECT_EQ(run.analyses().reasons("memory_leaks").size(), 1u);
}

TEST(Memory, SamplesOnlyHaveAPeakButNoOwners) {
  MadeRun run;
  MemoryRecord record;
  record.device_kind = run.rank.strings.intern("CPU");
  record.component = run.rank.strings.intern("MindSpore");
  for (const int64_t total : {100, 300, 200}) {
    record.ts_ns += 10;
    record.total_allocated = total;
    record.total_reserved = 1000;
    run.rank.memory.push_back(record);
  }
  const MemoryResult& memory = run.analyses().memory();
  EXPECT_EQ(memory.overview.at(0).source, "samples");
  EXPECT_EQ(memory.overview[0].peak_bytes, 300);
  EXPECT_EQ(memory.overview[0].peak_ts, 20);
  EXPECT_TRUE(memory.owners.empty());
  EXPECT_EQ(run.analyses().reasons("memory_owners").size(), 1u);
}

TEST(Memory, WithoutTotalsThePeakIsTheSumOfTheEvents) {
  MadeRun run;
  MemoryRecord record;
  record.device_kind = run.rank.strings.intern("CUDA");
  record.device = 0;
  const std::pair<int64_t, int64_t> events[] = {{1, 10}, {2, 30}, {1, -10}, {3, 5}};
  for (const auto& [address, bytes] : events) {
    ++record.ts_ns;
    record.address = address;
    record.bytes = bytes;
    run.rank.memory.push_back(record);
  }
  const MemoryRow row = run.analyses().memory().overview.at(0);
  EXPECT_EQ(row.peak_bytes, 40);
  EXPECT_EQ(row.end_bytes, 35);
  EXPECT_EQ(row.static_bytes, kNull) << "what was there before is not known";
}

TEST(Memory, MadeUpNumbersDoNotOverflow) {
  MadeRun run;
  MemoryRecord record;
  record.device_kind = run.rank.strings.intern("CUDA");
  for (int64_t i = 0; i < 4; ++i) {
    record.ts_ns = i;
    record.address = i % 2 == 0 ? kNull : 7;
    record.duration_ns = std::numeric_limits<int64_t>::max();
    record.bytes =
        i == 3 ? std::numeric_limits<int64_t>::min() + 1 : std::numeric_limits<int64_t>::max();
    run.rank.memory.push_back(record);
  }
  EXPECT_EQ(run.analyses().memory().overview.at(0).allocated_bytes,
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(run.analyses().memory_operators().size(), 1u);
  EXPECT_EQ(run.analyses().memory_curve().size(), 4u);
}

TEST(Memory, ARunWithoutMemorySaysWhatToRecord) {
  MadeRun run;
  add_step(run.rank, 1, 0, 10);
  for (const std::string_view table : {"memory", "memory_curve", "memory_operators"}) {
    EXPECT_EQ(run.analyses().table(table)->rows(), 0u);
    ASSERT_EQ(run.analyses().reasons(table).size(), 1u) << table;
    EXPECT_NE(run.analyses().reasons(table)[0].why.find("profile_memory"), std::string::npos);
  }
}

}  // namespace
}  // namespace stepscope
