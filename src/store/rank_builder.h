// RankBuilder: what an importer fills with one rank's events, in any order. Nothing here sorts,
// links or writes; StoreWriter::add_rank() does, once.
//
// Memory is the budget of a large import, so slices are 48-byte records in one array per track, and
// the details of kernels, operators and communications are separate records that only those slices
// have. Not thread-safe; one builder per rank.
#ifndef STEPSCOPE_STORE_RANK_BUILDER_H_
#define STEPSCOPE_STORE_RANK_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "base/pod_vector.h"
#include "base/string_pool.h"
#include "store/args_ref.h"
#include "store/quality.h"
#include "store/schema.h"
#include "store/source_table.h"

namespace stepscope {

using TrackId = uint32_t;
// Times and lengths are kept within +-146 years, so that a start plus a length never overflows.
inline constexpr int64_t kLatestNs = (int64_t{1} << 62) - 1;
inline constexpr uint32_t kNoDetail = 0xFFFFFFFFu;

enum class TrackKind : uint8_t {
  kHost,
  kDevice,
  kCommunication,
  kPython,
  kCounter,
  kAsync,
  kAnalysis,
  kOther
};
std::string_view track_kind_name(TrackKind kind);

struct TrackInfo {
  StringId process = kEmptyString;
  StringId thread = kEmptyString;
  StringId pid = kEmptyString;  // as the input writes it
  StringId tid = kEmptyString;
  TrackKind kind = TrackKind::kOther;
  int64_t device = kNull;
  int64_t stream = kNull;
};

// What a slice is, independent of its source. Decides which typed table it is in and how it is
// linked.
enum class SliceKind : uint8_t {
  kOther,
  kOp,             // framework operator: `detail` is an OpDetail (or kNoDetail)
  kLaunchCall,     // runtime or driver call; device work links to it by correlation
  kKernel,         // device work (kernel, copy, set, device-side collective): KernelDetail
  kCommunication,  // communication that is not device work by itself (plane task, host call):
                   // CommunicationDetail
  kAnnotation,
  kPython,
};

// Ids above 31 bits are kept aside; see RankBuilder::pack_id.
using PackedId = uint32_t;
inline constexpr PackedId kNoId = 0x7FFFFFFFu;

struct SliceRecord {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  uint64_t args = ArgsRef::kNone;
  StringId name = kEmptyString;
  StringId cat = kEmptyString;
  PackedId correlation = kNoId;
  PackedId external_id = kNoId;
  uint32_t detail = kNoDetail;
  uint16_t flags = 0;  // SliceFlag
  SliceKind kind = SliceKind::kOther;
  bool reached_by_flow = false;  // used while arrows are joined
};
static_assert(sizeof(SliceRecord) == 48);

enum class WorkClass : uint8_t { kCompute, kCommunication, kMemory };

struct KernelDetail {
  int64_t bytes = kNull;
  int64_t wait_ns = kNull;
  StringId type = kNoString;
  StringId op_type = kNoString;
  StringId input_shapes = kNoString;
  StringId input_types = kNoString;
  StringId output_shapes = kNoString;
  StringId grid = kNoString;
  StringId block = kNoString;
  StringId counters = kNoString;
  int32_t registers = -1;  // -1: not given
  int32_t shared_memory = -1;
  int32_t occupancy = -1;
  uint32_t communication =
      kNoDetail;  // index of a CommunicationDetail when the kernel is a collective
  WorkClass work_class = WorkClass::kCompute;
  // Named padding: equal details are found by comparing bytes, and padding has any value.
  uint8_t unused[7] = {};
};
static_assert(std::has_unique_object_representations_v<KernelDetail>);

struct OpDetail {
  int64_t sequence = kNull;
  int64_t forward_thread = kNull;
  StringId type = kNoString;
  StringId input_shapes = kNoString;
  StringId input_types = kNoString;
  StringId stack = kNoString;
  StringId module = kNoString;
  uint32_t communication = kNoDetail;  // for operators that are host calls of a collective
};
static_assert(std::has_unique_object_representations_v<OpDetail>);

struct CommunicationDetail {
  int64_t sequence = kNull;
  int64_t bytes = kNull;
  int64_t elements = kNull;
  int64_t wait_ns = kNull;
  int64_t transit_ns = kNull;
  int64_t group_size = kNull;
  int64_t src_rank = kNull;
  int64_t dst_rank = kNull;
  double bandwidth = -1;  // negative: not given
  StringId level = kNoString;
  StringId op = kNoString;
  StringId group = kNoString;
  StringId data_type = kNoString;
  StringId algorithm = kNoString;
  StringId transport = kNoString;
  StringId link = kNoString;
  StringId of_name = kNoString;  // name of the collective a task belongs to: the slice of that name
                                 // that contains it
};

inline constexpr uint64_t kTextFlowId = 1ull << 63;

enum class FlowPhase : uint8_t { kStart, kStep, kEnd };

// One end of an arrow. Ends with the same kind and id are joined; an end belongs to the slice of
// its track that starts at its time, else to the innermost one that contains it.
struct FlowRecord {
  int64_t ts_ns = 0;
  uint64_t id = 0;  // the number, or kTextFlowId | string id for ids that are not small numbers
  StringId kind = kEmptyString;
  TrackId track = 0;
  FlowPhase phase = FlowPhase::kStart;
};

struct CounterRecord {
  int64_t ts_ns = 0;
  double value = 0;
  TrackId track = 0;
};

struct MemoryRecord {
  int64_t ts_ns = 0;
  int64_t address = kNull;
  int64_t bytes = kNull;
  int64_t total_allocated = kNull;
  int64_t total_reserved = kNull;
  int64_t total_active = kNull;
  int64_t duration_ns = kNull;
  int32_t device = -1;
  StringId device_kind = kNoString;
  StringId component = kNoString;
  StringId name = kNoString;
  TrackId track = kNoDetail;  // host thread it happened on, to find the operator
};

struct QueueRecord {
  int64_t ts_ns = 0;
  int64_t batch = kNull;
  int64_t size = kNull;
  int64_t capacity = kNull;
  int64_t push_ns = kNull;
  int64_t fetch_ns = kNull;
  StringId stage = kEmptyString;
};

struct StageRecord {
  int64_t workers = kNull;
  int64_t capacity = kNull;
  int64_t position = kNull;  // see number_stages()
  StringId stage = kEmptyString;
  StringId kind = kNoString;
  StringId consumer = kNoString;
};

// Fills in positions by following the consumers, and brings the stages into the order of the data,
// the training loop's last. Stages that take from each other in a circle have no position.
void number_stages(std::vector<StageRecord>& stages);

struct StepRecord {
  int64_t step = 0;
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  StringId source = kEmptyString;  // marked, file, inferred
  TrackId track = kNoDetail;       // with `name`: where the mark's slice is
  StringId name = kNoString;
  bool complete = true;
};

struct SourceFile {
  std::string path;
  FileStamp stamp;
  std::string role;
  int64_t rows = 0;
};

struct RankInfo {
  int64_t rank = 0;
  int64_t window = 0;
  bool rank_inferred = false;
  std::string host;
  int64_t pid = kNull;
  std::string device_kind;
  std::string device_name;
  int64_t device_count = kNull;
  int64_t world_size = kNull;
  std::string parallel_json;
  std::string versions_json;
  std::string source_format;
  std::string source_path;
  std::string other_forms_json;
  int64_t clock_base_ns = 0;
};

class RankBuilder {
 public:
  RankInfo info;
  StringPool strings;
  QualityReport quality;
  std::vector<SourceFile> sources;         // args source n is sources[n - 1]
  std::vector<SourceTable> source_tables;  // tables of the input that are kept as they are
  PodVector<FlowRecord> flows;
  PodVector<CounterRecord> counters;
  PodVector<MemoryRecord> memory;
  PodVector<QueueRecord> queues;
  std::vector<StageRecord> stages;
  std::vector<StepRecord> steps;
  // The word for launch arrows that slices carry as kFlagFlowStart/kFlagFlowEnd + correlation.
  StringId launch_flow_kind = kNoString;

