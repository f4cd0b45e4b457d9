// The part of TraceAssembler that joins begin and end events, when all are there.
#include <algorithm>

#include "importers/chrome/trace_assembler.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

// Args of begins and ends that are held until the trace is complete: inputs are not mapped, and to
// read them again for every pair costs more. Beyond this those of an end are kept only where its
// begin has none, and those of a repaired event, which stand nowhere in the input, are lost.
constexpr size_t kMostArgsBytes = 64 << 20;

bool has_args(const StagedEdge& edge) {
  return edge.record.args != ArgsRef::kNone || edge.args_text != kNoDetail;
}

void sort_by_time(std::vector<StagedEdge>& edges) {
  std::stable_sort(edges.begin(), edges.end(), [](const StagedEdge& a, const StagedEdge& b) {
    return a.record.ts_ns < b.record.ts_ns;
  });
}

}  // namespace

void TraceAssembler::keep_edge(StagedEdge edge, std::vector<std::string>& texts) {
  if (edge.args_text != kNoDetail) {
    std::string& text = texts[edge.args_text];
    const bool fits = edge_args_bytes_ + text.size() <= kMostArgsBytes;
    edge.args_text = fits ? static_cast<uint32_t>(edge_args_.size()) : kNoDetail;
    if (fits) {
      edge_args_bytes_ += text.size();
      edge_args_.push_back(std::move(text));
    } else if (edge.record.args == ArgsRef::kNone) {
      rank_.quality.add(QualityCode::kLimitReached,
                        "args of a repaired event: " +
                            std::string(rank_.strings.view(edge.record.name).substr(0, 60)));
    }
  }
  edges_.push_back(edge);
}

uint64_t TraceAssembler::args_of(const StagedEdge& edge) {
  if (edge.record.args != ArgsRef::kNone || edge.args_text == kNoDetail) return edge.record.args;
  return rank_.add_args(edge_args_[edge.args_text]);
}

// Those of the end win where both give a key, as the format wants it.
uint64_t TraceAssembler::joined_args(const StagedEdge& begin, const StagedEdge& end) {
  if (!has_args(end)) return args_of(begin);
  if (!has_args(begin)) return args_of(end);
  if (begin.args_text == kNoDetail || end.args_text == kNoDetail) {
    rank_.quality.add(QualityCode::kLimitReached,
                      "args of an end event: " +
                          std::string(rank_.strings.view(begin.record.name).substr(0, 60)));
    return args_of(begin);
  }
  const std::string& first = edge_args_[begin.args_text];
  const std::string& second = edge_args_[end.args_text];
  auto joined = ordered_json_tree(first);
  const auto more = ordered_json_tree(second);
  if (!joined.is_object() || !more.is_object())
    return rank_.add_args("[" + first + ", " + second + "]");  // both, as they are
  joined.update(more);
  return rank_.add_args(write_json(joined));
}

void TraceAssembler::add_pair(const StagedEdge& begin, const StagedEdge& end) {
  SliceRecord slice = begin.record;
  slice.dur_ns = end.record.ts_ns - slice.ts_ns;
  slice.args = joined_args(begin, end);
  rank_.add_slice(track_of(begin.track), slice);
}

void TraceAssembler::add_unfinished(const StagedEdge& begin, int64_t dur_ns) {
  SliceRecord slice = begin.record;
  slice.dur_ns = dur_ns;
  slice.args = args_of(begin);
  slice.flags |= kFlagUnfinished | kFlagImpossible;  // its length is a guess: not in totals
  rank_.quality.add(QualityCode::kBeginWithoutEnd, rank_.strings.view(slice.name).substr(0, 60));
  rank_.add_slice(track_of(begin.track), slice);
}

void TraceAssembler::count_end_without_begin(const StagedEdge& edge) {
  rank_.quality.add(QualityCode::kEndWithoutBegin,
                    rank_.strings.view(edge.record.name).substr(0, 60));
}

// B and E of one thread nest like brackets, in order of time.
void TraceAssembler::finish_begin_end() {
  std::map<std::pair<StringId, StringId>, std::vector<StagedEdge>> by_thread;
  int64_t last_ns = INT64_MIN;
  for (const StagedEdge& edge : edges_) {
    if (edge.phase != 'B' && edge.phase != 'E') continue;
    const Lane& lane = lanes_[edge.track];
    by_thread[{lane.pid, lane.tid}].push_back(edge);
    last_ns = std::max(last_ns, edge.record.ts_ns);
  }
  for (TrackId track = 0; track < rank_.track_count() && !by_thread.empty(); ++track) {
    for (const SliceRecord& slice : rank_.slices(track)) {
      last_ns = std::max(last_ns, slice.ts_ns + std::max<int64_t>(slice.dur_ns, 0));
    }
  }
  for (auto& [thread, edges] : by_thread) {
    sort_by_time(edges);
    std::vector<StagedEdge> open;
    for (const StagedEdge& edge : edges) {
      if (edge.phase == 'B') {
        open.push_back(edge);
      } else if (open.empty()) {
        count_end_without_begin(edge);
      } else {
        add_pair(open.back(), edge);
        open.pop_back();
      }
    }
    for (const StagedEdge& begin : open) add_unfinished(begin, last_ns - begin.record.ts_ns);
  }
}

// b and e are paired by category and id; equal ids nest.
void TraceAssembler::finish_async() {
  std::vector<StagedEdge> edges;
  for (const StagedEdge& edge : edges_) {
    if (edge.phase == 'b' || edge.phase == 'n' || edge.phase == 'e') edges.push_back(edge);
  }
  edges_.clear();
  sort_by_time(edges);
  std::map<std::tuple<uint32_t, StringId, StringId>, std::vector<StagedEdge>> open;
  for (const StagedEdge& edge : edges) {
    auto& stack = open[{edge.track, edge.record.cat, edge.id}];
    if (edge.phase == 'b') {
      stack.push_back(edge);
    } else if (edge.phase == 'n') {
      SliceRecord instant = edge.record;
      instant.args = args_of(edge);
      instant.flags |= kFlagInstant;
      rank_.add_slice(track_of(edge.track), instant);
    } else if (stack.empty()) {
      count_end_without_begin(edge);
    } else {
      add_pair(stack.back(), edge);
      stack.pop_back();
    }
  }
  for (const auto& [key, stack] : open) {
    for (const StagedEdge& begin : stack) add_unfinished(begin, 0);
  }
  edge_args_.clear();
}

}  // namespace stepscope
