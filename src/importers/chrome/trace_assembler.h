// TraceAssembler: takes the pieces' records over into the RankBuilder, in the order of the file,
// and finishes what needs the whole trace: track names, begin/end pairs, async pairs, arrows.
#ifndef STEPSCOPE_IMPORTERS_CHROME_TRACE_ASSEMBLER_H_
#define STEPSCOPE_IMPORTERS_CHROME_TRACE_ASSEMBLER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "importers/chrome/event_mapper.h"
#include "importers/chrome/staged_chunk.h"
#include "store/rank_builder.h"

namespace stepscope {

class TraceAssembler {
 public:
  explicit TraceAssembler(RankBuilder& rank, size_t workers) : rank_(rank), workers_(workers) {}

  // Makes a worker's new strings and tracks known. Must be called in the order in which the worker
  // met them.
  void learn(size_t worker, const std::vector<std::string_view>& strings,
             const std::vector<LocalTrack>& tracks);
  void take_over(size_t worker, StagedChunk& chunk);
  // Call once, after the last piece.
  void finish();
  uint64_t events() const { return events_; }

 private:
  // A lane the file mentions. It becomes a track of the rank when something is on it.
  struct Lane {
    StringId pid = kEmptyString;
    StringId tid = kEmptyString;
    StringId counter = kNoString;
    bool on_device = false;
    bool is_async = false;
    TrackId track = kNoDetail;
  };
  struct Worker {
    std::vector<StringId> strings;  // the rank's ids of the worker's strings
    std::vector<uint32_t> lanes;    // of the worker's tracks

    StringId text(StringId id) const { return id == kNoString ? kNoString : strings[id]; }
  };
  using LaneKey = std::tuple<StringId, StringId, StringId, bool, bool>;

  uint32_t find_lane(const Lane& lane);
  TrackId track_of(uint32_t lane);
  StringId without_overlap(StringId tid);
  TrackId bound_track(uint32_t lane);
  void take_details(const Worker& worker, StagedChunk& chunk);
  PackedId repack(PackedId id, const StagedChunk& chunk);
  // Gives an arrow at the start of a piece to the last slice of the piece before, when it belongs
  // there.
  bool join_last_slice(const FlowRecord& flow);
  // A piece whose arrows have another word than those before it: they become records.
  void unmark_flows(size_t number, StagedChunk& chunk, StringId kind);

  // trace_pairs.cc
  void keep_edge(StagedEdge edge, std::vector<std::string>& texts);
  void finish_begin_end();
  void finish_async();
  void add_pair(const StagedEdge& begin, const StagedEdge& end);
  void add_unfinished(const StagedEdge& begin, int64_t dur_ns);
  uint64_t args_of(const StagedEdge& edge);
  uint64_t joined_args(const StagedEdge& begin, const StagedEdge& end);
  void count_end_without_begin(const StagedEdge& edge);
  void take_links(const StagedChunk& chunk, SliceRecord& slice);
  void name_tracks();
  void keep_counts();

  RankBuilder& rank_;
  std::vector<Worker> workers_;
  std::vector<Lane> lanes_;
  std::map<LaneKey, uint32_t> lane_index_;
  std::vector<uint32_t> kernel_map_;  // of the chunk being taken over
  std::vector<uint32_t> op_map_;
  std::vector<uint32_t> communication_map_;
  std::vector<StagedEdge> edges_;  // with rank-wide names and lanes
  std::vector<std::string> edge_args_;
  size_t edge_args_bytes_ = 0;
  uint32_t last_lane_ = kNoDetail;  // of the last range that was taken over
  size_t last_slice_ = 0;           // its place among the slices of its track
  PodVector<FlowRecord> flows_;     // track is a lane until finish()
  std::map<std::pair<StringId, StringId>, StringId> thread_names_;
  std::map<StringId, StringId> process_names_;
  std::map<StringId, StringId> process_labels_;
  std::set<StringId> invalid_texts_;
  std::map<std::pair<StringId, char>, int64_t> counts_;
  uint64_t events_ = 0;
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_TRACE_ASSEMBLER_H_
