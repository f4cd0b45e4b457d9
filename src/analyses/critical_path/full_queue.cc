#include "analyses/critical_path/full_queue.h"

#include <algorithm>
#include <vector>

namespace stepscope {
namespace {

// Where no call of the step found a place at once.
constexpr int64_t kUsualLaunchNs = 10'000;

struct Launch {
  int64_t launch_ns = 0;
  int64_t start_ns = 0;  // of the first of its work: a launched graph is one place
};

std::unordered_map<uint32_t, Launch> launches_of(const StepEvents& events) {
  std::unordered_map<uint32_t, Launch> launches;
  for (const auto* list : {&events.earlier_work, &events.work}) {
    for (const DeviceWork& work : *list) {
      if (work.launch == kNoEvent || work.launch_ns == kNull) continue;
      const auto [known, is_new] = launches.try_emplace(work.launch, work.launch_ns, work.start_ns);
      if (!is_new) known->second.start_ns = std::min(known->second.start_ns, work.start_ns);
    }
  }
  return launches;
}

// How many launches have not begun at a moment.
class Queue {
 public:
  explicit Queue(const std::unordered_map<uint32_t, Launch>& launches) {
    for (const auto& [slice, launch] : launches) {
      launched_ns_.push_back(launch.launch_ns);
      started_ns_.push_back(launch.start_ns);
    }
    std::sort(launched_ns_.begin(), launched_ns_.end());
    std::sort(started_ns_.begin(), started_ns_.end());
  }
  int64_t length_at(int64_t ns) const {
    return (std::lower_bound(launched_ns_.begin(), launched_ns_.end(), ns) - launched_ns_.begin()) -
           (std::upper_bound(started_ns_.begin(), started_ns_.end(), ns) - started_ns_.begin());
  }

 private:
  std::vector<int64_t> launched_ns_;
  std::vector<int64_t> started_ns_;
};

struct LaunchCall {
  const HostCall* call = nullptr;
  int64_t work_start_ns = 0;
  int64_t queue = 0;
};

std::unordered_map<int64_t, int64_t> usual_lengths(const std::vector<LaunchCall>& calls) {
  std::unordered_map<int64_t, std::vector<int64_t>> by_name;
  for (const LaunchCall& launch : calls)
    by_name[launch.call->name].push_back(launch.call->end_ns - launch.call->start_ns);
  std::unordered_map<int64_t, int64_t> usual;
  for (auto& [name, lengths] : by_name) {
    const auto eighth = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 8);
    std::nth_element(lengths.begin(), eighth, lengths.end());
    usual.emplace(name, std::min(*eighth, kUsualLaunchNs));
  }
  return usual;
}

}  // namespace

std::unordered_map<uint32_t, int64_t> held_up_launches(const StepEvents& events) {
  std::unordered_map<uint32_t, int64_t> held_up;
  if (static_cast<int64_t>(events.earlier_work.size() + events.work.size()) < kFullQueue)
    return held_up;
  const auto launches = launches_of(events);
  const Queue queue(launches);
  std::vector<LaunchCall> calls;
  int64_t longest = 0;
  for (const HostThread& thread : events.threads) {
    for (const HostCall& call : thread.calls) {
      const auto launch = launches.find(call.slice);
      if (launch == launches.end()) continue;
      calls.push_back({&call, launch->second.start_ns, queue.length_at(call.start_ns)});
      longest = std::max(longest, calls.back().queue);
    }
  }
  // Other devices may have longer queues: full is what it never gets much beyond.
  const int64_t full = std::max(kFullQueue, longest - longest / 16);
  const auto usual = usual_lengths(calls);
  for (const LaunchCall& launch : calls) {
    const int64_t usual_ns = usual.at(launch.call->name);
    if (launch.queue >= full && launch.work_start_ns >= launch.call->end_ns &&
        launch.call->end_ns - launch.call->start_ns > usual_ns) {
      held_up.emplace(launch.call->slice, usual_ns);
    }
  }
  return held_up;
}

}  // namespace stepscope
