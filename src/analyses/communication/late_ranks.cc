// Ranks that others wait for, by two kinds of evidence. A wait on a plane names the peer it waits
// for, which tells even when that peer was not recorded; of operations that several ranks recorded,
// the rank that starts last is what the others wait for.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analyses/communication/communication.h"

namespace stepscope {
namespace {

using Place = std::pair<int64_t, int64_t>;  // rank and window

struct Waiting {
  int64_t operators = 0;
  int64_t wait_ns = 0;
  std::set<Place> ranks;
};
using WaitingByRank = std::map<int64_t, Waiting>;

// Of each operator the longest wait of a plane for a peer: planes wait side by side, so that the
// sum over all of them would be more than the operator took.
WaitingByRank named_by_waits(const Communication& result) {
  struct Longest {
    const PeerWaitRow* row = nullptr;
  };
  std::unordered_map<int64_t, Longest> longest;  // by slice, whose ids are those of the whole run
  for (const PeerWaitRow& row : result.peer_waits) {
    if (row.peer == row.rank || row.peer == kNull) continue;
    Longest& one = longest[row.slice];
    if (one.row == nullptr || row.wait_ns > one.row->wait_ns) one.row = &row;
  }
  WaitingByRank late;
  for (const auto& [slice, one] : longest) {
    Waiting& waiting = late[one.row->peer];
    ++waiting.operators;
    waiting.wait_ns += one.row->wait_ns;
    waiting.ranks.insert({one.row->rank, one.row->window});
  }
  return late;
}

WaitingByRank arrived_last(const Communication& result) {
  WaitingByRank late;
  for (const CommunicationOperatorRow& row : result.operators) {
    if (row.last_rank == kNull || row.last_rank == row.rank || row.peer_wait_ns <= 0) continue;
    Waiting& waiting = late[row.last_rank];
    ++waiting.operators;
    waiting.wait_ns += row.peer_wait_ns;
    waiting.ranks.insert({row.rank, row.window});
  }
  return late;
}

void add(const WaitingByRank& late, std::string_view evidence, const std::set<int64_t>& recorded,
         const std::map<Place, int64_t>& communication_ns, Communication& result) {
  int64_t all_ns = 0;
  for (const auto& [rank, waiting] : late) all_ns += waiting.wait_ns;
  for (const auto& [rank, waiting] : late) {
    LateRankRow row;
    row.rank = rank;
    row.recorded = recorded.contains(rank);
    row.evidence = evidence;
    row.operators = waiting.operators;
    row.waiting_ranks = static_cast<int64_t>(waiting.ranks.size());
    row.wait_ns = waiting.wait_ns;
    int64_t communicating_ns = 0;
    for (const Place& place : waiting.ranks) communicating_ns += communication_ns.at(place);
    if (communicating_ns > 0)
      row.share = static_cast<double>(row.wait_ns) / static_cast<double>(communicating_ns);
    if (all_ns > 0) row.of_waiting = static_cast<double>(row.wait_ns) / static_cast<double>(all_ns);
    row.late = row.share > kLateRankShare && row.of_waiting > kLateRankOfWaiting;
    result.late_ranks.push_back(row);
  }
}

}  // namespace

void find_late_ranks(const std::vector<RankId>& ranks, Communication& result) {
  std::set<int64_t> recorded;
  for (const RankId& rank : ranks) recorded.insert(rank.rank);
  std::map<Place, int64_t> communication_ns;
  for (const CommunicationOperatorRow& row : result.operators)
    communication_ns[{row.rank, row.window}] += row.elapse_ns;
  add(named_by_waits(result), "notify_wait", recorded, communication_ns, result);
  add(arrived_last(result), "arrived_last", recorded, communication_ns, result);
  std::stable_sort(
      result.late_ranks.begin(), result.late_ranks.end(),
      [](const LateRankRow& a, const LateRankRow& b) { return a.wait_ns > b.wait_ns; });
}

}  // namespace stepscope
