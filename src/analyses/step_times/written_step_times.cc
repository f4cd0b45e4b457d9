#include "analyses/step_times/written_step_times.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string_view>

#include "analyses/common/rank_rows.h"

namespace stepscope {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// "hcom_receive__123_...": the word, two underscores and a digit.
bool is_numbered(std::string_view name, std::string_view word) {
  return name.starts_with(word) && name.size() > word.size() + 2 &&
         name.substr(word.size(), 2) == "__" && std::isdigit(name[word.size() + 2]) != 0;
}

bool is_bubble(std::string_view name, StepTimesWriter writer) {
  if (writer == StepTimesWriter::kTorchNpu) return name.starts_with("hcom_receive");
  if (name.starts_with("Receive-op") || name.starts_with("Send-op")) return true;
  if (is_numbered(name, "hcom_send") || is_numbered(name, "hcom_receive")) return true;
  // hcom_<word>SendRecv__<number>
  const size_t at = name.find("SendRecv__");
  return name.starts_with("hcom_") && at != std::string_view::npos && at > 5 &&
         is_numbered(name.substr(at), "SendRecv");
}

// Range of moments that count as inside a step.
struct Range {
  int64_t first_ns;
  int64_t last_ns;  // inclusive
  bool has(int64_t ns) const { return ns >= first_ns && ns <= last_ns; }
};

struct Collective {
  int64_t start_ns;
  int64_t end_ns;
  bool is_bubble;
};

class Pieces {
 public:
  explicit Pieces(std::span<const Interval> intervals) : intervals_(intervals) {}

  // Pieces that start in the range, and the range that they cover.
  int64_t sum(const Range& range, Interval& covered) const {
    int64_t total_ns = 0;
    for (auto piece = first_in(range); piece != intervals_.end() && range.has(piece->start_ns);
         ++piece) {
      total_ns += piece->end_ns - piece->start_ns;
      covered.start_ns = std::min(covered.start_ns, piece->start_ns);
      covered.end_ns = std::max(covered.end_ns, piece->end_ns);
    }
    return total_ns;
  }
  // Start of the first piece in the range, kForever when there is none.
  int64_t first_start(const Range& range) const {
    const auto piece = first_in(range);
    return piece != intervals_.end() && range.has(piece->start_ns) ? piece->start_ns : kForever;
  }

 private:
  std::span<const Interval>::iterator first_in(const Range& range) const {
    return std::lower_bound(intervals_.begin(), intervals_.end(), range.first_ns,
                            [](const Interval& a, int64_t ns) { return a.start_ns < ns; });
  }
  std::span<const Interval> intervals_;
};

}  // namespace

std::vector<WrittenStepTimes> written_step_times(const StoreReader& store, size_t rank,
                                                 const OverlapLanes& lanes,
                                                 std::span<const StepRow> steps,
                                                 StepTimesWriter writer) {
  const bool is_mindspore = writer == StepTimesWriter::kMindSpore;
  std::vector<Collective> collectives;
  int64_t first_op_ns = kForever;
  for_each_row<4>(
      store, Table::kCommunications, rank, {"ts", "dur", "level", "name"}, [&](const auto& row) {
        const auto [ts_ns, dur_ns, level, name] = row;
        if (dur_ns == kNull || dur_ns < 0 || store.string(level) != "op") return;
        collectives.push_back({ts_ns, ts_ns + dur_ns, is_bubble(store.string(name), writer)});
      });
  for_each_row<1>(store, Table::kOps, rank, {"ts"},
                  [&](const auto& row) { first_op_ns = std::min(first_op_ns, row[0]); });
  std::sort(collectives.begin(), collectives.end(),
            [](const Collective& a, const Collective& b) { return a.start_ns < b.start_ns; });
  const auto working = lanes.working.intervals();
  std::vector<Interval> free_pieces;
  for (size_t i = 1; i < working.size(); ++i)
    free_pieces.push_back({working[i - 1].end_ns, working[i].start_ns});
  const IntervalIndex free_index(free_pieces);
  const Pieces computing(lanes.computing.intervals());
  const Pieces communication(lanes.communication.intervals());
  const Pieces exposed(lanes.communication_not_overlapped.intervals());
  const Pieces free_lane(free_pieces);

  std::vector<WrittenStepTimes> rows;
  const auto add = [&](int64_t step, const Range& range, int64_t start_ns) {
    WrittenStepTimes row;
    row.step = step;
    Interval covered{kForever, std::numeric_limits<int64_t>::min()};
    row.computing_ns = computing.sum(range, covered);
    row.communication_ns = communication.sum(range, covered);
    row.communication_not_overlapped_ns = exposed.sum(range, covered);
    const int64_t whole_free_ns = free_lane.sum(range, covered);
    row.free_ns =
        is_mindspore ? free_index.length_in(range.first_ns, range.last_ns) : whole_free_ns;
    row.overlapped_ns = row.communication_ns - row.communication_not_overlapped_ns;
    const Collective* first = nullptr;
    const Collective* last = nullptr;
    for (const Collective& collective : collectives) {
      if (!range.has(collective.start_ns)) continue;
      if (collective.is_bubble) row.bubble_ns += collective.end_ns - collective.start_ns;
      if (first == nullptr) first = &collective;
      last = &collective;
    }
    row.communication_not_overlapped_and_exclude_receive_ns =
        row.communication_not_overlapped_ns - row.bubble_ns;
    if (is_mindspore) {
      if (first != nullptr) row.stage_ns = last->end_ns - first->start_ns - row.bubble_ns;
    } else {
      row.communication_not_overlapped_and_exclude_receive_ns =
          std::max<int64_t>(0, row.communication_not_overlapped_and_exclude_receive_ns);
      if (covered.start_ns <= covered.end_ns)
        row.stage_ns = covered.end_ns - covered.start_ns - row.bubble_ns;
    }
    const int64_t first_ns =
        std::min(computing.first_start(range), communication.first_start(range));
    if (is_mindspore) row.preparing_ns = 0;
    if (start_ns != kNull) row.preparing_ns = first_ns == kForever ? 0 : first_ns - start_ns;
    rows.push_back(row);
  };
  for (const StepRow& step : steps) {
    const int64_t last_ns = step.end_ns() - (is_mindspore ? 0 : 1);
    add(step.step, {step.start_ns, last_ns}, step.start_ns);
  }
  if (steps.empty()) {
    const Range everything{-kForever, kForever};
    add(is_mindspore ? 0 : kNull, everything,
        is_mindspore && first_op_ns != kForever ? first_op_ns : kNull);
  }
  return rows;
}

}  // namespace stepscope
