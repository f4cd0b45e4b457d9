#include "analyses/steps/infer_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

namespace stepscope {
namespace {

constexpr size_t kFewestOperators = 4;  // of a step
constexpr size_t kMostCandidates = 64;
constexpr size_t kNamesOfACount = 4;       // tried first of those that occur equally often
constexpr size_t kSearchEvents = 1 << 18;  // a repetition is looked for in the beginning
constexpr double kAlike = 0.9;             // operators a step shares with the middle one
constexpr double kWorthCovering = 0.8;
constexpr double kSameCover = 0.005;

// Events [first, last) of the sequence.
struct Segment {
  size_t first;
  size_t last;
  size_t size() const { return last - first; }
};

// Compares segments with a reference by the operators they have, whatever their order: threads
// finish in any order.
class Likeness {
 public:
  Likeness(const std::vector<RepeatedEvent>& events, size_t names)
      : events_(events), reference_(names), counts_(names) {}

  void set_reference(const Segment& segment) {
    for (size_t i = reference_segment_.first; i < reference_segment_.last; ++i)
      reference_[events_[i].name] = 0;
    reference_segment_ = segment;
    for (size_t i = segment.first; i < segment.last; ++i) ++reference_[events_[i].name];
  }
  double with_reference(const Segment& segment) {
    const size_t longer = std::max(segment.size(), reference_segment_.size());
    if (longer == 0) return 0;
    size_t shared = 0;
    for (size_t i = segment.first; i < segment.last; ++i) {
      const uint32_t name = events_[i].name;
      shared += ++counts_[name] <= reference_[name];
    }
    for (size_t i = segment.first; i < segment.last; ++i) counts_[events_[i].name] = 0;
    return static_cast<double>(shared) / static_cast<double>(longer);
  }

 private:
  const std::vector<RepeatedEvent>& events_;
  std::vector<uint32_t> reference_;
  std::vector<uint32_t> counts_;
  Segment reference_segment_{0, 0};
};

// What one candidate makes of the sequence.
struct Cut {
  std::vector<size_t> places;  // where steps start
  std::vector<bool> alike;     // for each place
  double cover = 0;
  size_t steps = 0;
  int64_t pause_ns = 0;  // usual pause before a step
  bool fetches_data = false;
};

int64_t usual_pause(const std::vector<RepeatedEvent>& events, const std::vector<size_t>& places) {
  std::vector<int64_t> pauses;
  for (const size_t place : places) {
    if (place > 0) pauses.push_back(events[place].start_ns - events[place - 1].end_ns);
  }
  if (pauses.empty()) return 0;
  const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() / 2);
  std::nth_element(pauses.begin(), middle, pauses.end());
  return *middle;
}

// What the recording has before the first place.
void take_head(const std::vector<RepeatedEvent>& events, const std::vector<Segment>& segments,
               Likeness& likeness, Cut& cut, std::vector<size_t>& places) {
  const size_t head = places.front();
  if (head == 0) return;
  // When the same comes before every place, the recording began with a whole step, and so do steps:
  // sure when it ends with one too, or when it is only a few operators.
  const auto same_before = [&](size_t place) {
    size_t back = 1;
    while (back <= head && events[place - back].name == events[head - back].name) ++back;
    return back > head;
  };
  const size_t step = segments.front().size();
  if (head < step && std::all_of(places.begin() + 1, places.end(), same_before)) {
    const bool whole = likeness.with_reference({places.back() - head, events.size()}) >= kAlike;
    if (whole || 10 * head <= step) {
      for (size_t& place : places) place -= head;
      if (whole && !cut.alike.back()) ++cut.steps;
      cut.alike.back() = whole;
      return;
    }
  }
  // Operators of different threads may change places: it belongs to the first step when that makes
  // it more like the others.
  const double with_head = likeness.with_reference({0, segments.front().last});
  if (with_head <= likeness.with_reference(segments.front())) return;
  if (!cut.alike.front() && with_head >= kAlike) {
    cut.alike.front() = true;
    ++cut.steps;
  }
  places.front() = 0;
}

std::optional<Cut> cut_at(const std::vector<RepeatedEvent>& events, std::vector<size_t> places,
                          Likeness& likeness) {
  const size_t count = places.size();
  if (count < 2) return std::nullopt;
  std::vector<Segment> segments;
  for (size_t i = 0; i < count; ++i)
    segments.push_back({places[i], i + 1 < count ? places[i + 1] : events.size()});
  // The middle one of the whole segments; the last one may be cut.
  std::vector<size_t> order(count - 1);
  std::iota(order.begin(), order.end(), 0);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), middle, order.end(),
                   [&](size_t a, size_t b) { return segments[a].size() < segments[b].size(); });
  const Segment reference = segments[*middle];
  if (reference.size() < kFewestOperators) return std::nullopt;
  likeness.set_reference(reference);

  Cut cut;
  size_t covered = 0;
  for (const Segment& segment : segments) {
    const bool alike = likeness.with_reference(segment) >= kAlike;
    cut.alike.push_back(alike);
    if (!alike) continue;
    covered += segment.size();
    ++cut.steps;
  }
  if (cut.steps < 2) return std::nullopt;
  // A step that the recording cuts at either end is no argument against the candidate.
  size_t total = events.size() - std::min(places.front(), reference.size());
  if (!cut.alike.back()) total -= std::min(segments.back().size(), reference.size());
  cut.cover = static_cast<double>(covered) / static_cast<double>(total);
  if (cut.cover < kWorthCovering) return std::nullopt;
  cut.fetches_data = events[places.back()].fetches_data;
  if (!cut.fetches_data) take_head(events, segments, likeness, cut, places);
  cut.pause_ns = usual_pause(events, places);
  cut.places = std::move(places);
  return cut;
}

