// What kernels with NCCL's name SendRecv do. It is the name of every exchange that NCCL makes of
// sends and receives, an all-to-all as well as a pipeline's; some versions give it to all
// collectives. The source says which it is (`op`), or the host's call around the launch does
// ("nccl:all_to_all", "c10d::alltoall_base_").
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_SEND_RECEIVE_KINDS_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_SEND_RECEIVE_KINDS_H_

#include <cstdint>
#include <unordered_map>

#include "analyses/communication/collective_kind.h"
#include "store/store_reader.h"

namespace stepscope {

// By slice, those that the name alone does not tell. Costs one pass over the kernels and one over
// the communications where there is such a name, else nothing.
std::unordered_map<int64_t, CollectiveKind> send_receive_kinds(const StoreReader& store,
                                                               size_t rank);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_SEND_RECEIVE_KINDS_H_
