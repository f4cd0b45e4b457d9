// The tables of the communication analysis. Text points into the store.
#ifndef STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_ROWS_H_
#define STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_ROWS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "analyses/common/result_table.h"
#include "analyses/communication/collective_kind.h"
#include "store/schema.h"

namespace stepscope {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

inline double bytes_per_second(int64_t bytes, int64_t ns) {
  if (bytes == kNull || ns == kNull || ns <= 0) return kNoNumber;
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(ns);
}
inline double share_of(int64_t part, int64_t rest) {
  return part + rest > 0 ? static_cast<double>(part) / static_cast<double>(part + rest) : 0;
}

// One communication operator of one rank.
struct CommunicationOperatorRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  int64_t slice = 0;
  std::string_view name;
  std::string_view kind;
  std::string_view group;
  int64_t group_size = kNull;
  int64_t sequence = kNull;
  int64_t start_ns = 0;
  int64_t elapse_ns = 0;
  // The main plane's share, as Ascend's communication.json defines it; kNull without transfers.
  int64_t transit_ns = kNull;
  int64_t wait_ns = kNull;
  int64_t synchronization_ns = kNull;
  int64_t idle_ns = kNull;
  // All planes together: elapse = moving + blocked + the rest.
  int64_t moving_ns = kNull;
  int64_t blocked_ns = kNull;
  int64_t late_peer = kNull;
  int64_t late_peer_wait_ns = kNull;
  int64_t bytes = kNull;
  int64_t transfer_bytes = kNull;
  int64_t transfer_ns = kNull;
  double transfer_bandwidth = kNoNumber;
  double algorithm_bandwidth = kNoNumber;
  double bus_bandwidth = kNoNumber;
  int64_t matched_ranks = 0;
  int64_t last_rank = kNull;
  int64_t transmit_ns = kNull;
  int64_t peer_wait_ns = kNull;

  // For what is computed from these rows.
  CollectiveKind collective = CollectiveKind::kOther;
  uint64_t group_identity = 0;  // of the group's name and members
  int64_t end_ns() const { return start_ns + elapse_ns; }
};

inline constexpr Field<CommunicationOperatorRow> kCommunicationOperatorFields[] = {
    field<&CommunicationOperatorRow::rank>("rank", Unit::kNone, "rank"),
    field<&CommunicationOperatorRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CommunicationOperatorRow::step>("step", Unit::kNone, "step; NULL outside of steps"),
    field<&CommunicationOperatorRow::slice>("slice", Unit::kNone, "its row in slices"),
    field<&CommunicationOperatorRow::name>("name", Unit::kNone, "name"),
    field<&CommunicationOperatorRow::kind>("kind", Unit::kNone,
                                           "all_reduce, all_gather, send ...; other"),
    field<&CommunicationOperatorRow::group>("group", Unit::kNone, "process group"),
    field<&CommunicationOperatorRow::group_size>("group_size", Unit::kCount, "ranks in the group"),
    field<&CommunicationOperatorRow::sequence>("sequence", Unit::kNone,
                                               "number of the operation in its group"),
    field<&CommunicationOperatorRow::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&CommunicationOperatorRow::elapse_ns>("elapse_ns", Unit::kNanoseconds, "length"),
    field<&CommunicationOperatorRow::transit_ns>("transit_ns", Unit::kNanoseconds,
                                                 "main plane: moving data to other ranks"),
    field<&CommunicationOperatorRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                              "main plane: waiting for peers"),
    field<&CommunicationOperatorRow::synchronization_ns>(
        "synchronization_ns", Unit::kNanoseconds, "main plane: waiting before the first transfer"),
    field<&CommunicationOperatorRow::idle_ns>("idle_ns", Unit::kNanoseconds,
                                              "elapse - transit - wait of the main plane"),
    field<&CommunicationOperatorRow::moving_ns>("moving_ns", Unit::kNanoseconds,
                                                "time in which any plane moves data"),
    field<&CommunicationOperatorRow::blocked_ns>(
        "blocked_ns", Unit::kNanoseconds,
        "time in which no plane moves data and at least one waits for a peer"),
    field<&CommunicationOperatorRow::late_peer>(
        "late_peer", Unit::kNone, "rank that a plane waited for longest, if over 20 % of elapse"),
    field<&CommunicationOperatorRow::late_peer_wait_ns>("late_peer_wait_ns", Unit::kNanoseconds,
                                                        "that plane's waiting for it"),
    field<&CommunicationOperatorRow::bytes>("bytes", Unit::kBytes, "size of the operation"),
    field<&CommunicationOperatorRow::transfer_bytes>("transfer_bytes", Unit::kBytes,
                                                     "bytes moved between ranks, all planes"),
    field<&CommunicationOperatorRow::transfer_ns>("transfer_ns", Unit::kNanoseconds,
                                                  "sum of the transfers' lengths, all planes"),
    field<&CommunicationOperatorRow::transfer_bandwidth>(
        "transfer_bandwidth", Unit::kBytesPerSecond, "transfer_bytes / transfer_ns"),
    field<&CommunicationOperatorRow::algorithm_bandwidth>(
        "algorithm_bandwidth", Unit::kBytesPerSecond,
        "bytes / transmit_ns, or bytes / elapse_ns for an operation that is not matched"),
    field<&CommunicationOperatorRow::bus_bandwidth>("bus_bandwidth", Unit::kBytesPerSecond,
                                                    "algorithm bandwidth x what each link carries"),
    field<&CommunicationOperatorRow::matched_ranks>("matched_ranks", Unit::kCount,
                                                    "recorded ranks with the same operation"),
    field<&CommunicationOperatorRow::last_rank>("last_rank", Unit::kNone,
                                                "the one of them that started it last"),
    field<&CommunicationOperatorRow::transmit_ns>("transmit_ns", Unit::kNanoseconds,
                                                  "shortest length among them"),
    field<&CommunicationOperatorRow::peer_wait_ns>("peer_wait_ns", Unit::kNanoseconds,
                                                   "elapse_ns - transmit_ns: waiting for others"),
};

