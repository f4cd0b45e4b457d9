// The critical path of a step: the chain of host work, launches, device work and waits that its
// length consists of, and what the step's length would be if parts of it took more or less time.
#ifndef STEPSCOPE_ANALYSES_CRITICAL_PATH_CRITICAL_PATH_H_
#define STEPSCOPE_ANALYSES_CRITICAL_PATH_CRITICAL_PATH_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/common/rank_rows.h"
#include "analyses/common/result_table.h"
#include "analyses/critical_path/step_events.h"
#include "analyses/critical_path/step_graph.h"
#include "analyses/steps/step_row.h"
#include "store/store_reader.h"

namespace stepscope {

enum class PathKind : uint8_t {
  kHost,
  kDataLoading,
  kLaunch,
  kKernel,
  kMemory,
  kCommunication,
  kKernelGap,
  kSync,
};
inline constexpr size_t kPathKinds = 8;
std::string_view path_kind_name(PathKind kind);

struct PathSegment {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  std::string_view kind;
  std::string_view name;
  int64_t track = kNull;  // global ids
  int64_t slice = kNull;
};

inline constexpr Field<PathSegment> kPathSegmentFields[] = {
    field<&PathSegment::rank>("rank", Unit::kNone, "rank"),
    field<&PathSegment::window>("window", Unit::kNone, "recording window of the rank"),
    field<&PathSegment::step>("step", Unit::kNone, "step"),
    field<&PathSegment::start_ns>("start_ns", Unit::kTimestamp, "start"),
    field<&PathSegment::dur_ns>("dur_ns", Unit::kNanoseconds, "length"),
    field<&PathSegment::kind>("kind", Unit::kNone,
                              "host, data_loading, launch, kernel, memory, communication, "
                              "kernel_gap or sync"),
    field<&PathSegment::name>("name", Unit::kNone, "operator, call or kernel"),
    field<&PathSegment::track>("track", Unit::kNone, "its lane"),
    field<&PathSegment::slice>("slice", Unit::kNone, "its row in slices, when it is one event"),
};

// Time on the critical path of one step of a rank, by what it is bound by; the parts are the step.
struct CriticalPathRow {
  int64_t rank = 0;
  int64_t window = 0;
  int64_t step = 0;
  int64_t dur_ns = 0;
  int64_t host_ns = 0;
  int64_t data_loading_ns = 0;
  int64_t launch_ns = 0;
  int64_t kernel_ns = 0;
  int64_t memory_ns = 0;
  int64_t communication_ns = 0;
  int64_t kernel_gap_ns = 0;
  int64_t sync_ns = 0;
  int64_t segments = 0;
};

inline constexpr Field<CriticalPathRow> kCriticalPathFields[] = {
    field<&CriticalPathRow::rank>("rank", Unit::kNone, "rank"),
    field<&CriticalPathRow::window>("window", Unit::kNone, "recording window of the rank"),
    field<&CriticalPathRow::step>("step", Unit::kNone,
                                  "step; the one of middle length unless another was asked for"),
    field<&CriticalPathRow::dur_ns>("dur_ns", Unit::kNanoseconds,
                                    "length, with the device work that the step launched"),
    field<&CriticalPathRow::host_ns>("host_ns", Unit::kNanoseconds, "operators, calls and Python"),
    field<&CriticalPathRow::data_loading_ns>("data_loading_ns", Unit::kNanoseconds,
                                             "waiting for the next batch"),
    field<&CriticalPathRow::launch_ns>("launch_ns", Unit::kNanoseconds,
                                       "start of a launching call to the start of the work, while "
                                       "the device waited for it"),
    field<&CriticalPathRow::kernel_ns>("kernel_ns", Unit::kNanoseconds, "computation"),
    field<&CriticalPathRow::memory_ns>("memory_ns", Unit::kNanoseconds, "copies and sets"),
    field<&CriticalPathRow::communication_ns>("communication_ns", Unit::kNanoseconds,
                                              "communication"),
    field<&CriticalPathRow::kernel_gap_ns>(
        "kernel_gap_ns", Unit::kNanoseconds,
        "between two pieces of work of a stream, the second already launched"),
    field<&CriticalPathRow::sync_ns>("sync_ns", Unit::kNanoseconds,
                                     "end of device work to the return of the call that waited, "
                                     "and from thread to thread"),
    field<&CriticalPathRow::segments>("segments", Unit::kCount, "segments of the path"),
};

// What takes `factor` times as long: device work by its name, or everything of a kind.
struct WhatIf {
  // A part of the name, or the word that the table kernels has for the work (kind); upper and lower
  // case alike. Empty: by kind of the path.
  std::string kernel;
  PathKind kind = PathKind::kKernel;
  double factor = 1;
};

// The device work that a change is about.
struct ChangedWork {
  int64_t events = 0;
  int64_t total_ns = 0;
};

class CriticalPath {
 public:
  CriticalPath(const StoreReader& store, const RankId& rank, const StepRow& step);

  // By time; they touch each other and cover the step.
  const std::vector<PathSegment>& segments() const { return segments_; }
  CriticalPathRow summary() const;
  // Length of the step if it and all before it were changed. With a factor of 1 it is the recorded
  // length. Everything that waits for what became shorter moves up until something else holds it,
  // so the gain stops where the path changes. A host that is ahead cannot stay ahead of a device
  // that is faster than it: the length is then what the host itself needs for a step.
  int64_t what_if(const WhatIf& change) const;
  ChangedWork changed_work(const WhatIf& change) const;

 private:
  std::vector<bool> changed_places(const WhatIf& change) const;
  bool changes(const DeviceWork& work, const WhatIf& change) const;
  struct Replay;
  std::vector<int64_t> replay(const Replay& how) const;
  int64_t replayed_wait_ns(const Replay& how, const GraphNode& node, const GraphEdge& edge) const;
  int64_t host_period_ns(const WhatIf& change, const std::vector<bool>& changed) const;
  void walk();
  void add_host(uint32_t thread, int64_t start_ns, int64_t end_ns);
  void add(PathKind kind, std::string_view name, int64_t start_ns, int64_t end_ns, uint32_t track,
           uint32_t slice);
  int64_t data_loading_ns(uint32_t thread, int64_t start_ns, int64_t end_ns) const;
  std::string_view slice_name(uint32_t slice) const;

  const StoreReader& store_;
  RankId rank_;
  StepRow step_;
  StepEvents events_;
  StepGraph graph_;
  std::vector<PathSegment> segments_;
  std::array<int64_t, kPathKinds> by_kind_{};
};

// The step that stands for a rank: the one of middle length among those that averages are made of.
const StepRow* middle_step(std::span<const StepRow> steps);

}  // namespace stepscope

#endif  // STEPSCOPE_ANALYSES_CRITICAL_PATH_CRITICAL_PATH_H_
