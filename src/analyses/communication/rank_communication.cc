#include "analyses/communication/rank_communication.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyses/communication/plane_tasks.h"
#include "analyses/communication/process_groups.h"
#include "analyses/communication/send_receive_kinds.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/intervals.h"

namespace stepscope {
namespace {

using Task = PlaneTask;

// What no real transfer and no real job reaches, so that sums of hostile input stay in range.
constexpr int64_t kMostBytes = int64_t{1} << 44;
constexpr int64_t kMostRanks = 1 << 24;

// The columns of `communications` that are read, in this order.
enum Place : size_t {
  kId,
  kTrack,
  kTs,
  kDur,
  kName,
  kStep,
  kLevel,
  kOp,
  kGroup,
  kGroupSize,
  kSequence,
  kBytes,
  kSrc,
  kDst,
  kTransport,
  kLink,
  kWait,
  kTransit,
  kOf,
  kAlgorithm,
  kPlaces
};
constexpr std::array<std::string_view, kPlaces> kColumns = {
    "id",        "track", "ts",         "dur",      "name",  "step",     "level",
    "op",        "group", "group_size", "sequence", "bytes", "src_rank", "dst_rank",
    "transport", "link",  "wait",       "transit",  "of",    "algorithm"};
using Row = std::array<int64_t, kPlaces>;

// "Plane 3", "Group 0 Plane 3" -> 3; lanes with other names count in the order of the input.
int32_t plane_number(std::string_view thread, int64_t track) {
  constexpr std::string_view kWord = "Plane ";
  if (const size_t at = thread.find(kWord); at != std::string_view::npos) {
    const auto number = parse_integer(thread.substr(at + kWord.size()));
    if (number && *number >= 0 && *number < (1 << 20)) return static_cast<int32_t>(*number);
  }
  return static_cast<int32_t>(std::min<int64_t>(track, 1 << 30));
}

class RankReading {
 public:
  RankReading(const StoreReader& store, const RankId& rank)
      : store_(store),
        rank_(rank),
        flags_(store.column(Table::kSlices, "flags", rank.position)),
        slice_base_(static_cast<int64_t>(store.row_base(Table::kSlices, rank.position))),
        track_base_(static_cast<int64_t>(store.row_base(Table::kTracks, rank.position))),
        groups_(text_at(store, Table::kRanks, "parallel", rank.position)),
        send_receive_kinds_(send_receive_kinds(store, rank.position)) {}

  RankCommunication read() {
    read_operators();
    if (!operators_.empty()) read_tasks();
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
      return std::tie(a.operation, a.plane, a.ts_ns) < std::tie(b.operation, b.plane, b.ts_ns);
    });
    for (size_t first = 0; first < tasks_.size();) {
      size_t end = first;
      while (end < tasks_.size() && tasks_[end].operation == tasks_[first].operation) ++end;
      use_tasks(std::span(tasks_).subspan(first, end - first));
      first = end;
    }
    finish_operators();
    result_.operators = std::move(operators_);
    return std::move(result_);
  }

 private:
  bool impossible(const Row& row) const {
    if (row[kDur] == kNull || row[kDur] < 0) return true;
    const int64_t slice = row[kId] - slice_base_;
    return slice >= 0 && static_cast<uint64_t>(slice) < flags_.rows() &&
           (flags_.at(static_cast<uint64_t>(slice)) & kFlagImpossible) != 0;
  }
  // A few words are compared as text, once each.
  std::string_view level_of(const Row& row) {
    if (row[kLevel] != level_id_) {
      level_id_ = row[kLevel];
      level_ = store_.string(level_id_);
    }
    return level_;
  }

  void read_operators() {
    std::vector<CommunicationOperatorRow> calls;
    for_each_row<kPlaces>(store_, Table::kCommunications, rank_.position, kColumns,
                          [&](const Row& row) {
                            const std::string_view level = level_of(row);
                            if (level == "task") return;
                            if (impossible(row)) {
                              ++result_.left_out;
                              return;
                            }
                            (level == "host" ? calls : operators_).push_back(operator_of(row));
                          });
    if (operators_.empty()) operators_ = std::move(calls);
    std::stable_sort(operators_.begin(), operators_.end(),
                     [](const CommunicationOperatorRow& a, const CommunicationOperatorRow& b) {
                       return std::tie(a.start_ns, a.slice) < std::tie(b.start_ns, b.slice);
                     });
  }

