// What one piece of the file became: records with names and tracks numbered by the worker that read
// it. Pieces are read in any order and taken over in the order of the file (see chrome_reader.cc),
// so results never depend on timing.
#ifndef STEPSCOPE_IMPORTERS_CHROME_STAGED_CHUNK_H_
#define STEPSCOPE_IMPORTERS_CHROME_STAGED_CHUNK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/pod_vector.h"
#include "store/quality.h"
#include "store/rank_builder.h"

namespace stepscope {

struct StagedSlice {
  SliceRecord record;
  uint32_t track = 0;
};

// Begin/end and async events wait until all are there.
struct StagedEdge {
  SliceRecord record;  // of a begin: all but its length; of others ts, name, cat, args
  uint32_t track = 0;
  StringId id = kNoString;         // async only
  uint32_t args_text = kNoDetail;  // of edge_args
  char phase = 0;                  // B E, b n e
};

struct StagedMetadata {
  StringId name = kNoString;  // process_name, thread_name, process_labels, ...
  StringId value = kNoString;
  StringId pid = kNoString;
  StringId tid = kNoString;
};

struct EventCount {
  StringId cat = kEmptyString;
  char phase = 0;
  int64_t count = 0;
};

enum class ChunkEnd : uint8_t {
  kComplete,    // every byte was used
  kIncomplete,  // the last event goes on in the next piece
  kArrayEnd,    // the list of events ended
};

struct StagedChunk {
  PodVector<StagedSlice> slices;
  PodVector<KernelDetail> kernels;
  PodVector<OpDetail> ops;
  PodVector<CommunicationDetail> communications;
  PodVector<FlowRecord> flows;
  static constexpr size_t kNoSlice = static_cast<size_t>(-1);
  // The last slice that is a range: launch arrows follow the slice they belong to.
  size_t last_slice = kNoSlice;
  // How many arrows come before the first such slice: they may belong to the piece before.
  size_t leading_flows = 0;
  PodVector<CounterRecord> counters;
  PodVector<MemoryRecord> memory;
  PodVector<StagedEdge> edges;
  PodVector<StagedMetadata> metadata;
  std::vector<std::pair<size_t, std::string>> own_args;  // slice number, repaired args
  std::vector<std::string> edge_args;  // those of a begin and its end become one object
  std::vector<EventCount> counts;
  std::vector<int64_t> wide_ids;  // ids that do not fit 31 bits; packed ids name them by position
  QualityReport quality;
  StringId launch_flow_kind = kNoString;
  ChunkEnd end = ChunkEnd::kComplete;
  size_t used_bytes = 0;  // of the chunk's text

  void clear();
};

}  // namespace stepscope

#endif  // STEPSCOPE_IMPORTERS_CHROME_STAGED_CHUNK_H_
