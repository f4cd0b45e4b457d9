#include "analyses/critical_path/step_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "analyses/critical_path/full_queue.h"

namespace stepscope {
namespace {

// Pauses of a thread that are shorter are its own: Python between two operators.
constexpr int64_t kShortestHandOverNs = 5'000;

constexpr int64_t kUsualLaunchNs = 10'000;

// A moment of a thread that something else waits for or that waits for something else.
struct Point {
  enum class Kind : uint8_t { kDone, kReturns, kStarts } kind;
  int64_t ns;
  uint32_t call = kNoEvent;          // kReturns: place in the thread's calls
  uint32_t after_thread = kNoEvent;  // kStarts: the thread it waited for, and until when
  int64_t after_ns = 0;
  uint32_t node = kNoEvent;
};

class Builder {
 public:
  explicit Builder(const StepEvents& events)
      : events_(events), points_(events.threads.size()), held_up_(held_up_launches(events)) {}

  StepGraph take() {
    find_points();
    make_nodes();
    connect_threads();
    connect_work();
    connect_end();
    return sorted();
  }

 private:
  // ---- moments of threads

  void find_points() {
    std::unordered_map<uint32_t, uint32_t> launches;  // slice of a call to one of its works
    for (uint32_t i = 0; i < events_.work.size(); ++i) {
      const DeviceWork& work = events_.work[i];
      if (work.launch != kNoEvent) launches[work.launch] = i;
      ends_.push_back({work.end_ns, i});
    }
    std::sort(ends_.begin(), ends_.end());
    for (const DeviceWork& work : events_.earlier_work) earlier_ends_ns_.push_back(work.end_ns);
    std::sort(earlier_ends_ns_.begin(), earlier_ends_ns_.end());
    for (uint32_t thread = 0; thread < points_.size(); ++thread) {
      const HostThread& host = events_.threads[thread];
      auto& points = points_[thread];
      for (uint32_t i = 0; i < host.calls.size(); ++i) {
        const HostCall& call = host.calls[i];
        const auto launched = launches.find(call.slice);
        if (launched != launches.end()) points.push_back({Point::Kind::kStarts, call.start_ns});
        // A copy that is done before its call returns: the call waited for it.
        const bool waits_for_copy =
            launched != launches.end() &&
            events_.work[launched->second].work_class == DeviceWork::Class::kMemory &&
            events_.work[launched->second].start_ns >= call.start_ns &&
            events_.work[launched->second].end_ns <= call.end_ns;
        if (call.blocks || waits_for_copy || held_up_.contains(call.slice)) {
          points.push_back({Point::Kind::kStarts, call.start_ns});
          Point returns{Point::Kind::kReturns, call.end_ns};
          returns.call = i;
          points.push_back(returns);
        }
      }
      find_hand_overs(thread);
    }
    for (auto& points : points_) {
      std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
        return a.ns != b.ns ? a.ns < b.ns : a.kind < b.kind;
      });
    }
  }

  // A thread that had nothing to do until another one was done, such as the main thread during
  // backward and the autograd thread before it.
  void find_hand_overs(uint32_t thread) {
    const auto& labels = events_.threads[thread].labels;
    int64_t idle_since_ns = events_.host_start_ns;
    for (const HostLabel& label : labels) {
      const int64_t pause_ns = label.start_ns - idle_since_ns;
      if (pause_ns >= kShortestHandOverNs) {
        uint32_t other = kNoEvent;
        const int64_t done_ns = last_end_elsewhere(thread, label.start_ns, other);
        if (other != kNoEvent && done_ns > idle_since_ns &&
            2 * (label.start_ns - done_ns) < pause_ns) {
          Point starts{Point::Kind::kStarts, label.start_ns};
          starts.after_thread = other;
          starts.after_ns = done_ns;
          points_[thread].push_back(starts);
          points_[other].push_back({Point::Kind::kDone, done_ns});
        }
      }
      idle_since_ns = std::max(idle_since_ns, label.end_ns);
    }
  }

  // The latest end of a label on another thread, not after `ns`.
  int64_t last_end_elsewhere(uint32_t thread, int64_t ns, uint32_t& other) const {
    int64_t best_ns = std::numeric_limits<int64_t>::min();
    for (uint32_t i = 0; i < events_.threads.size(); ++i) {
      if (i == thread) continue;
      const auto& labels = events_.threads[i].labels;
      const auto after =
          std::upper_bound(labels.begin(), labels.end(), ns,
                           [](int64_t at, const HostLabel& label) { return at < label.end_ns; });
      if (after == labels.begin() || (after - 1)->end_ns <= best_ns) continue;
      best_ns = (after - 1)->end_ns;
      other = i;
    }
    return best_ns;
  }

