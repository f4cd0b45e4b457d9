// A rank as Chrome trace JSON, in Kineto's dialect: what Perfetto, chrome://tracing and our own
// importer open.
//
// Streamed: memory does not grow with the trace, but for the slices that overlap others without
// being nested in them. Viewers drop or cut such slices, so they get lanes of their own: tid "7
// (overlap 1)", whose thread_name event has args.overlap_of = the tid they belong to.
//
// Kept: names, categories, exact ns, args as they are, arrows, counters, memory events, instants,
// unfinished and asynchronous slices. Args that are no JSON any more are kept as text under "raw".
#ifndef STEPSCOPE_DELIVERABLES_CHROME_TRACE_H_
#define STEPSCOPE_DELIVERABLES_CHROME_TRACE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "store/store_reader.h"

namespace stepscope {

struct ChromeTraceOptions {
  // Slices that touch this range, and what happens in it.
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> steps;  // empty: all, and what is in no step
  const Progress* progress = nullptr;
};

struct TimelineLane;
class TraceViewPlaces;

// A lane of segments for a trace view. Segments are named like the lane, or by `name` where given.
struct ComputedLane {
  std::string place;  // "pid":..,"tid":..
  std::string_view name;
  const TimelineLane* lane;
};
// What makes the events a trace view; see trace_view.h.
struct TraceViewParts {
  const TraceViewPlaces* places = nullptr;
  std::vector<ComputedLane> lanes;
};
Status write_chrome_events(const StoreReader& store, size_t rank, const ChromeTraceOptions& options,
                           const TraceViewParts& view,
                           const std::function<Status(std::string_view)>& sink);

// `rank` is the position in the store. Fails when the args cannot be read any more.
Status write_chrome_trace(const StoreReader& store, size_t rank, const ChromeTraceOptions& options,
                          const std::function<Status(std::string_view)>& sink);

}  // namespace stepscope

#endif  // STEPSCOPE_DELIVERABLES_CHROME_TRACE_H_
