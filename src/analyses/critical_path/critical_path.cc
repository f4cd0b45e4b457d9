#include "analyses/critical_path/critical_path.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <tuple>

#include "analyses/common/names.h"
#include "analyses/operators/kernel_names.h"
#include "analyses/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::string_view kKindNames[kPathKinds] = {
    "host", "data_loading", "launch", "kernel", "memory", "communication", "kernel_gap", "sync"};

PathKind kind_of_work(DeviceWork::Class work_class) {
  switch (work_class) {
    case DeviceWork::Class::kCompute:
      return PathKind::kKernel;
    case DeviceWork::Class::kMemory:
      return PathKind::kMemory;
    case DeviceWork::Class::kCommunication:
      return PathKind::kCommunication;
  }
  return PathKind::kKernel;
}

PathKind kind_of_wait(const GraphNode& node, WaitKind kind) {
  switch (kind) {
    case WaitKind::kLaunch:
      return PathKind::kLaunch;
    case WaitKind::kStream:
    case WaitKind::kEvent:
      return PathKind::kKernelGap;
    case WaitKind::kThread:
    case WaitKind::kSync:
      return PathKind::kSync;
    case WaitKind::kEarlier:
      return node.work != kNoEvent ? PathKind::kKernelGap : PathKind::kSync;
    case WaitKind::kStart:
      return node.work != kNoEvent ? PathKind::kKernelGap : PathKind::kHost;
    case WaitKind::kHost:
      return PathKind::kHost;
  }
  return PathKind::kHost;
}

int64_t scaled(int64_t ns, double factor) {
  return static_cast<int64_t>(std::llround(static_cast<double>(ns) * std::max(0.0, factor)));
}

}  // namespace

