// The communication operators of one rank, with what their transfers and waits say.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_RANK_COMMUNICATION_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_RANK_COMMUNICATION_H_

#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/communication/communication_rows.h"
#include "analyses/communication/late_rows.h"
#include "store/store_reader.h"

namespace stepscope {

struct RankCommunication {
  std::vector<CommunicationOperatorRow> operators;  // by start
  std::vector<CommunicationTransferRow> transfers;  // by operator
  std::vector<PeerWaitRow> peer_waits;              // by operator
  int64_t left_out = 0;                             // impossible events
  int64_t lost_tasks = 0;                           // tasks of no operator in the input
};

// Whole operators on the device, or host calls where the rank has no others. O(n log n) in the
// rank's rows of `communications`.
RankCommunication rank_communication(const StoreReader& store, const RankId& rank);

// A peer is named as late when a plane waits for it for more than this share of the operator.
inline constexpr double kLatePeerShare = 0.2;

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_RANK_COMMUNICATION_H_
