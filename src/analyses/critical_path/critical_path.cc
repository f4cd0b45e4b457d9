#include "analyses/critical_path/critical_path.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "analyses/common/names.h"
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

PathKind kind_of_wait(WaitKind kind) {
  switch (kind) {
    case WaitKind::kLaunch:
      return PathKind::kLaunch;
    case WaitKind::kStream:
    case WaitKind::kEvent:
      return PathKind::kKernelGap;
    case WaitKind::kThread:
    case WaitKind::kSync:
      return PathKind::kSync;
    case WaitKind::kStart:
    case WaitKind::kHost:
      return PathKind::kHost;
  }
  return PathKind::kHost;
}

int64_t scaled(int64_t ns, double factor) {
  return static_cast<int64_t>(std::llround(static_cast<double>(ns) * factor));
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
    const bool is_host = edge.kind == WaitKind::kHost || edge.kind == WaitKind::kStart;
    if (is_host && node.work == kNoEvent) {
      add_host(node.thread, from.end_ns(), node.start_ns);
    } else if (is_host) {
      // Work whose launch is not in the step, and nothing before it on its stream.
      add(PathKind::kKernelGap, "before the first work of the stream", from.end_ns(), node.start_ns,
          events_.work[node.work].track, kNoEvent);
    } else {
      std::string_view name;
      if (edge.kind == WaitKind::kLaunch && events_.work[node.work].launch != kNoEvent)
        name = slice_name(events_.work[node.work].launch);
      if (edge.kind == WaitKind::kStream) name = "next on the stream";
      if (edge.kind == WaitKind::kEvent) name = "waits for an event of another stream";
      if (edge.kind == WaitKind::kSync) name = "the host sees the end of device work";
      if (edge.kind == WaitKind::kThread) name = "from thread to thread";
      const uint32_t track = node.work != kNoEvent     ? events_.work[node.work].track
                             : node.thread != kNoEvent ? events_.threads[node.thread].track
                                                       : kNoEvent;
      add(kind_of_wait(edge.kind), name, from.end_ns(), node.start_ns, track, kNoEvent);
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
  return change.kernel.empty() ? kind_of_work(work.work_class) == change.kind
                               : contains_ignoring_case(slice_name(work.slice), change.kernel);
}

ChangedWork CriticalPath::changed_work(const WhatIf& change) const {
  ChangedWork changed;
  for (const DeviceWork& work : events_.work) {
    if (!changes(work, change)) continue;
    ++changed.events;
    changed.total_ns += work.end_ns - work.start_ns;
  }
  return changed;
}

int64_t CriticalPath::what_if(const WhatIf& change) const {
  const bool by_name = !change.kernel.empty();
  const double factor = std::max(0.0, change.factor);
  std::vector<int64_t> ends_ns(graph_.nodes.size());
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const GraphNode& node = graph_.nodes[i];
    int64_t start_ns = i == 0 ? node.start_ns : std::numeric_limits<int64_t>::min();
    for (uint8_t e = 0; i > 0 && e < node.edge_count; ++e) {
      const GraphEdge& edge = node.edges[e];
      int64_t wait_ns = edge.wait_ns;
      const PathKind kind = node.work != kNoEvent && edge.kind == WaitKind::kStart
                                ? PathKind::kKernelGap
                                : kind_of_wait(edge.kind);
      if (!by_name && change.kind == kind) wait_ns = scaled(wait_ns, factor);
      if (!by_name && kind == PathKind::kHost &&
          (change.kind == PathKind::kHost || change.kind == PathKind::kDataLoading)) {
        const int64_t end_ns = node.start_ns;
        const int64_t data_ns =
            std::min(edge.wait_ns, data_loading_ns(node.thread, end_ns - edge.wait_ns, end_ns));
        const int64_t changed_ns =
            change.kind == PathKind::kHost ? edge.wait_ns - data_ns : data_ns;
        wait_ns = edge.wait_ns - changed_ns + scaled(changed_ns, factor);
      }
      start_ns = std::max(start_ns, ends_ns[edge.from] + wait_ns);
    }
    int64_t dur_ns = node.dur_ns;
    if (node.work != kNoEvent) {
      if (changes(events_.work[node.work], change)) dur_ns = scaled(dur_ns, factor);
    }
    ends_ns[i] = start_ns + dur_ns;
  }
  // The end waits for all work, not only for the work that happened to end last.
  int64_t end_ns = ends_ns.back();
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].work != kNoEvent) end_ns = std::max(end_ns, ends_ns[i]);
  }
  return end_ns - events_.start_ns;
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
