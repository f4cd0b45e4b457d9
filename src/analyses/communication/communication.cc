#include "analyses/communication/communication.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/intervals.h"
#include "base/parallel.h"

namespace stepscope {
namespace {

void say(Communication& result, int64_t count, std::string_view what) {
  if (count > 0) result.reasons.push_back(std::to_string(count) + " " + std::string(what));
}

void add_known(int64_t& sum, int64_t value) {
  if (value != kNull) sum += value;
}

// Sums of the rows that `key` gives the same key, of one rank.
template <class Key>
std::vector<CommunicationSumRow> sums_of(std::span<const CommunicationOperatorRow> rows,
                                         const Key& key) {
  struct Sum {
    CommunicationSumRow row;
    std::vector<Interval> intervals;
  };
  std::map<decltype(key(rows[0])), Sum> sums;
  for (const CommunicationOperatorRow& row : rows) {
    Sum& sum = sums[key(row)];
    if (sum.row.operators == 0) {
      sum.row.rank = row.rank;
      sum.row.window = row.window;
      sum.row.step = row.step;
      sum.row.group = row.group;
      sum.row.kind = row.kind;
    }
    sum.row.group_size = std::max(sum.row.group_size, row.group_size);
    ++sum.row.operators;
    sum.row.elapse_ns += row.elapse_ns;
    add_known(sum.row.transit_ns, row.transit_ns);
    add_known(sum.row.wait_ns, row.wait_ns);
    add_known(sum.row.synchronization_ns, row.synchronization_ns);
    add_known(sum.row.idle_ns, row.idle_ns);
    add_known(sum.row.moving_ns, row.moving_ns);
    add_known(sum.row.blocked_ns, row.blocked_ns);
    add_known(sum.row.peer_wait_ns, row.peer_wait_ns);
    add_known(sum.row.bytes, row.bytes);
    add_known(sum.row.transfer_bytes, row.transfer_bytes);
    add_known(sum.row.transfer_ns, row.transfer_ns);
    sum.intervals.push_back({row.start_ns, row.end_ns()});
  }
  std::vector<CommunicationSumRow> result;
  for (auto& [name, sum] : sums) {
    sum.row.busy_ns = total_length_ns(merge_intervals(std::move(sum.intervals)));
    sum.row.transfer_bandwidth = bytes_per_second(sum.row.transfer_bytes, sum.row.transfer_ns);
    result.push_back(sum.row);
  }
  return result;
}

void append(std::vector<CommunicationSumRow>& all, std::vector<CommunicationSumRow> more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Communication communication(const StoreReader& store, const std::vector<RankId>& ranks,
                            unsigned threads) {
  Communication result;
  result.ranks.resize(ranks.size());
  parallel_for(ranks.size(), threads,
               [&](size_t rank) { result.ranks[rank] = rank_communication(store, ranks[rank]); });
  int64_t left_out = 0;
  int64_t lost_tasks = 0;
  bool any_transfers = false;
  for (RankCommunication& rank : result.ranks) {
    result.first_operator.push_back(result.operators.size());
    result.operators.insert(result.operators.end(), rank.operators.begin(), rank.operators.end());
    result.peer_waits.insert(result.peer_waits.end(), rank.peer_waits.begin(),
                             rank.peer_waits.end());
    rank.operators = {};
    rank.peer_waits = {};
    left_out += rank.left_out;
    lost_tasks += rank.lost_tasks;
    any_transfers |= !rank.transfers.empty();
  }
  result.first_operator.push_back(result.operators.size());
  if (result.operators.empty()) {
    result.reasons.emplace_back(
        "no communication operators: the job has one rank, or communication was not recorded (on "
        "Ascend it needs profiler_level Level1 or more for transfers)");
  } else if (!any_transfers) {
    result.reasons.emplace_back(
        "no transfers between ranks in the input, so links are not measured: Ascend recordings "
        "have them from profiler_level Level1 on");
  }
  say(result, left_out, "impossible communication events are left out");
  say(result, lost_tasks, "transfers belong to no operator of the input");
  const MatchCounts counts = match_collectives(result);
  say(result, counts.only_one_rank, "operations were recorded on one rank only: nobody to compare");
  say(result, counts.other_counts,
      "operations have no numbers and are not equally many on all ranks, so they are not matched");
  say(result, counts.apart,
      "operations with the same name and number do not overlap in time: not the same ones, or the "
      "hosts' clocks differ; they are not matched");
  sum_links(result);
  sum_operators(result);
  find_late_ranks(store, ranks, result);
  return result;
}

void sum_operators(Communication& result) {
  for (size_t rank = 0; rank + 1 < result.first_operator.size(); ++rank) {
    const auto rows = std::span(result.operators)
                          .subspan(result.first_operator[rank],
                                   result.first_operator[rank + 1] - result.first_operator[rank]);
    if (rows.empty()) continue;
    append(result.groups, sums_of(rows, [](const CommunicationOperatorRow& row) {
             return std::tuple(row.group, row.group_identity, row.kind);
           }));
    append(result.steps,
           sums_of(rows, [](const CommunicationOperatorRow& row) { return row.step; }));
  }
}

}  // namespace stepscope