std::string_view path_kind_name(PathKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

CriticalPath::CriticalPath(const StoreReader& store, const RankId& rank, const StepRow& step)
    : store_(store),
      rank_(rank),
      step_(step),
      events_(load_step_events(store, rank.position, step)),
      graph_(build_step_graph(events_)) {
  walk();
}

std::string_view CriticalPath::slice_name(uint32_t slice) const {
  return text_at(store_, Table::kSlices, "name", rank_.position, slice);
}

void CriticalPath::add(PathKind kind, std::string_view name, int64_t start_ns, int64_t end_ns,
                       uint32_t track, uint32_t slice) {
  start_ns = std::max(start_ns, events_.start_ns);
  if (end_ns <= start_ns) return;
  by_kind_[static_cast<size_t>(kind)] += end_ns - start_ns;
  PathSegment segment;
  segment.rank = rank_.rank;
  segment.window = rank_.window;
  segment.step = step_.step;
  segment.start_ns = start_ns;
  segment.dur_ns = end_ns - start_ns;
  segment.kind = path_kind_name(kind);
  segment.name = name;
  if (track != kNoEvent)
    segment.track = static_cast<int64_t>(store_.row_base(Table::kTracks, rank_.position) + track);
  if (slice != kNoEvent)
    segment.slice = static_cast<int64_t>(store_.row_base(Table::kSlices, rank_.position) + slice);
  segments_.push_back(segment);
}

// A stretch of a thread, latest part first: its operators and what lies between them.
void CriticalPath::add_host(uint32_t thread, int64_t start_ns, int64_t end_ns) {
  constexpr std::string_view kBetween = "between operators";
  start_ns = std::max(start_ns, events_.start_ns);
  if (thread == kNoEvent) {
    add(PathKind::kHost, kBetween, start_ns, end_ns, kNoEvent, kNoEvent);
    return;
  }
  const HostThread& host = events_.threads[thread];
  auto label = std::lower_bound(host.labels.begin(), host.labels.end(), end_ns,
                                [](const HostLabel& a, int64_t ns) { return a.start_ns < ns; });
  while (end_ns > start_ns) {
    if (label == host.labels.begin() || (label - 1)->end_ns <= start_ns) {
      add(PathKind::kHost, kBetween, start_ns, end_ns, host.track, kNoEvent);
      return;
    }
    --label;
    if (label->end_ns < end_ns)
      add(PathKind::kHost, kBetween, label->end_ns, end_ns, host.track, kNoEvent);
    const int64_t from_ns = std::max(start_ns, label->start_ns);
    add(label->fetches_data ? PathKind::kDataLoading : PathKind::kHost, slice_name(label->slice),
        from_ns, std::min(end_ns, label->end_ns), host.track, label->slice);
    end_ns = from_ns;
  }
}

int64_t CriticalPath::data_loading_ns(uint32_t thread, int64_t start_ns, int64_t end_ns) const {
  if (thread == kNoEvent) return 0;
  int64_t total_ns = 0;
  const auto& labels = events_.threads[thread].labels;
  auto label = std::lower_bound(labels.begin(), labels.end(), end_ns,
                                [](const HostLabel& a, int64_t ns) { return a.start_ns < ns; });
  while (label != labels.begin()) {
    --label;
    if (label->end_ns <= start_ns) break;
    if (!label->fetches_data) continue;
    total_ns += std::min(end_ns, label->end_ns) - std::max(start_ns, label->start_ns);
  }
  return total_ns;
}

void CriticalPath::walk() {
  auto at = static_cast<uint32_t>(graph_.nodes.size() - 1);
  while (at != 0) {
    const GraphNode& node = graph_.nodes[at];
    const GraphEdge& edge = node.edges[node.binding];
    const GraphNode& from = graph_.nodes[edge.from];
    if (node.work != kNoEvent) {
      const DeviceWork& work = events_.work[node.work];
      add(kind_of_work(work.work_class), slice_name(work.slice), node.start_ns, node.end_ns(),
          work.track, work.slice);
    }
    const PathKind kind = kind_of_wait(node, edge.kind);
    if (kind == PathKind::kHost) {
      add_host(node.thread, from.end_ns(), node.start_ns);
    } else {
      std::string_view name;
      if (edge.kind == WaitKind::kLaunch && events_.work[node.work].launch != kNoEvent)
        name = slice_name(events_.work[node.work].launch);
      if (edge.kind == WaitKind::kStream) name = "next on the stream";
      if (edge.kind == WaitKind::kEvent) name = "waits for an event of another stream";
      if (kind == PathKind::kSync) name = "the host sees the end of device work";
      if (edge.kind == WaitKind::kThread) name = "from thread to thread";
      if (edge.kind == WaitKind::kStart ||
          (edge.kind == WaitKind::kEarlier && kind == PathKind::kKernelGap))
        name = "before the first work of the stream";
      const uint32_t track = node.work != kNoEvent     ? events_.work[node.work].track
                             : node.thread != kNoEvent ? events_.threads[node.thread].track
                                                       : kNoEvent;
      add(kind, name, from.end_ns(), node.start_ns, track, kNoEvent);
    }
    if (from.end_ns() <= events_.start_ns && from.start_ns <= events_.start_ns &&
        from.work == kNoEvent) {
      break;
    }
    at = edge.from;
  }
  std::reverse(segments_.begin(), segments_.end());
}

CriticalPathRow CriticalPath::summary() const {
  CriticalPathRow row;
  row.rank = rank_.rank;
  row.window = rank_.window;
  row.step = step_.step;
  row.dur_ns = events_.end_ns - events_.start_ns;
  int64_t* const parts[kPathKinds] = {
      &row.host_ns,   &row.data_loading_ns,  &row.launch_ns,     &row.kernel_ns,
      &row.memory_ns, &row.communication_ns, &row.kernel_gap_ns, &row.sync_ns};
  for (size_t i = 0; i < kPathKinds; ++i) *parts[i] = by_kind_[i];
  row.segments = static_cast<int64_t>(segments_.size());
  return row;
}

bool CriticalPath::changes(const DeviceWork& work, const WhatIf& change) const {
  if (change.kernel.empty()) return kind_of_work(work.work_class) == change.kind;
  const std::string_view name = slice_name(work.slice);
  const std::string_view kind =
      work.op_type == kNull ? kernel_kind(name) : store_.string(work.op_type);
  return contains_ignoring_case(name, change.kernel) ||
         (kind.size() == change.kernel.size() && contains_ignoring_case(kind, change.kernel));
}

// Places in the step's work. A name is looked at once, however often it runs.
std::vector<bool> CriticalPath::changed_places(const WhatIf& change) const {
  std::vector<bool> changed(events_.work.size());
  std::map<std::tuple<int64_t, int64_t, DeviceWork::Class>, bool> known;
  for (size_t i = 0; i < changed.size(); ++i) {
    const DeviceWork& work = events_.work[i];
    const auto [at, is_new] = known.try_emplace({work.name, work.op_type, work.work_class}, false);
    if (is_new) at->second = changes(work, change);
    changed[i] = at->second;
  }
  return changed;
}

ChangedWork CriticalPath::changed_work(const WhatIf& change) const {
  ChangedWork sum;
  const std::vector<bool> changed = changed_places(change);
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!changed[i]) continue;
    ++sum.events;
    sum.total_ns += events_.work[i].end_ns - events_.work[i].start_ns;
  }
  return sum;
}