  // ---- nodes

  void make_nodes() {
    GraphNode start;
    start.start_ns = events_.host_start_ns;
    nodes_.push_back(start);
    if (events_.host_start_ns < events_.start_ns) {
      before_ = static_cast<uint32_t>(nodes_.size());
      GraphNode before;
      before.start_ns = events_.start_ns;
      nodes_.push_back(before);
      connect(before_, {{0, WaitKind::kStart, 0}});
    }
    for (uint32_t thread = 0; thread < points_.size(); ++thread) {
      for (Point& point : points_[thread]) {
        point.node = static_cast<uint32_t>(nodes_.size());
        GraphNode node;
        node.start_ns = point.ns;
        node.thread = thread;
        nodes_.push_back(node);
      }
    }
    first_work_ = static_cast<uint32_t>(nodes_.size());
    for (uint32_t i = 0; i < events_.work.size(); ++i) {
      GraphNode node;
      node.start_ns = events_.work[i].start_ns;
      node.dur_ns = events_.work[i].end_ns - events_.work[i].start_ns;
      node.work = i;
      nodes_.push_back(node);
    }
  }

  // Edges are proposed with the shortest wait they need. The one that is satisfied last decided the
  // start, and its wait becomes what was recorded.
  struct Proposal {
    uint32_t from;
    WaitKind kind;
    int64_t least_ns;
  };

  void connect(uint32_t to, std::initializer_list<Proposal> proposals) {
    GraphNode& node = nodes_[to];
    int64_t latest_ns = std::numeric_limits<int64_t>::min();
    for (const Proposal& proposal : proposals) {
      if (proposal.from == kNoEvent || node.edge_count == node.edges.size()) continue;
      const int64_t there_ns = node.start_ns - nodes_[proposal.from].end_ns();
      if (there_ns < 0) continue;  // clocks disagree, or it did not wait
      const int64_t wait_ns = std::min(proposal.least_ns, there_ns);
      const int64_t satisfied_ns = nodes_[proposal.from].end_ns() + wait_ns;
      if (satisfied_ns > latest_ns) {
        latest_ns = satisfied_ns;
        node.binding = node.edge_count;
      }
      node.edges[node.edge_count++] = {proposal.from, proposal.kind, wait_ns};
    }
    if (node.edge_count == 0) node.edges[node.edge_count++] = {0, WaitKind::kStart, 0};
    GraphEdge& binding = node.edges[node.binding];
    binding.wait_ns = std::max<int64_t>(0, node.start_ns - nodes_[binding.from].end_ns());
  }

  void connect_threads() {
    for (uint32_t thread = 0; thread < points_.size(); ++thread) {
      uint32_t previous = 0;
      for (const Point& point : points_[thread]) {
        const int64_t since_ns = point.ns - nodes_[previous].start_ns;
        if (point.kind == Point::Kind::kReturns) {
          connect_return(point, events_.threads[thread].calls[point.call], previous);
        } else if (point.after_thread != kNoEvent) {
          const int64_t delay_ns = point.ns - point.after_ns;
          connect(point.node,
                  {{previous, WaitKind::kHost, delay_ns},
                   {node_at(point.after_thread, point.after_ns), WaitKind::kThread, delay_ns}});
        } else {
          connect(point.node, {{previous, WaitKind::kHost, since_ns}});
        }
        previous = point.node;
      }
    }
  }

  // Without the device's work only the way back would be left of a call that waits, and of a launch
  // that a full queue holds up what launches usually take.
  void connect_return(const Point& point, const HostCall& call, uint32_t previous) {
    Proposal host = {previous, WaitKind::kHost, point.ns - nodes_[previous].start_ns};
    Proposal device = {kNoEvent, WaitKind::kSync, 0};
    const uint32_t work = last_work_before(call.end_ns);
    const int64_t earlier_ns = last_earlier_end(call.end_ns);
    if (work != kNoEvent && events_.work[work].end_ns > call.start_ns) {
      host.least_ns = call.end_ns - events_.work[work].end_ns;
      device = {first_work_ + work, WaitKind::kSync, host.least_ns};
    } else if (earlier_ns > call.start_ns) {
      // That work is no node: the call returns when it did.
      host.least_ns = call.end_ns - earlier_ns;
      const uint32_t from = call.end_ns >= events_.start_ns ? before_ : 0;
      device = {from, WaitKind::kEarlier, call.end_ns - nodes_[from].end_ns()};
    }
    const auto held_up = held_up_.find(call.slice);
    if (device.from != kNoEvent && held_up != held_up_.end()) host.least_ns = held_up->second;
    connect(point.node, {host, device});
  }

