#include "analyses/communication/plane_tasks.h"

#include <algorithm>

#include "analyses/common/bounded_math.h"
#include "analyses/common/names.h"
#include "store/schema.h"

namespace stepscope {
namespace {

constexpr size_t kTasksBehindPayload = 4;
constexpr size_t kTasksBehindPayloadOfPeers = 2;

bool is_between_peers(std::string_view name) {
  return contains_ignoring_case(name, "send") || contains_ignoring_case(name, "receive");
}

void clear(PlaneTask& task) {
  task.wait_ns = kNull;
  task.transit_ns = kNull;
  task.bytes = 0;
}

}  // namespace

RdmaPart rdma_part(std::string_view type) {
  if (!type.starts_with("RDMA_")) return RdmaPart::kUnknown;
  return type == "RDMA_SEND_PAYLOAD" ? RdmaPart::kPayload : RdmaPart::kOther;
}

void join_rdma_groups(std::span<PlaneTask> tasks, std::string_view operation_name) {
  const auto is_payload = [](const PlaneTask& task) { return task.rdma == RdmaPart::kPayload; };
  if (std::ranges::all_of(tasks, [](const auto& t) { return t.rdma == RdmaPart::kUnknown; }))
    return;
  const size_t behind =
      is_between_peers(operation_name) ? kTasksBehindPayloadOfPeers : kTasksBehindPayload;
  for (size_t at = 0; at < tasks.size();) {
    if (!is_payload(tasks[at])) {
      if (tasks[at].rdma == RdmaPart::kOther) clear(tasks[at]);  // a notification, no data
      ++at;
      continue;
    }
    size_t after = at;
    int64_t bytes = 0;
    while (after < tasks.size() && tasks[after].plane == tasks[at].plane &&
           is_payload(tasks[after])) {
      bytes = bounded_plus(bytes, std::max<int64_t>(0, tasks[after].bytes));
      ++after;
    }
    const size_t last = after + behind - 1;
    const bool is_closed = last < tasks.size() && tasks[last].plane == tasks[at].plane;
    const size_t end = is_closed ? last + 1 : after;
    for (size_t i = at; i < end; ++i) clear(tasks[i]);
    if (is_closed) {
      PlaneTask& group = tasks[at];
      group.dur_ns =
          bounded_minus(bounded_plus(tasks[last].ts_ns, tasks[last].dur_ns), group.ts_ns);
      group.transit_ns = group.dur_ns;
      group.bytes = bytes;
    }
    at = end;
  }
}

}  // namespace stepscope
