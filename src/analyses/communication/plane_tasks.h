// Transfers and waits on the planes of a communication operator.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_PLANE_TASKS_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_PLANE_TASKS_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope {

// What a task over RDMA does, where the input says so.
enum class RdmaPart : uint8_t { kUnknown, kPayload, kOther };
RdmaPart rdma_part(std::string_view type);

struct PlaneTask {
  uint32_t operation;
  int32_t plane;
  int64_t ts_ns;
  int64_t dur_ns;
  int64_t wait_ns;
  int64_t transit_ns;
  int64_t bytes;
  int64_t src_rank;
  int64_t dst_rank;
  int64_t transport;
  int64_t link;
  RdmaPart rdma = RdmaPart::kUnknown;
};

// Data sent over RDMA are on their way until the tasks behind them have told the peer and heard
// from it. CANN counts as one transfer the payloads that follow each other, with two more tasks in
// an operator between two ranks and four in others; waits inside are not waits. Without the closing
// tasks nothing is counted. The first task of a group gets its times and bytes, the others none.
// `tasks` of one operator by plane and start; inputs that do not tell payloads stay as they are.
void join_rdma_groups(std::span<PlaneTask> tasks, std::string_view operation_name);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_PLANE_TASKS_H_