bool better(const Cut& a, const Cut& b) {
  if (std::abs(a.cover - b.cover) > kSameCover) return a.cover > b.cover;
  if (a.places.size() != b.places.size()) return a.places.size() > b.places.size();
  if (a.fetches_data != b.fetches_data) return a.fetches_data;
  if (a.steps != b.steps) return a.steps > b.steps;
  return a.pause_ns > b.pause_ns;
}

// Numbers of runs of `length` names, one for each place of the sequence where a run starts.
std::vector<uint32_t> number_runs(const std::vector<RepeatedEvent>& events, size_t length) {
  std::vector<uint32_t> runs;
  if (events.size() < length) return runs;
  std::vector<uint64_t> hashes(events.size() - length + 1);
  for (size_t i = 0; i < hashes.size(); ++i) {
    uint64_t hash = 0;
    for (size_t k = 0; k < length; ++k)
      hash = (hash ^ (events[i + k].name + 1)) * 0x9E3779B97F4A7C15ull + (hash >> 29);
    hashes[i] = hash;
  }
  std::vector<uint64_t> distinct = hashes;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  runs.reserve(hashes.size());
  for (const uint64_t hash : hashes) {
    runs.push_back(static_cast<uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), hash) -
                                         distinct.begin()));
  }
  return runs;
}