  // When the last work of the steps before ended, not after `ns`.
  int64_t last_earlier_end(int64_t ns) const {
    const auto after = std::upper_bound(earlier_ends_ns_.begin(), earlier_ends_ns_.end(), ns);
    return after == earlier_ends_ns_.begin() ? std::numeric_limits<int64_t>::min() : *(after - 1);
  }

  // The work that ended last, not after `ns`.
  uint32_t last_work_before(int64_t ns) const {
    const auto after =
        std::upper_bound(ends_.begin(), ends_.end(), std::pair<int64_t, uint32_t>(ns, kNoEvent));
    return after == ends_.begin() ? kNoEvent : (after - 1)->second;
  }

  // The last node of a thread that is not after `ns`.
  uint32_t node_at(uint32_t thread, int64_t ns) const {
    const auto& points = points_[thread];
    const auto after =
        std::upper_bound(points.begin(), points.end(), ns,
                         [](int64_t at, const Point& point) { return at < point.ns; });
    return after == points.begin() ? kNoEvent : (after - 1)->node;
  }

  // ---- device work

  void connect_work() {
    const auto call_nodes = nodes_of_calls();
    const auto waits = sources_of_waits();
    // What a launch needs at least, unless the device was never seen waiting for one.
    int64_t least_launch_ns = kUsualLaunchNs;
    for (const DeviceWork& work : events_.work) {
      if (work.launch_ns != kNull && work.start_ns > work.launch_ns)
        least_launch_ns = std::min(least_launch_ns, work.start_ns - work.launch_ns);
    }
    for (uint32_t i = 0; i < events_.work.size(); ++i) {
      const DeviceWork& work = events_.work[i];
      uint32_t launch = kNoEvent;
      const auto call = call_nodes.find(work.launch);
      if (call != call_nodes.end()) launch = call->second;
      const bool has_previous = i > 0 && events_.work[i - 1].track == work.track;
      const auto wait = waits.find(i);
      const uint32_t other =
          wait != waits.end() ? wait->second : likely_source(i, has_previous, least_launch_ns);
      connect(first_work_ + i,
              {has_previous ? Proposal{first_work_ + i - 1, WaitKind::kStream, 0}
                            : Proposal{before_, WaitKind::kEarlier, 0},
               {other != kNoEvent ? first_work_ + other : kNoEvent, WaitKind::kEvent, 0},
               {launch, WaitKind::kLaunch, least_launch_ns}});
    }
  }

  // Most recordings do not say which stream waits for which. Work that was launched in time and
  // starts after a pause of its stream, just after work of another stream ended, waited for that.
  uint32_t likely_source(uint32_t at, bool has_previous, int64_t least_launch_ns) const {
    const DeviceWork& work = events_.work[at];
    const int64_t idle_since_ns = has_previous ? events_.work[at - 1].end_ns : events_.start_ns;
    const int64_t pause_ns = work.start_ns - idle_since_ns;
    if (pause_ns < kShortestHandOverNs || work.launch_ns == kNull) return kNoEvent;
    const uint32_t other = last_work_before(work.start_ns);
    if (other == kNoEvent || events_.work[other].track == work.track) return kNoEvent;
    const int64_t done_ns = events_.work[other].end_ns;
    const bool in_pause = done_ns > idle_since_ns && 2 * (work.start_ns - done_ns) < pause_ns;
    return in_pause && work.launch_ns + least_launch_ns < done_ns ? other : kNoEvent;
  }

  // Launching calls by slice.
  std::unordered_map<uint32_t, uint32_t> nodes_of_calls() const {
    std::unordered_map<uint32_t, uint32_t> nodes;
    for (uint32_t thread = 0; thread < points_.size(); ++thread) {
      size_t at = 0;
      const auto& points = points_[thread];
      for (const HostCall& call : events_.threads[thread].calls) {
        while (at < points.size() && points[at].ns < call.start_ns) ++at;
        for (size_t i = at; i < points.size() && points[i].ns == call.start_ns; ++i) {
          if (points[i].kind != Point::Kind::kStarts) continue;
          nodes.emplace(call.slice, points[i].node);
          break;
        }
      }
    }
    return nodes;
  }

