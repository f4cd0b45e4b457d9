#include "importers/native/stack_samples.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr size_t kDeepest = 1024;  // a chain of nodes that is longer goes in circles
// Further apart than this, two samples say nothing about the time between them.
constexpr int64_t kLongestGapNs = 1'000'000'000;

}  // namespace

void StackSamples::add_node(int64_t node, int64_t around, int64_t frame_name) {
  nodes_[node] = {around, run_.name(frame_name)};
}

void StackSamples::add_sample(int64_t thread, int64_t ts_ns, int64_t node) {
  samples_[thread].push_back({ts_ns, node});
}

std::vector<StringId> StackSamples::frames_of(int64_t node) const {
  std::vector<StringId> frames;
  while (node != 0 && frames.size() < kDeepest) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) break;
    frames.push_back(found->second.frame);
    node = found->second.around;
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

void StackSamples::finish() {
  for (auto& [thread, samples] : samples_) {
    TrackInfo info = run_.about_thread(thread);
    info.kind = TrackKind::kPython;
    draw(run_.rank().add_track(info), samples);
  }
}

void StackSamples::draw(TrackId track, std::vector<Sample>& samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.ts_ns < b.ts_ns; });
  RankBuilder& rank = run_.rank();
  const StringId category = rank.strings.intern("python_sample");
  // In the order in which they began, the outer frame first: of two that are equally long, the
  // first one given is drawn around the other.
  std::vector<SliceRecord> slices;
  std::vector<size_t> open;  // positions in slices
  const auto close_to = [&](size_t depth, int64_t end_ns) {
    for (; open.size() > depth; open.pop_back()) {
      SliceRecord& slice = slices[open.back()];
      slice.dur_ns = end_ns - slice.ts_ns;
    }
  };
  int64_t last_ns = 0;
  for (const Sample& sample : samples) {
    if (!open.empty() && sample.ts_ns - last_ns > kLongestGapNs) close_to(0, last_ns);
    const std::vector<StringId> frames = frames_of(sample.node);
    size_t common = 0;
    while (common < open.size() && common < frames.size() &&
           slices[open[common]].name == frames[common]) {
      ++common;
    }
    close_to(common, sample.ts_ns);
    for (size_t at = common; at < frames.size(); ++at) {
      SliceRecord slice;
      slice.ts_ns = sample.ts_ns;
      slice.name = frames[at];
      slice.cat = category;
      slice.kind = SliceKind::kPython;
      open.push_back(slices.size());
      slices.push_back(slice);
    }
    last_ns = sample.ts_ns;
  }
  close_to(0, last_ns);
  // What only the last sample shows, or the last before a gap, has no length that is known.
  for (const SliceRecord& slice : slices) {
    if (slice.dur_ns > 0) rank.add_slice(track, slice);
  }
}

}  // namespace stepscope