// Runs by how often they occur: the counts that most runs share come first, and of each count the
// runs that fetch data, then the earliest.
std::vector<std::vector<uint32_t>> runs_by_count(const std::vector<uint32_t>& runs,
                                                 const std::vector<RepeatedEvent>& events) {
  const uint32_t names = runs.empty() ? 0 : *std::max_element(runs.begin(), runs.end()) + 1;
  std::vector<uint32_t> counts(names);
  std::vector<bool> fetches(names);
  for (size_t i = 0; i < runs.size(); ++i) {
    ++counts[runs[i]];
    if (events[i].fetches_data) fetches[runs[i]] = true;
  }
  std::map<uint32_t, std::vector<uint32_t>> groups;
  std::vector<bool> seen(names);
  for (const uint32_t run : runs) {
    if (seen[run]) continue;
    seen[run] = true;
    if (counts[run] >= 2 && counts[run] <= runs.size() / 2) groups[counts[run]].push_back(run);
  }
  std::vector<std::vector<uint32_t>> order;
  for (auto& [count, group] : groups) {
    std::stable_partition(group.begin(), group.end(), [&](uint32_t run) { return fetches[run]; });
    order.push_back(std::move(group));
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return order;
}

// The best of all runs of that many names.
std::optional<Cut> best_cut(const std::vector<RepeatedEvent>& events, size_t run_length,
                            Likeness& likeness) {
  const std::vector<uint32_t> runs = number_runs(events, run_length);
  const auto groups = runs_by_count(runs, events);
  std::optional<Cut> best;
  const auto try_runs = [&](std::span<const uint32_t> candidates) {
    bool chosen = false;
    std::map<uint32_t, std::vector<size_t>> places;
    for (const uint32_t run : candidates) places[run];
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto found = places.find(runs[i]);
      if (found != places.end()) found->second.push_back(i);
    }
    for (const uint32_t run : candidates) {
      auto cut = cut_at(events, std::move(places[run]), likeness);
      if (!cut || (best && !better(*cut, *best))) continue;
      best = std::move(cut);
      chosen = true;
    }
    return chosen;
  };
  size_t tried = 0;
  const std::vector<uint32_t>* chosen = nullptr;
  for (const auto& group : groups) {
    if (tried >= kMostCandidates) break;
    const auto first = std::span(group).first(std::min(group.size(), kNamesOfACount));
    tried += first.size();
    if (try_runs(first)) chosen = &group;
  }
  // How often is settled; where a step starts is chosen among all that occur so often.
  if (chosen != nullptr && chosen->size() > kNamesOfACount) {
    const auto rest = std::span(*chosen).subspan(kNamesOfACount);
    try_runs(rest.first(std::min(rest.size(), kMostCandidates)));
  }
  return best;
}

// Where the run of names at `place` occurs.
std::vector<size_t> places_of_run(const std::vector<RepeatedEvent>& events, size_t place,
                                  size_t run_length) {
  std::vector<size_t> places;
  for (size_t i = 0; i + run_length <= events.size(); ++i) {
    size_t same = 0;
    while (same < run_length && events[i + same].name == events[place + same].name) ++same;
    if (same == run_length) places.push_back(i);
  }
  return places;
}

}  // namespace

InferredSteps infer_steps(const std::vector<RepeatedEvent>& events) {
  InferredSteps result;
  if (events.size() < 2 * kFewestOperators) {
    result.why_none = "too few operators to find a repetition";
    return result;
  }
  uint32_t names = 0;
  for (const RepeatedEvent& event : events) names = std::max(names, event.name + 1);
  std::optional<Cut> best;
  const bool is_long = events.size() > kSearchEvents;
  const std::vector<RepeatedEvent> beginning(
      events.begin(), events.begin() + static_cast<std::ptrdiff_t>(is_long ? kSearchEvents : 0));
  const std::vector<RepeatedEvent>& searched = is_long ? beginning : events;
  Likeness likeness(searched, names);
  // Longer runs only where no single operator comes once a step.
  for (const size_t run_length : {1, 2, 4, 8}) {
    best = best_cut(searched, run_length, likeness);
    if (!best) continue;
    if (is_long) {
      Likeness whole(events, names);
      best = cut_at(events, places_of_run(events, best->places.back(), run_length), whole);
    }
    break;
  }
  if (!best) {
    result.why_none = "no sequence of operators repeats";
    return result;
  }
  int64_t last_ns = 0;
  for (const RepeatedEvent& event : events) last_ns = std::max(last_ns, event.end_ns);
  const std::vector<size_t>& places = best->places;
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t end_ns = i + 1 < places.size() ? events[places[i + 1]].start_ns : last_ns;
    result.steps.push_back({events[places[i]].start_ns, end_ns, best->alike[i]});
  }
  return result;
}

}  // namespace stepscope