  TrackId add_track(const TrackInfo& track);
  size_t track_count() const { return tracks_.size(); }
  TrackInfo& track(TrackId id) { return tracks_[id].info; }
  const TrackInfo& track(TrackId id) const { return tracks_[id].info; }

  void add_slice(TrackId track, const SliceRecord& slice) {
    tracks_[track].slices.push_back(slice);
  }
  PodVector<SliceRecord>& slices(TrackId track) { return tracks_[track].slices; }
  const PodVector<SliceRecord>& slices(TrackId track) const { return tracks_[track].slices; }

  // Details repeat from step to step; equal ones that come close to each other are kept once.
  uint32_t add_kernel(const KernelDetail& detail);
  uint32_t add_op(const OpDetail& detail);
  uint32_t add_communication(const CommunicationDetail& detail);
  const KernelDetail& kernel(uint32_t index) const { return kernels_[index]; }
  const OpDetail& op(uint32_t index) const { return ops_[index]; }
  const CommunicationDetail& communication(uint32_t index) const { return communications_[index]; }
  CommunicationDetail& communication(uint32_t index) { return communications_[index]; }

  // Args that the importer composed itself, as JSON text.
  uint64_t add_args(std::string_view json);
  const std::string& own_args() const { return own_args_; }

  // Correlation and external ids: most fit 31 bits, the rest goes through a side table.
  PackedId pack_id(int64_t id);
  int64_t unpack_id(PackedId id) const;  // kNull for kNoId

  // Compressed inputs: plain text recompressed frame by frame (zstd), so that args stay reachable.
  struct Mirror {
    struct Frame {
      uint64_t text_offset;
      uint32_t text_bytes;
      std::string compressed;
    };
    uint32_t source = 1;
    std::vector<Frame> frames;
  };
  std::vector<Mirror> mirrors;

 private:
  struct Track {
    TrackInfo info;
    PodVector<SliceRecord> slices;
  };
  std::vector<Track> tracks_;
  PodVector<KernelDetail> kernels_;
  PodVector<OpDetail> ops_;
  std::vector<uint32_t> recent_kernels_;  // by hash, the last detail that had it
  std::vector<uint32_t> recent_ops_;
  PodVector<CommunicationDetail> communications_;
  std::string own_args_;
  std::vector<int64_t> wide_ids_;
  std::unordered_map<int64_t, uint32_t> wide_index_;
};

}  // namespace stepscope

#endif  // STEPSCOPE_STORE_RANK_BUILDER_H_
