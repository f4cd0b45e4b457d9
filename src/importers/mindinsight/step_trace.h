// Training steps of MindInsight's time, from the analysed CSV and from the raw records before it.
//
// All times are counts of 10 ns of the device's own clock (GPU: of the host's), so they share an
// axis with the device's operators but not with the wall clock.
#ifndef STEPSCOPE_IMPORTERS_MINDINSIGHT_STEP_TRACE_H_
#define STEPSCOPE_IMPORTERS_MINDINSIGHT_STEP_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/rank_builder.h"

namespace stepscope::mindinsight {

struct ReduceEvent {
  std::string name;  // stream_10_parallel_0
  int64_t stream = kNull;
  int64_t start = 0;  // counts
  int64_t end = 0;
};

// One step in counts; a step starts where the one before it ended (the first: at fp).
struct StepTraceRow {
  int64_t step = 0;
  int64_t start = 0;
  int64_t end = 0;
  int64_t fp = kNull;
  int64_t bp = kNull;  // kNull: inference
  std::vector<ReduceEvent> reduces;
};

inline constexpr int64_t kNsPerCount = 10;

// step_trace_raw_N_detail_time.csv, both orders of the reduce columns. The row of averages (step
// "-", or all 0) is no step.
std::vector<StepTraceRow> read_step_trace_csv(const std::string& path, RankBuilder& rank);
// training_trace (20-byte records, tags 0 1 2 3.. 255) and ts_track (40-byte records, report type
// 10), slices in order.
std::vector<StepTraceRow> read_training_trace(const std::vector<std::string>& paths,
                                              RankBuilder& rank);
std::vector<StepTraceRow> read_ts_track(const std::vector<std::string>& paths, RankBuilder& rank);
// step_trace_profiling_N.txt, synchronous and asynchronous form, ns.
std::vector<StepTraceRow> read_gpu_step_trace(const std::string& path, RankBuilder& rank);

// Steps, their phases on a track of their own, and the reduce events on one track per stream
// (unless a timeline has them already).
void add_step_trace(const std::vector<StepTraceRow>& rows, bool with_reduces, RankBuilder& rank);

}  // namespace stepscope::mindinsight

#endif  // STEPSCOPE_IMPORTERS_MINDINSIGHT_STEP_TRACE_H_
