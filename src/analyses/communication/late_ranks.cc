// Ranks that others wait for, by two kinds of evidence. A wait on a plane names the peer it waits
// for, which tells even when that peer was not recorded; of operations that several ranks recorded,
// the rank that starts last is what the others wait for.
#include <algorithm>
#include <map>
#include <set>
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

WaitingByRank named_by_waits(const Communication& result) {
  WaitingByRank late;
  for (const auto& [slice, row] : longest_peer_waits(result)) {
    Waiting& waiting = late[row->peer];
    ++waiting.operators;
    waiting.wait_ns += row->wait_ns;
    waiting.ranks.insert({row->rank, row->window});
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

struct Recorded {
  std::set<int64_t> ranks;
  std::map<Place, int64_t> communication_ns;
  std::map<Place, int64_t> time_ns;  // first to last event
};

int64_t sum_of(const std::map<Place, int64_t>& lengths, const std::set<Place>& places) {
  int64_t sum_ns = 0;
  for (const Place& place : places) {
    const auto found = lengths.find(place);
    if (found != lengths.end()) sum_ns += found->second;
  }
  return sum_ns;
}

double part_of(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void add(const WaitingByRank& late, std::string_view evidence, const Recorded& recorded,
         Communication& result) {
  int64_t all_ns = 0;
  for (const auto& [rank, waiting] : late) all_ns += waiting.wait_ns;
  for (const auto& [rank, waiting] : late) {
    LateRankRow row;
    row.rank = rank;
    row.recorded = recorded.ranks.contains(rank);
    row.evidence = evidence;
    row.operators = waiting.operators;
    row.waiting_ranks = static_cast<int64_t>(waiting.ranks.size());
    row.wait_ns = waiting.wait_ns;
    row.share = part_of(row.wait_ns, sum_of(recorded.communication_ns, waiting.ranks));
    row.of_waiting = part_of(row.wait_ns, all_ns);
    row.of_time = part_of(row.wait_ns, sum_of(recorded.time_ns, waiting.ranks));
    row.late = row.share > kLateRankShare && row.of_waiting > kLateRankOfWaiting &&
               row.of_time > kLateRankOfTime;
    result.late_ranks.push_back(row);
  }
}

}  // namespace

std::unordered_map<int64_t, const PeerWaitRow*> longest_peer_waits(const Communication& result) {
  std::unordered_map<int64_t, const PeerWaitRow*> longest;
  for (const PeerWaitRow& row : result.peer_waits) {
    if (row.peer == row.rank || row.peer == kNull) continue;
    const PeerWaitRow*& one = longest[row.slice];
    if (one == nullptr || row.wait_ns > one->wait_ns) one = &row;
  }
  return longest;
}

void find_late_ranks(const StoreReader& store, const std::vector<RankId>& ranks,
                     Communication& result) {
  Recorded recorded;
  for (const RankId& rank : ranks) {
    recorded.ranks.insert(rank.rank);
    const int64_t first_ns = number_at(store, Table::kRanks, "first_ns", rank.position);
    const int64_t last_ns = number_at(store, Table::kRanks, "last_ns", rank.position);
    if (first_ns != kNull && last_ns != kNull)
      recorded.time_ns[{rank.rank, rank.window}] = last_ns - first_ns;
  }
  for (const CommunicationOperatorRow& row : result.operators)
    recorded.communication_ns[{row.rank, row.window}] += row.elapse_ns;
  add(named_by_waits(result), "notify_wait", recorded, result);
  add(arrived_last(result), "arrived_last", recorded, result);
  std::stable_sort(
      result.late_ranks.begin(), result.late_ranks.end(),
      [](const LateRankRow& a, const LateRankRow& b) { return a.wait_ns > b.wait_ns; });
}

}  // namespace stepscope
