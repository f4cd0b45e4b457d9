#include "importers/native/forward_backward.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "json/json_members.h"

namespace stepscope {

void ForwardBackward::add(TrackId track, int64_t ts_ns, int64_t sequence, int64_t forward_thread) {
  auto& ends = forward_thread == 0 ? forward_ : backward_;
  // Operators inside each other mostly share their number and come one after the other.
  if (forward_thread == 0 && !ends.empty() && ends.back().track == track &&
      ends.back().sequence == sequence) {
    ends.back().ts_ns = std::max(ends.back().ts_ns, ts_ns);
    return;
  }
  ends.push_back({forward_thread, sequence, ts_ns, track});
}

void ForwardBackward::finish() {
  RankBuilder& rank = run_.rank();
  std::unordered_map<TrackId, int64_t> number_of;
  for (const auto& [name, note] : run_.notes()) {
    if (name != "torch_thread") continue;
    const int64_t thread = integer_in(note, "thread", 0);
    const int64_t number = integer_in(note, "number", 0);
    if (thread != 0 && number != 0) number_of[run_.thread_track(thread)] = number;
  }
  for (End& end : forward_) {
    const auto known = number_of.find(end.track);
    end.thread = known == number_of.end() ? 0 : known->second;
  }
  const auto key = [](const End& end) { return std::tuple(end.thread, end.sequence); };
  // The last forward operator of a number stands first, and so does the first backward one.
  std::ranges::sort(forward_, [&](const End& a, const End& b) {
    return key(a) != key(b) ? key(a) < key(b) : a.ts_ns > b.ts_ns;
  });
  std::ranges::sort(backward_, [&](const End& a, const End& b) {
    return key(a) != key(b) ? key(a) < key(b) : a.ts_ns < b.ts_ns;
  });
  const StringId kind = rank.strings.intern("fwdbwd");
  uint64_t id = 0;
  for (size_t at = 0; at < backward_.size(); ++at) {
    const End& end = backward_[at];
    if (at > 0 && key(backward_[at - 1]) == key(end)) continue;
    const auto start = std::ranges::lower_bound(forward_, key(end), {}, key);
    // Without one, the forward pass lies before the recording.
    if (start == forward_.end() || key(*start) != key(end) || start->ts_ns > end.ts_ns) continue;
    ++id;
    rank.flows.push_back({start->ts_ns, id, kind, start->track, FlowPhase::kStart});
    rank.flows.push_back({end.ts_ns, id, kind, end.track, FlowPhase::kEnd});
  }
  forward_.clear();
  backward_.clear();
}

}  // namespace stepscope