  CommunicationOperatorRow operator_of(const Row& row) {
    CommunicationOperatorRow result;
    result.rank = rank_.rank;
    result.window = rank_.window;
    result.step = row[kStep];
    result.slice = row[kId];
    result.name = store_.string(row[kName]);
    result.group = store_.string(row[kGroup]);
    const auto& members = groups_.members(result.group);
    result.group_size = row[kGroupSize] == kNull && !members.empty()
                            ? static_cast<int64_t>(members.size())
                            : row[kGroupSize];
    result.sequence = row[kSequence];
    result.start_ns = row[kTs];
    result.elapse_ns = row[kDur];
    result.bytes = row[kBytes];
    // As the source says, until the tasks say more.
    result.wait_ns = row[kWait];
    result.transit_ns = row[kTransit];
    const auto told = send_receive_kinds_.find(row[kId]);
    result.collective =
        told == send_receive_kinds_.end() ? kind_of(row[kOp], row[kName]) : told->second;
    result.kind = collective_kind_name(result.collective);
    result.group_identity = identity_of(result.group, members);
    return result;
  }

  // Groups of different ranks may have the same name.
  static uint64_t identity_of(std::string_view group, const std::vector<int64_t>& members) {
    uint64_t identity = hash_bytes(group);
    for (const int64_t member : members)
      identity = mix64(identity ^ static_cast<uint64_t>(member + 1), 0x9E3779B97F4A7C15ULL);
    return identity;
  }

  CollectiveKind kind_of(int64_t op, int64_t name) {
    const int64_t id = op == kNull ? name : op;
    const auto [found, added] = kinds_.try_emplace(id, CollectiveKind::kOther);
    if (added) {
      std::string_view text = store_.string(id);
      if (const size_t slash = text.rfind('/'); slash != std::string_view::npos)
        text.remove_prefix(slash + 1);
      found->second = collective_kind(text);
    }
    return found->second;
  }

  void read_tasks() {
    std::unordered_map<int64_t, uint32_t> positions;
    for (uint32_t i = 0; i < operators_.size(); ++i) positions[operators_[i].slice] = i;
    std::unordered_map<int64_t, int32_t> planes;
    for_each_row<kPlaces>(
        store_, Table::kCommunications, rank_.position, kColumns, [&](const Row& row) {
          if (level_of(row) != "task") return;
          if (impossible(row)) {
            ++result_.left_out;
            return;
          }
          const auto operation = positions.find(row[kOf]);
          if (operation == positions.end()) {
            ++result_.lost_tasks;
            return;
          }
          const auto [plane, added] = planes.try_emplace(row[kTrack], 0);
          if (added) {
            const int64_t track = row[kTrack] - track_base_;
            plane->second = plane_number(text_at(store_, Table::kTracks, "thread", rank_.position,
                                                 static_cast<uint64_t>(track)),
                                         track);
          }
          tasks_.push_back({operation->second, plane->second, row[kTs], row[kDur], row[kWait],
                            row[kTransit], row[kBytes], row[kSrc], row[kDst], row[kTransport],
                            row[kLink], rdma_part(store_.string(row[kAlgorithm]))});
        });
  }

  // The tasks of one operator, by plane and start.
  void use_tasks(std::span<Task> tasks) {
    CommunicationOperatorRow& operation = operators_[tasks[0].operation];
    add_peer_waits(tasks, operation);  // with those inside of transfers: a peer is late there too
    join_rdma_groups(tasks, operation.name);
    use_main_plane(tasks, operation);
    use_all_planes(tasks, operation);
    add_transfers(tasks, operation);
  }

  // The main plane is the first that moves data to another rank, else the first that waits: the
  // plane that CANN's own files describe.
  static void use_main_plane(std::span<const Task> tasks, CommunicationOperatorRow& operation) {
    int32_t main = -1;
    for (const Task& task : tasks) {
      if (task.transit_ns == kNull) continue;
      main = task.plane;
      break;
    }
    for (const Task& task : tasks) {
      if (main >= 0) break;
      if (task.wait_ns != kNull) main = task.plane;
    }
    int64_t transit_ns = 0;
    int64_t wait_ns = 0;
    int64_t before_ns = 0;
    bool moved = false;
    for (const Task& task : tasks) {
      if (task.plane != main) continue;
      if (task.transit_ns != kNull) {
        transit_ns += task.transit_ns;
        moved = true;
      } else if (task.wait_ns != kNull) {
        wait_ns += task.wait_ns;
        if (!moved) before_ns += task.wait_ns;
      }
    }
    operation.transit_ns = transit_ns;
    operation.wait_ns = wait_ns;
    operation.synchronization_ns = before_ns;
    operation.idle_ns = operation.elapse_ns - transit_ns - wait_ns;
  }

  static void use_all_planes(std::span<const Task> tasks, CommunicationOperatorRow& operation) {
    std::vector<Interval> moving;
    std::vector<Interval> waiting;
    const Interval whole{operation.start_ns, operation.end_ns()};
    for (const Task& task : tasks) {
      // Tasks may end a nanosecond after their operator, by rounding.
      const Interval part{std::max(task.ts_ns, whole.start_ns),
                          std::min(task.ts_ns + task.dur_ns, whole.end_ns)};
      if (task.transit_ns != kNull) moving.push_back(part);
      if (task.wait_ns != kNull) waiting.push_back(part);
    }
    moving = merge_intervals(std::move(moving));
    operation.moving_ns = total_length_ns(moving);
    operation.blocked_ns =
        total_length_ns(subtract_intervals(merge_intervals(std::move(waiting)), moving));
  }