// Transfers of one size of one operator between two ranks.
struct CommunicationTransferRow {
  uint32_t operation = 0;  // row of the rank's operators
  int64_t src_rank = kNull;
  int64_t dst_rank = kNull;
  std::string_view transport;
  std::string_view link;
  int64_t packet_bytes = 0;
  int64_t packets = 0;
  int64_t time_ns = 0;
};

// What went over a link, per rank and step.
struct CommunicationLinkRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  std::string_view group;
  int64_t src_rank = kNull;
  int64_t dst_rank = kNull;
  std::string_view transport;
  std::string_view link;
  int64_t packets = 0;
  int64_t bytes = 0;
  int64_t time_ns = 0;
  double bandwidth = kNoNumber;
  double large_packet_share = 0;
};

inline constexpr Field<CommunicationLinkRow> kCommunicationLinkFields[] = {
    field<&CommunicationLinkRow::rank>("rank", Unit::kNone, "rank that moved the data"),
    field<&CommunicationLinkRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CommunicationLinkRow::step>("step", Unit::kNone, "step; NULL outside of steps"),
    field<&CommunicationLinkRow::group>("group", Unit::kNone, "process group"),
    field<&CommunicationLinkRow::src_rank>("src_rank", Unit::kNone, "rank at one end"),
    field<&CommunicationLinkRow::dst_rank>("dst_rank", Unit::kNone,
                                           "rank at the other; the same: inside the device"),
    field<&CommunicationLinkRow::transport>("transport", Unit::kNone, "SDMA, RDMA, LOCAL ..."),
    field<&CommunicationLinkRow::link>("link", Unit::kNone, "HCCS, PCIE, ROCE, ON_CHIP ..."),
    field<&CommunicationLinkRow::packets>("packets", Unit::kCount, "transfers"),
    field<&CommunicationLinkRow::bytes>("bytes", Unit::kBytes, "bytes moved"),
    field<&CommunicationLinkRow::time_ns>("time_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&CommunicationLinkRow::bandwidth>("bandwidth", Unit::kBytesPerSecond, "bytes / time"),
    field<&CommunicationLinkRow::large_packet_share>(
        "large_packet_share", Unit::kShare, "share of transfers over 32 MB (RDMA: over 0.5 MB)"),
};

// A link over all ranks and steps, and what it is like beside the others of its sort.
struct CommunicationMatrixRow {
  int64_t src_rank = kNull;
  int64_t dst_rank = kNull;
  std::string_view transport;
  std::string_view link;
  int64_t packets = 0;
  int64_t bytes = 0;
  int64_t time_ns = 0;
  double bandwidth = kNoNumber;
  double mean_bandwidth = kNoNumber;
  double below_mean = kNoNumber;
  bool slow = false;
};

inline constexpr Field<CommunicationMatrixRow> kCommunicationMatrixFields[] = {
    field<&CommunicationMatrixRow::src_rank>("src_rank", Unit::kNone, "rank at one end"),
    field<&CommunicationMatrixRow::dst_rank>("dst_rank", Unit::kNone, "rank at the other"),
    field<&CommunicationMatrixRow::transport>("transport", Unit::kNone, "SDMA, RDMA, LOCAL ..."),
    field<&CommunicationMatrixRow::link>("link", Unit::kNone, "HCCS, PCIE, ROCE, ON_CHIP ..."),
    field<&CommunicationMatrixRow::packets>("packets", Unit::kCount, "transfers"),
    field<&CommunicationMatrixRow::bytes>("bytes", Unit::kBytes, "bytes moved"),
    field<&CommunicationMatrixRow::time_ns>("time_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&CommunicationMatrixRow::bandwidth>("bandwidth", Unit::kBytesPerSecond, "bytes / time"),
    field<&CommunicationMatrixRow::mean_bandwidth>(
        "mean_bandwidth", Unit::kBytesPerSecond,
        "mean of the links of the same transport and link type between two ranks; groups of two: "
        "whose ranks are as far apart"),
    field<&CommunicationMatrixRow::below_mean>("below_mean", Unit::kShare,
                                               "(mean - bandwidth) / mean"),
    field<&CommunicationMatrixRow::slow>("slow", Unit::kNone, "more than 20 % below the mean"),
};

// Sums of operators; the tables by group and kind, and by step.
struct CommunicationSumRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = kNull;
  std::string_view group;
  int64_t group_size = kNull;
  std::string_view kind;
  int64_t operators = 0;
  int64_t elapse_ns = 0;
  int64_t busy_ns = 0;
  int64_t transit_ns = 0;
  int64_t wait_ns = 0;
  int64_t synchronization_ns = 0;
  int64_t idle_ns = 0;
  int64_t moving_ns = 0;
  int64_t blocked_ns = 0;
  int64_t peer_wait_ns = 0;
  int64_t bytes = 0;
  int64_t transfer_bytes = 0;
  int64_t transfer_ns = 0;
  double transfer_bandwidth = kNoNumber;
};

namespace communication_internal {

using SumField = Field<CommunicationSumRow>;
inline constexpr std::array kSumFields = {
    field<&CommunicationSumRow::operators>("operators", Unit::kCount, "operators"),
    field<&CommunicationSumRow::elapse_ns>("elapse_ns", Unit::kNanoseconds, "sum of their lengths"),
    field<&CommunicationSumRow::busy_ns>("busy_ns", Unit::kNanoseconds,
                                         "time with at least one of them"),
    field<&CommunicationSumRow::transit_ns>("transit_ns", Unit::kNanoseconds,
                                            "main planes: moving data to other ranks"),
    field<&CommunicationSumRow::wait_ns>("wait_ns", Unit::kNanoseconds,
                                         "main planes: waiting for peers"),
    field<&CommunicationSumRow::synchronization_ns>("synchronization_ns", Unit::kNanoseconds,
                                                    "of it before the first transfer"),
    field<&CommunicationSumRow::idle_ns>("idle_ns", Unit::kNanoseconds, "main planes: neither"),
    field<&CommunicationSumRow::moving_ns>("moving_ns", Unit::kNanoseconds,
                                           "time in which any plane moves data"),
    field<&CommunicationSumRow::blocked_ns>("blocked_ns", Unit::kNanoseconds,
                                            "time in which planes only wait"),
    field<&CommunicationSumRow::peer_wait_ns>("peer_wait_ns", Unit::kNanoseconds,
                                              "longer than on the fastest rank"),
    field<&CommunicationSumRow::bytes>("bytes", Unit::kBytes, "sizes of the operators"),
    field<&CommunicationSumRow::transfer_bytes>("transfer_bytes", Unit::kBytes,
                                                "bytes moved between ranks"),
    field<&CommunicationSumRow::transfer_ns>("transfer_ns", Unit::kNanoseconds,
                                             "sum of the transfers' lengths"),
    field<&CommunicationSumRow::transfer_bandwidth>("transfer_bandwidth", Unit::kBytesPerSecond,
                                                    "transfer_bytes / transfer_ns"),
};

template <size_t N, size_t M>
constexpr std::array<SumField, N + M> join(const std::array<SumField, N>& keys,
                                           const std::array<SumField, M>& values) {
  std::array<SumField, N + M> all{};
  for (size_t i = 0; i < N; ++i) all[i] = keys[i];
  for (size_t i = 0; i < M; ++i) all[N + i] = values[i];
  return all;
}

}  // namespace communication_internal

inline constexpr auto kCommunicationGroupFields = communication_internal::join(
    std::array{
        field<&CommunicationSumRow::rank>("rank", Unit::kNone, "rank"),
        field<&CommunicationSumRow::window>("window", Unit::kNone, "recording window of the rank"),
        field<&CommunicationSumRow::group>("group", Unit::kNone, "process group"),
        field<&CommunicationSumRow::group_size>("group_size", Unit::kCount, "ranks in the group"),
        field<&CommunicationSumRow::kind>("kind", Unit::kNone, "all_reduce, all_gather, send ..."),
    },
    communication_internal::kSumFields);
inline constexpr auto kCommunicationStepFields = communication_internal::join(
    std::array{
        field<&CommunicationSumRow::rank>("rank", Unit::kNone, "rank"),
        field<&CommunicationSumRow::window>("window", Unit::kNone, "recording window of the rank"),
        field<&CommunicationSumRow::step>("step", Unit::kNone, "step; NULL outside of steps"),
    },
    communication_internal::kSumFields);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_COMMUNICATION_COMMUNICATION_ROWS_H_
