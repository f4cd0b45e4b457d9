#include "analyses/communication/collective_kind.h"

#include <string>
#include <utility>

#include "store/schema.h"

namespace stepscope {
namespace {

// In the order of looking: a word that contains another comes first.
constexpr std::pair<std::string_view, CollectiveKind> kWords[] = {
    {"reducescatter", CollectiveKind::kReduceScatter},
    {"allreduce", CollectiveKind::kAllReduce},
    {"allgather", CollectiveKind::kAllGather},
    {"alltoall", CollectiveKind::kAllToAll},
    {"all2all", CollectiveKind::kAllToAll},
    {"broadcast", CollectiveKind::kBroadcast},
    {"batchsendrecv", CollectiveKind::kSendReceive},
    {"sendrecv", CollectiveKind::kSendReceive},
    {"barrier", CollectiveKind::kBarrier},
    {"scatter", CollectiveKind::kScatter},
    {"gather", CollectiveKind::kGather},
    {"reduce", CollectiveKind::kReduce},
    {"receive", CollectiveKind::kReceive},
    {"recv", CollectiveKind::kReceive},
    {"send", CollectiveKind::kSend},
};

}  // namespace

CollectiveKind collective_kind(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || c == '2') letters += c;
  }
  for (const auto& [word, kind] : kWords) {
    if (letters.find(word) != std::string::npos) return kind;
  }
  return CollectiveKind::kOther;
}

std::string_view collective_kind_name(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kOther:
      return "other";
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllToAll:
      return "all_to_all";
    case CollectiveKind::kBroadcast:
      return "broadcast";
    case CollectiveKind::kReduce:
      return "reduce";
    case CollectiveKind::kScatter:
      return "scatter";
    case CollectiveKind::kGather:
      return "gather";
    case CollectiveKind::kSendReceive:
      return "send_receive";
    case CollectiveKind::kSend:
      return "send";
    case CollectiveKind::kReceive:
      return "receive";
    case CollectiveKind::kBarrier:
      return "barrier";
  }
  return "other";
}

bool is_point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kReceive ||
         kind == CollectiveKind::kSendReceive;
}

int64_t operation_bytes(CollectiveKind kind, int64_t rank_bytes, int64_t group_size,
                        bool counts_output) {
  if (rank_bytes == kNull) return kNull;
  const bool times_group = kind == CollectiveKind::kAllGather ||
                           (kind == CollectiveKind::kReduceScatter && counts_output);
  if (!times_group) return rank_bytes;
  int64_t bytes = 0;
  if (group_size == kNull || __builtin_mul_overflow(rank_bytes, group_size, &bytes)) return kNull;
  return bytes;
}

double bus_factor(CollectiveKind kind, int64_t group_size) {
  if (group_size == kNull || group_size < 1) return 0;
  const double share = static_cast<double>(group_size - 1) / static_cast<double>(group_size);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * share;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return share;
    default:
      return 1;
  }
}

}  // namespace stepscope
