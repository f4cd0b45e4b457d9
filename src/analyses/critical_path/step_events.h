// The events of one step that its critical path can run through, loaded from the store by time: the
// cost follows the step, not the recording.
#ifndef STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_EVENTS_H_
#define STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_EVENTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/steps/step_row.h"
#include "base/intervals.h"
#include "store/store_reader.h"

namespace stepscope {

inline constexpr uint32_t kNoEvent = 0xFFFFFFFFu;

// A call into the device's runtime.
struct HostCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t slice = kNoEvent;  // row
  int64_t name = kNull;       // string
  int64_t correlation = kNull;
  bool blocks = false;  // returns when the device is done
};

// An outermost operator, call or fetch of data; labels of a thread do not overlap.
struct HostLabel {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t slice = kNoEvent;
  bool fetches_data = false;
};

struct HostThread {
  uint32_t track = 0;             // row
  std::vector<HostLabel> labels;  // by start
  std::vector<HostCall> calls;    // by start
};

struct DeviceWork {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t launch_ns = kNull;  // start of the launching call
  uint32_t slice = kNoEvent;
  uint32_t launch = kNoEvent;  // row of the launching call's slice
  uint32_t track = 0;
  int64_t name = kNull;     // string
  int64_t op_type = kNull;  // string, of sources that have one
  int64_t stream = kNull;
  enum class Class : uint8_t { kCompute, kMemory, kCommunication } work_class = Class::kCompute;
};

// "Stream Wait Event": work that `waiting_stream` gets after the call of correlation `wait` does
// not start before what `source_stream` had got when the call of correlation `record` was made.
struct StreamWait {
  int64_t waiting_stream = kNull;
  int64_t source_stream = kNull;
  int64_t wait_correlation = kNull;
  int64_t record_correlation = kNull;
};

struct StepEvents {
  int64_t start_ns = 0;  // of the path: StepRow::work_start_ns
  int64_t end_ns = 0;
  int64_t host_start_ns = 0;  // the host begins earlier when the device is behind
  int64_t host_end_ns = 0;
  std::vector<HostThread> threads;
  uint32_t main_thread = kNoEvent;  // place in `threads`
  std::vector<DeviceWork> work;     // by track, then start
  // What the device still did for the steps before while the host was in this one.
  std::vector<DeviceWork> earlier_work;
  std::vector<StreamWait> waits;
};

StepEvents load_step_events(const StoreReader& store, size_t rank, const StepRow& step);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CRITICAL_PATH_STEP_EVENTS_H_