  // Numbers of ranks are those of the group's members in the source.
  int64_t global(const CommunicationOperatorRow& operation, int64_t member) const {
    return member == kNull ? kNull : groups_.global_rank(operation.group, member);
  }

  void add_transfers(std::span<const Task> tasks, CommunicationOperatorRow& operation) {
    using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>;
    std::map<Key, std::pair<int64_t, int64_t>> sums;  // packets, time
    int64_t bytes = 0;
    int64_t time_ns = 0;
    for (const Task& task : tasks) {
      if (task.bytes <= 0 || task.bytes > kMostBytes || task.wait_ns != kNull) continue;
      auto& [packets, length_ns] =
          sums[{task.src_rank, task.dst_rank, task.transport, task.link, task.bytes}];
      ++packets;
      length_ns += task.dur_ns;
      if (task.transit_ns == kNull) continue;
      bytes += task.bytes;
      time_ns += task.transit_ns;
    }
    operation.transfer_bytes = bytes;
    operation.transfer_ns = time_ns;
    operation.transfer_bandwidth = bytes_per_second(bytes, time_ns);
    for (const auto& [key, sum] : sums) {
      const auto& [src, dst, transport, link, packet_bytes] = key;
      result_.transfers.push_back({tasks[0].operation, global(operation, src),
                                   global(operation, dst), store_.string(transport),
                                   store_.string(link), packet_bytes, sum.first, sum.second});
    }
  }

  void add_peer_waits(std::span<const Task> tasks, CommunicationOperatorRow& operation) {
    // By peer and plane: planes wait side by side.
    struct Waiting {
      int64_t waits = 0;
      int64_t wait_ns = 0;
      int64_t first_start_ns = 0;
    };
    std::map<std::pair<int64_t, int32_t>, Waiting> peers;
    int64_t members = 0;
    for (const Task& task : tasks) {
      for (const int64_t member : {task.src_rank, task.dst_rank}) {
        if (member < kMostRanks) members = std::max(members, member + 1);
      }
      if (task.wait_ns == kNull || task.dst_rank == kNull) continue;
      Waiting& waiting = peers[{task.dst_rank, task.plane}];
      if (waiting.waits++ == 0) waiting.first_start_ns = task.ts_ns;  // tasks come by start
      waiting.wait_ns += task.wait_ns;
    }
    if (members > 0) {
      int64_t& seen = group_sizes_[operation.group];
      seen = std::max(seen, members);
    }
    for (const auto& [peer, waiting] : peers) {
      PeerWaitRow row;
      row.rank = operation.rank;
      row.window = operation.window;
      row.step = operation.step;
      row.slice = operation.slice;
      row.name = operation.name;
      row.group = operation.group;
      row.sequence = operation.sequence;
      row.peer = global(operation, peer.first);
      row.plane = peer.second;
      row.waits = waiting.waits;
      row.wait_ns = waiting.wait_ns;
      row.first_start_ns = waiting.first_start_ns;
      result_.peer_waits.push_back(row);
      if (row.peer == operation.rank) continue;
      const double least = kLatePeerShare * static_cast<double>(operation.elapse_ns);
      if (static_cast<double>(row.wait_ns) > least &&
          (operation.late_peer == kNull || row.wait_ns > operation.late_peer_wait_ns)) {
        operation.late_peer = row.peer;
        operation.late_peer_wait_ns = row.wait_ns;
      }
    }
  }

  void finish_operators() {
    for (CommunicationOperatorRow& operation : operators_) {
      if (operation.group_size == kNull) {
        const auto found = group_sizes_.find(operation.group);
        if (found != group_sizes_.end()) operation.group_size = found->second;
      }
      const bool counts_output = operation.name.starts_with("hcom_");
      operation.bytes = operation_bytes(operation.collective, operation.bytes, operation.group_size,
                                        counts_output);
    }
  }

  const StoreReader& store_;
  const RankId& rank_;
  const ColumnView& flags_;
  int64_t slice_base_;
  int64_t track_base_;
  ProcessGroups groups_;
  std::unordered_map<int64_t, CollectiveKind> send_receive_kinds_;
  int64_t level_id_ = kNull;
  std::string_view level_;
  std::unordered_map<int64_t, CollectiveKind> kinds_;
  std::map<std::string_view, int64_t> group_sizes_;
  std::vector<CommunicationOperatorRow> operators_;
  std::vector<Task> tasks_;
  RankCommunication result_;
};

}  // namespace

RankCommunication rank_communication(const StoreReader& store, const RankId& rank) {
  return RankReading(store, rank).read();
}

}  // namespace stepscope
