// What had to wait for what in a step: a graph whose nodes are moments of host threads and pieces
// of device work, and in which every node starts when the last of what it waits for is done. With
// the recorded lengths it gives back the recorded times exactly; with other lengths, an estimate.
#ifndef STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_GRAPH_H_
#define STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_GRAPH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "analyses/critical_path/step_events.h"

namespace stepscope {

// What holds a node up until it starts.
enum class WaitKind : uint8_t {
  kStart,    // the beginning of the step
  kEarlier,  // the device was at the steps before
  kHost,     // the thread works, or Python between its operators
  kThread,   // another thread had to finish
  kLaunch,   // from the launching call to the start of the work
  kStream,   // from the end of the work before on its stream
  kEvent,    // from the end of work on another stream (stream waits for an event)
  kSync,     // from the end of device work to the return of a call that waits for it
};

struct GraphEdge {
  uint32_t from = kNoEvent;
  WaitKind kind = WaitKind::kStart;
  int64_t wait_ns = 0;  // after the end of `from`
};

struct GraphNode {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;          // of device work; moments of the host have none
  uint32_t thread = kNoEvent;  // place in StepEvents::threads
  uint32_t work = kNoEvent;    // place in StepEvents::work
  std::array<GraphEdge, 4> edges;
  uint8_t edge_count = 0;
  uint8_t binding = 0;  // the edge that decided the start

  int64_t end_ns() const { return start_ns + dur_ns; }
};

struct StepGraph {
  // In an order in which every edge comes from an earlier node; the first is the beginning of the
  // step on the host, the last its end.
  std::vector<GraphNode> nodes;
  uint32_t host_end = 0;  // the node where the step ends on the host
};

StepGraph build_step_graph(const StepEvents& events);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_GRAPH_H_
