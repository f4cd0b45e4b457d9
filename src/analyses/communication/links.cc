// Links between ranks: sums per rank and step, the matrix of the job, and which links are slow.
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/communication/communication.h"

namespace stepscope {
namespace {

// Ascend's own bounds for a packet that uses its link well.
constexpr int64_t kLargePacketBytes = 32'000'000;
constexpr int64_t kLargeRdmaPacketBytes = 500'000;

bool is_large(const CommunicationTransferRow& transfer) {
  return transfer.packet_bytes >
         (transfer.transport == "RDMA" ? kLargeRdmaPacketBytes : kLargePacketBytes);
}

constexpr std::string_view kGroupOfTwo = "group of two";
constexpr std::string_view kSmallGroupOfTwo = "group of two, below 1 MiB";

// Links that should be equally fast: transport, link type, and for groups of two how far apart the
// ranks are. Groups of one kind (tensor, data or pipeline parallel) have the same distance, and
// those of another may cross nodes.
using Sort = std::tuple<std::string_view, std::string_view, int64_t>;

Sort sort_of(const CommunicationMatrixRow& row) {
  return {row.transport, row.link, row.transport == kGroupOfTwo ? row.dst_rank - row.src_rank : 0};
}

bool is_compared(const CommunicationMatrixRow& row) {
  return row.src_rank != row.dst_rank && row.bandwidth > 0 && row.transport != kSmallGroupOfTwo;
}

void compare_links(std::vector<CommunicationMatrixRow>& matrix) {
  std::map<Sort, std::pair<double, int64_t>> sums;
  for (const CommunicationMatrixRow& row : matrix) {
    if (!is_compared(row)) continue;
    auto& [sum, count] = sums[sort_of(row)];
    sum += row.bandwidth;
    ++count;
  }
  for (CommunicationMatrixRow& row : matrix) {
    if (!is_compared(row)) continue;
    const auto& [sum, count] = sums[sort_of(row)];
    row.mean_bandwidth = sum / static_cast<double>(count);
    row.below_mean = (row.mean_bandwidth - row.bandwidth) / row.mean_bandwidth;
    row.slow = row.below_mean > kSlowLinkShare;
  }
}

// Sources without transfers (NCCL, gloo) still measure a link where a group has two ranks: what its
// collectives move passes between them. Both ranks have the operation; the lower one's row counts.
void for_each_group_of_two(const Communication& communication,
                           const std::function<void(const LinkUse&)>& visit) {
  std::map<uint64_t, std::set<int64_t>> members;
  for (const CommunicationOperatorRow& row : communication.operators) {
    if (row.group_size == 2) members[row.group_identity].insert(row.rank);
  }
  for (size_t position = 0; position + 1 < communication.first_operator.size(); ++position) {
    for (size_t i = communication.first_operator[position];
         i < communication.first_operator[position + 1]; ++i) {
      const CommunicationOperatorRow& row = communication.operators[i];
      if (row.group_size != 2 || row.matched_ranks != 2 || row.transmit_ns == kNull ||
          row.transmit_ns <= 0 || row.bytes == kNull)
        continue;
      const std::set<int64_t>& ranks = members[row.group_identity];
      if (ranks.size() != 2 || row.rank != *ranks.begin()) continue;
      visit({position, row, *ranks.begin(), *ranks.rbegin(),
             row.bytes < kSmallMessageBytes ? kSmallGroupOfTwo : kGroupOfTwo, row.kind, 1,
             row.bytes, row.transmit_ns});
    }
  }
}

}  // namespace

void for_each_link_use(const Communication& communication,
                       const std::function<void(const LinkUse&)>& visit) {
  bool has_transfers = false;
  for (size_t position = 0; position < communication.ranks.size(); ++position) {
    for (const CommunicationTransferRow& row : communication.ranks[position].transfers) {
      has_transfers = true;
      visit({position,
             communication.operators[communication.first_operator[position] + row.operation],
             row.src_rank, row.dst_rank, row.transport, row.link, row.packets,
             row.packet_bytes * row.packets, row.time_ns});
    }
  }
  if (!has_transfers) for_each_group_of_two(communication, visit);
}

void sum_links(Communication& result) {
  for (size_t position = 0; position < result.ranks.size(); ++position) {
    using LinkKey =
        std::tuple<int64_t, std::string_view, int64_t, int64_t, std::string_view, std::string_view>;
    struct Sum {
      CommunicationLinkRow row;
      int64_t large = 0;
    };
    std::map<LinkKey, Sum> links;
    for (const CommunicationTransferRow& transfer : result.ranks[position].transfers) {
      const CommunicationOperatorRow& operation =
          result.operators[result.first_operator[position] + transfer.operation];
      Sum& sum = links[{operation.step, operation.group, transfer.src_rank, transfer.dst_rank,
                        transfer.transport, transfer.link}];
      sum.row.rank = operation.rank;
      sum.row.window = operation.window;
      sum.row.packets += transfer.packets;
      sum.row.bytes += transfer.packet_bytes * transfer.packets;
      sum.row.time_ns += transfer.time_ns;
      if (is_large(transfer)) sum.large += transfer.packets;
    }
    for (auto& [key, sum] : links) {
      CommunicationLinkRow& row = sum.row;
      std::tie(row.step, row.group, row.src_rank, row.dst_rank, row.transport, row.link) = key;
      row.bandwidth = bytes_per_second(row.bytes, row.time_ns);
      row.large_packet_share = static_cast<double>(sum.large) / static_cast<double>(row.packets);
      result.links.push_back(row);
    }
  }
  std::map<LinkUse::Key, CommunicationMatrixRow> matrix;
  for_each_link_use(result, [&](const LinkUse& use) {
    CommunicationMatrixRow& cell = matrix[use.key()];
    cell.packets += use.packets;
    cell.bytes += use.bytes;
    cell.time_ns += use.time_ns;
  });
  for (auto& [key, row] : matrix) {
    std::tie(row.src_rank, row.dst_rank, row.transport, row.link) = key;
    row.bandwidth = bytes_per_second(row.bytes, row.time_ns);
    result.matrix.push_back(row);
  }
  compare_links(result.matrix);
}

}  // namespace stepscope
