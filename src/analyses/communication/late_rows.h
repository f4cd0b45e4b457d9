// The tables of the communication analysis that say who keeps whom waiting.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_LATE_ROWS_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_LATE_ROWS_H_

#include "analyses/communication/communication_rows.h"

namespace stepscope {

// Waiting of one plane of an operator for one peer, as the waits name it.
struct PeerWaitRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  int64_t slice = 0;
  std::string_view name;
  std::string_view group;
  int64_t sequence = kNull;
  int64_t peer = kNull;
  int64_t plane = 0;
  int64_t waits = 0;
  int64_t wait_ns = 0;

  int64_t first_start_ns = 0;  // for what is computed from these rows
};

inline constexpr Field<PeerWaitRow> kPeerWaitFields[] = {
    field<&PeerWaitRow::rank>("rank", Unit::kNone, "rank that waits"),
    field<&PeerWaitRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PeerWaitRow::step>("step", Unit::kNone, "step; NULL outside of steps"),
    field<&PeerWaitRow::slice>("slice", Unit::kNone, "the operator's row in slices"),
    field<&PeerWaitRow::name>("name", Unit::kNone, "the operator"),
    field<&PeerWaitRow::group>("group", Unit::kNone, "process group"),
    field<&PeerWaitRow::sequence>("sequence", Unit::kNone, "number of the operation in its group"),
    field<&PeerWaitRow::peer>("peer", Unit::kNone, "rank that is waited for"),
    field<&PeerWaitRow::plane>("plane", Unit::kNone, "plane that waits"),
    field<&PeerWaitRow::waits>("waits", Unit::kCount, "waits"),
    field<&PeerWaitRow::wait_ns>("wait_ns", Unit::kNanoseconds, "sum of their lengths"),
};

// One operation that several recorded ranks took part in.
struct CollectiveRow {
  std::string_view name;
  std::string_view kind;
  std::string_view group;
  int64_t sequence = kNull;
  int64_t step = kNull;
  int64_t ranks = 0;
  int64_t first_rank = kNull;
  int64_t last_rank = kNull;
  int64_t first_start_ns = 0;
  int64_t start_spread_ns = 0;
  int64_t end_spread_ns = 0;
  int64_t transmit_ns = 0;
  int64_t longest_ns = 0;
  int64_t wait_ns = 0;
  int64_t bytes = kNull;
  double algorithm_bandwidth = kNoNumber;
  double bus_bandwidth = kNoNumber;
};

inline constexpr Field<CollectiveRow> kCollectiveFields[] = {
    field<&CollectiveRow::name>("name", Unit::kNone, "name"),
    field<&CollectiveRow::kind>("kind", Unit::kNone, "all_reduce, all_gather, send ..."),
    field<&CollectiveRow::group>("group", Unit::kNone, "process group"),
    field<&CollectiveRow::sequence>("sequence", Unit::kNone,
                                    "number in its group, or among those of its name"),
    field<&CollectiveRow::step>("step", Unit::kNone, "step, on the rank that started it last"),
    field<&CollectiveRow::ranks>("ranks", Unit::kCount, "recorded ranks that took part"),
    field<&CollectiveRow::first_rank>("first_rank", Unit::kNone, "rank that started it first"),
    field<&CollectiveRow::last_rank>("last_rank", Unit::kNone, "rank that started it last"),
    field<&CollectiveRow::first_start_ns>("first_start_ns", Unit::kTimestamp, "first start"),
    field<&CollectiveRow::start_spread_ns>("start_spread_ns", Unit::kNanoseconds,
                                           "last start - first start"),
    field<&CollectiveRow::end_spread_ns>("end_spread_ns", Unit::kNanoseconds,
                                         "last end - first end"),
    field<&CollectiveRow::transmit_ns>("transmit_ns", Unit::kNanoseconds,
                                       "shortest length: what the exchange itself took"),
    field<&CollectiveRow::longest_ns>("longest_ns", Unit::kNanoseconds, "longest length"),
    field<&CollectiveRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                   "sum over the ranks of length - shortest length"),
    field<&CollectiveRow::bytes>("bytes", Unit::kBytes, "size of the operation"),
    field<&CollectiveRow::algorithm_bandwidth>("algorithm_bandwidth", Unit::kBytesPerSecond,
                                               "bytes / transmit_ns"),
    field<&CollectiveRow::bus_bandwidth>("bus_bandwidth", Unit::kBytesPerSecond,
                                         "algorithm bandwidth x what each link carries"),
};

// A rank that others wait for, recorded or not.
struct LateRankRow {
  int64_t rank = kNull;
  bool recorded = false;
  std::string_view evidence;
  int64_t operators = 0;
  int64_t waiting_ranks = 0;
  int64_t wait_ns = 0;
  double share = 0;
  double of_waiting = 0;
  double of_time = 0;
  bool late = false;
};

inline constexpr Field<LateRankRow> kLateRankFields[] = {
    field<&LateRankRow::rank>("rank", Unit::kNone, "rank that is waited for"),
    field<&LateRankRow::recorded>("recorded", Unit::kNone, "whether it is part of this run"),
    field<&LateRankRow::evidence>(
        "evidence", Unit::kNone,
        "notify_wait: the waits name it; arrived_last: it started matched operations last"),
    field<&LateRankRow::operators>("operators", Unit::kCount, "operators that waited for it"),
    field<&LateRankRow::waiting_ranks>("waiting_ranks", Unit::kCount, "ranks that waited for it"),
    field<&LateRankRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                 "their waiting, summed over ranks, once per operator"),
    field<&LateRankRow::share>("share", Unit::kShare,
                               "of the communication time of the ranks that waited"),
    field<&LateRankRow::of_waiting>("of_waiting", Unit::kShare, "of all waiting of this evidence"),
    field<&LateRankRow::of_time>("of_time", Unit::kShare,
                                 "of the recorded time of the ranks that waited"),
    field<&LateRankRow::late>("late", Unit::kNone,
                              "over 20 % of the communication time, half of the waiting and 5 % of "
                              "the recorded time"),
};

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_LATE_ROWS_H_
