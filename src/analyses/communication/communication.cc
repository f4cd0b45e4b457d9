#include "analyses/communication/communication.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/intervals.h"
#include "base/parallel.h"

namespace stepscope {
namespace {

using Tables = std::span<const std::string_view>;
constexpr std::string_view kAllTables[] = {
    "communication_operators",   "communication_groups", "communication_steps",
    "communication_collectives", "communication_links",  "communication_matrix",
    "communication_peer_waits",  "late_ranks",
};
constexpr std::string_view kAcrossRanks[] = {"communication_operators", "communication_collectives",
                                             "late_ranks"};
constexpr std::string_view kLinks[] = {"communication_links", "communication_matrix"};
constexpr std::string_view kPeerWaits[] = {"communication_peer_waits"};

void say(Communication& result, Tables tables, const std::string& why) {
  for (const std::string_view table : tables) result.reasons.push_back({std::string(table), why});
}

void say(Communication& result, Tables tables, int64_t count, std::string_view what) {
  if (count > 0) say(result, tables, std::to_string(count) + " " + std::string(what));
}

// What is left empty although there is communication.
void explain_empty_tables(bool any_transfers, Communication& result) {
  if (!any_transfers) {
    say(result, kPeerWaits,
        "no waits for a peer in the input: Ascend recordings have them from profiler_level Level1 "
        "on");
    say(result, kLinks,
        result.matrix.empty()
            ? "no transfers between ranks in the input (Ascend recordings have them from "
              "profiler_level Level1 on), and no group of two that both ranks recorded: links are "
              "not measured"
            : "no transfers between ranks in the input: links are measured by the groups of two "
              "ranks, others are not");
  } else if (result.matrix.empty()) {
    say(result, kLinks, "no transfers between two ranks in the input");
  }
  const auto said = [&](std::string_view table) {
    return std::ranges::find(result.reasons, table, &Reason::table) != result.reasons.end();
  };
  const auto explain = [&](bool is_empty, std::string_view table, const char* why) {
    if (is_empty && !said(table)) say(result, {&table, 1}, why);
  };
  explain(result.peer_waits.empty(), "communication_peer_waits",
          "no operation waited for a peer that is named");
  explain(result.collectives.empty(), "communication_collectives",
          "no operation was recorded on two ranks or more");
  explain(result.late_ranks.empty(), "late_ranks", "no rank was waited for");
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
    say(result, kAllTables,
        "no communication operators: the job has one rank, or communication was not recorded (on "
        "Ascend it needs profiler_level Level1 or more for transfers)");
  }
  say(result, kAllTables, left_out, "impossible communication events are left out");
  say(result, kAllTables, lost_tasks, "transfers belong to no operator of the input");
  const MatchCounts counts = match_collectives(result);
  say(result, kAcrossRanks, counts.only_one_rank,
      "operations were recorded on one rank only: nobody to compare");
  say(result, kAcrossRanks, counts.other_counts,
      "operations have no numbers and are not equally many on all ranks, so they are not matched");
  say(result, kAcrossRanks, counts.apart,
      "operations with the same name and number do not overlap in time: not the same ones, or the "
      "hosts' clocks differ; they are not matched");
  sum_links(result);
  sum_operators(result);
  find_late_ranks(store, ranks, result);
  if (!result.operators.empty()) explain_empty_tables(any_transfers, result);
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
