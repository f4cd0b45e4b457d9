#include <cstdint>

#include <gtest/gtest.h>

#include "analyses/advice/checks.h"
#include "analyses/advice/facts_of_ranks_test.h"
#include "tests/support/made_job.h"
#include "tests/support/rank_making.h"

namespace stepscope {
namespace {

// Steps of 1000: computing 0..400, receiving 300..700 and 500..800 side by side, sending 800..900,
// an all-reduce 850..1000 that nobody is late for.
TEST(CollectCommunication, ReceivesAndCollectivesAreWhatNothingHides) {
  const auto window_of = [](int64_t window, int64_t steps) {
    return [=](RankBuilder& rank) {
      rank.info.rank = 1;
      rank.info.window = window;
      const TrackId compute = testing::device_track(rank, 0, 7);
      const TrackId first = testing::device_track(rank, 0, 8);
      const TrackId second = testing::device_track(rank, 0, 9);
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t at_ns = (window * 100 + step) * 1000;
        testing::add_step(rank, window * 100 + step, at_ns, 1000);
        rank.add_slice(compute, testing::slice_of(rank, "gemm", at_ns, 400, SliceKind::kKernel));
        testing::add_operation(rank, first, "recv", at_ns + 300, 400, {});
        testing::add_operation(rank, second, "recv", at_ns + 500, 300, {});
        testing::add_operation(rank, first, "send", at_ns + 800, 100, {});
        testing::add_operation(rank, second, "allReduce", at_ns + 850, 150, {});
      }
    };
  };
  const Facts facts = testing::facts_of_ranks(window_of(0, 4), window_of(1, 2));
  ASSERT_EQ(facts.ranks.size(), 2u);
  for (const RankFacts& window : facts.ranks) {
    EXPECT_EQ(window.exposed_communication_ns, 600) << window.window;
    EXPECT_EQ(window.receive_ns, 400) << window.window;
    EXPECT_EQ(window.collective_ns, 150) << window.window;
  }
  EXPECT_EQ(facts.ranks[1].kernel_steps, (std::vector<int64_t>{100, 101}));
}

TEST(CollectCommunication, WaitingForALateRankIsNoTimeInCollectives) {
  const auto rank_from = [](int64_t start_ns) {
    return [=](RankBuilder& rank) {
      const TrackId stream = testing::device_track(rank, 0, 7);
      for (int64_t step = 0; step < 4; ++step) {
        testing::add_step(rank, step, step * 1000, 1000);
        rank.add_slice(stream,
                       testing::slice_of(rank, "gemm", step * 1000, start_ns, SliceKind::kKernel));
        testing::add_operation(rank, stream, "allReduce", step * 1000 + start_ns, 1000 - start_ns,
                               testing::numbered(step, 1 << 20, 2));
      }
    };
  };
  const Facts facts = testing::facts_of_ranks(rank_from(500), rank_from(800));
  EXPECT_EQ(facts.ranks[0].exposed_communication_ns, 500);
  EXPECT_EQ(facts.ranks[0].collective_ns, 200);
  EXPECT_EQ(facts.ranks[1].collective_ns, 200);
}

// Steps of 1000 of two stages. Stage 0 computes 0..600 and sends 600..700; stage 1 computes 0..100
// and receives 100..700, of which it waits 500 for the sender to come. Then both reduce, 700..1000.
TEST(CollectCommunication, WaitingInsideAReceiveIsTakenOffOnce) {
  const auto stage = [](bool sends) {
    return [=](RankBuilder& rank) {
      const TrackId compute = testing::device_track(rank, 0, 7);
      const TrackId stream = testing::device_track(rank, 0, 8);
      for (int64_t step = 0; step < 4; ++step) {
        const int64_t at_ns = step * 1000;
        const int64_t start_ns = sends ? 600 : 100;
        testing::add_step(rank, step, at_ns, 1000);
        rank.add_slice(compute,
                       testing::slice_of(rank, "gemm", at_ns, start_ns, SliceKind::kKernel));
        testing::add_operation(rank, stream, sends ? "send" : "recv", at_ns + start_ns,
                               700 - start_ns, testing::numbered(2 * step, 1 << 20, 2));
        testing::add_operation(rank, stream, "allReduce", at_ns + 700, 300,
                               testing::numbered(2 * step + 1, 1 << 20, 2));
      }
    };
  };
  const Facts facts = testing::facts_of_ranks(stage(true), stage(false));
  ASSERT_EQ(facts.ranks.size(), 2u);
  EXPECT_EQ(facts.ranks[1].exposed_communication_ns, 900);
  EXPECT_EQ(facts.ranks[1].receive_ns, 600);
  EXPECT_EQ(facts.ranks[1].communication_wait_ns, 500);
  EXPECT_EQ(facts.ranks[1].receive_wait_ns, 500);
  EXPECT_EQ(facts.ranks[0].exposed_communication_ns, 400);
  EXPECT_EQ(facts.ranks[0].communication_wait_ns, 0);
  const RankFacts* least = nullptr;
  EXPECT_EQ(own_communication_ns(facts, &least), 300) << "900 - 600: the all-reduce";
  EXPECT_EQ(least, &facts.ranks[1]);
}

// Two ranks reduce; whether others took part is not said, or the size of the group or of the job
// is.
TEST(CollectCommunication, WaitsAreKnownWhenEveryRankIsThere) {
  const auto known = [](int64_t group_size, int64_t world_size) {
    const auto rank_of = [=](RankBuilder& rank) {
      rank.info.world_size = world_size;
      const TrackId stream = testing::device_track(rank, 0, 7);
      testing::add_step(rank, 1, 0, 1000);
      testing::add_operation(rank, stream, "allReduce", 10, 900,
                             testing::numbered(1, 1 << 20, group_size));
    };
    const Facts facts = testing::facts_of_ranks(rank_of, rank_of);
    return facts.ranks[0].all_waits_known && facts.ranks[1].all_waits_known;
  };
  EXPECT_FALSE(known(kNull, kNull));
  EXPECT_TRUE(known(2, kNull));
  EXPECT_TRUE(known(kNull, 2));
  EXPECT_FALSE(known(kNull, 8));
  EXPECT_FALSE(known(8, 8));
}

// Two windows of three steps each; a step has one exchange, of 2 ms between ranks 2 and 3, and of
// 0.5 ms between 0 and 1, all behind computation.
TEST(CollectCommunication, TimeOfALinkIsThatOfAllStepsOfAllWindows) {
  constexpr int64_t kMs = 1'000'000;
  const auto rank_of = [](int64_t number, int64_t window) {
    return [=](RankBuilder& rank) {
      rank.info.rank = number;
      rank.info.window = window;
      const TrackId compute = testing::device_track(rank, 0, 7);
      const TrackId stream = testing::device_track(rank, 0, 20);
      for (int64_t step = window * 10; step < window * 10 + 3; ++step) {
        testing::add_step(rank, step, step * 4 * kMs, 4 * kMs);
        rank.add_slice(
            compute, testing::slice_of(rank, "gemm", step * 4 * kMs, 4 * kMs, SliceKind::kKernel));
        testing::add_operation(rank, stream, "allReduce", step * 4 * kMs,
                               number < 2 ? kMs / 2 : 2 * kMs, testing::numbered(step, 8 << 20, 2),
                               number < 2 ? "a" : "b");
      }
    };
  };
  const Facts facts =
      testing::facts_of_ranks(rank_of(0, 0), rank_of(1, 0), rank_of(2, 0), rank_of(3, 0),
                              rank_of(0, 1), rank_of(1, 1), rank_of(2, 1), rank_of(3, 1));
  ASSERT_EQ(facts.slow_links.size(), 1u);
  EXPECT_EQ(facts.slow_links[0].src_rank, 2);
  EXPECT_EQ(facts.slow_links[0].transfers, 6);
  EXPECT_EQ(facts.slow_links[0].time_ns, 2 * kMs);
  EXPECT_EQ(facts.slow_links[0].exposed_ns, 0);  // computation hides it
  ASSERT_TRUE(facts.slow_links[0].longest_transfer.has_value());
  EXPECT_EQ(facts.slow_links[0].longest_transfer->rank, 2);
  EXPECT_EQ(
      facts.slow_links[0].longest_transfer->end_ns - facts.slow_links[0].longest_transfer->start_ns,
      2 * kMs);
}

// Pairs 0-1 and 2-3, of which the second is slow, and pairs 0-2 and 1-3, whose operations are
// longer and equally fast.
TEST(CollectCommunication, PlaceOfASlowLinkIsInItsOwnGroup) {
  constexpr int64_t kMs = 1'000'000;
  const auto rank_of = [](int64_t number) {
    return [=](RankBuilder& rank) {
      const TrackId stream = testing::device_track(rank, 0, 20);
      for (int64_t step = 0; step < 4; ++step) {
        const int64_t at_ns = step * 20 * kMs;
        testing::add_step(rank, step, at_ns, 20 * kMs);
        testing::add_operation(rank, stream, "allReduce", at_ns, number < 2 ? kMs / 2 : 2 * kMs,
                               testing::numbered(step, 8 << 20, 2), number < 2 ? "a" : "b");
        testing::add_operation(rank, stream, "allReduce", at_ns + 5 * kMs, 9 * kMs,
                               testing::numbered(step, 8 << 20, 2), number % 2 == 0 ? "c" : "d");
      }
    };
  };
  const Facts facts = testing::facts_of_ranks(rank_of(0), rank_of(1), rank_of(2), rank_of(3));
  ASSERT_EQ(facts.slow_links.size(), 1u);
  EXPECT_EQ(facts.slow_links[0].src_rank, 2);
  EXPECT_EQ(facts.slow_links[0].dst_rank, 3);
  ASSERT_TRUE(facts.slow_links[0].longest_transfer.has_value());
  EXPECT_EQ(
      facts.slow_links[0].longest_transfer->end_ns - facts.slow_links[0].longest_transfer->start_ns,
      2 * kMs);
}

// Steps of 1 ms of which the first is in no mean. A step computes 0..500 and reduces 400..1000 us,
// in which it waits `wait_us` for rank 5; the rank's other operations are before all steps, and in
// the first one.
void add_waiting_rank(RankBuilder& rank, double wait_us) {
  rank.info.world_size = 8;
  TrackInfo plane;
  plane.kind = TrackKind::kCommunication;
  plane.thread = rank.strings.intern("Plane 0");
  const TrackId compute = testing::device_track(rank, 0, 7);
  const TrackId stream = testing::device_track(rank, 0, 20);
  const TrackId thread = testing::host_track(rank, "main");
  const TrackId communication = rank.add_track(plane);
  testing::StepMaker step{rank, thread, compute, communication, 0, 0};
  const auto reduce = [&](double from_ms, double ms, double wait_ms) {
    testing::add_operation(rank, stream, "allReduce", step.at(from_ms), testing::ns_of(ms), {});
    if (wait_ms > 0) step.task("allReduce", from_ms, from_ms + wait_ms, 5);
  };
  reduce(0, 5, wait_us > 0 ? 4.5 : 0);
  for (step.number = 1; step.number <= 4; ++step.number) {
    step.start_ns = testing::ns_of(10 + static_cast<double>(step.number));
    testing::add_step(rank, step.number, step.start_ns, testing::ns_of(1));
    step.kernel("gemm", 0, 0.5);
    reduce(0.4, 0.6, step.number == 1 ? wait_us / 500 : wait_us / 1000);
  }
}

// 300 us of waiting, of which computation hides 100; 600 in the first step, 4.5 ms before it.
TEST(CollectCommunication, WaitForALatePeerIsThatOfTheStepsThatMeansAreMadeOf) {
  const Facts facts =
      testing::facts_of_ranks([](RankBuilder& rank) { add_waiting_rank(rank, 300); },
                              [](RankBuilder& rank) { add_waiting_rank(rank, 0); });
  EXPECT_EQ(facts.late_peer, 5);
  EXPECT_EQ(facts.ranks[0].exposed_communication_ns, 500'000);
  EXPECT_EQ(facts.ranks[0].late_peer_wait_ns, 200'000);
  EXPECT_EQ(facts.ranks[1].late_peer_wait_ns, 0);
  EXPECT_EQ(facts.late_peer_wait_ns, 200'000);
  ASSERT_TRUE(facts.late_peer_place.has_value());
  EXPECT_EQ(facts.late_peer_place->rank, 0);
  EXPECT_EQ(facts.late_peer_place->step, 2) << "the longest wait is in no step";
  // Rank 1 does not wait: all of its communication is its own.
  const RankFacts* least = nullptr;
  EXPECT_EQ(own_communication_ns(facts, &least), 300'000);
  EXPECT_EQ(least->rank, 0);
}

// A step has one exchange: of 2 ms between ranks 2 and 3, of 0.5 ms between 0 and 1. There is
// another one of 16 times that length before the steps, and in the first, which is in no mean.
TEST(CollectCommunication, TimeOfALinkIsThatOfTheStepsThatMeansAreMadeOf) {
  constexpr int64_t kMs = 1'000'000;
  const auto rank_of = [](int64_t number) {
    return [=](RankBuilder& rank) {
      rank.info.rank = number;
      const TrackId compute = testing::device_track(rank, 0, 7);
      const TrackId stream = testing::device_track(rank, 0, 20);
      const auto exchange = [&](int64_t sequence, int64_t at_ns, int64_t times) {
        testing::add_operation(
            rank, stream, "allReduce", at_ns, times * (number < 2 ? kMs / 2 : 2 * kMs),
            testing::numbered(sequence, times * (8 << 20), 2), number < 2 ? "a" : "b");
      };
      exchange(0, 0, 16);
      for (int64_t step = 1; step <= 4; ++step) {
        const int64_t at_ns = step * 40 * kMs;
        testing::add_step(rank, step, at_ns, 40 * kMs);
        rank.add_slice(compute,
                       testing::slice_of(rank, "gemm", at_ns, 40 * kMs, SliceKind::kKernel));
        exchange(step, at_ns, step == 1 ? 16 : 1);
      }
    };
  };
  const Facts facts = testing::facts_of_ranks(rank_of(0), rank_of(1), rank_of(2), rank_of(3));
  ASSERT_EQ(facts.slow_links.size(), 1u);
  EXPECT_EQ(facts.slow_links[0].src_rank, 2);
  EXPECT_EQ(facts.slow_links[0].transfers, 5);
  EXPECT_EQ(facts.slow_links[0].time_ns, 2 * kMs);
  ASSERT_TRUE(facts.slow_links[0].longest_transfer.has_value());
  EXPECT_EQ(facts.slow_links[0].longest_transfer->step, 2);
}

}  // namespace
}  // namespace stepscope
