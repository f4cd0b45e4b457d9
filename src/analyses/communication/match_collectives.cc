// The same operation on several ranks: by group and number where the source numbers operations,
// else by name and how many came before it.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyses/communication/communication.h"

namespace stepscope {
namespace {

struct Entry {
  int64_t window;
  uint64_t group;
  std::string_view label;
  int64_t step;  // kNull where the number alone tells
  int64_t number;
  size_t row;
  bool numbered;  // by the source

  auto key() const { return std::tie(window, group, label, step, number, numbered); }
};

// Operators without a number of their own, of one name, window and group.
struct Unnumbered {
  std::vector<std::vector<size_t>> rows_by_rank;
  bool all_in_steps = true;
};

class Matching {
 public:
  explicit Matching(Communication& result) : result_(result) {}

  MatchCounts match() {
    number();
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tuple_cat(a.key(), std::tie(a.row)) < std::tuple_cat(b.key(), std::tie(b.row));
    });
    for (size_t first = 0; first < entries_.size();) {
      size_t end = first;
      while (end < entries_.size() && entries_[end].key() == entries_[first].key()) ++end;
      use(std::span(entries_).subspan(first, end - first));
      first = end;
    }
    std::stable_sort(result_.collectives.begin(), result_.collectives.end(),
                     [](const CollectiveRow& a, const CollectiveRow& b) {
                       return a.first_start_ns < b.first_start_ns;
                     });
    return counts_;
  }

 private:
  CommunicationOperatorRow& row(size_t index) { return result_.operators[index]; }

  // A send and its receive are one operation of a group of two.
  static std::string_view label_of(const CommunicationOperatorRow& row) {
    const bool is_pair =
        row.collective == CollectiveKind::kSend || row.collective == CollectiveKind::kReceive;
    return is_pair ? std::string_view("send") : row.kind;
  }

  void number() {
    std::map<std::tuple<int64_t, uint64_t, std::string_view>, Unnumbered> unnumbered;
    for (size_t rank = 0; rank + 1 < result_.first_operator.size(); ++rank) {
      // Coalesced operations share a number.
      std::map<std::tuple<uint64_t, std::string_view, int64_t>, int64_t> repeats;
      for (size_t i = result_.first_operator[rank]; i < result_.first_operator[rank + 1]; ++i) {
        const CommunicationOperatorRow& one = row(i);
        const bool is_pair = label_of(one) == "send";
        if (is_pair && one.group_size != 2) continue;
        if (one.sequence != kNull) {
          const int64_t repeat = repeats[{one.group_identity, label_of(one), one.sequence}]++;
          entries_.push_back(
              {one.window, one.group_identity, label_of(one), repeat, one.sequence, i, true});
          continue;
        }
        Unnumbered& same =
            unnumbered[{one.window, one.group_identity, is_pair ? label_of(one) : one.name}];
        same.rows_by_rank.resize(result_.first_operator.size() - 1);
        same.rows_by_rank[rank].push_back(i);
        same.all_in_steps &= one.step != kNull;
      }
    }
    for (auto& [key, same] : unnumbered) number_by_order(key, same);
  }

  void number_by_order(const std::tuple<int64_t, uint64_t, std::string_view>& key,
                       const Unnumbered& same) {
    const auto& [window, group, label] = key;
    size_t least = std::numeric_limits<size_t>::max();
    size_t most = 0;
    for (const auto& rows : same.rows_by_rank) {
      if (rows.empty()) continue;
      least = std::min(least, rows.size());
      most = std::max(most, rows.size());
    }
    const bool by_step = least != most && same.all_in_steps;
    for (const auto& rows : same.rows_by_rank) {
      std::unordered_map<int64_t, int64_t> in_step;
      int64_t number = 0;
      for (const size_t i : rows) {
        if (least == most) {
          entries_.push_back({window, group, label, kNull, number++, i, false});
        } else if (by_step) {
          const int64_t step = row(i).step;
          entries_.push_back({window, group, label, step, in_step[step]++, i, false});
        } else {
          ++counts_.other_counts;
        }
      }
    }
  }

  // The rows of one operation. Each rank has one of them at most.
  void use(std::span<const Entry> entries) {
    if (entries.size() < 2) {
      ++counts_.only_one_rank;
      return;
    }
    const CommunicationOperatorRow* first = nullptr;
    const CommunicationOperatorRow* last = nullptr;
    const CommunicationOperatorRow* shortest = nullptr;
    int64_t first_end = std::numeric_limits<int64_t>::max();
    int64_t last_end = std::numeric_limits<int64_t>::min();
    int64_t longest_ns = 0;
    for (const Entry& entry : entries) {
      const CommunicationOperatorRow& one = row(entry.row);
      if (first == nullptr || one.start_ns < first->start_ns) first = &one;
      if (last == nullptr || one.start_ns > last->start_ns) last = &one;
      if (shortest == nullptr || one.elapse_ns < shortest->elapse_ns) shortest = &one;
      first_end = std::min(first_end, one.end_ns());
      last_end = std::max(last_end, one.end_ns());
      longest_ns = std::max(longest_ns, one.elapse_ns);
    }
    const auto ranks = static_cast<int64_t>(entries.size());
    const bool too_many = first->group_size != kNull && ranks > first->group_size;
    const bool apart = waits_for_all(first->collective) && last->start_ns > first_end;
    if (too_many || (apart && !entries[0].numbered)) {
      counts_.apart += ranks;
      return;
    }
    // Where clocks differ, lengths still tell: who comes last leaves soonest.
    if (apart) last = shortest;
    CollectiveRow collective;
    collective.name = last->name;
    collective.kind = last->kind;
    collective.group = last->group;
    collective.sequence = entries[0].number;
    collective.step = last->step;
    collective.ranks = ranks;
    collective.first_rank = first->rank;
    collective.last_rank = last->rank;
    collective.first_start_ns = first->start_ns;
    collective.start_spread_ns = last->start_ns - first->start_ns;
    collective.end_spread_ns = last_end - first_end;
    collective.transmit_ns = shortest->elapse_ns;
    collective.longest_ns = longest_ns;
    collective.bytes = last->bytes;
    collective.algorithm_bandwidth = bytes_per_second(collective.bytes, collective.transmit_ns);
    collective.bus_bandwidth =
        collective.algorithm_bandwidth * bus_factor(last->collective, last->group_size);
    const int64_t last_rank = last->rank;
    for (const Entry& entry : entries) {
      CommunicationOperatorRow& one = row(entry.row);
      one.matched_ranks = ranks;
      one.last_rank = last_rank;
      one.transmit_ns = collective.transmit_ns;
      one.peer_wait_ns = one.elapse_ns - collective.transmit_ns;
      collective.wait_ns += one.peer_wait_ns;
    }
    result_.collectives.push_back(collective);
  }

  // No rank can leave before all have come.
  static bool waits_for_all(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllGather ||
           kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll ||
           kind == CollectiveKind::kBarrier;
  }

  Communication& result_;
  std::vector<Entry> entries_;
  MatchCounts counts_;
};

}  // namespace

MatchCounts match_collectives(Communication& result) {
  const MatchCounts counts = Matching(result).match();
  for (CommunicationOperatorRow& row : result.operators) {
    if (row.matched_ranks == 0) row.matched_ranks = 1;
    row.algorithm_bandwidth =
        bytes_per_second(row.bytes, row.transmit_ns == kNull ? row.elapse_ns : row.transmit_ns);
    row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(row.collective, row.group_size);
  }
  return counts;
}

}  // namespace stepscope
