// Communication: what each operator and link did, and who kept whom waiting.
//
// Ranks are read on their own; then the same operation is found on all recorded ranks by group and
// number. Where a source gives the transfers and waits of an operator (Ascend from level 1 on),
// links are measured and waits name the peer they wait for, recorded or not. Where it does not
// (NCCL, gloo, MindSpore on CPU), waiting is what an operation took longer than on its fastest
// rank.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_H_

#include <functional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/reason.h"
#include "analyses/communication/communication_rows.h"
#include "analyses/communication/late_rows.h"
#include "analyses/communication/rank_communication.h"
#include "store/store_reader.h"

namespace stepscope {

struct Communication {
  std::vector<RankCommunication> ranks;  // by position; their operators are in `operators`
  std::vector<CommunicationOperatorRow> operators;
  std::vector<size_t> first_operator;  // of each position, and one past the last
  std::vector<PeerWaitRow> peer_waits;
  std::vector<CommunicationLinkRow> links;
  std::vector<CommunicationMatrixRow> matrix;
  std::vector<CommunicationSumRow> groups;
  std::vector<CommunicationSumRow> steps;
  std::vector<CollectiveRow> collectives;
  std::vector<LateRankRow> late_ranks;
  std::vector<Reason> reasons;  // what its tables lack
};

Communication communication(const StoreReader& store, const std::vector<RankId>& ranks,
                            unsigned threads);

// Parts of it, in the order in which they are computed. Each fills its tables from the operators.

struct MatchCounts {
  int64_t only_one_rank = 0;  // operations that one recorded rank has
  int64_t other_counts = 0;   // without numbers, and not equally often on all ranks
  int64_t apart = 0;          // that do not overlap in time: not the same, or clocks differ
};
MatchCounts match_collectives(Communication& result);
void sum_links(Communication& result);
void sum_operators(Communication& result);
void find_late_ranks(const StoreReader& store, const std::vector<RankId>& ranks,
                     Communication& result);

// What one operation moved over a link: its transfers of one size or, where the source tells no
// transfers (NCCL, gloo), the exchange of a group of two.
struct LinkUse {
  size_t position;  // of the rank that recorded it
  const CommunicationOperatorRow& operation;
  int64_t src_rank;
  int64_t dst_rank;
  std::string_view transport;
  std::string_view link;
  int64_t packets;
  int64_t bytes;
  int64_t time_ns;

  // A link of the matrix.
  using Key = std::tuple<int64_t, int64_t, std::string_view, std::string_view>;
  Key key() const { return {src_rank, dst_rank, transport, link}; }
};
void for_each_link_use(const Communication& communication,
                       const std::function<void(const LinkUse&)>& visit);

// Of each operator the longest wait of a plane for a peer, by the operator's slice: planes wait
// side by side, so that the sum over all of them would be more than the operator took. Points into
// the argument.
std::unordered_map<int64_t, const PeerWaitRow*> longest_peer_waits(
    const Communication& communication);

// Smaller messages take as long as their latency, whatever the link can do.
inline constexpr int64_t kSmallMessageBytes = 1 << 20;
// Links this much below the mean of their sort are slow (MindInsight's rule for clusters).
inline constexpr double kSlowLinkShare = 0.2;
// A rank is late when waiting for it takes more than this share of the waiting ranks'
// communication, it is more than half of all waiting, and costs more than this share of the time:
// somebody is always last.
inline constexpr double kLateRankShare = 0.2;
inline constexpr double kLateRankOfWaiting = 0.5;
inline constexpr double kLateRankOfTime = 0.05;

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_H_