  // For work that waits for an event: the work that the event was recorded after.
  std::unordered_map<uint32_t, uint32_t> sources_of_waits() const {
    std::unordered_map<uint32_t, uint32_t> sources;
    if (events_.waits.empty()) return sources;
    std::unordered_map<int64_t, int64_t> call_ns;  // by correlation
    for (const HostThread& thread : events_.threads) {
      for (const HostCall& call : thread.calls) {
        if (call.correlation != kNull) call_ns.emplace(call.correlation, call.start_ns);
      }
    }
    std::map<int64_t, std::vector<std::pair<int64_t, uint32_t>>> launched;  // by stream
    for (uint32_t i = 0; i < events_.work.size(); ++i) {
      const DeviceWork& work = events_.work[i];
      if (work.launch_ns != kNull) launched[work.stream].emplace_back(work.launch_ns, i);
    }
    for (auto& [stream, list] : launched) std::sort(list.begin(), list.end());
    for (const StreamWait& wait : events_.waits) {
      const auto recorded = call_ns.find(wait.record_correlation);
      const auto waited = call_ns.find(wait.wait_correlation);
      if (recorded == call_ns.end() || waited == call_ns.end()) continue;
      const auto& from = launched[wait.source_stream];
      const auto& to = launched[wait.waiting_stream];
      const auto source =
          std::lower_bound(from.begin(), from.end(), std::pair(recorded->second, uint32_t{0}));
      const auto target =
          std::lower_bound(to.begin(), to.end(), std::pair(waited->second, uint32_t{0}));
      if (source == from.begin() || target == to.end()) continue;
      const uint32_t found = (source - 1)->second;
      const auto [known, is_new] = sources.emplace(target->second, found);
      if (!is_new && events_.work[found].end_ns > events_.work[known->second].end_ns)
        known->second = found;
    }
    return sources;
  }

  void connect_end() {
    uint32_t last_point = kNoEvent;
    if (events_.main_thread != kNoEvent)
      last_point = node_at(events_.main_thread, events_.host_end_ns);
    if (last_point == kNoEvent) last_point = 0;
    host_end_ = static_cast<uint32_t>(nodes_.size());
    GraphNode end;
    end.thread = events_.main_thread;
    end.start_ns = events_.host_end_ns;
    nodes_.push_back(end);
    connect(host_end_, {{last_point, WaitKind::kHost, end.start_ns - nodes_[last_point].start_ns}});
    end.start_ns = events_.end_ns;
    nodes_.push_back(end);
    const uint32_t last_work = ends_.empty() ? kNoEvent : first_work_ + ends_.back().second;
    connect(host_end_ + 1, {{last_work, WaitKind::kSync, 0}, {host_end_, WaitKind::kHost, 0}});
  }

  // ---- order

  StepGraph sorted() {
    std::vector<uint32_t> order(nodes_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    // Work and the moments of the host were made in an order that ties must keep; the end is last.
    std::stable_sort(order.begin() + 1, order.end() - 1, [&](uint32_t a, uint32_t b) {
      return nodes_[a].start_ns < nodes_[b].start_ns;
    });
    std::vector<uint32_t> place(nodes_.size());
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    StepGraph graph;
    graph.host_end = place[host_end_];
    graph.nodes.reserve(nodes_.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      GraphNode node = nodes_[order[i]];
      GraphNode kept = node;
      kept.edge_count = 0;
      kept.binding = 0;
      for (uint8_t e = 0; e < node.edge_count; ++e) {
        GraphEdge edge = node.edges[e];
        edge.from = place[edge.from];
        if (i > 0 && edge.from >= i) continue;  // the same moment, the other way round
        if (e == node.binding) kept.binding = kept.edge_count;
        kept.edges[kept.edge_count++] = edge;
      }
      if (kept.edge_count == 0) kept.edges[kept.edge_count++] = {0, WaitKind::kStart, 0};
      GraphEdge& binding = kept.edges[kept.binding];
      if (i > 0) {
        binding.wait_ns = std::max<int64_t>(0, kept.start_ns - graph.nodes[binding.from].end_ns());
      }
      graph.nodes.push_back(kept);
    }
    return graph;
  }

  const StepEvents& events_;
  std::vector<std::vector<Point>> points_;          // by thread, by time
  std::unordered_map<uint32_t, int64_t> held_up_;   // launching calls
  std::vector<std::pair<int64_t, uint32_t>> ends_;  // of work, by time
  std::vector<int64_t> earlier_ends_ns_;            // of work of the steps before
  std::vector<GraphNode> nodes_;
  uint32_t before_ = 0;  // the device is done with the steps before
  uint32_t first_work_ = 0;
  uint32_t host_end_ = 0;
};

}  // namespace

StepGraph build_step_graph(const StepEvents& events) { return Builder(events).take(); }

}  // namespace stepscope
