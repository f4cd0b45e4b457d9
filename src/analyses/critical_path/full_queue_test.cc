#include "analyses/critical_path/full_queue.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr int64_t kUsualNs = 5'000;
constexpr int64_t kLongNs = 300'000;

// Launches on a device that does not begin any of them before the last; those at `longs` take long.
StepEvents queued(uint32_t launches, std::initializer_list<uint32_t> longs) {
  StepEvents events;
  events.threads.emplace_back();
  int64_t now_ns = 0;
  for (uint32_t i = 0; i < launches; ++i) {
    HostCall call;
    call.slice = i;
    call.name = 1;
    call.start_ns = now_ns;
    call.end_ns = now_ns + kUsualNs;
    for (const uint32_t at : longs) {
      if (at == i) call.end_ns = now_ns + kLongNs;
    }
    now_ns = call.end_ns + 1'000;
    events.threads[0].calls.push_back(call);
    DeviceWork work;
    work.launch = i;
    work.launch_ns = call.start_ns;
    work.start_ns = 1'000'000'000 + i * 10'000;
    work.end_ns = work.start_ns + 10'000;
    // Where the step before ends makes no difference to the queue.
    (i < launches / 2 ? events.earlier_work : events.work).push_back(work);
  }
  return events;
}

TEST(FullQueue, HoldsUpTheCallsThatFindItFull) {
  const auto held_up = held_up_launches(queued(1'024, {500, 1'020}));
  ASSERT_EQ(held_up.size(), 1u);
  EXPECT_EQ(held_up.begin()->first, 1'020u);
  EXPECT_EQ(held_up.begin()->second, kUsualNs);
}

TEST(FullQueue, IsNoReasonForALongCallBefore) {
  EXPECT_TRUE(held_up_launches(queued(900, {890})).empty());
  EXPECT_TRUE(held_up_launches(queued(4'000, {1'100})).empty());  // a longer queue
  EXPECT_TRUE(held_up_launches({}).empty());
}

TEST(FullQueue, CountsALaunchedGraphOnce) {
  StepEvents events = queued(1'024, {1'020});
  for (DeviceWork& work : events.work) work.launch = 1'020;
  for (DeviceWork& work : events.earlier_work) work.launch = 1;
  EXPECT_TRUE(held_up_launches(events).empty());
}

TEST(FullQueue, IsNoReasonWhereTheWorkBeginsDuringTheCall) {
  StepEvents events = queued(1'024, {1'020});
  for (DeviceWork& work : events.work) {
    if (work.launch == 1'020) work.start_ns = work.launch_ns + 10'000;
  }
  EXPECT_TRUE(held_up_launches(events).empty());
}

}  // namespace
}  // namespace stepscope