struct CriticalPath::Replay {
  const WhatIf& change;
  const std::vector<bool>& changed;  // of the step's work
  int64_t from_ns;                   // what lies before stays as it was
  bool with_earlier;                 // whether the device's work for the steps before holds it up
};

int64_t CriticalPath::replayed_wait_ns(const Replay& how, const GraphNode& node,
                                       const GraphEdge& edge) const {
  const int64_t from_ns = graph_.nodes[edge.from].end_ns();
  const int64_t wait_ns =
      std::max<int64_t>(0, from_ns + edge.wait_ns - std::max(from_ns, how.from_ns));
  if (!how.change.kernel.empty()) return wait_ns;
  const PathKind kind = kind_of_wait(node, edge.kind);
  int64_t changed_ns = kind == how.change.kind ? wait_ns : 0;
  if (kind == PathKind::kHost &&
      (how.change.kind == PathKind::kHost || how.change.kind == PathKind::kDataLoading)) {
    const int64_t data_ns =
        std::min(wait_ns, data_loading_ns(node.thread, node.start_ns - wait_ns, node.start_ns));
    changed_ns = how.change.kind == PathKind::kHost ? wait_ns - data_ns : data_ns;
  }
  return wait_ns - changed_ns + scaled(changed_ns, how.change.factor);
}

// When the nodes of the graph end.
std::vector<int64_t> CriticalPath::replay(const Replay& how) const {
  std::vector<int64_t> ends_ns(graph_.nodes.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    int64_t start_ns = how.from_ns;
    for (uint8_t e = 0; node.start_ns > how.from_ns && e < node.edge_count; ++e) {
      const GraphEdge& edge = node.edges[e];
      if (edge.kind == WaitKind::kEarlier && !how.with_earlier) continue;
      start_ns = std::max(start_ns, ends_ns[edge.from] + replayed_wait_ns(how, node, edge));
    }
    int64_t dur_ns = std::max<int64_t>(0, node.end_ns() - std::max(node.start_ns, how.from_ns));
    if (node.work != kNoEvent && how.changed[node.work]) dur_ns = scaled(dur_ns, how.change.factor);
    ends_ns[i] = start_ns + dur_ns;
  }
  return ends_ns;
}

// What the host needs from one step to the next when the device is not busy with earlier ones.
int64_t CriticalPath::host_period_ns(const WhatIf& change, const std::vector<bool>& changed) const {
  const int64_t from_ns = events_.host_start_ns;
  return replay({change, changed, from_ns, false})[graph_.host_end] - from_ns;
}

int64_t CriticalPath::what_if(const WhatIf& change) const {
  const std::vector<bool> changed = changed_places(change);
  const std::vector<int64_t> ends_ns = replay({change, changed, events_.start_ns, true});
  // The end waits for all work, not only for the work that happened to end last.
  int64_t end_ns = ends_ns.back();
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].work != kNoEvent) end_ns = std::max(end_ns, ends_ns[i]);
  }
  const int64_t length_ns = end_ns - events_.start_ns;
  if (events_.host_start_ns == events_.start_ns) return length_ns;
  // That length keeps the lead that the host had. With all steps changed, a host that needs longer
  // would lose it from step to step, until a step takes what the host needs. A step that was itself
  // shorter than its host lost some too: as much as that stays lost.
  WhatIf nothing = change;
  nothing.factor = 1;
  const int64_t recorded_ns = events_.end_ns - events_.start_ns;
  const int64_t used_up_ns = std::max<int64_t>(0, host_period_ns(nothing, changed) - recorded_ns);
  return std::max(length_ns, host_period_ns(change, changed) - used_up_ns);
}

const StepRow* middle_step(std::span<const StepRow> steps) {
  std::vector<size_t> chosen = steps_to_average(steps);
  if (chosen.empty()) return steps.empty() ? nullptr : &steps.front();
  const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(chosen.size() / 2);
  std::nth_element(chosen.begin(), middle, chosen.end(),
                   [&](size_t a, size_t b) { return steps[a].work_dur_ns < steps[b].work_dur_ns; });
  return &steps[*middle];
}

}  // namespace stepscope
