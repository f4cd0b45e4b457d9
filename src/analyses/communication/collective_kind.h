// What a collective does, from the many ways its name is written: hcom_allReduce__586_0_1,
// ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL, _allgather_base, Default/AllReduce-op0.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_COLLECTIVE_KIND_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_COLLECTIVE_KIND_H_

#include <cstdint>
#include <string_view>

namespace stepscope {

enum class CollectiveKind : uint8_t {
  kOther,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kScatter,
  kGather,
  kSendReceive,
  kSend,
  kReceive,
  kBarrier,
};

CollectiveKind collective_kind(std::string_view name);
std::string_view collective_kind_name(CollectiveKind kind);
// Between two ranks, rather than in a whole group.
bool is_point_to_point(CollectiveKind kind);

// NCCL's measure: the bytes of the whole operation, from what one rank puts in. `counts_output`:
// the source counts what a rank gets out (HCCL's reduce-scatter).
int64_t operation_bytes(CollectiveKind kind, int64_t rank_bytes, int64_t group_size,
                        bool counts_output);
// How many of those bytes each link carries: bus bandwidth = factor x bytes / time. 2(n-1)/n for
// all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, else 1.
double bus_factor(CollectiveKind kind, int64_t group_size);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_COLLECTIVE_KIND_H_
